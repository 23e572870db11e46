/* The next step on a machine: which ROCm and which torch serve each of its GPUs, the commands that install or build
 * one, and what that costs. Facts come from the machine, from data/compat.yaml (know/compat.h) and data/addresses.yaml, and for a build from
 * the project's description and the history of builds on this machine. Uses no network and runs no program.
 */
#pragma once

#include "flow/build.h"
#include "know/compat.h"

enum next_by { NEXT_WHEEL, NEXT_DEVICE_WHEEL, NEXT_BUILD };

struct next_route {
	enum next_by by;     /* PyTorch's wheel, AMD's wheel for one GPU, or our own build */
	enum compat_how how; /* how the wheel's code serves the GPU */
	const char *torch, *rocm, *python; /* versions, and a range; NULL for a build */
	struct strs commands;
	uint64_t download, disk, memory; /* bytes needed; 0 = unknown */
	double seconds;                  /* least time of a build, using all processors */
	bool history;                    /* time and memory come from an earlier build here */
	bool sure; /* the wheel was inspected, not guessed from the scripts that build it */
	struct strs notes, evidence;
};

struct next_gpu {
	struct str target, products;
	struct str served_by, served_version; /* environment whose torch has its code; or "" */
	struct strs commands;                 /* they test that torch */
	struct strs notes;
	VEC(struct next_route) routes; /* newest first; none if the GPU is served already */
};

struct next_steps {
	struct str python, version; /* the active environment; "" if unknown */
	uint64_t disk_free, memory_free;
	struct str disk; /* path of the disk that disk_free describes */
	VEC(struct next_gpu) gpus;
};

/* targets: canonical ids; empty = the machine's GPUs. Fails if a mirror's address is wrong (know/address.h). */
MUST_USE struct err *next_steps(struct arena *a, const struct machine *m,
	const struct strs *targets, struct next_steps *ret);
/* The commands to type next, for somebody who has just got rocsmith. */
enum { NEXT_COMMANDS = 3 };
struct next_command {
	struct str command, why;
};
struct next_commands VEC_OF(struct next_command);
void next_first(struct arena *a, const struct machine *m, const struct next_steps *s,
	struct next_commands *ret);
/* The fields of an element of the document's "next" list. */
extern const struct json_field next_gpu_fields[];

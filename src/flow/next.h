/* The next step on a machine: which ROCm and which torch serve each of its GPUs, the commands that install or build
 * one, and what that costs. Facts come from the machine, from data/compat.yaml (know/compat.h), and for a build from the
 * project's description and the history of builds here. Nothing is asked of a network, nothing is run.
 */
#pragma once

#include "flow/build.h"
#include "know/compat.h"

enum next_by { NEXT_WHEEL, NEXT_DEVICE_WHEEL, NEXT_BUILD };

struct next_route {
	enum next_by by;     /* a wheel of PyTorch's index; of AMD's, for one GPU; our own build */
	enum compat_how how; /* the GPU is served by it */
	const char *torch, *rocm, *python; /* versions, range; NULL for a build: its plan tells */
	struct strs commands;
	uint64_t download, disk, memory; /* bytes that it needs; 0: not known */
	double seconds;                  /* of a build: with all processors, at best */
	bool history;                    /* time and memory are those of an earlier build here */
	bool sure; /* somebody looked: it is no guess from the scripts that build wheels */
	struct strs notes, evidence;
};

struct next_gpu {
	struct str target, products;
	struct str served_by, served_version; /* Python environment whose torch has its code; "" */
	struct strs commands;                 /* to see whether that works */
	struct strs notes;
	VEC(struct next_route) routes; /* the newest first; none when it is served */
};

struct next_steps {
	struct str python, version; /* environment that is active; "" when that is not known */
	uint64_t disk_free, memory_free;
	struct str disk; /* where */
	VEC(struct next_gpu) gpus;
};

/* targets: canonical ids; empty = the machine's GPUs. */
void next_steps(struct arena *a, const struct machine *m, const struct strs *targets,
	struct next_steps *ret);
/* The document's member "next": a list of these. */
extern const struct json_field next_gpu_fields[];

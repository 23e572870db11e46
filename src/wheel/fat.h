/* The fat wheel: a wheel with the ROCm libraries that it needs, for chosen GPUs, that works on a machine without ROCm.
 *
 * Its libraries' needs are followed into an SDK's folder, never into this machine; what is found lies in NAME.libs/lib
 * under its SONAME, for a wheel has no links, and everybody's list of libraries has that name; for what is opened by the
 * name of a link, there is an empty library that needs the right one. What a library reads
 * beside it (kernels of rocBLAS, MIOpen's databases ...) comes with it, at the same distance. Search paths are
 * $ORIGIN only. Code of other GPUs goes, as slim/slim.h has it. Requirements of ROCm's own packages, and what would
 * load them, are taken out of the wheel; its platform tag is raised to what the libraries need.
 * Never taken: what PEP 600 says is on every machine (wheel_library_allowed(): libc, libstdc++ ...), since the SDK's may be
 * older or newer than the machine's.
 * Wheels for Windows: DLLs of the SDK lie beside the one that needs them, where Windows looks. DLLs are not edited: they keep
 * the code of all GPUs, and nobody is told what the machine has to have. */
#pragma once

#include "wheel/rewrite.h"

struct fat_request {
	struct wheel_request wheel; /* from, to, force, jobs, epoch; local or .p = NULL */
	struct str sdk;             /* a folder */
	struct slim_keep keep;
	struct strs gpus;  /* their names */
	struct strs with;  /* libraries that something loads by name when it runs: "libx.so.1" */
	struct strs allow; /* globs of libraries that the machine has to have */
	uint64_t budget;   /* of the wheel, in bytes; 0: any */
};

struct fat_library {
	struct str name, source; /* the member; its path below the SDK */
	struct str needed_by;    /* a member, or "" for one of `with` */
	uint64_t before, after;  /* bytes */
};

struct fat_side { /* a folder, or a file, beside a library */
	struct str name, source;
	uint64_t files, bytes; /* that are taken */
};

struct fat_outside { /* a library that neither the wheel nor the SDK has: allowed, or of other packages */
	struct str name, needed_by;
};

struct fat_report {
	struct str path, output, sdk, platform;
	VEC(struct fat_library) libraries;
	VEC(struct fat_side) side;
	VEC(struct fat_outside) outside;
	struct strs edited;  /* members that were in the wheel, and have other needs or paths now */
	struct strs dropped; /* requirements, and members that load ROCm's packages */
	struct slim_report slim; /* of what is in the new wheel: all files, GPUs, targets */
	uint64_t size;           /* of the new wheel's file; 0 in a dry run */
};

extern const struct json_field fat_fields[]; /* schema rocsmith.bundle/1 */
/* As slim: the wheel has to be right, and what comes out shows whole or not at all; the same input gives the same bytes.
 * In a dry run all is looked at. E_SDK when the SDK lacks one that is needed, and nothing else is known to bring it. */
MUST_USE struct err *wheel_fatten(
	struct arena *a, const struct fat_request *q, struct fat_report *ret);

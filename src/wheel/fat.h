/* The fat wheel: a wheel with the ROCm libraries that it needs, for chosen GPUs. It runs without an installed ROCm, but
 * needs the amdgpu driver, and a glibc and libstdc++ as new as the newest of its libraries requires.
 *
 * The needs of its libraries are followed into an SDK's folder, never into this machine. A library that is found there
 * goes to NAME.libs/lib under its SONAME, because a wheel has no links, and all lists of needed libraries get that
 * name. A library that is opened by the name of a link gets a stand-in: an empty library of that name that needs the
 * real one. Files that a library reads beside it (kernels of rocBLAS, MIOpen's databases ...) come with it, at the same
 * relative path. Search paths are $ORIGIN only. Code of other GPUs is removed, as in slim/slim.h. Requirements of
 * ROCm's own packages, and the file that would load them, are removed from the wheel. A manylinux tag that its
 * libraries do not meet is replaced by the lowest true one, or by linux_ARCH; linux_ARCH itself promises nothing, and
 * stays: the report says in both cases what the wheel needs of a machine, and what of it this machine lacks. Libraries that PEP 600 expects on every machine (wheel_library_allowed(): libc, libstdc++ ...) are never
 * taken: the SDK's may be older or newer than the machine's.
 *
 * Wheels for Windows: DLLs of the SDK lie beside the one that needs them, where Windows looks. DLLs are not edited:
 * they keep the code of all GPUs, and the libraries that the machine has to provide are not listed. */
#pragma once

#include "wheel/rewrite.h"

struct fat_request {
	/* uses from, to, force, jobs, and local (.p = NULL: the version stays) */
	struct wheel_request wheel;
	struct str sdk; /* a folder */
	struct slim_keep keep;
	struct strs gpus;  /* names of the wanted GPUs */
	struct strs with;  /* libraries that something loads by name at run time: "libx.so.1" */
	struct strs allow; /* globs of libraries that the machine is expected to have */
	uint64_t budget;   /* most bytes of the wheel; 0: no limit */
};

struct fat_library {
	struct str name, source; /* the member; its path below the SDK */
	struct str needed_by;    /* a member; "" for a library of `with` */
	uint64_t before, after;  /* bytes */
};

struct fat_side { /* a folder, or a file, beside a library */
	struct str name, source;
	uint64_t files, bytes; /* the files that were taken */
};

/* A library that neither the wheel nor the SDK has: allowed, or from another package. */
struct fat_outside {
	struct str name, needed_by;
};

struct fat_outsides VEC_OF(struct fat_outside);

struct fat_report {
	struct str path, output, sdk, platform;
	struct str
		floor; /* lowest true platform tag, and what sets it: one sentence; "" for Windows */
	struct wheel_lacks lacks; /* the needs that this machine does not meet */
	VEC(struct fat_library) libraries;
	VEC(struct fat_side) side;
	struct fat_outsides outside;
	struct strs edited; /* members of the old wheel that have other needs or search paths now */
	struct strs dropped;     /* requirements, and members that load ROCm's packages */
	struct slim_report slim; /* the files, GPUs and targets of the new wheel */
	uint64_t size;           /* bytes of the new wheel's file; 0 in a dry run */
};

extern const struct json_field fat_fields[]; /* schema rocsmith.bundle/1 */
/* As with slim, the wheel has to be sound, and the result appears whole or not at all; the same input gives the same
 * bytes. A dry run reads everything, too. E_SDK when the SDK lacks a needed library that nothing else is known to
 * provide. */
MUST_USE struct err *wheel_fatten(
	struct arena *a, const struct fat_request *q, struct fat_report *ret);

/* Parts of gather_pythons(): what is in one Python environment. Paths are relative to the root. */
#pragma once

#include "machine/facts.h"
#include "machine/library.h"

enum { MANY_NAMES = 500, MANY_PACKAGES = 256, MANY_FOLDERS = 100 /* of a search path */ };

struct environment {
	struct root *r;
	struct machine *m;
	struct machine_python *py;
	struct str dir;
	struct strs sites;     /* folders that packages are imported from, in this order */
	size_t mark;           /* the recording before it was looked at */
	struct strs rocm_dirs; /* of rocm wheels: "_rocm_sdk_core", ... in one of these */
};

/* package.c: py->packages, py->has_torch, rocm_dirs. */
void gather_packages(struct environment *e);
/* torch.c: py->torch, if there is one, and the ROCm that the environment's wheels bring. */
void gather_torch(struct environment *e);
/* Is it ROCm's, among what a library needs? */
bool is_rocm_library(struct str name);
/* Where the loader looks for what a library in origin needs, in its order; wheels: rocm wheels are loaded from before. */
struct strs search_dirs(
	struct environment *e, struct str origin, const struct library *l, bool wheels);
struct str find_library(
	struct root *r, const struct strs *dirs, struct str name); /* the folder, or "" */
/* extension.c: py->extensions; needs py->torch. */
void gather_extensions(struct environment *e);

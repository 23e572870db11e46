/* Parts of gather_pythons(): what is in one Python environment. Paths are relative to the root. */
#pragma once

#include "machine/facts.h"

enum { MANY_NAMES = 500, MANY_PACKAGES = 256, MANY_FOLDERS = 100 /* of a search path */ };

struct environment {
	struct root *r;
	struct machine *m;
	struct machine_python *py;
	struct str dir;
	struct strs sites;     /* folders that packages are imported from, in this order */
	struct strs rocm_dirs; /* of rocm wheels: "_rocm_sdk_core", ... in one of these */
};

/* package.c: py->packages, py->has_torch, rocm_dirs. Nothing is told before tell_packages(). */
void gather_packages(struct environment *e);
void tell_packages(struct environment *e);
/* torch.c: py->torch, if there is one, and the ROCm that the environment's wheels bring. */
void gather_torch(struct environment *e);

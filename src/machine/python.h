/* Parts of gather_pythons(), which read one Python environment. Paths are relative to the root. */
#pragma once

#include "machine/facts.h"
#include "machine/library.h"

enum { MANY_NAMES = 500, MANY_PACKAGES = 256, MANY_FOLDERS = 100 /* in a search path */ };

struct python_env {
	struct root *r;
	struct machine *m;
	struct machine_python *py;
	struct str dir;
	struct strs sites;     /* folders that packages are imported from, in this order */
	size_t mark;           /* root_mark() from before it was read */
	struct strs rocm_dirs; /* folders of rocm wheels in `sites`: "_rocm_sdk_core", ... */
};

/* package.c: fills py->packages, py->has_torch and rocm_dirs. */
void gather_packages(struct python_env *e);
/* torch.c: fills py->torch, if there is one, and adds the ROCm of the environment's wheels to the machine's. */
void gather_torch(struct python_env *e);
/* Is a library of this name, as another one needs it, part of ROCm? */
bool is_rocm_library(struct str name);
/* The folders that the loader searches, in order, for the needs of a library in folder `origin`. wheels: torch has
 * loaded ROCm's libraries from rocm wheels before its own. */
struct strs search_dirs(
	struct python_env *e, struct str origin, const struct library *l, bool wheels);
/* The first folder in dirs that has the library, or "". */
struct str find_library(struct root *r, const struct strs *dirs, struct str name);
/* extension.c: fills py->extensions; requires py->torch. */
void gather_extensions(struct python_env *e);

/* Parts of gather_pythons(), which read one Python environment. Paths are relative to the root. */
#pragma once

#include "machine/facts.h"

enum { MANY_NAMES = 500, MANY_PACKAGES = 256, MANY_FOLDERS = 100 /* in a search path */ };

struct library;

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

/* ---- library.c ---- */

/* The libraries that a library needs, its search path, and the GPUs that it has code for, from a few small reads of an
 * ELF file of any size. In recordings and in handwritten machines, a text replaces the file:
 *
 *     rocsmith-library 1
 *     needed libamdhip64.so.6        one line each
 *     runpath $ORIGIN                or rpath
 *     targets gfx1100 gfx90a:xnack-  targets in more than half of the bundles read, or of the kpack archives that exist
 *     bundles 5                      number of bundles that were read: the first ones
 *     archives 1                     number of its patterns for kpack archives with its code, whether they exist or not
 *     empty gfx90a:xnack-            archives of one mode with less than a sixteenth of what that for all modes holds
 *
 * Unknown lines are ignored. Limits: 200 libraries, 500 targets, 20 archives of one mode of a GPU, a text of 1 MiB; at most
 * 64 MiB of an ELF file, and of an archive's table, are read.
 */
struct library {
	struct strs needed;
	/* rpath is "" if there is a runpath, as the loader then ignores it */
	struct str rpath, runpath;
	struct strs targets; /* sorted */
	struct strs empty;   /* targets of such archives */
	unsigned bundles, archives;
};

/* Reads either form, and records the text. Parts that cannot be read stay empty; ROOT_BAD if it is neither an ELF file
 * nor such a text. */
enum root_status library_read(struct root *r, struct str path, struct library *ret);
/* Parses the text form; false if the text is not one. */
bool library_parse(struct arena *a, struct str text, struct library *ret);

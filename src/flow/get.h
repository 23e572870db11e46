/* The smallest published PyTorch for some GPUs: the host wheel, the device wheels of these GPUs and of their families, and
 * what they depend on, each by exact version and hash.
 *
 * Which torch: the first row of data/compat.yaml (know/compat.h) that serves the GPUs and the Python. From where: the
 * row's index (know/address.h), AMD's beside PyTorch's, and pip's own for everything that is neither PyTorch nor ROCm; these
 * are taken from nowhere else, since the Python index has placeholders of their names. Requirements come from the
 * metadata of the files (archive/index.h); nothing is run. A requirement on the code of all GPUs (`rocm[device-all]`)
 * becomes one on that of these GPUs.
 *
 * The newest final version that all requirements allow is taken. A requirement that comes later and refuses it begins
 * the search again; a version whose requirements contradict others is left out from then on; at most GET_TRIES times.
 */
#pragma once

#include "archive/index.h"
#include "base/vec.h"
#include "formats/json_fields.h"

enum { GET_TRIES = 64, GET_PACKAGES = 500 };

struct get_package {
	struct str name, version;
	struct str by; /* the package that requires it; "" = the user */
	struct archive_item file;
};

struct get_packages VEC_OF(struct get_package);

/* ---- resolve.c ---- */
struct get_search {
	struct index_job vendor, pip; /* indexes of PyTorch and ROCm; those of everything else */
	struct strs gpus;             /* names of targets */
	struct str python;            /* "3.12" */
	unsigned minor, glibc;        /* its minor version, and that of the machine's glibc */
	struct str machine;           /* "x86_64" */
};
/* Finds the files for these requirements, sorted by name. ret_all: those that the code of all GPUs would have
 * added. E_GFX if there is no code for a GPU, with the GPUs that have some; E_PLAN if requirements contradict each other
 * or have no file for this Python and machine. */
MUST_USE struct err *get_resolve(struct arena *a, const struct get_search *s,
	const struct strs *roots, struct get_packages *ret, struct archive_items *ret_all);

struct get_request {
	struct strs names; /* torch, torchvision, torchaudio */
	struct strs gpus;  /* names of targets; the first one is the most important */
	struct str
		python; /* an environment, a program or a version; "" = that of `install`, or python3 */
	struct str torch, rocm; /* versions, or their beginnings; "" = the best */
	struct str index_url;   /* instead of the known indexes; or "" */
	/* At most one is set: the lock file to write; the folder that gets the files and a lock file for them; the
	 * environment to install into, which is made if there is none. */
	struct str lock, dir, install;
};

struct get_done {
	struct strs names, gpus;
	struct str python, machine, torch, rocm;
	struct strs indexes; /* addresses of the vendors' */
	struct get_packages packages;
	uint64_t size,
		size_all; /* bytes of the packages, and with the code of all GPUs; 0 = unknown */
	struct str lock, dir, environment;
	struct strs commands; /* they install it */
};
extern const struct json_field get_fields[]; /* rocsmith.get/1 */

/* Runs a module of a Python with these words ("pip install" and wheels), without the user's variables that would have pip
 * install elsewhere, or ask. */
MUST_USE struct err *get_python(
	struct arena *a, struct str program, const char *module, const struct strs *words);

/* lock.c: the text of a pylock.toml (PEP 751). local: files are named as those beside it, else by URL. */
struct str get_lock(struct arena *a, const struct get_done *d, bool local);

/* Finds the packages, and does with them what the request says; a dry run only finds them. A lock file is written last, so
 * what it names is there. E_USAGE for an environment whose torch serves an NVIDIA card of this machine. */
MUST_USE struct err *get_run(struct arena *a, const struct get_request *q, struct get_done *ret);

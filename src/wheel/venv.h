/* The distributions in a virtual environment, each with its device code. */
#pragma once

#include "devcode/devcode.h"

struct venv_dist {
	struct str name, version; /* as its dist-info folder has them */
	uint64_t files;           /* files with device code */
	uint64_t size, stored;    /* bytes of these files, and of the objects in them */
	struct strs served;       /* GPUs that every file serves, side files aside */
	bool asked;               /* there are files other than side files */
};

struct venv_dists {
	struct venv_dist *v;
	size_t n, cap;
};

/* d is a scan of the environment's folder. Distributions without device code are left out, and so are those whose RECORD
 * cannot be read. E_NOENT when there is no site-packages in lib/pythonX or Lib. */
MUST_USE struct err *venv_dists(
	struct arena *a, struct str dir, const struct devcode *d, struct venv_dists *ret);

/* Inside of source/: the two halves of fetching, for each kind of sources that is no folder. fetch.c does the
 * common part: the look for what is there already, the lock, the staged folder and its receipt. */
#pragma once

#include "source/fetch.h"

struct fetch {
	struct arena *a;
	const struct source_request *r;
	struct str cache;        /* FS_CACHE "source" */
	struct str files;        /* the folder that keeps archives */
	struct source_tree tree; /* package, version, ... and notes are set by get */
	struct strs paths;       /* of tree.files, "" = not there */
};

/* get: fetches and verifies the archives, and sets the facts in f->tree. fill: unpacks them into the folder `dir`,
 * which does not exist yet, with `scratch` as a folder for anything else. */
struct fetch_kind {
	struct err *(*get)(struct fetch *f);
	struct err *(*fill)(struct fetch *f, struct str scratch, struct str dir);
};
extern const struct fetch_kind fetch_debian, fetch_sdist;

/* ---- fill.c ---- */
/* Unpacks an archive (a .zip or a tar) into dir, which does not exist yet. If everything in it lies in one
 * folder, that folder becomes dir. */
MUST_USE struct err *fill_folder(
	struct arena *a, struct str archive, struct str scratch, struct str dir);
/* Unpacks an archive over a folder that exists, with all its names. */
MUST_USE struct err *fill_over(struct arena *a, struct str archive, struct str dir);
/* Applies the patches of debian/patches to the tree, as dpkg-source does it for "3.0 (quilt)". */
MUST_USE struct err *fill_patches(struct arena *a, struct str tree, struct strs *ret_applied);

extern const struct str sdist_driver; /* sdist.py */

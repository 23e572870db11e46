/* Inside of source/: the two halves of fetching, for each kind that is no folder. fetch.c does what all
 * have in common: what is there already, the lock, the place of the result, its record. */
#pragma once

#include "source/fetch.h"

struct fetch {
	struct arena *a;
	const struct source_request *r;
	struct str cache;        /* FS_CACHE "source" */
	struct str files;        /* where archives are kept */
	struct source_tree tree; /* package, version, ... and notes are set by get */
	struct strs paths;       /* of tree.files, "" = not there */
};

/* get: the archives, verified, and what they are. fill: what is in them, into the folder `dir`, which is
 * not there yet; works in the empty folder `scratch`. */
struct fetch_kind {
	struct err *(*get)(struct fetch *f);
	struct err *(*fill)(struct fetch *f, struct str scratch, struct str dir);
};
extern const struct fetch_kind fetch_debian, fetch_sdist;

/* ---- fill.c ---- */
/* What is in an archive (a .zip, or a tar) -> dir, which is not there yet; when all of it lies in one
 * folder, what is in that. */
MUST_USE struct err *fill_folder(
	struct arena *a, struct str archive, struct str scratch, struct str dir);
/* The same into a folder that is there, as it is. */
MUST_USE struct err *fill_over(struct arena *a, struct str archive, struct str dir);
/* Applies the patches of debian/patches to the tree, as dpkg-source does it for "3.0 (quilt)". */
MUST_USE struct err *fill_patches(struct arena *a, struct str tree, struct strs *ret_applied);

extern const struct str sdist_driver; /* sdist.py */

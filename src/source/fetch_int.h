/* The internals of source/: the two steps of fetching, for each kind of sources except folders. fetch.c does the common
 * part: it finds existing folders, takes the lock, and makes the staged folder and its receipt. */
#pragma once

#include "source/fetch.h"

struct fetch {
	struct arena *a;
	const struct source_request *r;
	struct str cache;        /* FS_CACHE "source" */
	struct str files;        /* the folder that keeps archives */
	struct source_tree tree; /* package, version, ... and notes are set by get */
	struct strs paths;       /* the paths of tree.files; "" = missing */
};

/* get: fetches and verifies the archives, and sets the facts in f->tree. fill: unpacks them into the folder `dir`,
 * which does not exist yet, and may use the folder `scratch` for temporary files. */
struct fetch_kind {
	struct err *(*get)(struct fetch *f);
	struct err *(*fill)(struct fetch *f, struct str scratch, struct str dir);
};
extern const struct fetch_kind fetch_debian, fetch_sdist, fetch_git;

/* ---- fill.c ---- */
/* The path from which the n-th archive can be unpacked: where others could exchange it after its hash was taken (the
 * user's file, or a link of apt into a mirror on this machine), a copy in the scratch folder that has the hash. */
MUST_USE struct err *fill_archive(
	const struct fetch *f, size_t n, struct str scratch, struct str *ret);
/* Unpacks an archive (a .zip or a tar) into dir, which does not exist yet. If everything in it lies in one
 * folder, that folder becomes dir. most: the limit of struct unpack_job; 0 = its default. */
MUST_USE struct err *fill_folder(
	struct arena *a, struct str archive, uint64_t most, struct str scratch, struct str dir);
/* Unpacks an archive into an existing folder, and keeps all its paths. */
MUST_USE struct err *fill_over(struct arena *a, struct str archive, struct str dir);
/* Applies the patches of debian/patches to the tree, as dpkg-source does for "3.0 (quilt)". */
MUST_USE struct err *fill_patches(struct arena *a, struct str tree, struct strs *ret_applied);

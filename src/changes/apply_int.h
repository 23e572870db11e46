/* Shared by the files that apply a set: collecting its outputs (collect.c) and their places (place.c), one output on its
 * way (put.c), signatures afterwards (sign.c), and the whole (apply.c). */
#pragma once

#include "base/pool.h"
#include "changes/changes.h"
#include "changes/manifest.h"

/* What happens at an output's place. */
enum put_what { PUT_NOTHING, PUT_NEW, PUT_OVER };

/* A look at a path. */
struct look {
	int why; /* nothing: errno */
	struct stat st;
};

struct put {
	const struct session *s;
	struct change *change;   /* NULL: a plain copy */
	struct made made;        /* the manifest's record-to-be */
	const struct made *old;  /* its record now, or NULL */
	struct str path;         /* absolute */
	struct str text;         /* for MADE_TEXT and MADE_LINK */
	struct str from;         /* for copies: the source's absolute path ... */
	struct stat like;        /* ... and stat */
	const struct look *seen; /* at path; NULL = nobody looked yet */
	uint64_t looked;         /* the time of the look at the source */
	struct sig there;        /* signature at path when it was examined */
	enum put_what what;
	unsigned mode; /* 0 = a new file's */
	uid_t uid;
	gid_t gid;
	bool is_link;       /* a link is at path */
	bool same_source;   /* for copies: the source is as the last run saw it */
	bool keep_original; /* the file there becomes the original */
	bool was_original;  /* the file there is the original, kept by a killed run */
	bool keep_aside;    /* the file there is our output, edited by somebody */
	bool unsure; /* looked at so soon after its last change that the signature proves nothing */
	bool done;
	bool failed; /* before anything was written; its error is the change's */
	struct err *error;
};

struct apply {
	struct session *s;
	struct change_set *t;
	struct str report;
	struct arena *a;
	struct pool *pool; /* for all steps */
	VEC(struct put) puts;
	struct map by_output; /* output -> index into puts plus one */
	struct map failed_outputs, failed_sources;
	struct map kept_sources; /* of outputs of earlier runs that stay */
	struct map parents;      /* folder of outputs -> struct parent_folder * */
	struct strs dirs;        /* folders to be made, parents first */
	struct map wanted;       /* folders that have an output, or are copies */
	struct map touched;      /* absolute folders whose entries changed */
	struct manifest next;
};

/* ---- place.c: the place of an output ---- */

/* Sets ret->made.output (free of links) and ret->path; an output that may not be written is an
 * error. place_find() follows a link at output itself. */
MUST_USE struct err *place_find(struct apply *p, struct str output, bool link, struct put *ret);
MUST_USE struct err *place_as_is(struct apply *p, struct str output, struct put *ret);
MUST_USE struct err *place_dir(struct apply *p, struct str dir); /* it is wanted, even if empty */

/* ---- collect.c ---- */

/* A put for each text of the set and, where the overlay gets them, for all other files. */
MUST_USE struct err *collect_puts(struct apply *p);
/* Does an output that this run did not make stay all the same? */
bool collect_keeps(const struct apply *p, const struct made *e);

/* ---- put.c: jobs of a pool; errors of one output stay in it ---- */

MUST_USE struct err *put_each(const struct apply *p, pool_fn *fn); /* all puts, side by side */
/* The same for work that changes folders: the puts of one folder go to one thread, as far as that is no more than its
 * share, since a folder lets in one thread at a time. */
MUST_USE struct err *put_by_folder(const struct apply *p, pool_fn *fn);

struct err *put_examine(struct arena *tmp, void *put);
/* Writes the new content beside its place (fs_temp_name). */
struct err *put_stage(struct arena *tmp, void *put);
struct err *put_commit(struct arena *tmp, void *put);
struct err *put_abandon(struct arena *tmp, void *put); /* removes content that was not committed */

/* ---- sign.c ---- */

/* Fills next.seen and the signatures of the puts from what is on disk now. */
MUST_USE struct err *sign_all(struct apply *p, bool wrote);

/* ---- undo.c: taking back what earlier runs did, one output or all ---- */
enum undo { UNDO_DONE, UNDO_NOT_THERE, UNDO_EDITED /* by somebody, since: it stays */ };

/* The output goes, or its original comes back; in a dry run neither. force: also when it was
 * edited. */
MUST_USE struct err *undo_one(const struct manifest *m, struct str base, const struct made *e,
	bool force, enum undo *ret);
/* Removes those of the manifest's folders that are not wanted (a map of paths, or NULL) and empty;
 * the others are added to next. */
MUST_USE struct err *undo_dirs(
	const struct manifest *m, struct str base, const struct map *wanted, struct manifest *next);

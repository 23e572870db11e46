/* Shared by the files that apply a result: one output on its way (put.c), and the whole (apply.c,
 * place.c, overlay.c, settle.c). */
#pragma once

#include "changes/changes.h"
#include "changes/manifest.h"

/* What becomes of an output. */
enum put_what { PUT_NOTHING, PUT_NEW, PUT_OVER };

struct put {
	const struct session *s;
	struct change *file;    /* NULL: a plain copy */
	struct made made;       /* what the manifest will say */
	const struct made *old; /* what it says now, or NULL */
	struct str path;        /* absolute */
	struct str text;        /* of MADE_TEXT */
	struct str from;        /* of copies: the absolute source */
	struct stat like;       /* of copies: the source's */
	uint64_t looked;        /* when */
	struct str staged;
	struct sig there; /* what was at path when it was looked at */
	enum put_what what;
	unsigned mode; /* 0 = that of a new file */
	uid_t uid;
	gid_t gid;
	bool is_link;       /* what is at path */
	bool same_source;   /* of copies: the source is as the last run saw it */
	bool keep_original; /* the file there becomes the original */
	bool was_original;  /* the file there is the original, kept by a killed run */
	bool keep_aside;    /* the file there is our output, edited by somebody */
	bool done;
	bool failed; /* before anything was written; its error is the file's */
	struct err *error;
};

struct apply {
	struct session *s;
	struct change_set *t;
	struct str report;
	struct arena *a;
	VEC(struct put) puts;
	struct map by_output; /* output -> index into puts plus one */
	struct map failed_outputs, failed_sources;
	struct map kept_sources; /* of outputs of earlier runs that stay */
	struct map parents;      /* folder of outputs -> struct parent * */
	struct strs dirs;        /* folders to be made, parents first */
	struct map wanted;       /* folders that have an output, or are copies */
	struct map touched;      /* absolute folders whose entries changed */
	struct manifest next;
};

/* Runs fn for each put, in some threads. */
MUST_USE struct err *apply_each(struct apply *p, struct err *(*fn)(struct arena *, void *));
/* Adds a put; a later one of the same output takes the place of an earlier one. */
void apply_add(struct apply *p, const struct put *put);

/* An output that this run did not make, and that stays all the same. */
bool apply_keeps(const struct apply *p, const struct made *e);

/* put.c: jobs of a pool; errors of one output stay in it */
struct err *put_look(struct arena *tmp, void *put);
struct err *put_stage(struct arena *tmp, void *put);
struct err *put_commit(struct arena *tmp, void *put);

/* place.c: where an output goes. Sets ret->made.output (free of links) and ret->path; an output
 * that may not be written is an error. A link at output itself is followed, or not. */
MUST_USE struct err *place_find(struct apply *p, struct str output, struct put *ret);
MUST_USE struct err *place_as_is(struct apply *p, struct str output, struct put *ret);
MUST_USE struct err *place_dir(struct apply *p, struct str dir); /* it is wanted, even if empty */

/* overlay.c: adds puts for all files that are not translated. */
MUST_USE struct err *overlay_add(struct apply *p);

/* settle.c: fills next.seen and the signatures of the puts from what is on disk now. */
MUST_USE struct err *settle(struct apply *p, bool wrote);

/* takeback.c */
enum taken { TAKEN_BACK, TAKEN_NOT_THERE, TAKEN_EDITED };
MUST_USE struct err *take_back(const struct manifest *m, struct str base, const struct made *e,
	bool force, enum taken *ret);
/* Removes those of the manifest's folders that are not wanted and empty; the others are added to
 * next. */
MUST_USE struct err *take_dirs(
	const struct manifest *m, struct str base, const struct map *wanted, struct manifest *next);

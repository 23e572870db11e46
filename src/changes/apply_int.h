/* Shared by the files that apply a change set: collect.c lists its outputs, place.c finds their paths, put.c writes
 * one output, sign.c records signatures afterwards, and apply.c drives them all. */
#pragma once

#include "base/pool.h"
#include "changes/manifest.h"

/* The write that an output needs: none, a new file, or a replacement. */
enum put_what { PUT_NOTHING, PUT_NEW, PUT_OVER };

struct put {
	const struct session *s;
	struct change *change;  /* NULL: a plain copy */
	struct made made;       /* the record that goes into the new manifest */
	const struct made *old; /* the record in the old manifest, or NULL */
	struct str path;        /* absolute */
	struct str text;        /* the content or link target; used with MADE_TEXT and MADE_LINK */
	struct str from;        /* copies only: the source's absolute path ... */
	struct stat like;       /* ... and its stat */
	uint64_t looked;        /* copies only: when the source was examined */
	struct sig there;       /* signature at path when it was examined */
	enum put_what what;
	unsigned mode; /* 0 = a new file's */
	uid_t uid;
	gid_t gid;
	bool is_link;       /* path is a link now */
	bool same_source;   /* copies only: the source is unchanged since the last run */
	bool keep_original; /* the file at path becomes the original */
	bool was_original;  /* the file at path is the original, also kept by a killed run */
	bool keep_aside;    /* the file at path is our output, edited by someone else */
	bool unsure; /* examined so soon after its last change that the signature proves nothing */
	bool done;
	bool failed; /* failed before anything was written; the error was moved to the change */
	struct err *error;
};

struct apply {
	struct session *s;
	struct change_set *t;
	struct str report;
	struct arena *a;
	struct pool *pool; /* serves all steps */
	VEC(struct put) puts;
	struct map by_output; /* output -> index into puts plus one */
	struct map failed_outputs, failed_sources;
	struct map kept_sources; /* sources of earlier outputs that stay */
	struct map parents;      /* folder of outputs -> struct parent_folder * */
	struct strs dirs;        /* folders to create, parents first */
	struct map wanted;       /* folders that contain an output or are copied */
	struct map touched;      /* absolute folders whose entries changed */
	struct manifest next;
};

/* ---- place.c: where an output goes ---- */

/* Set ret->made.output (free of links) and ret->path; an output that must not be written is an error. place_find()
 * also follows a link at the output's path in the source tree. */
MUST_USE struct err *place_find(struct apply *p, struct str output, struct put *ret);
MUST_USE struct err *place_as_is(struct apply *p, struct str output, struct put *ret);
MUST_USE struct err *place_dir(struct apply *p, struct str dir); /* keeps dir, even if empty */

/* ---- collect.c ---- */

/* Makes a put for each text of the set and, if the overlay copies them, for all other files. */
MUST_USE struct err *collect_puts(struct apply *p);
/* Does an output of an earlier run stay although this run did not produce it? */
bool collect_keeps(const struct apply *p, const struct made *e);

/* ---- put.c: jobs of a pool; the error of one output is stored in its put ---- */

MUST_USE struct err *put_each(const struct apply *p, pool_fn *fn); /* all puts, in parallel */
/* Like put_each(), for work that changes folders: the kernel locks a folder for each change, so the puts of one
 * folder go to one thread, in batches of at most that thread's share. */
MUST_USE struct err *put_by_folder(const struct apply *p, pool_fn *fn);

struct err *put_examine(struct arena *tmp, void *put);
/* Writes the new content beside its path, under fs_temp_name(). */
struct err *put_stage(struct arena *tmp, void *put);
struct err *put_commit(struct arena *tmp, void *put);
struct err *put_abandon(struct arena *tmp, void *put); /* removes content that was not committed */

/* ---- sign.c ---- */

/* Fills next.seen and the signatures of the puts from the present state of the disk. */
MUST_USE struct err *sign_all(struct apply *p, bool wrote);

/* ---- undo.c: undoes earlier runs, one output or all ---- */
enum undo { UNDO_DONE, UNDO_NOT_THERE, UNDO_EDITED /* edited by someone since: it stays */ };

/* Removes the output or restores its original; a dry run does neither. With `force`, an edited output is no
 * exception. */
MUST_USE struct err *undo_one(const struct manifest *m, struct str base, const struct made *e,
	bool force, enum undo *ret);
/* Removes the manifest's folders that are empty and not in `wanted` (a map of paths, or NULL); adds the others to
 * next. */
MUST_USE struct err *undo_dirs(
	const struct manifest *m, struct str base, const struct map *wanted, struct manifest *next);

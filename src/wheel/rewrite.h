/* A wheel made of other wheels: a rule decides about each of their members, and the result is written whole or not at
 * all. slim, split, merge and bundle are four such rules.
 *
 *     struct rewrite x = {.a = a, .to = path, .jobs = jobs};
 *     rewrite_from(&x, &wheel);
 *     struct err *e = rewrite_begin(&x);
 *     e = e ? e : rewrite_each(&x, rule, user);
 *     rewrite_text(&x, "METADATA", text);
 *     e = e ? e : rewrite_write(&x);
 *     return rewrite_end(&x, e);
 */
#pragma once

#include "base/fs_stage.h"
#include "wheel/archive.h"

struct rewrite {
	struct arena *a;
	/* A hidden folder beside `to` for new contents, until they are packed; a killed run's is removed by the next one.
	 * "" in a dry run. */
	struct str scratch;
	struct fs_stage stage;
	struct str to; /* path of the new wheel */
	uint32_t time; /* timestamp of all members, in the form of zip_member.time, or 0 */
	int64_t epoch; /* the time of all members if `time` is 0; see wheel_epoch() */
	unsigned jobs;
	const struct slim_keep *keep; /* the code that rewrite_slim() leaves */
	struct slim_report *report;   /* its results, which become the cut list; NULL: none */
	struct wheel_inputs in,
		out;      /* old members; new ones so far, and the new dist-info folder */
	size_t at, files; /* index of the current member; number of scratch files so far */
	uint64_t size;    /* bytes of the new wheel's file; 0 before it is written */
};

/* Makes the scratch folder; E_LOCKED if another run makes the same wheel. */
MUST_USE struct err *rewrite_begin(struct rewrite *x);
/* A member of a wheel, to be copied with its compressed bytes. */
struct zip_input wheel_input(const struct wheel *w, const struct wheel_member *m);
/* Makes w the old wheel: all of its members, its dist-info folder, and the time of its first member that has one. */
void rewrite_from(struct rewrite *x, const struct wheel *w);

/* Decides what becomes of a member: changes *in, or clears its name to leave it out. */
typedef struct err *rewrite_rule(void *user, struct rewrite *x, struct zip_input *in);
/* RECORD and its signatures are passed over: rewrite_write() makes a new one. */
MUST_USE struct err *rewrite_each(struct rewrite *x, rewrite_rule *rule, void *user);
struct str rewrite_file(struct rewrite *x); /* path of the next scratch file */
/* Makes the file `path` the content of a member. */
void rewrite_content(struct zip_input *in, struct str path);
/* Is it this text of the new dist-info folder ("METADATA")? */
bool rewrite_is(const struct rewrite *x, const struct zip_input *in, const char *file);
/* Adds a text to the dist-info folder, or replaces the one of that name. */
void rewrite_text(struct rewrite *x, const char *file, struct str text);
/* Takes the code of other GPUs out of a member; a side file that is for other GPUs only (with `side`) is left out as a
 * whole. Files that cannot be read stay as they are. */
MUST_USE struct err *rewrite_slim(struct rewrite *x, struct zip_input *in, bool side);
/* Writes the wheel with a new RECORD, and the cut list if anything was removed; in a dry run it does nothing. */
MUST_USE struct err *rewrite_write(struct rewrite *x);
/* Removes the scratch folder; returns e, or the error of that. */
MUST_USE struct err *rewrite_end(struct rewrite *x, struct err *e);

/* ---- METADATA ---- */
/* The normalised name of the project that a Requires-Dist header asks for; "" for other headers and broken ones. */
struct str wheel_requires(struct arena *a, const struct dist_header *h);
/* Adds lines of headers behind the last header. */
struct str wheel_with(struct arena *a, struct str text, struct str lines);
/* Removes the headers that are `gone`; all other bytes of the text stay. */
typedef bool wheel_gone(void *user, struct arena *a, const struct dist_header *h);
MUST_USE struct err *wheel_without(
	struct arena *a, struct str text, wheel_gone *gone, void *user, struct str *ret);

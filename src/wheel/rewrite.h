/* A wheel made of other wheels: a rule decides about each of their members, and the result is written whole or not at
 * all. slim, split, merge and bundle are four such rules.
 *
 *     struct rewrite x = {.a = a, .scratch = dir, .to = path, .time = wheel_time(&w), .out.info = w.info};
 *     TRY(rewrite_each(&x, &inputs, rule, user));
 *     rewrite_text(&x, "METADATA", text);
 *     TRY(rewrite_write(&x));
 */
#pragma once

#include "wheel/archive.h"

struct rewrite {
	struct arena *a;
	struct str scratch; /* a folder for new contents, until they are packed */
	struct str to;      /* path of the new wheel */
	uint32_t time;      /* timestamp of all members, in the form of zip_member.time, or 0 */
	int64_t epoch;      /* the time of all members if `time` is 0; see wheel_epoch() */
	unsigned jobs;
	uint64_t budget;         /* see struct zip_writer */
	struct wheel_inputs out; /* members so far; out.info: the new dist-info folder */
	size_t at, files;        /* index of the current member; number of scratch files so far */
	uint64_t size;           /* bytes of the new wheel's file; 0 before it is written */
};

/* A member of a wheel, to be copied with its compressed bytes; all of them, in the wheel's order. */
struct zip_input wheel_input(const struct wheel *w, const struct wheel_member *m);
struct wheel_inputs rewrite_inputs(struct arena *a, const struct wheel *w);
/* The time of its first member that has one. */
uint32_t wheel_time(const struct wheel *w);

/* Decides what becomes of a member: changes *in, or clears its name to leave it out. */
typedef struct err *rewrite_rule(void *user, struct rewrite *x, struct zip_input *in);
/* RECORD and its signatures are passed over: rewrite_write() makes a new one. */
MUST_USE struct err *rewrite_each(
	struct rewrite *x, const struct wheel_inputs *in, rewrite_rule *rule, void *user);
struct str rewrite_file(struct rewrite *x); /* path of the next scratch file */
/* Makes the file `path` the content of a member. */
void rewrite_content(struct zip_input *in, struct str path);
/* Adds a text to the dist-info folder, or replaces the one of that name. */
void rewrite_text(struct rewrite *x, const char *file, struct str text);
/* Takes the code of other GPUs out of a member, and adds it to the report r. Files that cannot be read stay as they
 * are. */
MUST_USE struct err *rewrite_slim(struct rewrite *x, const struct slim_keep *keep,
	struct slim_report *r, struct zip_input *in);
/* Adds the cut list to the dist-info folder, if anything was removed. */
void rewrite_cut_list(struct rewrite *x, const struct slim_report *r);
/* Writes the wheel with a new RECORD; in a dry run it does nothing. */
MUST_USE struct err *rewrite_write(struct rewrite *x);

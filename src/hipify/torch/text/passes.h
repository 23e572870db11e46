/* The passes of torch_text(): each is a step from a text to a text.
 *
 * A step allocates scratch memory and its result from the arena it is given, and returns its input
 * text if there is nothing to do. Only text.c calls them.
 */
#pragma once

#include "hipify/torch/text/text.h"

/* ---- match.c: finds the keys of a name table, as the two regular expressions of hipify do ----
 *
 * One is (?<=\W)(KEYS)(?=\W): leftmost, and at one place the longest key that is followed by \W. The
 * other has no such borders: leftmost, longest. Keys may hold any bytes. A matcher points into the
 * table's entries, never changes once it is made, and is shared by threads.
 */
struct torch_matcher;

struct torch_hit {
	size_t from, to;
	const struct torch_entry *entry;
};

/* With `words`, keys need both borders. Empty keys are left out: no match of theirs would matter. */
struct torch_matcher *torch_matcher_new(struct arena *a, const struct torch_map *map, bool words);
/* Finds the first match at or after `at`. To continue like re.sub(), call again with at = ret->to. */
bool torch_find(const struct torch_matcher *m, struct str text, size_t at, struct torch_hit *ret);

/* ---- trace.c: edits of several passes, composed into one list against the first text ----
 *
 * struct torch_pass writes the new text of one pass as its edits arrive. At the end of the pass the
 * trace merges them into the edits of earlier passes, so that applying the composed list to the source
 * gives exactly the last text. A later edit inside an earlier replacement is merged into that edit,
 * which keeps the reasons of both.
 */
struct torch_patch {
	size_t from, to;
	struct str with;                 /* copied */
	const struct torch_entry *entry; /* the table entry behind it, or NULL */
};

struct torch_edits VEC_OF(struct hipify_edit);

struct torch_trace {
	struct arena *a;
	struct str source;
	struct torch_edits pass;  /* edits of the current pass, in offsets of its input */
	struct torch_edits done;  /* composed edits, in offsets of source; lines not yet set */
	struct torch_edits spare; /* room for the next composition */
};

/* Called after the last pass: stores the composed edits and their lines in ret, without those that
 * changed nothing in the end. */
void torch_trace_end(struct torch_trace *t, struct hipify_text *ret);

struct torch_pass {
	struct arena *a;
	struct str text;
	struct torch_trace *trace; /* may be NULL */
	const char *kind;
	struct buf out; /* the new text so far; .p NULL = no edit yet */
	size_t done;    /* the length of the part of text that is in out already */
};

struct torch_pass torch_pass_begin(
	struct arena *a, struct str text, struct torch_trace *trace, const char *kind);
/* Edits must arrive in text order and not overlap. */
void torch_pass_edit(struct torch_pass *p, struct torch_patch patch);
/* Returns the new text, in the pass's arena, or the input text if nothing was edited. */
struct str torch_pass_end(struct torch_pass *p);

/* ---- passes.c, directive.c, launch.c: the steps ---- */

/* Plain replacements, made one after another over the whole text (str.replace in a loop). */
struct torch_replaces {
	struct torch_map map;
	struct torch_matcher *matcher;
};

struct torch_engine {
	enum torch_generation generation;
	struct torch_matcher *names, *caffe2;
	struct map special; /* key -> struct torch_entry *, which replaces the entry in names */
	struct torch_replaces paths, math, cmake;
	struct torch_matcher *marks;        /* texts that mark device code */
	const struct torch_entry *bad_path; /* a mapping whose backslash re.sub() would interpret */
};

struct torch_step {
	const struct torch_engine *e;
	const struct torch_job *j;
	struct torch_trace *trace; /* may be NULL */
};

typedef struct err *torch_step_fn(
	const struct torch_step *s, struct arena *a, struct str text, struct str *ret);

torch_step_fn torch_step_names, torch_step_paths, torch_step_cmake, torch_step_math;
torch_step_fn torch_step_includes, torch_step_runtime; /* directive.c */

/* Rewrites kernel launches as processKernelLaunches() of PyTorch's hipify does: doc/hipify.md, Launches.
 * Linear if launches do not overlap and their texts occur nowhere else, which is nearly always so.
 * Otherwise the whole text is searched for each of them, as in the original, within a budget of 4 GiB
 * per text (a thousand launches in 4 MiB). E_HIPIFY beyond that, and for a text that such
 * launches, or those without "(", would grow beyond 16 times its size and 1 MiB. *ret is text itself if nothing changes. */
MUST_USE struct err *torch_launches(
	struct arena *a, struct str text, struct torch_trace *trace, struct str *ret);

/* The passes of torch_text(), one after another; each is a step from a text to a text.
 *
 * A step takes scratch memory and its result from the arena it is given, and gives back the text it
 * got when there is nothing to do. Only text.c calls them.
 */
#pragma once

#include "base/buf.h"
#include "base/vec.h"
#include "hipify/hipify.h"
#include "hipify/torch/model/tables.h"
#include "hipify/torch/text/text.h"

/* ---- match.c: finds the keys of a name table, as the two regular expressions of hipify do ----
 *
 * One is (?<=\W)(KEYS)(?=\W): leftmost; at one place the longest key that has a \W behind it, and
 * shorter ones when a longer has none. The other has no such borders: leftmost, longest. Keys may
 * hold any bytes. A matcher keeps views of the table's entries, is never changed after it was made
 * and is shared by threads. Time: about one cycle per byte where nothing begins like a key.
 */
struct torch_matcher;

struct torch_hit {
	size_t from, to;
	const struct torch_entry *entry;
};

/* words: with borders. An empty key is left out: it could match nowhere that matters. */
struct torch_matcher *torch_matcher_new(struct arena *a, const struct torch_map *map, bool words);
/* The first hit at or behind `at`. To go on like re.sub(), call again with at = ret->to. */
bool torch_find(const struct torch_matcher *m, struct str text, size_t at, struct torch_hit *ret);

/* ---- trace.c: edits of several passes, composed into one list against the first text ----
 *
 * struct torch_pass writes the new text of one pass while edits come in. At its end the trace folds
 * them into what earlier passes did, so that applying the composed list to the source gives the
 * last text exactly. Edits of a later pass inside the replacement of an earlier one join it; the
 * reasons of all are kept.
 */
struct torch_patch {
	size_t from, to;
	struct str with;                 /* is copied */
	const struct torch_entry *entry; /* NULL = no table is behind it */
};

struct torch_edits {
	struct hipify_edit *v;
	size_t n, cap;
};

struct torch_trace {
	struct arena *a;
	struct str source;
	struct torch_edits pass;  /* edits of the running pass, against its input */
	struct torch_edits done;  /* composed so far, against source; lines are not set yet */
	struct torch_edits spare; /* room for the next composition */
};

/* All passes are over: gives the edits with their lines. Those that change nothing in the end are
 * left out. */
void torch_trace_end(struct torch_trace *t, struct hipify_text *ret);

struct torch_pass {
	struct arena *a;
	struct str text;
	struct torch_trace *trace; /* may be NULL */
	const char *kind;
	struct buf out; /* the new text so far; .p NULL = there was no edit */
	size_t done;    /* up to here the text is in it */
};

struct torch_pass torch_pass_begin(
	struct arena *a, struct str text, struct torch_trace *trace, const char *kind);
/* Edits come in the order of the text and do not overlap. */
void torch_pass_edit(struct torch_pass *p, struct torch_patch patch);
/* The new text, in the pass's arena; the text it got when nothing was edited. */
struct str torch_pass_end(struct torch_pass *p);

/* ---- passes.c, directive.c, launch.c: the steps ---- */

/* Plain replacements, made one after another over the whole text (str.replace in a loop). */
struct torch_replaces {
	struct torch_map map;
	struct torch_matcher *matcher;
	bool apart; /* no replacement makes or hides a key: what is not there at first never
		       comes */
};

struct torch_engine {
	enum torch_generation generation;
	struct torch_matcher *names, *caffe2;
	struct map special; /* key -> struct torch_entry *, instead of that of names */
	struct torch_replaces paths, math, cmake;
	struct torch_matcher *marks;        /* texts that tell device code */
	const struct torch_entry *bad_path; /* a mapping that Python would take as a template */
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

/* Kernel launches as processKernelLaunches() of PyTorch's hipify does them: doc/hipify.md, Launches.
 * Linear where launches stand apart from each other and nowhere else in the text, which is nearly
 * always so. Else each is searched for in the whole text, as the original does it: 4 GiB may be
 * searched for one text, a thousand launches in 4 MiB. More is E_HIPIFY, and so is a text that
 * launches without "(" would make larger than 128 MiB. *ret is text itself when nothing is done. */
MUST_USE struct err *torch_launches(
	struct arena *a, struct str text, struct torch_trace *trace, struct str *ret);

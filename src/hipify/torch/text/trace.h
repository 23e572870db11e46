/* Edits of several passes, composed into one list against the first text.
 *
 * struct torch_pass writes the new text of one pass while edits come in. At its end the trace folds
 * them into what earlier passes did, so that applying the composed list to the source gives the
 * last text exactly. Edits of a later pass inside the replacement of an earlier one join it;
 * reasons are kept of all.
 */
#pragma once

#include "base/buf.h"
#include "base/vec.h"
#include "hipify/hipify.h"
#include "hipify/torch/model/tables.h"

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
	struct torch_edits pass;  /* of the running pass, against its input */
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

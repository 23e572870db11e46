/* Edits of several passes, composed into one list against the first text.
 *
 * Each pass reports its edits in the order of its own input; torch_trace_pass() folds them into
 * what earlier passes did, so that applying the composed list to the source gives the last text
 * exactly. Edits of a later pass inside the replacement of an earlier one join it; reasons are kept
 * of all.
 */
#pragma once

#include "base/vec.h"
#include "hipify/hipify.h"
#include "hipify/torch/tables.h"

struct torch_trace {
	struct arena *a;
	struct str source;
	VEC(struct hipify_edit) done; /* composed so far, against source */
	VEC(struct hipify_edit) pass; /* of the running pass, against its input */
};

/* NULL trace: nothing happens. kind: "launch"; entry: NULL when no table is behind it. */
void torch_trace_edit(struct torch_trace *t, size_t from, size_t to, struct str with,
	const char *kind, const struct torch_entry *entry);
void torch_trace_pass(struct torch_trace *t); /* the running pass is over */

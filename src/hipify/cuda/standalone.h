/* The translation of mode standalone over a folder; see hipify.h. */
#pragma once

#include "changes/view.h"
#include "hipify/hipify.h"

/* Fills ret->changes, with texts where something is to be written, and the rest of ret. */
MUST_USE struct err *standalone_run(struct arena *a, const struct hipify_options *o,
	const struct view *view, struct hipify_tree *ret);

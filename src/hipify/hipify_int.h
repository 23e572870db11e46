/* The parts of a run that run.c puts together. Private to hipify/. */
#pragma once

#include "hipify/hipify.h"

/* ---- cuda/tree.c: mode standalone over a folder ---- */
/* Fills ret->changes, with texts where something is to be written, and the rest of ret. */
MUST_USE struct err *standalone_run(struct arena *a, const struct hipify_options *o,
	const struct view *view, struct hipify_tree *ret);

/* ---- report/saved.c: what a run reports besides its changes, as bytes ---- */
/* Kept in the manifest, so that a run that has nothing to do can still tell it. */
/* Of t: the names left untranslated, the findings and the headers. */
struct str report_save(struct arena *a, const struct hipify_tree *t);
/* Texts are used where they lie. E_CORRUPT when they are no such bytes. */
MUST_USE struct err *report_load(struct arena *a, struct str bytes, struct hipify_tree *ret);

/* What a run reports besides its changes, as bytes: kept in the manifest, so that a run that has
 * nothing to do can still tell it. */
#pragma once

#include "hipify/hipify.h"

/* Of t: the names left untranslated, the findings and the headers. */
struct str report_save(struct arena *a, const struct hipify_tree *t);
/* Texts are used where they lie. E_CORRUPT when they are no such bytes. */
MUST_USE struct err *report_load(struct arena *a, struct str bytes, struct hipify_tree *ret);

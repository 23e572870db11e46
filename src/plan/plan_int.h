/* What the files of plan/ share: the plain members of a plan's JSON form, one table for writing and
 * for reading; and a step of making a plan. Private to plan/. */
#pragma once

#include "plan/plan.h"

/* A word is an enum whose values count from one in the list of words; 0 is "". */
enum plan_kind { PLAN_TEXT, PLAN_LIST, PLAN_BOOL, PLAN_WORD };

struct plan_field {
	const char *section; /* member of the top object that holds it, or NULL */
	const char *key;
	enum plan_kind kind;
	size_t off;
	const char *const *words;
};

extern const struct plan_field plan_fields[]; /* grouped by section; ends with key = NULL */
extern const char *const plan_lang_names[];   /* by enum plan_lang; NULL-terminated */
/* targets_parse() without those that no compiler knows any more: E_GFX. */
MUST_USE struct err *plan_targets(struct arena *a, const struct strs *words, struct targets *ret);
/* What only the translation of the sources tells: adds the SDK components of the library headers that
 * they include, and the libraries to link. Reads the sources, writes nothing. */
MUST_USE struct err *plan_needs(struct arena *a, struct plan *p);
#define PLAN_SCHEMA "rocsmith.plan/1"

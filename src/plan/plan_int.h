/* The steps of making a plan, each in a file of its own; plan.c takes them in order. Private to
 * plan/.
 */
#pragma once

#include "plan/project.h"
#include "plan/scan.h"

/* What was found in a source and in the headers of the project that it reaches. */
struct source_facts {
	struct strs modules;
	uint32_t limited_api;
	bool python; /* includes Python.h */
	bool has_main;
};

/* ---- explain.c ---- */
/* Adds or replaces the reason for subject. */
void plan_explain(struct arena *a, struct plan *p, const char *subject, struct str choice,
	const char *why, ...) PRINTF(5, 6);

/* ---- sources.c ---- */
/* Fills plan->sources, headers, external and the facts, one of each source. E_PROJECT, E_LIMIT. */
MUST_USE struct err *sources_find(
	struct arena *a, const struct project *p, struct plan *plan, struct source_facts **ret);

/* ---- modules.c ---- */
/* Fills plan->python_dir, python_files. */
MUST_USE struct err *python_find(struct arena *a, const struct project *p, struct plan *plan);
/* Fills plan->modules and the Python tags; needs host, python_files. E_MODULE. */
MUST_USE struct err *modules_find(struct arena *a, const struct project *p,
	const struct source_facts *facts, struct plan *plan);

/* ---- needs.c ---- */
/* What only the translation of the sources tells: adds the SDK components of the library headers
 * that they include, and the libraries to link. Reads the sources, writes nothing. */
MUST_USE struct err *plan_needs(struct arena *a, struct plan *p);

/* ---- plan.c ---- */
/* targets_parse() without those that no compiler knows any more: E_GFX. */
MUST_USE struct err *plan_targets(struct arena *a, const struct strs *words, struct targets *ret);

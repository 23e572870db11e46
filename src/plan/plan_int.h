/* The steps of making a plan, each in a file of its own; plan.c takes them in order. Private. */
#pragma once

#include "formats/node.h"
#include "plan/plan.h"

/* The project description: rocsmith.yaml as the user wrote it, or what stands in for it. Keys are
 * checked strictly; each value keeps its place in the file, so that what is found wrong later (a
 * pattern that matches nothing, an unknown GPU) is reported there. */
struct project {
	struct str dir;          /* absolute */
	struct str file;         /* the description, "" = none */
	const struct node *root; /* of the description, or NULL */
	struct str name, version, summary, license, requires_python;
	struct str sdk, abi3, into, package, data_dir;
	struct strs includes, libraries, defines, flags, gpus, components, requires;
	struct str build_system; /* of the section `build`, as are these */
	struct strs build_requires, build_options, build_env;
	struct hipify_options hipify;
};

/* What a C++ or CUDA source says about itself, without compiling it: modules that it defines
 * (PyInit_NAME, PYBIND11_MODULE, NB_MODULE), headers that it includes, the stable-ABI level. All
 * conditions but `#if 0` count as true: too many includes do no harm. It never fails. */
struct scan_include {
	struct str name; /* as written, without the quotes or brackets */
	bool quoted;
};

struct cxx_scan {
	struct strs modules; /* NAME of each module definition */
	VEC(struct scan_include) includes;
	uint32_t limited_api; /* value of #define Py_LIMITED_API: 0x03080000; 0 = not defined */
	bool has_main;        /* defines main() */
};

void scan_text(struct arena *a, struct str text, struct cxx_scan *ret);
/* "0x03080000" or "3" -> hex version of the stable ABI; 0 when it is no number. */
uint32_t scan_api_level(struct str text);

/* What was found in a source and in the headers of the project that it reaches. */
struct source_facts {
	struct strs modules;
	uint32_t limited_api;
	bool python; /* includes Python.h */
	bool has_main;
};

/* ---- project.c ---- */
/* config "" = DIR/rocsmith.yaml when it exists. */
MUST_USE struct err *project_read(
	struct arena *a, struct str dir, struct str config, struct project *ret);
/* The files or patterns below `key`, a list (a single one counts as a list of one); NULL when the
 * key is absent. */
MUST_USE struct err *project_list(
	struct arena *a, const struct node *map, const char *key, const struct node **ret);
/* An error at the value of a top-level key, or at the description, or without a place. */
MUST_USE struct err *project_error(const struct project *p, struct str key, enum errcode code,
	const char *fmt, ...) PRINTF(4, 5);

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

/* ---- foreign.c ---- */
/* Whose build system it is, and for another one than ours what it needs: fills plan->foreign, name,
 * version. E_PROJECT, E_USAGE. */
MUST_USE struct err *foreign_choose(
	struct arena *a, const struct plan_request *r, const struct project *p, struct plan *plan);

/* ---- plan.c ---- */
/* targets_parse() without those that no compiler knows any more: E_GFX. */
MUST_USE struct err *plan_targets(struct arena *a, const struct strs *words, struct targets *ret);

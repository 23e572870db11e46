/* The steps of making a plan, each in a file of its own; plan.c takes them in order. Private. */
#pragma once

#include "formats/node.h"
#include "plan/plan.h"

/* When something of a description holds: all that is said must be so. */
struct when {
	struct str version;                 /* of the project, a range: ">=2.8" */
	struct strs gfx, gfx_any, gfx_none; /* patterns: every GPU is one, some, none */
	struct strs sdk;                    /* patterns of "debian:sid", "prefix:/opt/rocm" */
	struct strs sdk_lacks;              /* files that a prefix does not have */
	struct strs machine, machine_none;  /* patterns of "x86_64" */
	struct strs file, absent;           /* of the sources: there, not there */
	struct strs with,
		without; /* "NAME" or "NAME=CHOICE" of features: chosen (NAME: "on"), not */
};

/* What a project needs under some condition. */
struct need {
	struct when when;
	struct strs components, env, requires;
	struct str libc;        /* "sdk": not this machine's */
	struct str write, text; /* a file of the copy */
	struct strs configure;  /* as in struct plan_foreign */
	struct str cmake;
	struct str why;
};

struct feature_choice {
	struct str is; /* "on" */
	struct strs env, components;
	struct strs precompile; /* as in struct plan_foreign */
};

/* Either makes a choice impossible, or, as the first that holds, is the default. */
struct feature_rule {
	struct str choose, refuse, why, source;
	struct when when;
};

struct project_feature {
	struct str name, about;
	struct str versions; /* that have it; "" = all */
	struct str env;      /* USE_X: choices on and off, USE_X=1 and USE_X=0 */
	struct str like;     /* the rules of that one */
	VEC(struct feature_choice) choices;
	VEC(struct feature_rule) rules;
};

struct release {
	struct str version, python, torch; /* ranges: of itself, and of what fits it */
};

struct origin {
	struct str version; /* range, or the one that it is */
	struct str word;    /* as --source takes it */
	bool upstream;      /* without the patches of the distribution */
	struct str git, ref;
};

struct version_place {
	struct str file, behind; /* behind: a text in front of it, "" = the beginning */
};

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
	/* What mostly known projects need: */
	bool known;
	struct source_tree tree;
	struct source_packages packages; /* of the project's own metadata: foreign_choose() */
	struct strs marks;               /* files that tell its sources */
	struct strs after;               /* projects that it is built against */
	struct plan_cost cost;
	struct str device, kernels; /* "none": what is built needs no GPU code, may do without it */
	VEC(struct version_place) version_from;
	VEC(struct origin) origins;
	VEC(struct release) releases;
	VEC(struct need) needs;
	VEC(struct project_feature) features;
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

/* ---- plan_json.c ---- */
extern const struct json_field plan_cost_fields[];

/* ---- project.c ---- */
/* config "" = DIR/rocsmith.yaml when it exists; text: that of `config`, when .p is not NULL. */
struct description {
	struct str dir, config, text;
	bool known;              /* a known project, whose sources are in dir */
	struct source_tree tree; /* what dir is, when it was fetched */
};
MUST_USE struct err *project_read(
	struct arena *a, const struct description *d, struct project *ret);
/* The files or patterns below `key`, a list (a single one counts as a list of one); NULL when the
 * key is absent. */
MUST_USE struct err *project_list(
	struct arena *a, const struct node *map, const char *key, const struct node **ret);
/* An error at the value of a top-level key, or at the description, or without a place. */
MUST_USE struct err *project_error(const struct project *p, struct str key, enum errcode code,
	const char *fmt, ...) PRINTF(4, 5);

bool project_name_valid(struct str s); /* as PEP 508 has it */

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
/* Fills plan->modules, python_headers and the Python tags; needs host, python_files. E_MODULE. */
MUST_USE struct err *modules_find(struct arena *a, const struct project *p,
	const struct source_facts *facts, struct plan *plan);

/* ---- needs.c ---- */
/* What only the translation of the sources tells: adds the SDK components of the library headers
 * that they include, and the libraries to link. Reads the sources, writes nothing. */
MUST_USE struct err *plan_needs(struct arena *a, struct plan *p);

/* ---- known.c ---- */
/* Where project and description are: fills *ret from the request. E_USAGE, E_PLAN. */
MUST_USE struct err *known_resolve(
	struct arena *a, const struct plan_request *r, struct description *ret);
/* Are these the sources of the description? E_PROJECT when not; else the version. */
MUST_USE struct err *known_check(struct arena *a, const struct project *p, struct str *ret_version);
/* Do Python and torch of the plan fit this release? E_PLAN. */
MUST_USE struct err *known_fits(struct arena *a, const struct project *p, const struct plan *plan);
/* The version in the name of the torch among these wheels, without the local part; "" = none. */
struct str known_torch(const struct strs *with);

/* ---- libc.c ---- */
/* The SDK's C library, when the torch of the plan was built against a newer one than this machine's. */
void libc_choose(struct arena *a, struct plan *plan);

/* ---- suffix.c ---- */
/* Completes the version by what it is built for, also in the environment. */
MUST_USE struct err *suffix_choose(
	struct arena *a, const struct plan_request *r, struct plan *plan);
/* Fills plan->here, and puts in what it says. */
void suffix_meet(struct arena *a, struct plan *plan);

/* ---- when.c ---- */
/* Is the version in the range? One that is not known ("") is in every one. */
MUST_USE struct err *when_version(struct arena *a, struct str version, struct str range, bool *ret);
/* *ret: does all of it hold for the plan, as far as it is made? */
MUST_USE struct err *when_holds(
	struct arena *a, const struct when *w, const struct plan *plan, bool *ret);

/* ---- features.c ---- */
/* Fills plan->features, and what follows of them and of the needs: environment, SDK components, libc.
 */
MUST_USE struct err *features_choose(
	struct arena *a, const struct plan_request *r, const struct project *p, struct plan *plan);

/* ---- foreign.c ---- */
/* Whose build system it is, and for another one than ours what it needs: fills plan->foreign, name,
 * version, p->packages. E_PROJECT, E_USAGE. */
MUST_USE struct err *foreign_choose(
	struct arena *a, const struct plan_request *r, struct project *p, struct plan *plan);

/* ---- plan.c ---- */
/* targets_parse() without what no compiler takes, alone or together: E_GFX. */
MUST_USE struct err *plan_targets(struct arena *a, const struct strs *words, struct targets *ret);

/* Private to plan/: the steps of making a plan, each in a file of its own. plan.c runs them in order. */
#pragma once

#include "formats/node.h"
#include "plan/plan.h"
#include "source/gpu.h"

/* The conditions of a part of a description; all that are given must hold. */
struct when {
	struct str version;                 /* range of the project's version: ">=2.8" */
	struct strs gfx, gfx_any, gfx_none; /* patterns that each, some, no GPU matches */
	struct strs sdk;                    /* patterns of "debian:sid", "prefix:/opt/rocm" */
	struct strs sdk_lacks;              /* files that the SDK, a prefix, does not have */
	struct strs machine, machine_none;  /* patterns of machines, "x86_64" */
	struct strs file, absent;           /* files that the sources have, do not have */
	/* "NAME=CHOICE" of features decided before: chosen, not chosen; "NAME" means "NAME=on" */
	struct strs with, without;
};

/* Things that a project needs under some condition. */
struct need {
	struct when when;
	struct strs components, env, requires, options;
	struct str libc;        /* "sdk": use the SDK's libc, not this machine's */
	struct str write, text; /* a file to be written into the copy */
	struct strs configure;  /* see struct plan_foreign */
	struct str cmake;
	struct str why;
};

struct feature_choice {
	struct str is; /* "on" */
	struct strs env, components;
	struct strs precompile; /* see struct plan_foreign */
};

/* Makes a choice impossible (refuse), or names the default (choose). The first rule that holds and chooses wins. */
struct feature_rule {
	struct str choose, refuse, why, source;
	struct when when;
};

struct project_feature {
	struct str name, about;
	struct str versions; /* range of the versions that have it; "" = all */
	struct str env;      /* USE_X: the choices are on and off, for USE_X=1 and USE_X=0 */
	struct str like;     /* the feature whose rules this one uses */
	VEC(struct feature_choice) choices;
	VEC(struct feature_rule) rules;
};

struct release {
	struct str version, python, torch; /* ranges: of the project, and of what fits it */
};

struct origin {
	struct str version; /* range of versions available there */
	struct str word;    /* the value for --source */
	bool upstream;      /* leave out the patches of the distribution */
	struct str git, ref;
};

struct version_place {
	struct str file, behind; /* behind: the text before the version; "" = none */
};

/* The project description: rocsmith.yaml as the user wrote it, or defaults if there is none. Keys are checked strictly;
 * each value keeps its place in the file, so that a later error (a pattern that matches nothing, an unknown GPU) is
 * reported there. */
struct project {
	struct str dir;          /* absolute */
	struct str file;         /* the description, "" = none */
	const struct node *root; /* top of the description, or NULL */
	struct str name, version, summary, license, requires_python;
	struct str sdk, abi3, into, package, data_dir;
	struct strs includes, libraries, defines, flags, gpus, components, requires;
	/* The section `build`: */
	struct str build_system;
	struct strs build_requires, build_options, build_env, build_allow;
	struct hipify_options hipify;
	/* Mostly for known projects: */
	bool known;
	struct source_tree tree;
	struct source_packages packages; /* from the project's own metadata: foreign_choose() */
	struct strs marks;               /* files that identify its sources */
	struct strs after;               /* projects that it is built against */
	struct plan_cost cost;
	struct str device, kernels; /* "none": the result has no device code; may lack it */
	VEC(struct version_place) version_from;
	VEC(struct origin) origins;
	VEC(struct release) releases;
	VEC(struct need) needs;
	VEC(struct project_feature) features;
};

struct scan_include {
	struct str name; /* as written, without the quotes or brackets */
	bool quoted;
};

/* The facts about a C++ or CUDA source that a scan finds without compiling it: modules that it defines (PyInit_NAME,
 * PYBIND11_MODULE, NB_MODULE), headers that it includes, the stable-ABI level. All conditions but `#if 0` count as
 * true, since too many includes do no harm. A scan never fails. */
struct cxx_scan {
	struct strs modules; /* NAME of each module definition */
	VEC(struct scan_include) includes;
	uint32_t limited_api; /* value of #define Py_LIMITED_API: 0x03080000; 0 = not defined */
	bool has_main;        /* defines main() */
	bool kernels; /* has __global__, or headers whose functions are kernels: thrust, cub */
	bool gpu;     /* includes headers of CUDA or HIP */
	bool python;  /* a source with its headers, see sources_find(): it includes Python.h */
};

/* A file of the project that was read for a plan: plan.scans has them by path, for all steps that need its text, which
 * stands first for that reason (waves_request.texts). */
struct plan_scan {
	struct str text;
	struct cxx_scan cxx;
};

void scan_text(struct arena *a, struct str text, struct cxx_scan *ret);
/* Converts "0x03080000" or "3" to the hex version of the stable ABI; 0 if it is no number. */
uint32_t scan_api_level(struct str text);

/* ---- plan_json.c ---- */
extern const struct json_field plan_cost_fields[];

/* ---- project.c ---- */
/* config "": DIR/rocsmith.yaml if it exists; text: the content of `config`, unless .p is NULL. */
struct description {
	struct str dir, config, text;
	bool known;              /* a known project, whose sources are in dir */
	struct source_tree tree; /* origin of dir, if it was fetched */
};
MUST_USE struct err *project_read(
	struct arena *a, const struct description *d, struct project *ret);
/* The list of files or patterns at `key` (a single one counts as a list of one); NULL if the key is absent. */
MUST_USE struct err *project_list(
	struct arena *a, const struct node *map, const char *key, const struct node **ret);
/* An error located at the value of a top-level key, else at the description, if there is one. */
MUST_USE struct err *project_error(const struct project *p, struct str key, enum errcode code,
	const char *fmt, ...) PRINTF(4, 5);

/* Adds the reason for subject, or replaces the one that is there. */
void plan_explain(struct arena *a, struct plan *p, const char *subject, struct str choice,
	const char *why, ...) PRINTF(5, 6);
bool project_name_valid(struct str s); /* by PEP 508 */
/* The files of the project that match (glob_files), relative to dir, a folder of it. Links that lead out of the
 * project are left out, and the plan says so. */
MUST_USE struct err *plan_files(
	struct arena *a, struct plan *p, struct str dir, struct str pattern, struct strs *ret);

/* ---- sources.c ---- */
/* The file of the project, scanned: each is read once. E_LIMIT if it has more than `most` bytes. */
MUST_USE struct err *plan_scan_file(struct arena *a, struct plan *plan, struct str path,
	size_t most, const struct plan_scan **ret);
/* Fills plan->sources, headers, external and *ret: the scan of each source, whose `limited_api` and `python` count the
 * headers of the project that it includes, directly or not. E_PROJECT, E_LIMIT. */
MUST_USE struct err *sources_find(
	struct arena *a, const struct project *p, struct plan *plan, struct cxx_scan **ret);

/* ---- modules.c ---- */
/* Fills plan->python_dir, python_files. */
MUST_USE struct err *python_find(struct arena *a, const struct project *p, struct plan *plan);
/* Fills plan->modules, python_headers and the Python tags; needs host, python_files. E_MODULE. */
MUST_USE struct err *modules_find(
	struct arena *a, const struct project *p, const struct cxx_scan *facts, struct plan *plan);

struct python_headers { /* data/python_headers.yaml explains the columns */
	const char *starts, *const *folders, *source;
};
TABLE(python_headers);

/* ---- needs.c ---- */
/* Translates the sources in memory, and adds the SDK components and the libraries whose headers the translations
 * include. Writes nothing. */
MUST_USE struct err *plan_needs(struct arena *a, struct plan *p);

/* ---- known.c ---- */
/* Finds project and description, and fetches the sources if the request names an origin. E_USAGE, E_PLAN. */
MUST_USE struct err *known_resolve(
	struct arena *a, const struct plan_request *r, struct description *ret);
/* Are these the sources of the description? E_PROJECT if not; else *ret_version is theirs. */
MUST_USE struct err *known_check(struct arena *a, const struct project *p, struct str *ret_version);
/* Do Python and torch of the plan fit this release? E_PLAN. */
MUST_USE struct err *known_fits(struct arena *a, const struct project *p, const struct plan *plan);
/* The version in the name of the torch among these wheels, without the local part; "" = none. */
struct str known_torch(const struct strs *with);
/* Are the files of --with wheels, and there? E_USAGE, E_NOENT. */
MUST_USE struct err *known_check_with(const struct plan_request *r);

/* ---- libc.c ---- */
/* Looks into the torch of the plan: E_PLAN if it is one for CUDA or the CPU; chooses the SDK's C library if it was built
 * against a newer one than this machine's. */
MUST_USE struct err *libc_choose(struct arena *a, struct plan *plan);
MUST_USE struct err *libc_policy(struct arena *a, const struct plan_request *r, struct plan *plan);

/* ---- suffix.c ---- */
/* Appends the ROCm version and the git commit to the version, in the environment, too. */
MUST_USE struct err *suffix_choose(
	struct arena *a, const struct plan_request *r, struct plan_wish *wish);
/* If the SDK is installed already, sets wish->here and replaces SDK_ROCM by its ROCm version. */
void suffix_meet(struct arena *a, struct plan_wish *wish);

/* ---- when.c ---- */
/* Is the version in the range? An unknown version ("") is in every range. */
MUST_USE struct err *when_version(struct arena *a, struct str version, struct str range, bool *ret);
/* *ret: do all conditions hold for the plan as made so far? */
MUST_USE struct err *when_holds(
	struct arena *a, const struct when *w, const struct plan *plan, bool *ret);

/* ---- features.c ---- */
/* Fills plan->features, and the environment, SDK components and libc that follow from them and from the needs. */
MUST_USE struct err *features_choose(
	struct arena *a, const struct plan_request *r, const struct project *p, struct plan *plan);
/* Fails with E_USAGE if a variable of the user's environment contradicts what the plan sets for the build. */
MUST_USE struct err *features_meet_environment(const struct plan *plan);

/* ---- foreign.c ---- */
/* Decides which build system builds the project. Unless it is our own, fills plan->foreign, name and
 * version; fills p->packages. E_PROJECT, E_USAGE. */
MUST_USE struct err *foreign_choose(
	struct arena *a, const struct plan_request *r, struct project *p, struct plan *plan);

/* ---- gpu.c ---- */
/* Turns on what the project leaves off of its code for GPUs, its own way for HIP first; p->known is left alone. Fills env,
 * options, advice, gpu_off and own_hip of plan->foreign. */
void gpu_choose(struct arena *a, const struct source_gpu *g, struct plan *plan);

/* ---- plan.c ---- */
/* May compilers see this folder outside of the project? Not if it holds a home, or is hidden. */
bool plan_may_include(struct arena *a, struct str dir);
/* targets_parse(), and E_GFX for targets that no compiler takes, alone or together. */
MUST_USE struct err *plan_targets(struct arena *a, const struct strs *words, struct targets *ret);

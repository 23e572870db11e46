/* Recipes: known reasons why certain sources do not build, as data, and their cures.
 *
 * A recipe (recipes/NAME.yaml, compiled in; rocsmith-recipe(5) is the grammar) says when it applies (versions, GPUs),
 * how to detect the problem in a tree or in the SDK, which edits cure it, and which environment and cmake variables a
 * build gets from it, with evidence and the price of the cure. No program of a tree is ever run.
 *
 *     recipes_load(a, &dirs, &all);
 *     recipes_status(a, &all, &request, &report);     looks, writes nothing
 *     recipes_apply(a, &all, &request, &report);      request.names, or all that are needed
 *     recipes_revert(a, &all, &request, &report);     request.names, or all that were applied
 *
 * Edits are made in the tree itself through changes/, with a journal of their own, TREE/.rocsmith-patches. The
 * journal keeps the originals, so a killed run is finished or undone, and a reverted file has its old bytes, mode and
 * time. The result depends on the original files and on the recipes in effect, not on the order of events: applying
 * twice is applying once, and reverting one of two recipes for a file leaves what the other one alone makes of it. A
 * translation in place goes on top of the patches, since its originals are the patched files: a tree that was
 * translated in place must be restored first (E_USAGE says how).
 *
 * Replacements for wrong headers of the system go to TREE/.rocsmith-patches/overlay; a file outside the tree is never
 * written. */
#pragma once

#include "changes/changes.h"

/* ---- facts about the build ---- */

/* The version of something: "torch", "rocm" (the release), a component of an SDK ("hip", "hipblas"), "clang", "gcc",
 * "glibc", "python". */
struct recipe_fact {
	struct str name, version;
	struct str from; /* origin: "version.txt", "--rocm", "debian-sid" */
};

struct recipe_facts {
	VEC(struct recipe_fact) versions;
	struct strs gpus; /* targets; none = unknown */
	struct str sdk;   /* folder on this machine with ROCm's include/, lib/, ...; "" = unknown */
	struct str sdk_at;  /* path of the same folder inside the build; "" = like sdk */
	struct str sysroot; /* folder or machine file with the headers for host code; "" = / */
	struct strs path;   /* folders to search for programs (flatc); none = PATH */
};

void recipe_fact_add(struct arena *a, struct recipe_facts *f, struct recipe_fact fact);
/* Adds the facts that the tree itself states (its torch version), unless they are known. */
MUST_USE struct err *recipe_facts_of_tree(
	struct arena *a, struct str tree, struct recipe_facts *facts);

/* ---- recipes ---- */

struct recipe;
struct recipes VEC_OF(struct recipe); /* in the order in which they are applied */

/* Loads the recipes of the folders, then the built-in ones; a folder's recipe replaces a built-in one of the same id.
 * E_SYNTAX with the place in the file. */
MUST_USE struct err *recipes_load(struct arena *a, const struct strs *dirs, struct recipes *ret);

/* ---- verdicts ---- */

enum recipe_state {
	RECIPE_NEEDED,   /* the problem is there: apply would cure it */
	RECIPE_APPLIED,  /* its edits are in the tree, made by us */
	RECIPE_BUILD,    /* it changes no file: a build gets variables */
	RECIPE_PRESENT,  /* the sources already have the cure */
	RECIPE_NOT,      /* the problem is not there */
	RECIPE_OTHER,    /* it is for other versions or GPUs */
	RECIPE_UNKNOWN,  /* it depends on a fact that is not known, such as the ROCm version */
	RECIPE_EDITED,   /* applied, but one of its files was edited since */
	RECIPE_CONFLICT, /* the problem is there, but the edits do not fit the file */
	RECIPE_REFUSED,  /* never applied: a cure that people share although it does harm */
};

/* A variable for the build; several for one name are joined. */
enum recipe_join { JOIN_SET, JOIN_WORD /* a space */, JOIN_PATH /* ':', for cmake ';' */ };
struct recipe_variable {
	struct str name, value, recipe;
	enum recipe_join join;
	bool cmake; /* -DNAME=VALUE; else the environment */
};

struct recipe_entry {
	struct str id, title;
	enum recipe_state state;
	struct str why;    /* one line: the check that decided */
	struct strs seen;  /* the results of the checks, one line each */
	struct strs files; /* files that it changes or changed */
	struct strs notes; /* "hunk 2 of c10/x.h fits 3 lines further down (fuzz 1)" */
	struct strs evidence;
	struct str trade_off, confidence;
};

struct recipe_request {
	struct str tree;
	struct str at;             /* path of the tree inside a build that works on a copy */
	struct recipe_facts facts; /* the caller's; those of the tree are added */
	struct strs names;         /* none = all that are needed, or were applied */
	bool diff;                 /* fill recipe_report.diff */
	bool force;                /* revert: also files that were edited since */
	unsigned jobs;
};

struct recipe_report {
	VEC(struct recipe_entry) recipes;      /* all that are known, in their order */
	VEC(struct recipe_variable) variables; /* from recipes that are applied or need no edit */
	struct recipe_facts facts;             /* the caller's and the tree's */
	struct change_set changes;             /* apply and revert: files and their new texts */
	struct str diff;  /* unified diff from the present files to the new texts */
	struct strs kept; /* revert: files that were edited since, and stay */
};

MUST_USE struct err *recipes_status(struct arena *a, const struct recipes *all,
	const struct recipe_request *r, struct recipe_report *ret);
/* Puts the requested recipes into effect, besides those applied earlier. A requested recipe that is unknown, refused,
 * for other versions, or conflicting is E_USAGE or E_RECIPE, and nothing is written; without names such recipes are
 * left out. A dry run only makes the report. */
MUST_USE struct err *recipes_apply(struct arena *a, const struct recipes *all,
	const struct recipe_request *r, struct recipe_report *ret);
/* Like recipes_apply(), for the copy that a build works on: treats the view as unpatched sources, and writes nothing.
 * The caller adds ret->changes to the session that makes the copy; they depend on the files of the view and on
 * recipes_identity(). */
MUST_USE struct err *recipes_changes(struct arena *a, const struct recipes *all,
	const struct recipe_request *r, const struct view *view, struct recipe_report *ret);
struct str recipes_identity(
	struct arena *a, const struct recipes *all, const struct recipe_request *r);
MUST_USE struct err *recipes_revert(struct arena *a, const struct recipes *all,
	const struct recipe_request *r, struct recipe_report *ret);

/* The variables as "NAME=value", for the environment or for cmake, joined with the values that they already have in
 * `there` (the caller's environment, or NULL). */
struct strs recipe_environment(
	struct arena *a, const struct recipe_report *r, const struct strs *there, bool cmake);

/* Recipes: what is known to stop a build of given sources, as data, and what to do about it.
 *
 * A recipe (recipes/NAME.yaml, compiled in; rocsmith-recipe(5) is the grammar) says when it applies
 * (versions, GPUs), how the problem is seen in a tree or in the SDK, which edits cure it, and what
 * environment and cmake variables a build gets from it, with evidence and what it costs. Nothing of
 * a tree is ever run for it.
 *
 *     recipes_load(a, &dirs, &all);
 *     recipes_status(a, &all, &request, &report);     looks, writes nothing
 *     recipes_apply(a, &all, &request, &report);      what is needed, or request.names
 *     recipes_revert(a, &all, &request, &report);     request.names, or all that was applied
 *
 * Edits are made in the tree itself through changes/ with a journal of their own,
 * TREE/.rocsmith-patches, below a translation in place: the originals are kept there, a killed run
 * goes on or back, and what was reverted has its old bytes, mode and time. The result depends on the
 * original files and on the recipes that are in effect, never on the way there: applying twice is
 * applying once, and reverting one of two recipes for one file leaves what the other alone gives. A
 * tree that was translated in place must be restored first (E_USAGE says how), since its originals
 * are the patched files.
 *
 * Headers that stand in for wrong ones of the system go to TREE/.rocsmith-patches/overlay; a file
 * outside of the tree is never written.
 */
#pragma once

#include "changes/changes.h"

/* ---- what is known about the build ---- */

/* A version by name: "torch", "rocm" (the release), a component of an SDK ("hip", "hipblas"),
 * "clang", "gcc", "glibc", "python". */
struct recipe_fact {
	struct str name, version;
	struct str from; /* what says so: "version.txt", "--rocm", "debian-sid" */
};

struct recipe_facts {
	VEC(struct recipe_fact) versions;
	struct strs gpus; /* targets; none = unknown */
	struct str sdk; /* folder on this machine with include/, lib/, ... of ROCm; "" = unknown */
	struct str sdk_at;  /* the same as the build will name it; "" = as sdk */
	struct str sysroot; /* of the headers that host code is compiled with; "" = / */
	struct strs path;   /* folders to look for programs (flatc) in; none = PATH */
};

void recipe_fact_add(struct arena *a, struct recipe_facts *f, struct recipe_fact fact);
/* Adds what the tree itself says (its torch version), unless it is there. */
MUST_USE struct err *recipe_facts_of_tree(
	struct arena *a, struct str tree, struct recipe_facts *facts);

/* ---- recipes ---- */

struct recipe;
struct recipes {
	struct recipe *v; /* in the order in which they are applied */
	size_t n, cap;
};

/* Those of the folders (in front: a recipe of the same id there takes the place of ours), then the
 * built-in ones. E_SYNTAX with the place of what is wrong in a file. */
MUST_USE struct err *recipes_load(struct arena *a, const struct strs *dirs, struct recipes *ret);

/* ---- what becomes of them ---- */

enum recipe_state {
	RECIPE_NEEDED,   /* the problem is there: apply would cure it */
	RECIPE_APPLIED,  /* by us */
	RECIPE_BUILD,    /* nothing is to be changed in the tree, a build gets variables */
	RECIPE_PRESENT,  /* the sources have the cure already */
	RECIPE_NOT,      /* the problem is not there */
	RECIPE_OTHER,    /* it is for other versions or GPUs */
	RECIPE_UNKNOWN,  /* it depends on something that nobody said, such as the ROCm version */
	RECIPE_EDITED,   /* applied, but a file of it was edited since */
	RECIPE_CONFLICT, /* the problem is there, but the edits do not fit the file */
	RECIPE_REFUSED,  /* never applied: a cure that circulates, and does harm */
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
	struct str why;    /* one line: what decided */
	struct strs seen;  /* all that was looked for, a line each */
	struct strs files; /* that it changes or changed */
	struct strs notes; /* "hunk 2 of c10/x.h fits 3 lines further down (fuzz 1)" */
	struct strs evidence;
	struct str trade_off, confidence;
};

struct recipe_request {
	struct str tree;
	struct str at;             /* the tree as a build will name it, when that works on a copy */
	struct recipe_facts facts; /* of the caller; the tree's are added */
	struct strs names;         /* none = all that are needed, or were applied */
	bool diff;                 /* fill the report's */
	bool force;                /* revert: also files that were edited since */
	unsigned jobs;
};

struct recipe_report {
	VEC(struct recipe_entry) recipes;      /* all that are known, in their order */
	VEC(struct recipe_variable) variables; /* of recipes that are applied or need no edit */
	struct recipe_facts facts;             /* the caller's and the tree's */
	struct change_set changes;             /* of apply and revert: files and their new texts */
	struct str diff;  /* from what is there to what becomes of it, as diff -u has it */
	struct strs kept; /* revert: files that were edited since, and stay */
};

MUST_USE struct err *recipes_status(struct arena *a, const struct recipes *all,
	const struct recipe_request *r, struct recipe_report *ret);
/* Makes the tree what the recipes applied earlier and the wanted ones give. A name that is unknown,
 * refused, for other versions, or that conflicts is E_USAGE or E_RECIPE and nothing is written;
 * without names those are left out. In a dry run only the report is made. */
MUST_USE struct err *recipes_apply(struct arena *a, const struct recipes *all,
	const struct recipe_request *r, struct recipe_report *ret);
/* For a build's own copy: as recipes_apply() on sources where nothing was applied, but nothing is
 * written. ret->changes are to go into the set of the session that makes the copy, whose view is
 * read; what they depend on besides its files is recipes_identity(). */
MUST_USE struct err *recipes_changes(struct arena *a, const struct recipes *all,
	const struct recipe_request *r, const struct view *view, struct recipe_report *ret);
struct str recipes_identity(
	struct arena *a, const struct recipes *all, const struct recipe_request *r);
MUST_USE struct err *recipes_revert(struct arena *a, const struct recipes *all,
	const struct recipe_request *r, struct recipe_report *ret);

/* "NAME=value" for the environment / cmake, joined with what is there already (the caller's
 * environment; NULL = nothing). */
struct strs recipe_environment(
	struct arena *a, const struct recipe_report *r, const struct strs *there, bool cmake);

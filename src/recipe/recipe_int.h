/* Internals of recipe/; rocsmith-recipe(5) documents the members of a recipe. */
#pragma once

#include "base/map.h"
#include "formats/diff.h"
#include "formats/json_fields.h"
#include "formats/node.h"
#include "recipe/recipe.h"

struct recipe_range {
	struct str name, range; /* range: of versions, ">=7.0" */
};

enum recipe_place { PLACE_TREE, PLACE_SDK, PLACE_SYSTEM };

/* One check of a file. */
struct recipe_check {
	struct str as, in, file, contains, lacks;
	bool absent;
	struct strs version; /* texts that precede the numbers of the file's version */
	struct str is, differs;
	enum recipe_place place;
};

enum step_kind { STEP_REPLACE, STEP_PATCH, STEP_OVERLAY, STEP_GENERATE };

struct recipe_step {
	struct str in, file, replace, with, before, after, insert; /* in: "overlay" */
	struct str patch;
	struct str overlay, text, copy; /* copy: name of a check whose file is copied */
	struct str generate, from, version;
	uint64_t count;
	enum step_kind kind;
	struct diff diff; /* the parsed `patch` */
	const struct node *at;
};

struct recipe_setting { /* a variable */
	struct str env, cmake, set, word, path;
};

struct recipe_checks VEC_OF(struct recipe_check);

struct recipe {
	struct str id, title, trade_off, confidence, refused;
	struct strs evidence, gpus, any_gpu;
	VEC(struct recipe_range) ranges;
	struct recipe_checks detect, verify;
	VEC(struct recipe_step) steps;
	VEC(struct recipe_setting) settings;
	struct strs files; /* files that the steps touch, relative to the tree */
	struct str hash;
};

/* ---- read.c ---- */
MUST_USE struct err *recipe_parse(
	struct arena *a, struct str text, struct str name, struct recipe *ret);
#define RECIPE_JOURNAL ".rocsmith-patches"
#define RECIPE_OVERLAY RECIPE_JOURNAL "/overlay"

/* ---- a recipe being tried on a tree ---- */

struct found { /* the file that a named check found */
	struct str name, path, version;
	struct str text; /* "": it was not read */
};

struct tree_text {      /* a file, as the recipes so far leave it */
	struct str now; /* .p NULL: it does not exist */
	bool changed;
};

struct work {
	struct arena *a;
	const struct recipe_request *request;
	struct recipe_facts facts;
	const struct view *view;
	struct map texts; /* path -> struct tree_text * */
	bool make;        /* programs that generate files may be run */
};

struct trial {
	struct work *w;
	const struct recipe *recipe;
	VEC(struct found) found;
	struct map texts;        /* texts that this recipe changed, likewise */
	struct strs notes, seen; /* seen: results of the checks, one line each */
	struct str why;
	bool before; /* the recipe was applied earlier: without an SDK, checks of the SDK count as true */
	bool unknown; /* a check needs a fact that is not known */
	bool there;   /* the tree already has the result of each step */
};

/* ---- tree.c ---- */
/* The text of a file as this recipe finds it. */
MUST_USE struct err *trial_text(struct trial *t, struct str path, struct str *ret);
void trial_put(struct trial *t, struct str path, struct str text);
void trial_keep(struct trial *t); /* puts the recipe into effect: later ones see its texts */
const struct found *trial_found(const struct trial *t, struct str name);
const struct recipe_fact *recipe_fact(const struct recipe_facts *f, struct str name);

/* ---- check.c ---- */
/* Do all checks hold? t->why names the one that decided. t->unknown: the SDK is not known, and all other checks hold.
 */
MUST_USE struct err *checks_hold(struct trial *t, const struct recipe_checks *list, bool *ret);
/* RECIPE_NEEDED if versions and GPUs fit, else RECIPE_OTHER or RECIPE_UNKNOWN. */
MUST_USE struct err *recipe_applies(struct trial *t, enum recipe_state *ret);

/* ---- step.c ---- */
/* Carries out all steps on t->texts. False: t->why says what does not fit. */
MUST_USE struct err *steps_try(struct trial *t, bool *ret);

/* ---- expand.c ---- */
/* Replaces @names@ by their values; E_RECIPE for a name without one. */
MUST_USE struct err *expand(const struct trial *t, struct str text, struct str *ret);
MUST_USE struct err *expand_check(struct str text); /* E_SYNTAX for a malformed @name@ */
MUST_USE struct err *settings_add(struct trial *t, struct recipe_report *ret);

/* ---- generate.c ---- */
MUST_USE struct err *generate(struct trial *t, const struct recipe_step *s, bool *ret);

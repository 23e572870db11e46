/* Shared by the files of this folder; rocsmith-recipe(5) says what the members of a recipe mean. */
#pragma once

#include "base/map.h"
#include "formats/diff.h"
#include "formats/json_fields.h"
#include "formats/node.h"
#include "recipe/recipe.h"

struct recipe_range {
	struct str name, range; /* of versions: ">=7.0" */
};

enum recipe_place { PLACE_TREE, PLACE_SDK, PLACE_SYSTEM };

/* One thing that is looked for. */
struct recipe_check {
	struct str as, in, file, contains, lacks;
	bool absent;
	struct strs version; /* texts that stand in front of its numbers */
	struct str is, differs;
	enum recipe_place place;
	const struct node *at;
};

enum step_kind { STEP_REPLACE, STEP_PATCH, STEP_OVERLAY, STEP_GENERATE };

struct recipe_step {
	struct str in, file, replace, with, before, after, insert; /* in: "overlay" */
	struct str patch;
	struct str overlay, text, copy; /* copy: what a check found */
	struct str generate, from, version;
	uint64_t count;
	enum step_kind kind;
	struct diff diff; /* of patch */
	const struct node *at;
};

struct recipe_setting { /* a variable */
	struct str env, cmake, set, word, path;
	const struct node *at;
};

struct recipe_checks {
	struct recipe_check *v;
	size_t n, cap;
};

struct recipe {
	struct str id, title, trade_off, confidence, refused;
	struct strs evidence, gpus, any_gpu;
	VEC(struct recipe_range) ranges;
	struct recipe_checks detect, verify;
	VEC(struct recipe_step) steps;
	VEC(struct recipe_setting) settings;
	struct strs files; /* that the steps touch, relative to the tree */
	struct str hash;
};

/* ---- read.c ---- */
MUST_USE struct err *recipe_parse(
	struct arena *a, struct str text, struct str name, struct recipe *ret);
#define RECIPE_JOURNAL ".rocsmith-patches"
#define RECIPE_OVERLAY RECIPE_JOURNAL "/overlay"

/* ---- a recipe being tried on a tree ---- */

struct found { /* what a check with a name found */
	struct str name, path, version;
};

struct tree_text {            /* a file: before, and with the recipes so far */
	struct str path, now; /* now.p NULL = there is none */
	struct str old;
	bool changed;
};

struct work {
	struct arena *a;
	const struct recipe_request *request;
	struct recipe_facts facts;
	const struct view *view;
	struct map texts; /* path -> struct tree_text * */
	bool make;        /* programs that make files may be run */
};

struct trial {
	struct work *w;
	const struct recipe *recipe;
	VEC(struct found) found;
	VEC(struct tree_text) texts; /* changed by this one */
	struct strs notes, seen;     /* what was seen, a line for each check */
	struct str why;
	bool before; /* it was applied: what was seen in an SDK then counts, when none is at hand */
	bool unknown; /* it needs to know what nobody said */
	bool there;   /* each step was there already */
};

/* ---- texts.c, facts.c ---- */
/* The text of a file as this recipe finds it. */
MUST_USE struct err *trial_text(struct trial *t, struct str path, struct str *ret);
void trial_put(struct trial *t, struct str path, struct str text);
void trial_keep(struct trial *t); /* it is in effect: the next one finds its texts */
const struct found *trial_found(const struct trial *t, struct str name);
const struct recipe_fact *recipe_fact(const struct recipe_facts *f, struct str name);

/* ---- check.c ---- */
/* Do all hold? t->why says what decided. t->unknown: that of the SDK are not known, the others hold. */
MUST_USE struct err *checks_hold(struct trial *t, const struct recipe_checks *list, bool *ret);
/* RECIPE_NEEDED when versions and GPUs fit, else RECIPE_OTHER or RECIPE_UNKNOWN. */
MUST_USE struct err *recipe_applies(struct trial *t, enum recipe_state *ret);

/* ---- step.c ---- */
/* All steps, on t->texts. False: t->why says what does not fit. */
MUST_USE struct err *steps_try(struct trial *t, bool *ret);

/* ---- trial.c ---- */
/* The state that it would have if nothing had been applied. */
MUST_USE struct err *trial_run(struct trial *t, enum recipe_state *ret);

/* ---- saved.c: what the journal remembers for us ---- */
struct saved {
	struct strs ids;           /* of recipes in effect */
	struct recipe_facts facts; /* versions and GPUs that they were applied for */
};
MUST_USE struct err *saved_read(struct arena *a, struct str text, struct saved *ret);
struct str saved_text(struct arena *a, const struct saved *s);

/* ---- expand.c ---- */
/* Puts in what @names@ stand for; E_RECIPE for what is not known. */
MUST_USE struct err *expand(const struct trial *t, struct str text, struct str *ret);
MUST_USE struct err *expand_check(struct str text); /* E_SYNTAX when a name is none */
MUST_USE struct err *settings_add(struct trial *t, struct recipe_report *ret);

/* ---- generate.c ---- */
bool generate_known(struct str what);
MUST_USE struct err *generate(struct trial *t, const struct recipe_step *s, bool *ret);

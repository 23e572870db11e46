/* The command hipify, in parts: cmd_hipify.c holds the options and decides what is done,
 * cmd_hipify_resolve.c turns options and rocsmith.yaml into what a run needs, the others each show
 * one kind of answer. Private to them.
 */
#pragma once

#include "cli/opt.h"
#include "formats/json_write.h"
#include "hipify/hipify.h"

struct hipify_args {
	struct common common;
	struct hipify_options o; /* as said; dir is DIR, a folder or a file */
	struct str explain;
	bool diff, check, verify, status, restore, lint_map, force;
};

/* What is to be done, with every choice made. */
struct hipify_job {
	struct arena *a;
	const struct hipify_args *args;
	struct hipify_options o;
	struct str build; /* the build folder around the overlay that nobody named, or "" */
};

/* path: the folder (or file) to translate. E_USAGE, E_NOENT, and what is wrong in rocsmith.yaml. */
MUST_USE struct err *hipify_resolve(
	struct arena *a, const struct hipify_args *h, struct str path, struct hipify_job *ret);
/* Fills torch, map and map_text alone: whose tables are looked at, the folder's own at last. */
MUST_USE struct err *hipify_resolve_torch(
	struct arena *a, const struct hipify_args *h, struct hipify_options *ret);
/* The overlay of a project when none is named: *ret_build is the build folder that it lies in. */
struct str hipify_overlay(struct arena *a, struct str dir, struct str *ret_build);

/* ---- answers ---- */
MUST_USE struct err *hipify_translate(struct hipify_job *job, int *ret_status);
MUST_USE struct err *hipify_verify(struct hipify_job *job, int *ret_status);
MUST_USE struct err *hipify_explain(struct arena *a, const struct hipify_args *h);
MUST_USE struct err *hipify_show_state(
	struct arena *a, const struct hipify_args *h, int *ret_status);
MUST_USE struct err *hipify_take_back(
	struct arena *a, const struct hipify_args *h, int *ret_status);
MUST_USE struct err *hipify_lint(struct arena *a, const struct hipify_args *h, int *ret_status);

/* ---- what they share ---- */
struct str hipify_in_dir(
	struct arena *a, struct str dir, struct str path); /* as the user sees it */
struct str hipify_left_text(struct arena *a, struct str dir, const struct untranslated *l);
void hipify_json_left(
	struct arena *a, struct json *j, struct str dir, const struct untranslated_list *left);
void hipify_json_torch(struct json *j, const struct hipify_torch *t);
void hipify_print_json(struct buf *b);
/* Warns of an algorithm that is in no table of ours. */
void hipify_warn_unknown(const struct hipify_torch *t);
/* One error for all that failed, or NULL: the only reason is its cause, several are warnings. */
struct err *hipify_failures(struct arena *a, struct hipify_tree *t);

/* The command hipify, in parts: cmd_hipify.c holds the options and decides what is done,
 * cmd_hipify_resolve.c turns options and rocsmith.yaml into what a run needs, the others each give
 * one kind of answer; what they share is in cmd_hipify_show.c. Private to them.
 */
#pragma once

#include "cli/opt.h"
#include "formats/json_fields.h"
#include "hipify/hipify.h"

struct hipify_args {
	struct common common;
	struct hipify_options o; /* as said; dir is DIR, a folder or a file */
	struct str explain;
	bool diff, check, verify, status, restore, lint, lint_map, force;
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
MUST_USE struct err *hipify_restore_dir(
	struct arena *a, const struct hipify_args *h, int *ret_status);
MUST_USE struct err *hipify_lint(struct arena *a, const struct hipify_args *h, int *ret_status);
MUST_USE struct err *hipify_lint_map(struct arena *a, const struct hipify_args *h, int *ret_status);

/* ---- what they share ---- */
struct str hipify_in_dir(
	struct arena *a, struct str dir, struct str path); /* as the user sees it */
struct str hipify_untranslated_text(struct arena *a, struct str dir, const struct untranslated *u);
/* In tables: FIELD_LIST of a struct untranslated_list, FIELD_STRUCT of a struct torch_source. */
extern const struct json_field hipify_untranslated_fields[], hipify_torch_fields[];
/* One error for all that failed, or NULL: the only reason is its cause, several are warnings. */
struct err *hipify_failures(struct arena *a, struct hipify_tree *t);

/* Private to the commands of hipify: cmd_hipify.c translates, with options and rocsmith.yaml as its input;
 * cmd_hipify_show.c prints a translation; cmd_hipify_explain.c shows the rule behind each change; cmd_hipify_tree.c has
 * the commands on a whole tree: status, restore, verify, lint.
 */
#pragma once

#include "cli/opt.h"
#include "formats/json_fields.h"
#include "hipify/hipify.h"

struct hipify_args {
	struct common common;
	struct hipify_options o; /* as given on the command line; dir is DIR, a folder or a file */
	struct str place;        /* FILE[:LINE] of explain */
	bool diff, check, force;
};
#define ARGS struct hipify_args

/* A run of hipify, with all options resolved. */
struct hipify_job {
	struct arena *a;
	struct hipify_args *args;
	struct hipify_options o;
	struct str build; /* build folder of the default overlay; "" if the user names a target */
	bool answered;    /* a comparison has been printed already */
};

/* Option rows that several commands share. */
/* clang-format off */
#define HIPIFY_DIR(text) {OPT_ARGUMENT("DIR", OPT_POS, o.dir, text), .flags = OPT_REQUIRED}
#define HIPIFY_SOURCE {OPT_ARGUMENT("SOURCE", OPT_POSES, o.sources, "only these files of DIR")}
#define HIPIFY_MODE                                                                                \
	{OPT_VALUE("mode", OPT_ENUM, o.mode, "MODE", "which translation (default: by what DIR is)"), \
		.flags = OPT_FROM_ONE, .choices = hipify_modes + 1},                               \
	{OPT_VALUE("torch", OPT_PATH, o.torch, "PATH",                                             \
		 "whose hipify: a checkout, a package or a wheel"), .env = "ROCSMITH_TORCH"}
#define HIPIFY_EXCLUDE                                                                             \
	{OPT_VALUE("exclude", OPT_WORDS, o.exclude, "NAME", "leave out this folder or file")}
#define HIPIFY_TARGET                                                                              \
	{OPT_FLAG("in-place", o.in_place, "translate into DIR itself")},                           \
	{OPT_OUTPUT(o.out, "OUT", "folder for the translated tree"), .env = "ROCSMITH_OUTPUT"}
#define HIPIFY_RULES                                                                               \
	{OPT_VALUE("include-dir", OPT_LIST, o.include_dirs, "DIR",                                 \
		 "folder of headers (mode extension)"), .sname = 'I'},                             \
	{OPT_VALUE("map", OPT_PATH, o.map, "FILE", "further pairs of names")},                     \
	{OPT_VALUE("ignore", OPT_LIST, o.ignore, "PATTERN",                                        \
		"leave out files, as the original's ignores")},                                    \
	HIPIFY_EXCLUDE,                                                                            \
	{OPT_VALUE("extra-extension", OPT_LIST, o.extra_extensions, "EXT",                         \
		"files that count as sources, too: .inl")},                                        \
	{OPT_VALUE("launches", OPT_ENUM, o.launches, "HOW",                                        \
		 "kernel launches: auto, rewrite or keep"),                                        \
		.flags = OPT_FROM_ONE, .choices = hipify_launches + 1},                            \
	{OPT_FLAG("out-of-place-only", o.out_of_place_only, "as build_amd.py has it")},            \
	{OPT_VALUE("extra-include-dir", OPT_LIST, o.extra_include, "DIR", "as build_amd.py has it")}, \
	{OPT_VALUE("rocm", OPT_STR, o.rocm, "VERSION",                                             \
		"leave names that this ROCm does not have yet")}
/* clang-format on */

/* ---- cmd_hipify.c ---- */
/* Resolves all options. dir: the folder (or file) to translate. Fails with E_USAGE, E_NOENT, or the errors of
 * rocsmith.yaml. */
MUST_USE struct err *hipify_resolve(
	struct arena *a, struct hipify_args *h, struct str dir, struct hipify_job *ret);
/* The default overlay of a project; *ret_build: the build folder that contains it. */
struct str hipify_overlay(struct arena *a, struct str dir, struct str *ret_build);
MUST_USE struct err *hipify_check_there(struct str path); /* E_NOENT */
/* Runs hipify and shows the result. */
MUST_USE struct err *hipify_translate(struct hipify_job *job);

/* ---- cmd_hipify_show.c ---- */
/* Prints the result of a run, as text or JSON. */
MUST_USE struct err *hipify_show(struct hipify_job *job, struct hipify_tree *t);
/* The sources with this status, without the headers of rocsmith; CHANGE_OK: those whose text changes. */
size_t hipify_count(const struct hipify_tree *t, enum change_status s);
/* A path of the tree as shown to the user, with DIR in front. */
struct str hipify_in_dir(struct arena *a, struct str dir, struct str path);
struct str hipify_untranslated_text(struct arena *a, struct str dir, const struct untranslated *u);
/* Used by FIELD_LIST of a struct untranslated_list and FIELD_STRUCT of a struct torch_source. */
extern const struct json_field hipify_untranslated_fields[], hipify_torch_fields[];
/* NULL if no source failed. A single failure is the error's cause; several become warnings. */
struct err *hipify_failures(struct arena *a, struct hipify_tree *t);

/* The settings of a translation: one struct, from the user's words to the values a run uses.
 *
 * Settings come from the command line, whose option table points into the struct, and from the section
 * `hipify` of rocsmith.yaml (and of a saved plan). At first 0, "" or an empty list mean "not set";
 * hipify_options_complete() turns the user's values into those that the engines read. One table in
 * options.c gives each setting's names and the modes in which it has a meaning.
 */
#pragma once

#include "formats/node.h"

/* 0 = not set: hipify_choose_mode() then looks at the folder; the engines take 0 as standalone. */
enum hipify_mode { HIPIFY_STANDALONE = 1, HIPIFY_TORCH, HIPIFY_EXTENSION };
/* 0 = not set, the same as LAUNCHES_AUTO. */
enum hipify_launches { LAUNCHES_AUTO = 1, LAUNCHES_REWRITE, LAUNCHES_KEEP };
enum hipify_engine { ENGINE_ROCSMITH, ENGINE_TORCH };

/* The user's words for these enums, indexed by value (0: ""); NULL-terminated. */
extern const char *const hipify_modes[], *const hipify_launches[], *const hipify_engines[];

struct hipify_options {
	enum hipify_mode mode;
	struct str dir, out; /* out "" = nothing is written (--check, --diff) */
	bool in_place;       /* write into dir and ignore out */
	bool look_only;      /* compute, write nothing */
	struct strs
		sources; /* the files to translate, relative to dir or absolute; empty = all that match */
	struct strs exclude; /* folders or files to leave out: names, or paths relative to dir */
	unsigned jobs;
	/* Modes torch and extension: */
	struct str torch; /* the torch whose hipify is followed; "" = dir itself (mode torch) */
	enum hipify_engine engine;
	struct strs include_dirs; /* extension: header include folders, relative to dir */
	struct strs ignore;       /* patterns as Python's fnmatch, relative to dir or absolute */
	struct strs extra_extensions; /* ".inl": more extensions of sources and headers */
	struct str map;               /* a file with the user's own name pairs */
	struct str map_text;          /* the text of map; once .p is set, map is a mere name */
	enum hipify_launches launches;
	bool out_of_place_only;    /* build_amd.py --out-of-place-only */
	bool want_untranslated;    /* fill hipify_tree.untranslated; standalone mode always does */
	struct strs extra_include; /* build_amd.py --extra-include-dir */
	/* Mode standalone: */
	struct str rocm;  /* as in struct hipify_context */
	bool fnuz;        /* a GPU of the build has FNUZ instead of OCP 8-bit floats: gfx942 */
	struct strs only; /* relative paths; empty = every source and header below dir */
	bool keep;        /* keep earlier outputs of sources that are not in `only` */
	/* Set by builds, not by the user: change what PyTorch's translation leaves and HIP refuses or takes otherwise: the
	 * project's operators for vector types (cuda/vectors.c), 32-bit masks of lanes (cuda/args.c), constexpr functions of
	 * the device (cuda/members.c) and questions whether __CUDA_ARCH__ is defined (cuda/text.c).
	 * Standalone: nothing else, in every source below dir. Modes torch and extension: translate
	 * what that gives. */
	bool marks;
	/* Set by hipify_file_text(), modes torch and extension: the file whose edits are wanted; NULL = none. */
	struct torch_one *one;
};

/* Modes torch and extension follow the rules of some PyTorch. */
static inline bool hipify_by_torch(const struct hipify_options *o)
{
	return o->mode == HIPIFY_TORCH || o->mode == HIPIFY_EXTENSION;
}

/* Reads the section `hipify` (a map, or NULL) of `file`, which describes the project in dir (absolute).
 * Checks words of a fixed set, expands source patterns, makes the paths of torch and map absolute,
 * and turns name pairs written in the section into map_text. E_SYNTAX and E_PROJECT with the place. */
MUST_USE struct err *hipify_options_read(struct arena *a, const struct node *section,
	struct str dir, struct str file, struct hipify_options *ret);
/* Fills the settings missing from o with those of the description; flags are not inherited. */
void hipify_options_inherit(struct hipify_options *o, const struct hipify_options *described);
/* Fails with E_USAGE, in the words of the command line, if this mode would silently ignore a setting. */
MUST_USE struct err *hipify_options_check(const struct hipify_options *said, enum hipify_mode mode);
/* Is this a dotted version number, such as "6.4.3"? */
bool hipify_is_rocm(struct str version);

/* Is this PyTorch's source tree, with tools/amd_build/build_amd.py? */
bool hipify_is_checkout(struct str dir);
/* Sets a missing mode from dir and torch. *ret_why is the reason in words, or NULL if the mode was set. */
void hipify_choose_mode(struct hipify_options *o, const char **ret_why);
/* Is this path, relative to the folder, one of struct hipify_options.exclude, or below one? */
bool hipify_is_excluded(const struct strs *exclude, struct str rel);
/* Reads the file `map` into map_text, unless that is set already. */
MUST_USE struct err *hipify_options_load_map(struct arena *a, struct hipify_options *o);
/* Turns the user's values into those that a run reads: extensions get their dot, sources become
 * absolute, without the excluded ones (or, in standalone mode, become `only`), and in the other modes
 * names to exclude become ignore patterns. */
void hipify_options_complete(struct arena *a, struct hipify_options *o);

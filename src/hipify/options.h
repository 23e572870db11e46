/* The settings of a translation: one struct from the words of the user to what a run does.
 *
 * Words come from the command line, whose option table points into the struct, and from the section
 * `hipify` of rocsmith.yaml (and of a saved plan). As said, 0, "" or an empty list mean "not said";
 * hipify_options_complete() turns what was said into what the engines read. One table in options.c
 * tells what each setting is called, and in which modes it means something.
 */
#pragma once

#include "formats/node.h"

/* 0 = not said: hipify_choose_mode() then looks at the folder; the engines take it as standalone */
enum hipify_mode { HIPIFY_STANDALONE = 1, HIPIFY_TORCH, HIPIFY_EXTENSION };
/* 0 = not said: as LAUNCHES_AUTO. */
enum hipify_launches { LAUNCHES_AUTO = 1, LAUNCHES_REWRITE, LAUNCHES_KEEP };
enum hipify_engine { ENGINE_ROCSMITH, ENGINE_TORCH };

/* The words for them, by their values (0: ""); NULL-terminated. */
extern const char *const hipify_modes[], *const hipify_launches[], *const hipify_engines[];

struct hipify_options {
	enum hipify_mode mode;
	struct str dir, out; /* out "" = nothing is written (--check, --diff) */
	bool in_place;       /* out is not used */
	bool look_only;      /* compute, write nothing */
	struct strs sources; /* these files, relative to dir or absolute; empty = all that match */
	struct strs exclude; /* folders or files: names, or paths relative to dir */
	unsigned jobs;
	/* Modes torch and extension: */
	struct str torch; /* the torch whose hipify is followed; "" = dir itself (mode torch) */
	enum hipify_engine engine;
	struct strs include_dirs; /* extension: header include folders, relative to dir */
	struct strs ignore;       /* patterns as Python's fnmatch, relative to dir or absolute */
	struct strs extra_extensions; /* ".inl": files that count as sources and headers too */
	struct str map;               /* a file with pairs of the user's own */
	struct str map_text;          /* .p not NULL: its text, and map is only its name */
	enum hipify_launches launches;
	bool out_of_place_only;    /* build_amd.py --out-of-place-only */
	bool want_untranslated;    /* fill hipify_tree.untranslated; standalone mode always does */
	struct strs extra_include; /* build_amd.py --extra-include-dir */
	/* Mode standalone: */
	struct str rocm;  /* as in struct hipify_context */
	bool fnuz;        /* a target of a build has 8-bit floats of its own: gfx942 */
	struct strs only; /* relative paths; empty = every source and header below dir */
	bool keep;        /* earlier outputs of sources that are not in only stay */
};

/* Modes torch and extension: the rules are those of some PyTorch. */
static inline bool hipify_by_torch(const struct hipify_options *o)
{
	return o->mode == HIPIFY_TORCH || o->mode == HIPIFY_EXTENSION;
}

/* The section (a map, or NULL) of the description `file` of the project dir (absolute): words of a
 * fixed set are checked, sources found, the torch and the map made absolute, pairs that stand in
 * the description made the text of a map. E_SYNTAX and E_PROJECT at the place. */
MUST_USE struct err *hipify_options_read(struct arena *a, const struct node *section,
	struct str dir, struct str file, struct hipify_options *ret);
/* Fills what o does not say from what the description says; flags do not inherit. */
void hipify_options_inherit(struct hipify_options *o, const struct hipify_options *described);
/* E_USAGE, in the words of the command line: a setting that this mode would ignore in silence. */
MUST_USE struct err *hipify_options_check(const struct hipify_options *said, enum hipify_mode mode);
/* "6.4.3" */
bool hipify_is_rocm(struct str version);

/* A tree that holds PyTorch's own tools/amd_build/build_amd.py. */
bool hipify_is_checkout(struct str dir);
/* The mode of o, where it says none by what dir and torch are. *ret_why: in words; or NULL. */
void hipify_choose_mode(struct hipify_options *o, const char **ret_why);
/* The text of map, unless it is there. */
MUST_USE struct err *hipify_options_load_map(struct arena *a, struct hipify_options *o);
/* From what was said to what a run reads: endings get their dot, sources become absolute (or, in
 * mode standalone, `only`) without those excluded, and names to exclude become patterns. */
void hipify_options_complete(struct arena *a, struct hipify_options *o);

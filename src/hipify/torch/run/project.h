/* A project under translation: the state shared by all of its files, and the translation of one file.
 *
 * Shared by tree.c (PyTorch itself, whose files are independent) and extension.c (whose files are
 * not). Names follow the original: fin_path, fout_path, all_files.
 */
#pragma once

#include "hipify/hipify_int.h"
#include "hipify/torch/run/select.h"
#include "hipify/torch/text/text.h"
#include "lang/python/path.h"

/* ---- layer.c: the results of a run so far, laid over the sources ----
 *
 * The original writes each result at once, and finds it when it later looks for a header or reads a
 * file. Here results stay in memory; a layer answers as if they had been written. Paths are absolute
 * and clean; files are identified by their real paths, since names may be links. Not thread-safe.
 */
struct torch_output {
	struct str path;   /* the path to write to, links resolved */
	struct str source; /* absolute path of the file it was made from */
	struct str text;
};

struct torch_layer {
	struct arena *a;
	const struct view *view;
	struct str real_root;            /* the real path of the view's root */
	const struct torch_layer *below; /* the layer of an earlier run; NULL = none */
	/* absolute path -> facts about the disk, which does not change; shared by both layers */
	struct map *disk;
	struct map outputs; /* real path -> struct torch_output * */
	struct map dirs;    /* folders that would have been created */
};

void layer_open(struct torch_layer *l, struct arena *a, const struct view *view);
/* Opens a layer on top of another, which must not change any more. */
void layer_open_above(struct torch_layer *l, struct arena *a, const struct torch_layer *below);
bool layer_exists(struct torch_layer *l, struct str path);
MUST_USE struct err *layer_read(
	struct torch_layer *l, struct arena *a, struct str path, struct str *ret);
/* Does the file exist with this text, as Python decodes it? */
bool layer_has_text(struct torch_layer *l, struct str path, struct str text);
void layer_mkdirs(struct torch_layer *l, struct str dir);
/* The output at this path; NULL if nothing was written there. */
struct torch_output *layer_find(struct torch_layer *l, struct str path);
/* Records an output, whose texts must live as long as the layer. Returns the previous output at that
 * path, with text.p NULL if there was none. */
struct torch_output layer_write(struct torch_layer *l, struct torch_output o);
/* The real path: links are resolved in the part of the path that exists. */
struct str layer_real(struct torch_layer *l, struct str path);

/* ---- the project ---- */

struct torch_project {
	struct arena *a;
	const struct hipify_options *o;
	const struct view *view;
	struct hipify_tree *ret;
	const struct torch_engine *engine;
	struct torch_selection select;
	struct strs files; /* all_files: absolute, in the original's order, may have duplicates */
	bool launches;     /* rewrite kernel launches */
	struct torch_one *one; /* as in struct hipify_options */
};

/* One file under translation. */
struct torch_unit {
	struct str path;      /* as in all_files */
	struct str fin, fout; /* absolute and clean: the paths of the file and of its result */
	struct str rel;       /* relative to the root */
	bool trace;           /* the texts and edits go to torch_project.one, too */
	/* NULL: as in torch mode, where only torch_known_include() counts */
	torch_include *include;
	void *user;        /* the argument of `include` */
	struct str source; /* decoded */
	struct str text;   /* the result, with the line that marks it, if UNIT_CHANGED */
	enum unit_outcome {
		UNIT_MARKED, /* the file is itself a result */
		UNIT_SAME,
		UNIT_CHANGED
	} outcome;
};

struct torch_unit torch_unit_new(const struct torch_project *p, struct arena *a, struct str path);
/* Gives the new path of an include of one of PyTorch's own headers; false for any other include. */
bool torch_known_include(struct arena *a, struct str path, bool extension, struct str *ret);

/* Does the first line mark this file as a result of hipify? */
bool torch_is_marked(struct str bytes);

/* Translates a file's bytes and sets the unit's texts, which are in `a`, and outcome. An error carries the place. */
MUST_USE struct err *torch_unit_translate(
	const struct torch_project *p, struct arena *a, struct torch_unit *u, struct str bytes);
/* The path in messages: DIR/rel. */
struct str torch_unit_name(const struct torch_project *p, struct arena *a, struct str path);
/* False where the original prints "[skipped, no permissions]"; the second function adds that finding. */
bool torch_may_write(const struct torch_project *p, const struct torch_unit *u);
void torch_say_not_writable(struct torch_project *p, const struct torch_unit *u);
struct change *torch_add_file(struct torch_project *p, struct str source, struct str output);
/* Adds the finding that two sources have the same output. */
void torch_say_collision(
	struct torch_project *p, struct str first, struct str second, struct str output);

/* ---- tree.c, extension.c: all files of a project whose engine and selection are set ---- */
MUST_USE struct err *torch_run_tree(struct torch_project *p, const struct torch_source *s);
MUST_USE struct err *torch_run_extension(struct torch_project *p);

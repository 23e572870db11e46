/* A project under translation: what holds for all of its files, and how one of them is done.
 *
 * Shared by tree.c (PyTorch itself: files are independent) and extension.c (they are not). Names
 * follow the original: fin_path, fout_path, all_files.
 */
#pragma once

#include "changes/view.h"
#include "hipify/hipify_int.h"
#include "hipify/torch/run/select.h"
#include "hipify/torch/text/text.h"
#include "lang/python/path.h"

/* ---- layer.c: what a run has written so far, in front of the sources ----
 *
 * The original writes each result at once, and finds it when it looks for a header or reads a file
 * later. Here results stay in memory; a layer answers as if they had been written. Paths are
 * absolute and clean; a file counts by its true path, since names may be links. Not thread-safe.
 */
struct torch_output {
	struct str path;   /* as it is to be written: where a link leads */
	struct str source; /* absolute path of what it was made from */
	struct str text;
};

struct torch_layer {
	struct arena *a;
	const struct view *view;
	struct str real_root;            /* the real path of the view's root */
	const struct torch_layer *below; /* the layer of an earlier run; NULL = none */
	struct torch_disk *disk;         /* cached facts about the disk; shared by both */
	struct map outputs;              /* true path -> struct torch_output * */
	struct map dirs;                 /* folders that were made */
};

void layer_open(struct torch_layer *l, struct arena *a, const struct view *view);
/* On top of another, which is not changed any more. */
void layer_open_above(struct torch_layer *l, struct arena *a, const struct torch_layer *below);
bool layer_exists(struct torch_layer *l, struct str path);
MUST_USE struct err *layer_read(
	struct torch_layer *l, struct arena *a, struct str path, struct str *ret);
/* There is a file with this text, as Python reads it. */
bool layer_has_text(struct torch_layer *l, struct str path, struct str text);
void layer_mkdirs(struct torch_layer *l, struct str dir);
/* The output at this path; NULL when nothing was written there. */
struct torch_output *layer_find(struct torch_layer *l, struct str path);
/* The texts must live as long as the layer. Gives back what was there before: text.p NULL when
 * nothing was written yet. */
struct torch_output layer_write(struct torch_layer *l, struct torch_output o);
/* The true path: links resolved as far as there is something. */
struct str layer_real(struct torch_layer *l, struct str path);

/* ---- the project ---- */

struct torch_project {
	struct arena *a;
	const struct hipify_options *o;
	const struct view *view;
	struct hipify_tree *ret;
	const struct torch_engine *engine; /* from torch_wait_engine() on */
	struct torch_opening *opening;
	struct torch_selection select;
	struct strs files;     /* all_files: absolute, in the order of the original, maybe twice */
	bool launches;         /* are rewritten */
	struct torch_one *one; /* the file whose edits are wanted; NULL = none */
};

/* One file on its way. The texts are in the arena it was translated with. */
struct torch_unit {
	struct str path;      /* as in all_files */
	struct str fin, fout; /* absolute and clean: the file, and what its result is called */
	struct str rel;       /* to the root */
	struct str source;    /* decoded */
	struct str text;      /* the result, with the line that marks it; of UNIT_CHANGED */
	enum unit_outcome {
		UNIT_MARKED, /* it is a result itself */
		UNIT_SAME,
		UNIT_CHANGED
	} outcome;
};

struct torch_unit torch_unit_new(const struct torch_project *p, struct arena *a, struct str path);
/* The include callback for a project that is no extension. user: the arena of the answers. */
torch_include torch_plain_include;
/* The new name of an include of PyTorch's own headers; false for any other include. */
bool torch_known_include(struct arena *a, struct str path, bool extension, struct str *ret);

/* The first line says that this is a result. */
bool torch_is_marked(struct str bytes);

struct torch_unit_work {
	struct arena *a;   /* holds the texts */
	struct arena *out; /* holds the result */
	torch_include *include;
	void *user;
};

/* From bytes to text and outcome. An error carries the place. */
MUST_USE struct err *torch_unit_translate(const struct torch_project *p, struct torch_unit *u,
	const struct torch_unit_work *w, struct str bytes);
/* As hipify names it in messages: DIR/rel. */
struct str torch_unit_name(const struct torch_project *p, struct arena *a, struct str path);
/* False where the original would say "[skipped, no permissions]"; and the finding of that. */
bool torch_may_write(const struct torch_project *p, const struct torch_unit *u);
void torch_say_not_writable(struct torch_project *p, const struct torch_unit *u);
struct change *torch_add_file(struct torch_project *p, struct str source, struct str output);
/* Says that two sources give one output. */
void torch_say_collision(
	struct torch_project *p, struct str first, struct str second, struct str output);

/* ---- unit.c: the engine, made while the files are listed ----
 *
 * Reading a torch's tables takes as long as walking its tree. p->engine is there once waiting for it
 * has succeeded. Each start needs a wait; further waits do nothing. */
void torch_start_engine(struct torch_project *p, const struct torch_source *s);
MUST_USE struct err *torch_wait_engine(struct torch_project *p);
MUST_USE struct err *torch_run_tree(struct torch_project *p, const struct torch_source *s);
MUST_USE struct err *torch_run_extension(struct torch_project *p);

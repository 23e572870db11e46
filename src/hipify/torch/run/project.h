/* A project under translation: what holds for all of its files, and how one of them is done.
 *
 * Shared by tree.c (PyTorch itself: files are independent) and extension.c (they are not). Names
 * follow the original: fin_path, fout_path, all_files.
 */
#pragma once

#include "hipify/hipify_int.h"
#include "hipify/torch/run/layer.h"
#include "hipify/torch/run/select.h"
#include "hipify/torch/text/text.h"
#include "lang/python/path.h"

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
	struct torch_one *one; /* whose edits are wanted; NULL = nobody's */
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
/* What hipify calls an include of PyTorch's own headers: false when it is none of those. */
bool torch_known_include(struct arena *a, struct str path, bool extension, struct str *ret);

/* The first line says that this is a result. */
bool torch_is_marked(struct str bytes);

struct torch_unit_work {
	struct arena *a;   /* of the texts */
	struct arena *out; /* of the result */
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

/* Starts to make p->engine; it is there once waiting for it has succeeded. Each start needs a wait,
 * and further ones do nothing. */
void torch_start_engine(struct torch_project *p, const struct torch_source *s);
MUST_USE struct err *torch_wait_engine(struct torch_project *p);
MUST_USE struct err *torch_run_tree(struct torch_project *p, const struct torch_source *s);
MUST_USE struct err *torch_run_extension(struct torch_project *p);

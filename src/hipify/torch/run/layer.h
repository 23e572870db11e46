/* What a run has written so far, in front of the sources.
 *
 * The original writes each result at once, and what it wrote is there when it looks for a header or
 * reads a file later. Here results stay in memory; a layer answers as if they had been written.
 * Paths are absolute and clean; a file counts by its true path, since names may be links. Not
 * thread-safe.
 */
#pragma once

#include "changes/view.h"

struct torch_output {
	struct str path;   /* as it is to be written: where a link leads */
	struct str source; /* absolute path of what it was made from */
	struct str text;
};

struct torch_layer {
	struct arena *a;
	const struct view *view;
	struct str real_root;            /* of the view */
	const struct torch_layer *below; /* of an earlier run; NULL = none */
	struct torch_disk *disk;         /* what was found out about it; shared by both */
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

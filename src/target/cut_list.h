/* The cut list: a record of the GPUs whose device code `rocsmith slim` removed from a file, a folder or a wheel. It is
 * the JSON of `rocsmith slim --json` (schema rocsmith.slim/1) with file names in place of full paths, and is stored
 * next to the result: slim resumes from it, inspect describes it, and src/machine reads from it the GPUs that an SDK
 * still serves. */
#pragma once

#include "base/map.h"
#include "base/vec.h"
#include "formats/json_fields.h"
#include "target/target.h"

#define CUT_LIST "rocsmith-slim.json" /* file name of the list in a folder or dist-info */
#define CUT_LIST_END ".slim.json"     /* suffix of the list of a single file */

struct slim_sum { /* the objects of one target */
	struct str target;
	bool kept;
	/* bytes: stored size; members of a compressed bundle share its size in proportion */
	uint64_t objects, bytes;
};

struct slim_sums {
	VEC(struct slim_sum);
	struct map places; /* slim_sum_add() finds sums by it: a file may have 200,000 targets */
};

struct slim_done { /* a file that changed; after = 0: it was removed */
	struct str path;
	uint64_t before, after;
};

/* A file and a reason: it stays unchanged, as the result could not be proved to work; or it has no code left. */
struct slim_refused {
	struct str path, why;
};

/* A folder of side files, each for GPUs that its name tells: did some stay, did some go? */
struct slim_side {
	bool kept, gone;
};

struct slim_report {
	struct str path, output;
	struct strs gpus, without;
	bool exact, strip_device;
	bool unfinished; /* slimming in place is not complete: the list is the plan, not the result */
	struct str compress;    /* "ccob2"; "" = bundles keep their encoding */
	struct str runtime;     /* the HIP runtime whose version decided `compress` */
	uint64_t before, after; /* bytes of all files together, unpacked */
	uint64_t stripped; /* bytes that were stripped from the objects that stay, uncompressed */
	struct slim_sums targets;
	VEC(struct slim_refused) refused;
	/* files with code of which nothing is left, and folders without a file for one of the GPUs */
	VEC(struct slim_refused) emptied;
	struct strs absent; /* wanted GPUs that nothing has code for */
	/* Commands that undo a run in place, and the number of files that they do not bring back. Not read from a list:
	 * somebody else may have written it. */
	struct strs restore;
	uint64_t unlisted;
	struct map sides; /* struct slim_side by folder; not in the cut list */
	/* their paths are relative to the report's; "" = that path itself */
	VEC(struct slim_done) files;
};

extern const struct json_field slim_fields[];

/* Adds `s` to the sum of the same target, or appends it. */
void slim_sum_add(struct arena *a, struct slim_sums *to, const struct slim_sum *s);
struct str cut_list_text(struct arena *a, const struct slim_report *r);
/* Reads a cut list; fails if the text is not valid JSON of this schema. name: stands for the list in messages. */
MUST_USE struct err *cut_list_read(
	struct arena *a, struct str text, struct str name, struct slim_report *ret);
/* "slimmed for gfx1100: without gfx803, gfx900"; "" for a text that is no cut list. */
struct str cut_list_describe(struct arena *a, struct str text);
/* The members before the long lists, as a complete JSON document; the text may be cut off after them. */
void cut_list_head(struct buf *out, struct str text);

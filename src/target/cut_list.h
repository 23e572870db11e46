/* The cut list: which GPUs' device code `rocsmith slim` took out of a file, a folder or a wheel. It is the JSON of
 * `rocsmith slim --json` (schema rocsmith.slim/1) without places on this machine, and stays beside the result: slim
 * goes on from it, inspect describes it, machine reads which GPUs an SDK is left with. */
#pragma once

#include "base/vec.h"
#include "formats/json_fields.h"
#include "target/target.h"

#define CUT_LIST "rocsmith-slim.json" /* its name in a folder or dist-info */
#define CUT_LIST_END ".slim.json"     /* beside a file: behind that file's name */

struct slim_sum { /* the objects of one target */
	struct str target;
	bool kept;
	uint64_t objects, bytes; /* as they are stored: of compressed bundles in proportion */
};

struct slim_sums {
	struct slim_sum *v;
	size_t n, cap;
};

struct slim_done { /* a file that changed; after = 0: it is gone */
	struct str path;
	uint64_t before, after;
};

struct slim_refused { /* a file of a folder that stays whole, because nothing proves that it would work */
	struct str path, why;
};

struct slim_report {
	struct str path, output;
	struct strs gpus, without;
	bool exact, strip_device;
	bool unfinished;        /* in place: this is what is going to be */
	struct str compress;    /* "ccob2"; "": bundles keep their encoding */
	struct str runtime;     /* the HIP runtime whose version decided that */
	uint64_t before, after; /* all files together, unpacked */
	uint64_t stripped;      /* bytes that objects which stay lose, uncompressed */
	struct slim_sums targets;
	VEC(struct slim_refused) refused;
	VEC(struct slim_done) files; /* paths below that of the report, "" for itself */
};

extern const struct json_field slim_fields[];

/* Adds a sum to that of the same target. */
void slim_sum_add(struct arena *a, struct slim_sums *to, const struct slim_sum *s);
/* "gfx803, gfx900": the targets whose code is gone, by generation. */
struct str cut_list_removed(struct arena *a, const struct slim_report *r);
struct str cut_list_text(struct arena *a, const struct slim_report *r);
/* E_FORMAT and the like for a text that is none; name: for messages. */
MUST_USE struct err *cut_list_read(
	struct arena *a, struct str text, struct str name, struct slim_report *ret);
/* "slimmed for gfx1100: without gfx803, gfx900"; "" for a text that is no cut list. */
struct str cut_list_describe(struct arena *a, struct str text);
/* The part in front of the long lists, as a JSON document of its own; text may end early. */
void cut_list_head(struct buf *out, struct str text);

/* Reports: what a build did, as one self-contained HTML page, or as text and JSON.
 *
 * The input is the document that every build leaves in its folder, BUILD_DIR/build.json (schema
 * "rocsmith.build/1", see doc/man/rocsmith-report.1.scd): plan, facts, stages and steps with their
 * times, device code, verdict. Whatever is missing there (the build failed) is left out here; a
 * report never looks at anything else, so the same document always gives the same page.
 */
#pragma once

#include "base/vec.h"
#include "formats/json_fields.h"
#include "formats/node.h"

struct report_stage {
	struct str name; /* "sdk", "hipify", "compile", "package", "verify" */
	double seconds;  /* wall time */
};

struct report_step {
	struct str kind, name, gpu; /* gpu: of a device pass, else "" */
	double start, seconds, cpu; /* seconds since the build began; cpu = user + system */
	uint64_t memory;            /* peak, bytes */
	bool cached;                /* up to date: did not run */
	unsigned lane; /* steps of one lane do not overlap, but for those in the last of 256 */
};

struct report_gpu { /* sums over the device passes that ran for one GPU */
	struct str name;
	double seconds, cpu;
	uint64_t memory; /* largest of them */
	size_t ran, cached;
};

struct report {
	const struct node *doc; /* the whole document */
	struct str name, version, wheel, sha256, error;
	struct str place;   /* of the error in the user's sources: "src/a.cu:5"; "" */
	struct str verdict; /* "pass", "fail" or "" */
	uint64_t bytes;     /* of the wheel */
	double seconds;     /* wall time of the build */
	double end;         /* when the last step ended */
	unsigned lanes;
	VEC(struct report_stage) stages;
	VEC(struct report_step) steps;  /* by start time */
	VEC(struct report_gpu) gpus;    /* in order of the plan, then of the steps */
	VEC(struct report_step) failed; /* had begun when the build failed */
	size_t kernels, spilling;       /* in the list of the page; those that spill registers */
	size_t warnings;                /* of the compiler */
};

/* Reads a build document; E_SYNTAX when it is no JSON or has another schema. Views point into doc.
 */
MUST_USE struct err *report_read(struct arena *a, const struct node *doc, struct report *ret);
/* The member as a map or list to iterate over; an empty one when it is not there. */
const struct node *report_member(const struct node *map, struct str key);
/* Registers that a kernel of the document keeps in memory. */
uint64_t report_spills(const struct node *kernel);
/* The whole page, UTF-8. */
struct str report_html(struct arena *a, const struct report *r);
/* The document of `rocsmith report --json`: the figures, without what they come from. */
extern const struct json_field report_fields[];

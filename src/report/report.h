/* Reports: the course of a build, as one self-contained HTML page, or as text and JSON.
 *
 * The input is the document that every build leaves in its folder, BUILD_DIR/build.json (schema
 * "rocsmith.build/1", see doc/man/rocsmith-report.1.scd): plan, facts, stages and steps with their
 * times, device code, verdict. Parts that are missing there (the build failed) are left out here. A
 * report reads nothing else, so the same document always gives the same page.
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
	struct str kind, name, gpu; /* gpu: target of a device pass, else "" */
	struct str front;           /* a device pass: front_how_names[] of cc/compile.h, or "" */
	double start, seconds, cpu; /* seconds since the build began; cpu = user + system */
	uint64_t memory;            /* peak, bytes */
	bool cached;                /* up to date: did not run */
	bool restored;              /* taken from the cache of objects */
	bool compile;               /* it counts for GPUs and the critical path */
	size_t number; /* its place in `steps` of the document, or, behind those, in `compiles` */
	VEC(size_t) after; /* numbers of the steps that it waited for */
	unsigned lane;     /* steps of one lane do not overlap, except in the last of 256 */
};

struct report_gpu { /* sums over the device passes that ran for one GPU */
	struct str name;
	double seconds, cpu;
	uint64_t memory; /* the largest peak among them */
	size_t ran, cached;
	/* counts of `ran`: those whose object came from the cache, whose front end ran for another GPU, and whose whole
	 * code is that of another GPU (which count as shared, too) */
	size_t restored, shared, cloned;
	double added; /* by so much would `least` be less without its device passes */
};

struct report {
	const struct node *doc; /* the whole document */
	struct str name, version, wheel, sha256, error;
	struct str place;   /* place of the error in the user's sources, "src/a.cu:5", or "" */
	struct str verdict; /* "pass", "fail" or "" */
	uint64_t bytes;     /* size of the wheel */
	double seconds;     /* wall time of the build */
	double end;         /* time at which the last step ended */
	unsigned lanes;
	size_t numbers; /* counts all steps and compiles of the document */
	VEC(struct report_stage) stages;
	VEC(struct report_step) steps;  /* sorted by start time */
	VEC(struct report_gpu) gpus;    /* in the order of the plan, then of the steps */
	VEC(struct report_step) failed; /* steps that were running when the build failed */
	unsigned jobs;                  /* the most steps that may run at once */
	/* the critical path: the chain of compiles, each of which needs the one before it, that takes longest */
	VEC(struct report_step) path;
	double path_seconds;
	/* seconds that the compiles take at least: the critical path, or all their time divided by the jobs */
	double least;
	size_t kernels, spilling; /* all kernels, and those that spill registers */
	size_t warnings;          /* number of compiler warnings */
};

/* Reads a build document; E_SYNTAX if it has another schema. Texts point into doc. */
MUST_USE struct err *report_read(struct arena *a, const struct node *doc, struct report *ret);
/* Number of registers that a kernel of the document spills to memory. */
uint64_t report_spills(const struct node *kernel);
/* The whole page, UTF-8. */
struct str report_html(struct arena *a, const struct report *r);
/* The document of `rocsmith report --json`: the figures without the build document. */
extern const struct json_field report_fields[];

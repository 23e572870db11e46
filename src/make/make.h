/* Building: plan -> SDK -> translated sources -> objects -> modules -> wheel.
 *
 * Every step is keyed by a hash of what goes into it (command, SDK, content of all files that it
 * read last time) and stamped when done; a killed build goes on where it was. Steps run in
 * parallel: for each source one device pass per GPU, a bundle, a host pass. All output goes to the
 * build folder (XDG cache, one per project) and the wheel to `out`; sources are never modified.
 *
 * The build folder: hip/ (translated sources), obj/ (objects, bundles, depfiles), mod/ (linked
 * modules), log/ (what each compiler run said), stamp/, tmp/, build.json (for reports), lock.
 * Same sources, plan and SDK give the same wheel, byte by byte, wherever the project lies.
 */
#pragma once

#include "hipify/hipify.h"
#include "plan/plan.h"
#include "sdk/sdk.h"

struct make_step {           /* for reports: what ran, or was up to date */
	struct str kind;     /* "device", "bundle", "host", "c++", "c", "link" */
	struct str name;     /* source or file */
	struct str gpu;      /* of a device pass */
	double start;        /* seconds since the build began; 0 when cached */
	double seconds, cpu; /* wall, user + system; of the run that made the output */
	uint64_t memory;     /* peak, bytes */
	bool cached;         /* was up to date */
	bool done;           /* false: not reached, or failed */
};

enum make_stage {
	STAGE_SDK,
	STAGE_HIPIFY,
	STAGE_COMPILE,
	STAGE_PACKAGE,
	STAGE_VERIFY,
	STAGE_COUNT
};
extern const char *const make_stage_names[STAGE_COUNT];

struct make_result {
	struct str wheel; /* path */
	uint64_t wheel_size;
	struct str platform_why; /* one sentence about the platform tag */
	struct str dir;          /* build folder */
	VEC(struct make_step) steps;
	double seconds[STAGE_COUNT];
	unsigned jobs;
	size_t edits; /* replacements made by hipify */
	struct sdk sdk;
	struct findings findings;
	struct err *failures; /* more compile errors behind the first (keep_going); owned */
};

struct make_options {
	struct str out; /* folder for the wheel */
	struct str dir; /* build folder; "" = below the cache folder */
	unsigned jobs;  /* 0 = as many as CPUs and free memory allow */
	bool keep_going;
	bool no_install; /* an SDK that is not there is an error */
	double began;    /* mono_now() at the start of the whole build */
};

/* The build folder of a project (absolute path) when none is named. */
struct str make_build_dir(struct arena *a, struct str project);
/* What only the sources' translation tells: adds the SDK components of the library headers that
 * they include, and the libraries to link. Reads the sources, writes nothing. */
MUST_USE struct err *make_needs(struct arena *a, struct plan *p);
/* Steps that a build has, in order, without doing any (for a dry run). */
void make_steps(struct arena *a, const struct plan *p, struct make_result *ret);
/* Builds. On failure ret still tells what was done. E_COMPILE and E_LINK carry the compiler's own
 * first error, located in the user's source. */
MUST_USE struct err *make_wheel(struct arena *a, const struct plan *p, const struct make_options *o,
	struct make_result *ret);

/* What a record is made of. */
struct make_record {
	const struct plan *plan;
	const struct make_result *result;
	const struct err *failure; /* or NULL */
	double began;              /* mono_now() at the start */
	const struct json_field *more; /* further members, of more_of; or NULL */
	const void *more_of;
};

/* The JSON of build.json: plan, SDK, stages, steps, wheel, findings, error and `more`. Format:
 * doc/man/rocsmith-build.1.scd. */
struct str make_record(struct arena *a, const struct make_record *m);

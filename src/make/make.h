/* Building: plan -> SDK -> translated sources -> objects -> modules -> wheel.
 *
 * Every step is keyed by a hash of what goes into it (command, SDK, content of all files that it
 * read last time) and stamped when done; a killed build goes on where it was. Steps run in
 * parallel: for each source one device pass per GPU, a bundle, a host pass. All output goes to the
 * build folder (XDG cache, one per project) and the wheel to `out`; sources are never modified.
 */
#pragma once

#include "plan/plan.h"

struct make_step {                  /* for reports: what ran, or was up to date */
	struct str kind;            /* "hipify", "device", "bundle", "host", "link", "wheel", ... */
	struct str name;            /* source or file */
	struct str gpu;             /* of a device pass */
	double start, seconds, cpu; /* seconds since the build began; cpu = user + system */
	uint64_t memory;            /* peak, bytes */
	bool cached;
};

struct make_result {
	struct str wheel; /* path */
	struct str dir;   /* build folder */
	VEC(struct make_step) steps;
	struct findings findings;
};

struct make_options {
	struct str out; /* folder for the wheel */
	struct str dir; /* build folder; "" = below the cache folder */
	unsigned jobs;
	bool keep_going;
};

MUST_USE struct err *make_wheel(struct arena *a, const struct plan *p, const struct make_options *o,
	struct make_result *ret);

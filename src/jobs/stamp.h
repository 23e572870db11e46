/* Is the output of a step up to date? Stamps remember what went into it.
 *
 * A stamp holds the hash of the command, size and time and hash of the output, and path, size, time
 * and hash of every file that was read. A file whose size and time are as remembered is not read
 * again; one that was changed within a second of being hashed is (its time proves nothing).
 */
#pragma once

#include "base/hash.h"

struct stamp_cost { /* of the run that made the output; kept with it */
	double seconds, cpu;
	uint64_t memory;
};

struct stamps; /* hashes of files seen in this build; thread-safe; heap */

struct stamps *stamps_new(void);
void stamps_freep(struct stamps **s);

/* What is compared: text that names command, environment and SDK, and the output. */
struct stamp_key {
	struct str file; /* of the stamp */
	struct digest command;
	struct str output;
};

/* True when the output is there, as stamped, and every remembered file has its old content. */
bool stamp_fresh(struct stamps *s, const struct stamp_key *k, struct stamp_cost *ret);
/* Remembers; inputs are absolute paths (those that cannot be read are remembered as absent). */
MUST_USE struct err *stamp_write(struct stamps *s, const struct stamp_key *k,
	const struct strs *inputs, const struct stamp_cost *cost);

/* What rocsmith made in an output folder: OUT/.rocsmith/hipify.manifest.
 *
 * Text, one output a line: sha256 of what we wrote, a tab, the output's path, a tab, the source's
 * path. It is written before the outputs (so that a killed run leaves nothing that we do not know)
 * and again when all is done. A file in OUT that it does not name is not ours.
 */
#pragma once

#include "base/err.h"
#include "base/map.h"

struct listing_entry {
	struct str hash, output, source;
};

struct listing {
	struct arena *a;
	struct map by_output; /* path -> struct listing_entry * */
};

/* Empty when there is none; E_CORRUPT when it cannot be read as one. */
MUST_USE struct err *listing_read(struct arena *a, struct str out, struct listing *ret);
void listing_add(struct listing *m, struct listing_entry e);
MUST_USE struct err *listing_write(const struct listing *m, struct str out);
/* Waits until no other run works on out. */
MUST_USE struct err *listing_lock(struct str out, int *ret_fd);

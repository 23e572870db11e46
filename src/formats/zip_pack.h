/* Private to the zip writer: the work that threads do for it, in units.
 *
 * A small member is one unit: read, hashed, checksummed and compressed in one pass. A big one is
 * cut into chunks that are compressed apart and joined (so that one library does not keep all other
 * CPUs waiting), and one more unit hashes all its chunks in order. Results depend on the content
 * only.
 */
#pragma once

#include "base/hash.h"
#include "formats/zip_format.h"

enum zip_work { ZIP_PACK_WHOLE, ZIP_PACK_CHUNK, ZIP_PACK_HASH };

struct zip_packed { /* a member on its way into the archive */
	const struct zip_input *in;
	uint64_t size, stored;
	uint64_t header; /* offset of the local header */
	uint32_t crc;
	uint16_t method;
	bool big;
	struct hash *running; /* of a big member */
	struct digest digest;
};

struct zip_unit {
	enum zip_work work;
	struct zip_packed *member;
	uint64_t from, n; /* part of the content */
	char *out;        /* malloc'ed result, to be written in order; NULL for hash units */
	size_t out_n;
};

/* One job for the pool: some units in a row, which share a compressor. */
struct zip_job {
	struct zip_unit *v;
	size_t n;
};

/* Fills out and out_n of each unit, and the member's crc, method, digest as the work is. */
MUST_USE struct err *zip_job_run(struct arena *tmp, void *job);
void zip_unit_free(struct zip_unit *u);
/* Chooses the method of a big member by samples of its content: data that is compressed already is
 * stored. */
MUST_USE struct err *zip_pack_probe(struct zip_packed *m);
/* Reads part of an input's content; E_IO when the file became shorter meanwhile. */
MUST_USE struct err *zip_input_read(const struct zip_input *in, void *p, size_t n, uint64_t from);

/* Private to the zip reader and writer: record layouts, limits and name rules.
 * Source: PKWARE APPNOTE 6.3.10, sections 4.3 to 4.5.
 */
#pragma once

#include <isa-l/igzip_lib.h>

#include "formats/le.h"
#include "formats/zip.h"

enum {
	ZIP_LOCAL = 0x04034b50,
	ZIP_CENTRAL = 0x02014b50,
	ZIP_END = 0x06054b50,
	ZIP_END64 = 0x06064b50,
	ZIP_LOCATOR64 = 0x07064b50,
	ZIP_DESCRIPTOR = 0x08074b50,
	ZIP_LOCAL_SIZE = 30,
	ZIP_CENTRAL_SIZE = 46,
	ZIP_END_SIZE = 22,
	ZIP_END64_SIZE = 56,
	ZIP_LOCATOR64_SIZE = 20,
	ZIP_EXTRA64 = 1,
	ZIP_EXTRA_NAME = 0x7075, /* Info-ZIP's Unicode path */
	ZIP_STORED = 0,
	ZIP_DEFLATE = 8,
	ZIP_FLAG_ENCRYPTED = 1,
	ZIP_FLAG_DESCRIPTOR = 8,
	ZIP_FLAG_PATCH = 32,
	ZIP_FLAG_STRONG = 64,
	ZIP_FLAG_UTF8 = 0x800,
	ZIP_FLAG_MASKED = 0x2000,
};

/* The reason why a member of that name must not be unpacked below a folder, or NULL: names are relative, with forward
 * slashes, and never lead out. Readers and writers share these rules. */
const char *zip_name_problem(struct str name);
bool zip_ascii(struct str name);
static inline void bytes_freep(char **p)
{
	free(*p);
}

/* ---- zip_data.c: unpacking a member ---- */
enum { INFLATE_PIECE = 1 << 18 };
struct inflater {
	const struct zip *z;
	const struct zip_member *m;
	uint64_t taken, made; /* compressed bytes read; bytes that came out */
	uint32_t crc;         /* checksum of the latter, if all came out in order */
	struct inflate_state s;
	unsigned char in[INFLATE_PIECE];
};

MUST_USE struct err *inflater_open(
	const struct zip *z, const struct zip_member *m, struct inflater **ret);
/* Unpacks the next `room` bytes, fewer only at the end. When `in` is consumed, {taken, made, s} are the whole state:
 * save them to resume from here. */
MUST_USE struct err *inflater_next(struct inflater *f, char *out, size_t room, size_t *ret);
/* E_ZIP if the checksum of all bytes is wrong. */
MUST_USE struct err *inflater_end(const struct inflater *f);
void inflater_freep(struct inflater **f);

/* ---- deflate_walk.c ---- */
/* Finds the last block of a deflate stream of n bytes: its beginning and end, in bits. The 8 bytes behind the stream
 * must be readable. False if it is not a deflate stream. */
bool deflate_last_block(
	struct arena *tmp, const char *p, size_t n, uint64_t *ret_begin, uint64_t *ret_end);

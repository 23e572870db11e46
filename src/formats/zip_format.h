/* Private to the zip reader and writer: record layouts, limits and name rules.
 * Source: PKWARE APPNOTE 6.3.10, sections 4.3 to 4.5.
 */
#pragma once

#include "base/buf.h"
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
	ZIP_STORED = 0,
	ZIP_DEFLATE = 8,
	ZIP_FLAG_ENCRYPTED = 1,
	ZIP_FLAG_DESCRIPTOR = 8,
	ZIP_FLAG_PATCH = 32,
	ZIP_FLAG_STRONG = 64,
	ZIP_FLAG_UTF8 = 0x800,
	ZIP_FLAG_MASKED = 0x2000,
};

/* The first values that do not fit into the old fields. Tests lower them: what comes out is valid
 * ZIP64 all the same, because the 32-bit fields then hold 0xffffffff. */
struct zip_limits {
	uint64_t size, count;
	uint64_t chunk; /* members above two chunks are deflated in pieces */
};

extern const struct zip_limits zip_limits_format;

MUST_USE struct err *zip_write_limited(struct arena *a, const struct zip_writer *w,
	const struct zip_limits *lim, struct zip_output *ret);

/* What is wrong with a member's name for an archive that is unpacked below a folder, or NULL. */
const char *zip_name_problem(struct str name);

static inline uint16_t zip_u16(const void *at)
{
	const unsigned char *p = at;
	return (uint16_t)(p[0] | p[1] << 8);
}

static inline uint32_t zip_u32(const void *at)
{
	const unsigned char *p = at;
	return zip_u16(p) | (uint32_t)zip_u16(p + 2) << 16;
}

static inline uint64_t zip_u64(const void *at)
{
	const unsigned char *p = at;
	return zip_u32(p) | (uint64_t)zip_u32(p + 4) << 32;
}

static inline void zip_put(struct buf *b, uint64_t value, unsigned bytes)
{
	for (unsigned i = 0; i < bytes; i++)
		buf_char(b, (char)(value >> 8 * i & 0xff));
}

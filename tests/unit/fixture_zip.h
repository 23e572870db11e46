/* Whole zip archives by a small assembler of records, which puts down whatever it is told. */
#pragma once

#include <zlib.h>

#include "formats/zip_format.h"
#include "unit/test.h"

struct fx_member {
	const char *name;
	struct str data; /* as stored */
	unsigned method, flags, mode;
	uint64_t size; /* unpacked; 0: that of data */
	uint32_t crc;  /* 0: of data, which is right for stored members */
	uint64_t at;   /* local header there instead of where it is, plus one; 0: right */
	bool no_local; /* an entry in the directory only */
	struct str extra, local_extra;
	unsigned system; /* that made it, plus one; 0: Unix */
	unsigned dos;    /* attributes of MS-DOS */
};

static inline uint32_t crc_of(struct str s)
{
	return (uint32_t)crc32(0, (const Bytef *)s.p, (uInt)s.n);
}

static inline void put_record(struct buf *b, bool central, const struct fx_member *m, uint64_t at)
{
	buf_le(b, central ? ZIP_CENTRAL : ZIP_LOCAL, 4);
	if (central)
		buf_le(b, (m->system ? m->system - 1 : 3) << 8 | 20, 2);
	buf_le(b, 20, 2);
	buf_le(b, m->flags, 2);
	buf_le(b, m->method, 2);
	buf_le(b, 0x21 << 16, 4);
	buf_le(b, m->crc ? m->crc : crc_of(m->data), 4);
	buf_le(b, m->data.n, 4);
	buf_le(b, m->size ? m->size : m->data.n, 4);
	buf_le(b, strlen(m->name), 2);
	struct str extra = central ? m->extra : m->local_extra;
	buf_le(b, extra.n, 2);
	if (central) {
		buf_le(b, 0, 6);
		buf_le(b, (uint64_t)(m->mode ? m->mode : 0100644) << 16 | m->dos, 4);
		buf_le(b, m->at ? m->at - 1 : at, 4);
	}
	buf_add(b, str_from(m->name));
	buf_add(b, extra);
}

static inline void put_end(struct buf *b, uint64_t n, uint64_t bytes, uint64_t dir)
{
	buf_le(b, ZIP_END, 4);
	buf_le(b, 0, 4);
	buf_le(b, n, 2);
	buf_le(b, n, 2);
	buf_le(b, bytes, 4);
	buf_le(b, dir, 4);
	buf_le(b, 0, 2);
}

static inline struct str archive(struct arena *a, const struct fx_member *v)
{
	BUF(b, a);
	uint64_t at[16] = {0};
	size_t n = 0;
	for (; v[n].name; n++) {
		at[n] = b.n;
		if (v[n].no_local)
			continue;
		put_record(&b, false, &v[n], 0);
		buf_add(&b, v[n].data);
	}
	uint64_t dir = b.n;
	for (size_t i = 0; i < n; i++)
		put_record(&b, true, &v[i], at[i]);
	put_end(&b, n, b.n - dir, dir);
	return buf_str(&b);
}

/* Writes and reads records; see le.h. Reading never leaves the text. */
#include "formats/le.h"

void pack_text(struct buf *b, struct str s)
{
	buf_le(b, s.n, 4);
	buf_add(b, s);
	buf_char(b, 0);
}

const char *unpack_raw(struct unpack *u, uint64_t n)
{
	if (u->bad || n > u->s.n) {
		u->bad = true;
		return NULL;
	}
	const char *p = u->s.p;
	u->s.p += n;
	u->s.n -= n;
	return p;
}

uint64_t unpack_u64(struct unpack *u, unsigned bytes)
{
	const char *p = unpack_raw(u, bytes);
	uint64_t v = 0;
	for (unsigned i = 0; p && i < bytes; i++)
		v |= (uint64_t)(unsigned char)p[i] << (8 * i);
	return v;
}

bool unpack_bool(struct unpack *u)
{
	return unpack_u64(u, 1) == 1;
}

unsigned unpack_kind(struct unpack *u, unsigned last)
{
	uint64_t v = unpack_u64(u, 1);
	u->bad = u->bad || v > last;
	return u->bad ? 0 : (unsigned)v;
}

size_t unpack_count(struct unpack *u, size_t least)
{
	uint64_t n = unpack_u64(u, 4);
	u->bad = u->bad || n > u->s.n / least;
	return u->bad ? 0 : (size_t)n;
}

struct str unpack_bytes(struct unpack *u)
{
	uint64_t n = unpack_u64(u, 4);
	const char *p = unpack_raw(u, n + 1);
	if (!p || p[n]) {
		u->bad = true;
		return S("");
	}
	return (struct str){.p = p, .n = (size_t)n};
}

struct str unpack_text(struct unpack *u)
{
	struct str s = unpack_bytes(u);
	if (memchr(s.p, 0, s.n)) {
		u->bad = true;
		return S("");
	}
	return s;
}

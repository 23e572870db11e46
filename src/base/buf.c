/* The string builder; see buf.h. */
#include "base/buf.h"

#include <stdio.h>

void buf_reserve(struct buf *b, size_t more)
{
	size_t need = b->n + more + 1;
	if (need <= b->cap)
		return;
	size_t cap = b->cap ? b->cap * 2 : 64;
	if (cap < need)
		cap = need;
	b->p = arena_grow(b->a, b->p, b->cap, cap);
	b->cap = cap;
}

char *buf_space(struct buf *b, size_t n)
{
	buf_reserve(b, n);
	char *p = b->p + b->n;
	memset(p, 0, n + 1);
	b->n += n;
	return p;
}

void buf_add(struct buf *b, struct str s)
{
	if (!s.n)
		return;
	buf_reserve(b, s.n);
	memcpy(b->p + b->n, s.p, s.n);
	b->n += s.n;
	b->p[b->n] = 0;
}

void buf_char(struct buf *b, char c)
{
	buf_reserve(b, 1);
	b->p[b->n++] = c;
	b->p[b->n] = 0;
}

void buf_utf8(struct buf *b, uint32_t c)
{
	static const unsigned char lead[] = {0, 0xc0, 0xe0, 0xf0};
	unsigned more = c < 0x80 ? 0 : c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
	buf_char(b, (char)(lead[more] | (c >> (6 * more))));
	while (more--)
		buf_char(b, (char)(0x80 | ((c >> (6 * more)) & 0x3f)));
}

void buf_fmt(struct buf *b, const char *fmt, ...)
{
	va_list ap, again;
	va_start(ap, fmt);
	va_copy(again, ap);
	int n = vsnprintf(NULL, 0, fmt, again);
	va_end(again);
	if (n > 0) {
		buf_reserve(b, (size_t)n);
		vsnprintf(b->p + b->n, (size_t)n + 1, fmt, ap);
		b->n += (size_t)n;
	}
	va_end(ap);
}

struct str buf_str(struct buf *b)
{
	buf_reserve(b, 0);
	b->p[b->n] = 0;
	return (struct str){.p = b->p, .n = b->n};
}

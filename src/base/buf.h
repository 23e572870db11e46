/* A string builder bound to an arena. buf_str() returns a NUL-terminated view of the text so far, which is valid until
 * the next addition. */
#pragma once

#include "base/str.h"

struct buf {
	struct arena *a;
	char *p;
	size_t n, cap;
};

#define BUF(name, arena) struct buf name = {.a = (arena)}

void buf_add(struct buf *b, struct str s);
void buf_char(struct buf *b, char c);
void buf_utf8(struct buf *b, uint32_t c); /* the UTF-8 of a code point */
void buf_fmt(struct buf *b, const char *fmt, ...) PRINTF(2, 3);
/* Makes room for n more bytes at once. */
void buf_reserve(struct buf *b, size_t n);
/* n zeroed bytes, to be filled through the returned pointer before the next addition. */
char *buf_space(struct buf *b, size_t n);
struct str buf_str(struct buf *b);

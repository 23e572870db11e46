/* Decoding, and str.find(), count(), replace(); see text.h. */
#include "lang/python/text.h"

#include <string.h>

/* Copies s with "\r\n" and "\r" replaced by "\n". */
static struct str newlines(struct arena *a, struct str s)
{
	char *out = arena_alloc(a, s.n + 1), *to = out;
	for (size_t at = 0; at < s.n; at++) {
		size_t n = str_chr(str_sub(s, at, s.n), '\r');
		memcpy(to, s.p + at, n);
		to += n;
		at += n;
		if (at < s.n)
			*to++ = '\n';
		at += at + 1 < s.n && s.p[at + 1] == '\n';
	}
	return (struct str){.p = out, .n = (size_t)(to - out)};
}

struct err *py_decode(struct arena *a, struct str bytes, struct str *ret)
{
	*ret = bytes;
	size_t bad = utf8_end(bytes);
	if (bad < bytes.n) {
		unsigned line = 1;
		/* "\r\n" is one line end; the byte at `bad` is no '\n' */
		for (size_t i = 0; i < bad; i++)
			line += bytes.p[i] == '\n' ||
				(bytes.p[i] == '\r' && bytes.p[i + 1] != '\n');
		return err_at(err_new(E_HIPIFY, "byte 0x%02x at offset %zu is not UTF-8",
				      (unsigned char)bytes.p[bad], bad),
			(struct loc){.path = S(""), .line = line});
	}
	if (str_chr(bytes, '\r') < bytes.n)
		*ret = newlines(a, bytes);
	return NULL;
}

/* ---- str ---- */

size_t py_str_find(struct str s, struct str what, size_t from)
{
	if (from > s.n)
		return SIZE_MAX;
	const char *p = s.n - from ? memmem(s.p + from, s.n - from, what.p, what.n) : NULL;
	return p ? (size_t)(p - s.p) : SIZE_MAX;
}

size_t py_str_count(struct str s, struct str what)
{
	size_t n = 0;
	for (size_t i = 0; !what.n && i < s.n; i++) /* "" is found before each character */
		n += ((unsigned char)s.p[i] & 0xc0) != 0x80;
	if (!what.n)
		return n + 1;
	for (size_t at = 0; (at = py_str_find(s, what, at)) != SIZE_MAX; at += what.n)
		n++;
	return n;
}

struct str py_str_replace(struct arena *a, struct str s, struct str old, struct str with)
{
	size_t n = py_str_count(s, old), done = 0;
	if (!n || (!old.n && !with.n))
		return s;
	struct str ret = {.n = s.n - n * old.n + n * with.n};
	char *to = arena_alloc(a, ret.n + 1);
	ret.p = to;
	for (size_t i = 0; !old.n && i < s.n; i++) { /* between all characters */
		if (((unsigned char)s.p[i] & 0xc0) != 0x80) {
			memcpy(to, with.p, with.n);
			to += with.n;
		}
		*to++ = s.p[i];
	}
	if (!old.n) {
		memcpy(to, with.p, with.n);
		return ret;
	}
	for (size_t at; (at = py_str_find(s, old, done)) != SIZE_MAX; done = at + old.n) {
		memcpy(to, s.p + done, at - done);
		to += at - done;
		if (with.n)
			memcpy(to, with.p, with.n);
		to += with.n;
	}
	if (s.n > done)
		memcpy(to, s.p + done, s.n - done);
	return ret;
}

/* Decoding, and str.find(), count(), replace(); see text.h. */
#include "lang/python/text.h"

#include "base/buf.h"

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
	if (str_chr(bytes, '\r') == bytes.n)
		return NULL;
	/* "\r\n" and "\r" become "\n". */
	char *text = arena_alloc(a, bytes.n + 1), *end = text;
	for (size_t i = 0; i < bytes.n; i++)
		if (bytes.p[i] != '\n' || !i || bytes.p[i - 1] != '\r')
			*end++ = bytes.p[i] == '\r' ? '\n' : bytes.p[i];
	*ret = (struct str){.p = text, .n = (size_t)(end - text)};
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
	BUF(b, a);
	size_t n = py_str_count(s, old), done = 0;
	if (!n || (!old.n && !with.n))
		return s;
	buf_reserve(&b, s.n - n * old.n + n * with.n);
	for (size_t i = 0; !old.n && i < s.n; i++) { /* between all characters */
		if (((unsigned char)s.p[i] & 0xc0) != 0x80)
			buf_add(&b, with);
		buf_char(&b, s.p[i]);
	}
	if (!old.n) {
		buf_add(&b, with);
		return buf_str(&b);
	}
	for (size_t at; (at = py_str_find(s, old, done)) != SIZE_MAX; done = at + old.n) {
		buf_add(&b, str_sub(s, done, at));
		buf_add(&b, with);
	}
	buf_add(&b, str_sub(s, done, s.n));
	return buf_str(&b);
}

struct str py_concat(struct arena *a, struct str x, struct str y, struct str z)
{
	struct str parts[] = {x, y, z};
	return str_join(a, &(struct strs){.v = parts, .n = 3}, S(""));
}

/* Reading a text as Python's open(encoding="utf-8") does: strict UTF-8, line ends made "\n". */
#include <string.h>

#include "hipify/torch/text/text.h"

static unsigned char byte(struct str s, size_t at)
{
	return at < s.n ? (unsigned char)s.p[at] : 0;
}

/* The first byte at or behind `at` that is not ASCII. */
static size_t skip_ascii(struct str s, size_t at)
{
	uint64_t w;
	for (; s.n - at >= sizeof(w); at += sizeof(w)) {
		memcpy(&w, s.p + at, sizeof(w));
		if (w & 0x8080808080808080u)
			break;
	}
	while (at < s.n && byte(s, at) < 0x80)
		at++;
	return at;
}

/* Length of the well-formed sequence at `at` (not ASCII), 0 = there is none. The second byte is
 * what tells overlong forms, surrogates and too large numbers (Unicode, table 3-7). */
static size_t sequence(struct str s, size_t at)
{
	unsigned char first = byte(s, at), low = 0x80, high = 0xbf;
	size_t n = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
	if (first < 0xc2 || first > 0xf4)
		return 0;
	low = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : low;
	high = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : high;
	if (byte(s, at + 1) < low || byte(s, at + 1) > high)
		return 0;
	for (size_t i = 2; i < n; i++)
		if ((byte(s, at + i) & 0xc0) != 0x80)
			return 0;
	return n;
}

static unsigned line_of(struct str s, size_t at)
{
	unsigned line = 1;
	for (size_t i = 0; i < at; i++)
		line += s.p[i] == '\n' || (s.p[i] == '\r' && byte(s, i + 1) != '\n');
	return line;
}

static struct err *check_utf8(struct str s)
{
	for (size_t at = skip_ascii(s, 0); at < s.n; at = skip_ascii(s, at)) {
		size_t n = sequence(s, at);
		if (!n)
			return err_at(err_new(E_HIPIFY, "byte 0x%02x at offset %zu is not UTF-8",
					      byte(s, at), at),
				(struct loc){.path = S(""), .line = line_of(s, at)});
		at += n;
	}
	return NULL;
}

/* Copies with "\r\n" and "\r" made "\n". */
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
		at += byte(s, at + 1) == '\n' && at < s.n;
	}
	return (struct str){.p = out, .n = (size_t)(to - out)};
}

struct err *torch_decode(struct arena *a, struct str bytes, struct str *ret)
{
	*ret = bytes;
	TRY(check_utf8(bytes));
	if (str_chr(bytes, '\r') < bytes.n)
		*ret = newlines(a, bytes);
	return NULL;
}

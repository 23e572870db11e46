/* Python's \w, and steps over UTF-8 in both directions; see word.h. Characters beyond ASCII are found by bisection of
 * the ranges. */
#include "lang/python/word.h"

#include <stdlib.h>

struct word_range {
	uint32_t first, last;
};

#define R(from, to) {from, to},
static const struct word_range ranges[] = {
#include "../../../data/unicode/alnum.def"
};
#undef R

enum { RANGES = sizeof(ranges) / sizeof(*ranges) };

static int compare(const void *key, const void *range)
{
	uint32_t c = *(const uint32_t *)key;
	const struct word_range *r = range;
	return c < r->first ? -1 : c > r->last;
}

bool py_alnum(uint32_t c)
{
	if (c >= 0x80)
		return bsearch(&c, ranges, RANGES, sizeof(*ranges), compare) != NULL;
	return ascii_alnum((char)c);
}

/* \w */
static bool is_word(uint32_t c)
{
	return c == '_' || py_alnum(c);
}

uint32_t utf8_next(struct str s, size_t *at)
{
	static const unsigned char mask[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
	unsigned char first = (unsigned char)s.p[*at];
	size_t n = first < 0x80 ? 1 : utf8_length(str_sub(s, *at, s.n));
	uint32_t c = n ? first & mask[n] : 0xdc00u + first;
	for (size_t i = 1; i < n; i++)
		c = c << 6 | ((unsigned char)s.p[*at + i] & 0x3f);
	*at += n ? n : 1;
	return c;
}

uint32_t utf8_prev(struct str s, size_t *at)
{
	size_t end = *at, from = end - 1;
	while (from && end - from < 4 && ((unsigned char)s.p[from] & 0xc0) == 0x80)
		from--;
	if (utf8_length(str_sub(s, from, end)) != end - from)
		from = end - 1; /* a stray byte */
	*at = from;
	return utf8_next(str_sub(s, 0, end), &from);
}

bool py_word_at(struct str s, size_t at)
{
	return at < s.n && is_word(utf8_next(s, &at));
}

bool py_word_before(struct str s, size_t at)
{
	return at && is_word(utf8_prev(s, &at));
}

bool py_word_ends(struct str s, size_t at)
{
	return at < s.n && !py_word_at(s, at);
}

bool py_word_starts(struct str s, size_t at)
{
	return at && !py_word_before(s, at);
}

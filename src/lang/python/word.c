/* Python's \w, and steps over UTF-8 in both directions; see word.h. Nearly all text is ASCII, which takes a short
 * cut; other characters are found by bisection of the ranges. */
#include "lang/python/word.h"

#include <stdlib.h>

struct range {
	uint32_t first, last;
};

#define R(from, to) {from, to},
static const struct range ranges[] = {
#include "../../../data/unicode/alnum.def"
};
#undef R

enum { RANGES = sizeof(ranges) / sizeof(*ranges) };

static int compare(const void *key, const void *range)
{
	uint32_t c = *(const uint32_t *)key;
	const struct range *r = range;
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

static unsigned char byte(struct str s, size_t at)
{
	return (unsigned char)s.p[at];
}

static bool is_tail(struct str s, size_t at)
{
	return at < s.n && (byte(s, at) & 0xc0) == 0x80;
}

/* The number of bytes that follow a first byte. */
static unsigned tail_of(unsigned char first)
{
	return first >= 0xf0 ? 3 : first >= 0xe0 ? 2 : first >= 0xc0 ? 1 : 0;
}

uint32_t utf8_next(struct str s, size_t *at)
{
	unsigned char first = byte(s, (*at)++);
	unsigned n = tail_of(first);
	if (first < 0x80)
		return first;
	uint32_t c = first & (0x3fu >> n);
	for (unsigned i = 0; i < n; i++)
		if (!is_tail(s, *at + i))
			return 0xfffd;
	if (!n)
		return 0xfffd;
	for (unsigned i = 0; i < n; i++)
		c = c << 6 | (byte(s, *at + i) & 0x3f);
	*at += n;
	return c;
}

uint32_t utf8_prev(struct str s, size_t *at)
{
	size_t end = *at, start = end - 1;
	while (start && end - start < 4 && is_tail(s, start))
		start--;
	*at = start;
	uint32_t c = utf8_next(s, at);
	if (*at != end) {
		*at = end - 1;
		return byte(s, end - 1) < 0x80 ? byte(s, end - 1) : 0xfffd;
	}
	*at = start;
	return c;
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

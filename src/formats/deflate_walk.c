/* Finds the last block of a deflate stream (RFC 1951) symbol by symbol, without unpacking. Packing a wheel needs that
 * for every chunk; zlib's inflate() would take a seventh of the packing time. */
#include "formats/zip_format.h"

enum { LITERAL, MATCH, END }; /* kinds of literal/length symbols */
enum { LONGEST = 15, LITERALS = 288, DISTANCES = 32, LENGTHS = 19 };

/* Maps the next bits to value << 8 | number of bits, which includes the extra bits behind the code; 0: not a code. */
struct code_table {
	uint64_t mask;
	uint16_t v[1 << LONGEST];
};

struct deflate_walk {
	const char *p;
	uint64_t at, end; /* bits */
	struct code_table literals, distances;
};

static unsigned literal(unsigned s)
{
	unsigned more = s < 265 || s > 284 ? 0 : (s - 261) / 4;
	return s < 256 ? LITERAL : s == 256 ? END << 8 : MATCH << 8 | more;
}

static unsigned distance(unsigned s)
{
	return s < 4 ? 0 : s / 2 - 1;
}

static unsigned itself(unsigned s)
{
	return s << 8;
}

/* Canonical codes (3.2.2): codes of one length are consecutive, with their bits reversed. The table is doubled for
 * each length, so that a short code is found whatever bits follow it. */
static void fill(
	struct code_table *t, const uint8_t *lengths, unsigned n, unsigned (*entry)(unsigned s))
{
	unsigned code = 0, longest = 0;
	for (unsigned s = 0; s < n; s++)
		longest = lengths[s] > longest ? lengths[s] : longest;
	t->v[0] = 0;
	t->mask = (1u << longest) - 1;
	for (unsigned length = 1, half = 1; length <= longest; length++, half *= 2) {
		memcpy(t->v + half, t->v, half * sizeof(*t->v));
		for (unsigned s = 0; s < n; s++) {
			unsigned bit = half;
			if (lengths[s] != length)
				continue;
			t->v[code] = (uint16_t)(entry(s) + length);
			for (; code & bit; bit /= 2)
				code ^= bit;
			code |= bit;
		}
	}
}

static uint64_t ahead(const struct deflate_walk *w)
{
	return w->at <= w->end ? le64(w->p + w->at / 8) >> w->at % 8 : 0;
}

static unsigned take(struct deflate_walk *w, unsigned bits)
{
	unsigned v = (unsigned)ahead(w) & ((1u << bits) - 1);
	w->at += bits;
	return v;
}

/* Dynamic codes: 3.2.7. */
static bool read_codes(struct deflate_walk *w)
{
	static const uint8_t order[LENGTHS] = {
		16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15};
	uint8_t of_lengths[LENGTHS] = {0}, lengths[LITERALS + DISTANCES] = {0};
	unsigned literals = take(w, 5) + 257, n = literals + take(w, 5) + 1, used = take(w, 4) + 4;
	for (unsigned i = 0; i < used; i++)
		of_lengths[order[i]] = (uint8_t)take(w, 3);
	fill(&w->distances, of_lengths, LENGTHS, itself);
	for (unsigned i = 0; i < n;) {
		unsigned e = w->distances.v[ahead(w) & w->distances.mask], s = e >> 8;
		w->at += e & 255;
		if (!e || w->at > w->end)
			return false;
		uint8_t length = s < 16 ? (uint8_t)s : s == 16 && i ? lengths[i - 1] : 0;
		unsigned times = s < 16    ? 1
				 : s == 16 ? 3 + take(w, 2)
				 : s == 17 ? 3 + take(w, 3)
					   : 11 + take(w, 7);
		while (times-- && i < n)
			lengths[i++] = length;
	}
	fill(&w->literals, lengths, literals, literal);
	fill(&w->distances, lengths + literals, n - literals, distance);
	return true;
}

/* A load has at least 57 bits, and a symbol takes at most 28, extra bits included: one load is used until fewer are
 * left. */
static bool pass_symbols(struct deflate_walk *w)
{
	enum { SURE = 57, MOST = 28 };
	const struct code_table *t = &w->literals;
	while (w->at <= w->end) {
		uint64_t bits = ahead(w);
		unsigned used = 0, e;
		do {
			e = t->v[bits & t->mask];
			bits >>= e & 255;
			used += e & 255;
			t = e >> 8 == MATCH ? &w->distances : &w->literals;
		} while (e && e >> 8 != END && used <= SURE - MOST);
		w->at += used;
		if (!e || e >> 8 == END)
			return e && w->at <= w->end;
	}
	return false;
}

bool deflate_last_block(
	struct arena *tmp, const char *p, size_t n, uint64_t *ret_begin, uint64_t *ret_end)
{
	struct deflate_walk *w = arena_raw(tmp, sizeof(*w));
	uint8_t lengths[LITERALS];
	w->p = p;
	w->at = 0;
	w->end = (uint64_t)n * 8;
	for (bool last = false; !last;) {
		*ret_begin = w->at;
		last = take(w, 1);
		unsigned type = take(w, 2);
		if (type == 0) {
			w->at = (w->at + 7) / 8 * 8;
			unsigned length = take(w, 16);
			w->at += 16 + (uint64_t)length * 8;
		} else if (type == 1) { /* fixed codes: 3.2.6 */
			memset(lengths, 8, sizeof(lengths));
			memset(lengths + 144, 9, 256 - 144);
			memset(lengths + 256, 7, 280 - 256);
			fill(&w->literals, lengths, LITERALS, literal);
			memset(lengths, 5, DISTANCES);
			fill(&w->distances, lengths, DISTANCES, distance);
		} else if (type == 3 || !read_codes(w)) {
			return false;
		}
		if ((type && !pass_symbols(w)) || w->at > w->end)
			return false;
	}
	*ret_end = w->at;
	return true;
}

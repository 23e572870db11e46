/* The matcher: a radix tree of the keys, behind two filters; see passes.h.
 *
 * Nearly every byte of a source begins no key. If the shortest key has n bytes, every key in the text
 * covers four whole bytes at one of any n - 3 consecutive offsets; at one of n - 2, counting the byte in
 * front of the key, which is known to be no ASCII word character. So only every such offset is probed: a table
 * over a hash of its four bytes tells how far into a key they may be. A second table, over a hash of the
 * longer beginning, checks the start of the key that follows from this. A start that passes both, and
 * has its left border, is walked down the tree, which keeps the last key end that has its right border.
 */
#include "hipify/torch/text/passes.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "lang/python/word.h"

enum {
	FILTER_BITS = 16, /* so many that few slots are taken by chance */
	HEAD_BITS = 13,
	GRAM = 4, /* the bytes that the filter hashes */
	STRIDE =
		7, /* the limit: with the byte in front of a key, 8 offsets, a bit of a byte each */
	AT_ONCE = 8, /* places probed without a branch on each: the bytes of a uint64_t */
};

struct key_node {
	struct str label;                /* bytes to match before anything else */
	const struct torch_entry *entry; /* the entry whose key ends with the label, or NULL */
	uint32_t child, nchild;          /* the children: consecutive nodes, sorted by first byte */
};

struct torch_matcher {
	bool words;    /* keys need borders */
	size_t stride; /* the distance between probed places */
	/* Indexed by a hash of four bytes: a bit for each way() in which they may lie in a key. */
	unsigned char *filter;
	unsigned char *heads;         /* by a hash of the first bytes: 1 = some key begins so */
	uint64_t head;                /* the mask of those bytes */
	const struct key_node *nodes; /* the root first */
	const unsigned char *firsts;  /* first byte of each node's label */
	uint32_t tops[256];           /* the root's child for a first byte; 0 = none */
};

/* ---- the filters ---- */

static uint32_t load(const char *p)
{
	uint32_t w;
	memcpy(&w, p, sizeof(w));
	return le32toh(w);
}

static uint32_t filter_slot(uint32_t gram)
{
	return (gram * 0x9e3779b1u) >> (32 - FILTER_BITS);
}

static size_t head_slot(const struct torch_matcher *m, const char *p)
{
	uint64_t w;
	memcpy(&w, p, sizeof(w));
	return (size_t)(((le64toh(w) & m->head) * 0x9e3779b97f4a7c15u) >> (64 - HEAD_BITS));
}

/* The bit for four bytes at this offset from a key's start, -1 to STRIDE - 1. Larger offsets have lower
 * bits, so that the key that starts first is found first. */
static unsigned way(int behind)
{
	return (unsigned)(STRIDE - 1 - behind);
}

static bool ascii_word(unsigned char c)
{
	return ascii_alnum((char)c) || c == '_';
}

/* Enters four bytes of a key into the filter. Where fewer are left, any bytes may follow; where one is
 * left, that would fill almost the whole table, so all of it is set. */
static void filter_add(struct torch_matcher *m, struct str key, int behind)
{
	unsigned char bit = (unsigned char)(1u << way(behind));
	uint32_t known = 0;
	if (behind < 0) {
		for (unsigned i = 0; i < GRAM - 1; i++)
			known |= (uint32_t)(unsigned char)key.p[i] << 8 * (i + 1);
		for (unsigned c = 0; c < 256; c++)
			if (c >= 0x80 || !ascii_word((unsigned char)c))
				m->filter[filter_slot(known | c)] |= bit;
		return;
	}
	key = str_sub(key, (size_t)behind, key.n);
	if (key.n == 1) {
		for (size_t i = 0; i < 1 << FILTER_BITS; i++)
			m->filter[i] |= bit;
		return;
	}
	unsigned n = key.n < GRAM ? (unsigned)key.n : GRAM;
	for (unsigned i = 0; i < n; i++)
		known |= (uint32_t)(unsigned char)key.p[i] << 8 * i;
	for (uint32_t rest = 0; rest < 1u << 8 * (GRAM - n); rest++)
		m->filter[filter_slot(known | (uint32_t)((uint64_t)rest << 8 * n))] |= bit;
}

static void make_filters(
	struct arena *a, struct torch_matcher *m, const struct torch_entry **keys, size_t n)
{
	size_t shortest = n ? SIZE_MAX : 0;
	for (size_t i = 0; i < n; i++)
		shortest = keys[i]->from.n < shortest ? keys[i]->from.n : shortest;
	size_t unknown = m->words ? 2 : 3; /* offsets in a key without four known bytes */
	m->stride = shortest > unknown ? shortest - unknown : 1;
	m->stride = m->stride < STRIDE ? m->stride : STRIDE;
	m->filter = arena_alloc(a, 1 << FILTER_BITS);
	m->heads = arena_alloc(a, 1 << HEAD_BITS);
	m->head = shortest < sizeof(m->head) ? ((uint64_t)1 << 8 * shortest) - 1 : UINT64_MAX;
	for (size_t i = 0; i < n; i++) {
		struct str key = keys[i]->from;
		char first[sizeof(m->head)] = {0};
		int behind = m->stride > 1 && key.n < m->stride + 3 ? -1 : 0;
		for (int end = behind + (int)m->stride; behind < end; behind++)
			filter_add(m, key, behind);
		memcpy(first, key.p, key.n < sizeof(first) ? key.n : sizeof(first));
		m->heads[head_slot(m, first)] = 1;
	}
}

/* A walk over the places of a text where a key may begin. */
struct walk {
	const struct torch_matcher *m;
	struct str text;
	size_t at;     /* the first place that was not returned yet */
	size_t next;   /* the place to probe next */
	size_t place;  /* the first of the places that were probed last */
	uint64_t ways; /* their filter bytes, without the bits that were used already */
};

static inline unsigned ask_four(const unsigned char *filter, const char *p, size_t stride)
{
	unsigned one = filter[filter_slot(load(p))];
	unsigned two = filter[filter_slot(load(p + stride))];
	unsigned three = filter[filter_slot(load(p + 2 * stride))];
	unsigned four = filter[filter_slot(load(p + 3 * stride))];
	return one | two | three | four;
}

/* Advances to the next probed places that pass the filter; false near the end of the text. */
static bool next_asked(struct walk *s)
{
	const unsigned char *filter = s->m->filter;
	size_t stride = s->m->stride, step = AT_ONCE * stride, place = s->next;
	for (; place + step + GRAM <= s->text.n; place += step) {
		const char *p = s->text.p + place;
		if (!(ask_four(filter, p, stride) | ask_four(filter, p + 4 * stride, stride)))
			continue;
		for (unsigned i = 0; i < AT_ONCE; i++, p += stride)
			s->ways |= (uint64_t)filter[filter_slot(load(p))] << 8 * i;
		s->place = place;
		s->next = place + step;
		return true;
	}
	for (; place + GRAM <= s->text.n && !s->ways; place += stride) {
		s->ways = filter[filter_slot(load(s->text.p + place))];
		s->place = place;
	}
	s->next = place;
	if (!s->ways && place + 1 > s->at + stride) /* no key starts before that */
		s->at = place + 1 - stride;
	return s->ways;
}

static bool has_head(const struct walk *s, size_t at)
{
	return s->text.n - at < sizeof(uint64_t) || s->m->heads[head_slot(s->m, s->text.p + at)];
}

/* The next place where a key may begin, from left to right; near the end of the text, every place. */
static size_t next_place(struct walk *s)
{
	while (s->ways || next_asked(s)) {
		unsigned bit = (unsigned)__builtin_ctzll(s->ways);
		size_t at = s->place + bit / 8 * s->m->stride + bit % 8 - way(0);
		s->ways &= s->ways - 1;
		if (at >= s->at && at < s->text.n && has_head(s, at)) {
			s->at = at + 1;
			return at;
		}
	}
	return s->at < s->text.n ? s->at++ : s->text.n;
}

/* ---- the tree ---- */
struct range { /* sorted keys that share their first `depth` bytes */
	size_t from, to, depth;
};

struct builder {
	struct arena *a;
	const struct torch_entry **keys;
	size_t n;
	VEC(struct key_node) nodes;
	VEC(struct range) ranges; /* one for each node */
};

static int by_key(const void *x, const void *y)
{
	const struct torch_entry *const *a = x, *const *b = y;
	int order = str_cmp((*a)->from, (*b)->from);
	return order ? order : (*a > *b) - (*a < *b);
}

static void add_node(struct builder *b, struct range range)
{
	*VEC_PUSH(b->a, &b->nodes) = (struct key_node){0};
	*VEC_PUSH(b->a, &b->ranges) = range;
}

/* Gives the node its label and entry and appends its children. */
static void fill_node(struct builder *b, size_t i)
{
	struct range r = b->ranges.v[i];
	struct str first = b->keys[r.from]->from, last = b->keys[r.to - 1]->from;
	size_t depth = 0;
	while (i && depth < first.n && depth < last.n && first.p[depth] == last.p[depth])
		depth++;
	struct key_node *n = &b->nodes.v[i];
	n->label = str_sub(first, r.depth, depth);
	for (; r.from < r.to && b->keys[r.from]->from.n == depth; r.from++)
		n->entry = b->keys[r.from];
	n->child = (uint32_t)b->nodes.n;
	for (size_t from = r.from, to; from < r.to; from = to) {
		for (to = from + 1; to < r.to; to++)
			if (b->keys[to]->from.p[depth] != b->keys[from]->from.p[depth])
				break;
		add_node(b, (struct range){.from = from, .to = to, .depth = depth});
	}
	b->nodes.v[i].nchild = (uint32_t)b->nodes.n - b->nodes.v[i].child;
}

struct torch_matcher *torch_matcher_new(struct arena *a, const struct torch_map *map, bool words)
{
	struct torch_matcher *m = NEW(a, struct torch_matcher);
	struct builder b = {.a = a};
	b.keys = arena_array(a, map->n, sizeof(struct torch_entry *));
	VEC_EACH (const struct torch_entry, e, map)
		if (e->from.n)
			b.keys[b.n++] = e;
	m->words = words;
	make_filters(a, m, b.keys, b.n);
	qsort(b.keys, b.n, sizeof(struct torch_entry *), by_key);
	b.nodes.cap = b.ranges.cap = 2 * b.n + 1;
	b.nodes.v = arena_raw(a, b.nodes.cap * sizeof(*b.nodes.v)); /* mostly left untouched */
	b.ranges.v = arena_raw(a, b.ranges.cap * sizeof(*b.ranges.v));
	add_node(&b, (struct range){.to = b.n});
	for (size_t i = 0; b.n && i < b.nodes.n; i++)
		fill_node(&b, i);
	unsigned char *firsts = arena_alloc(a, b.nodes.n);
	for (size_t i = 1; i < b.nodes.n; i++)
		firsts[i] = (unsigned char)b.nodes.v[i].label.p[0];
	for (uint32_t i = 0; i < b.nodes.v[0].nchild; i++)
		m->tops[firsts[b.nodes.v[0].child + i]] = b.nodes.v[0].child + i;
	m->nodes = b.nodes.v;
	m->firsts = firsts;
	return m;
}

/* ---- the search ---- */

/* Finds the longest key at `at`; if keys need borders, among those with a right border. */
static bool longest(
	const struct torch_matcher *m, struct str text, size_t at, struct torch_hit *ret)
{
	size_t end = at;
	uint32_t i = m->tops[(unsigned char)text.p[at]];
	ret->entry = NULL;
	while (i) {
		const struct key_node *n = &m->nodes[i];
		size_t rest = n->label.n - 1; /* the first byte matches already */
		if (rest >= text.n - end ||
			(rest && memcmp(text.p + end + 1, n->label.p + 1, rest)))
			break;
		end += n->label.n;
		if (n->entry && (!m->words || py_word_ends(text, end)))
			*ret = (struct torch_hit){.from = at, .to = end, .entry = n->entry};
		if (end == text.n || !n->nchild)
			break;
		const unsigned char *firsts = m->firsts + n->child;
		const unsigned char *found = memchr(firsts, text.p[end], n->nchild);
		i = found ? (uint32_t)(found - m->firsts) : 0;
	}
	return ret->entry;
}

/* Like py_word_starts(), with a fast path for ASCII. */
static bool word_starts(struct str text, size_t at)
{
	unsigned char c = at ? (unsigned char)text.p[at - 1] : 'x';
	if (c >= 0x80)
		return py_word_starts(text, at);
	return !ascii_word(c);
}

bool torch_find(const struct torch_matcher *m, struct str text, size_t at, struct torch_hit *ret)
{
	/* The earliest place that can reveal a key at `at` is the byte in front of it. */
	struct walk w = {.m = m, .text = text, .at = at};
	w.next = at + m->stride - (m->stride > 1 ? 2 : 1);
	while ((at = next_place(&w)) < text.n)
		if ((!m->words || word_starts(text, at)) && longest(m, text, at, ret))
			return true;
	return false;
}

/* The matcher: a radix tree of the keys behind a filter; see match.h.
 *
 * Nearly every byte of a source begins no key. When the shortest key has n bytes, then any key that
 * stands in the text covers one of every n - 3 places entirely with four bytes of its beginning.
 * So only each (n - 3)th place is asked, in a table over a hash of four bytes, which keys'
 * beginnings these may be, and how far into them. A place that passes is looked at for its left
 * border and then walked down the tree, which keeps the last end of a key that has its right
 * border.
 */
#include "hipify/torch/text/match.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "lang/python/word.h"

enum {
	FILTER_BITS = 14,
	GRAM = 4,    /* bytes that the filter looks at */
	STRIDE = 8,  /* at most: the filter's entries are bit sets of this size */
	AT_ONCE = 4, /* places asked without a branch on each */
};

struct node {
	struct str label;                /* bytes to match before anything else */
	const struct torch_entry *entry; /* of the key that ends behind the label */
	uint32_t child, nchild;          /* consecutive nodes, by their first byte */
};

struct torch_matcher {
	bool words;            /* keys have borders */
	unsigned char *filter; /* of a hash: bit k = four bytes, k behind a key's start */
	size_t stride;
	const struct node *nodes;    /* the root first */
	const unsigned char *firsts; /* first byte of each node's label */
};

/* ---- the filter ---- */
static uint32_t filter_slot(uint32_t gram)
{
	return (gram * 0x9e3779b1u) >> (32 - FILTER_BITS);
}

static uint32_t load(const char *p)
{
	uint32_t w;
	memcpy(&w, p, sizeof(w));
	return le32toh(w);
}

/* A short key passes with whatever follows it; one of a byte would fill the table anyway. */
static void filter_add(unsigned char *filter, struct str key, unsigned offset)
{
	unsigned char bit = (unsigned char)(1u << offset);
	if (key.n == 1) {
		memset(filter, bit, 1 << FILTER_BITS);
		return;
	}
	uint32_t known = 0;
	unsigned n = key.n < GRAM ? (unsigned)key.n : GRAM;
	for (unsigned i = 0; i < n; i++)
		known |= (uint32_t)(unsigned char)key.p[i] << 8 * i;
	for (uint32_t rest = 0; rest < 1u << 8 * (GRAM - n); rest++)
		filter[filter_slot(known | (uint32_t)((uint64_t)rest << 8 * n))] |= bit;
}

/* A walk over the places of a text where a key may begin. */
struct walk {
	const struct torch_matcher *m;
	struct str text;
	size_t at;     /* first place that was not given out */
	size_t place;  /* asked last */
	unsigned bits; /* its answer, as far as it was not used */
};

/* Goes to the next place that passes. False near the end of the text. */
static bool next_asked(struct walk *s)
{
	const unsigned char *filter = s->m->filter;
	size_t stride = s->m->stride, place = s->place + stride;
	for (; place + AT_ONCE * stride + sizeof(uint32_t) <= s->text.n;
		place += AT_ONCE * stride) {
		const char *p = s->text.p + place;
		unsigned char one = filter[filter_slot(load(p))];
		unsigned char two = filter[filter_slot(load(p + stride))];
		unsigned char three = filter[filter_slot(load(p + 2 * stride))];
		unsigned char four = filter[filter_slot(load(p + 3 * stride))];
		if (!(one | two | three | four))
			continue;
		s->bits = one ? one : two ? two : three ? three : four;
		s->place = place + (one ? 0 : two ? 1 : three ? 2 : 3) * stride;
		return true;
	}
	for (; place + sizeof(uint32_t) <= s->text.n; place += stride) {
		s->bits = filter[filter_slot(load(s->text.p + place))];
		s->place = place;
		if (s->bits)
			return true;
	}
	size_t asked_for = place - stride + 1; /* places before it are done with */
	s->at = s->at < asked_for ? asked_for : s->at;
	return false;
}

/* The next place where a key may begin, from left to right: the earlier it began, the further into
 * it is the place that was asked. All places near the end of the text may. */
static size_t next_place(struct walk *s)
{
	while (s->bits || next_asked(s)) {
		unsigned back = 0;
		while (s->bits >> (back + 1))
			back++;
		s->bits &= ~(1u << back);
		if (s->place - back >= s->at && s->place >= back) {
			s->at = s->place - back + 1;
			return s->place - back;
		}
	}
	return s->at < s->text.n ? s->at++ : s->text.n;
}

/* ---- the tree ---- */
struct range { /* of sorted keys that share their first `depth` bytes */
	size_t from, to, depth;
};

struct builder {
	struct arena *a;
	const struct torch_entry **keys;
	size_t n;
	VEC(struct node) nodes;
	VEC(struct range) ranges; /* of the nodes */
};

static int by_key(const void *x, const void *y)
{
	const struct torch_entry *const *a = x, *const *b = y;
	int order = str_cmp((*a)->from, (*b)->from);
	return order ? order : (*a > *b) - (*a < *b);
}

static void add_node(struct builder *b, struct range range)
{
	*VEC_PUSH(b->a, &b->nodes) = (struct node){0};
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
	struct node *n = &b->nodes.v[i];
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
	size_t shortest = STRIDE + GRAM - 1;
	b.keys = arena_array(a, map->n, sizeof(struct torch_entry *));
	VEC_EACH (const struct torch_entry, e, map) {
		if (!e->from.n)
			continue;
		b.keys[b.n++] = e;
		shortest = e->from.n < shortest ? e->from.n : shortest;
	}
	m->words = words;
	m->stride = shortest < GRAM ? 1 : shortest - (GRAM - 1);
	m->filter = arena_alloc(a, 1 << FILTER_BITS);
	for (size_t i = 0; i < b.n; i++)
		for (unsigned k = 0; k < m->stride; k++)
			filter_add(m->filter, str_sub(b.keys[i]->from, k, b.keys[i]->from.n), k);
	qsort(b.keys, b.n, sizeof(struct torch_entry *), by_key);
	add_node(&b, (struct range){.to = b.n});
	for (size_t i = 0; b.n && i < b.nodes.n; i++)
		fill_node(&b, i);
	unsigned char *firsts = arena_alloc(a, b.nodes.n);
	for (size_t i = 1; i < b.nodes.n; i++)
		firsts[i] = (unsigned char)b.nodes.v[i].label.p[0];
	m->nodes = b.nodes.v;
	m->firsts = firsts;
	return m;
}

/* ---- the search ---- */

/* The longest key at `at`, among those with their right border when there are borders. */
static bool longest(
	const struct torch_matcher *m, struct str text, size_t at, struct torch_hit *ret)
{
	const struct node *n = m->nodes;
	size_t end = at;
	ret->entry = NULL;
	while (end < text.n && n->nchild) {
		const unsigned char *firsts = m->firsts + n->child;
		const unsigned char *found = memchr(firsts, text.p[end], n->nchild);
		if (!found)
			break;
		n = &m->nodes[found - m->firsts];
		size_t rest = n->label.n - 1; /* the first byte is right */
		if (rest >= text.n - end ||
			(rest && memcmp(text.p + end + 1, n->label.p + 1, rest)))
			break;
		end += n->label.n;
		if (n->entry && (!m->words || py_word_ends(text, end)))
			*ret = (struct torch_hit){.from = at, .to = end, .entry = n->entry};
	}
	return ret->entry;
}

/* py_word_starts(), with the usual answer at hand. */
static bool word_starts(struct str text, size_t at)
{
	unsigned char c = at ? (unsigned char)text.p[at - 1] : 'x';
	if (c >= 0x80)
		return py_word_starts(text, at);
	return !(((c | 32) >= 'a' && (c | 32) <= 'z') || (c >= '0' && c <= '9') || c == '_');
}

bool torch_find(const struct torch_matcher *m, struct str text, size_t at, struct torch_hit *ret)
{
	struct walk w = {.m = m, .text = text, .at = at, .place = at - 1};
	while ((at = next_place(&w)) < text.n)
		if ((!m->words || word_starts(text, at)) && longest(m, text, at, ret))
			return true;
	return false;
}

/* The matcher: a radix tree of the keys behind a filter of their first three bytes; see match.h.
 *
 * Nearly every byte of a source begins no key. The filter is a table over a hash of three bytes,
 * asked for six places per load of eight bytes, without a branch on each; a place that passes is
 * looked at for its left border and then walked down the tree, which keeps the last end of a key
 * that has its right border.
 */
#include "hipify/torch/match.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "hipify/torch/word.h"

enum { FILTER_BITS = 14, PROBE = 8, PLACES = 6 };

struct node {
	struct str label;                /* bytes to match before anything else */
	const struct torch_entry *entry; /* of the key that ends behind the label */
	uint32_t child, nchild;          /* consecutive nodes, by their first byte */
};

struct torch_matcher {
	unsigned char *filter;       /* of 1 << FILTER_BITS hashes */
	const struct node *nodes;    /* the root first */
	const unsigned char *firsts; /* first byte of each node's label */
};

/* ---- the filter ---- */
static uint32_t filter_slot(uint64_t three_bytes)
{
	return ((uint32_t)(three_bytes & 0xffffff) * 0x9e3779b1u) >> (32 - FILTER_BITS);
}

static uint64_t load(const char *p)
{
	uint64_t w;
	memcpy(&w, p, sizeof(w));
	return le64toh(w);
}

/* Keys of one or two bytes pass with whatever follows them. */
static void filter_add(unsigned char *filter, struct str key)
{
	uint32_t known = 0;
	unsigned n = key.n < 3 ? (unsigned)key.n : 3;
	for (unsigned i = 0; i < n; i++)
		known |= (uint32_t)(unsigned char)key.p[i] << 8 * i;
	for (uint32_t rest = 0; rest < 1u << 8 * (3 - n); rest++)
		filter[filter_slot(known | rest << 8 * n)] = 1;
}

/* The first place at or behind `at` where a key may begin; the last bytes of the text all may. */
static size_t filter_next(const unsigned char *filter, struct str text, size_t at)
{
	while (at + PROBE <= text.n) {
		uint64_t w = load(text.p + at);
		unsigned hit = filter[filter_slot(w)] | filter[filter_slot(w >> 8)] |
			       filter[filter_slot(w >> 16)] | filter[filter_slot(w >> 24)] |
			       filter[filter_slot(w >> 32)] | filter[filter_slot(w >> 40)];
		if (!hit) {
			at += PLACES;
			continue;
		}
		while (!filter[filter_slot(w)]) {
			w >>= 8;
			at++;
		}
		return at;
	}
	return at;
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

static size_t common(struct str a, struct str b)
{
	size_t n = 0;
	while (n < a.n && n < b.n && a.p[n] == b.p[n])
		n++;
	return n;
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
	struct str first = b->keys[r.from]->from;
	size_t depth = i ? common(first, b->keys[r.to - 1]->from) : 0;
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

static void build_tree(struct builder *b, struct torch_matcher *ret)
{
	add_node(b, (struct range){.to = b->n});
	for (size_t i = 0; b->n && i < b->nodes.n; i++)
		fill_node(b, i);
	unsigned char *firsts = arena_alloc(b->a, b->nodes.n);
	for (size_t i = 1; i < b->nodes.n; i++)
		firsts[i] = (unsigned char)b->nodes.v[i].label.p[0];
	ret->nodes = b->nodes.v;
	ret->firsts = firsts;
}

struct torch_matcher *torch_matcher_new(struct arena *a, const struct torch_map *map)
{
	struct torch_matcher *m = NEW(a, struct torch_matcher);
	struct builder b = {.a = a};
	b.keys = arena_array(a, map->n, sizeof(struct torch_entry *));
	m->filter = arena_alloc(a, 1 << FILTER_BITS);
	VEC_EACH (const struct torch_entry, e, map) {
		if (!e->from.n)
			continue;
		b.keys[b.n++] = e;
		filter_add(m->filter, e->from);
	}
	qsort(b.keys, b.n, sizeof(struct torch_entry *), by_key);
	build_tree(&b, m);
	return m;
}

/* ---- the search ---- */
static const struct node *child_for(const struct torch_matcher *m, const struct node *n, char next)
{
	const unsigned char *firsts = m->firsts + n->child;
	const unsigned char *found = n->nchild ? memchr(firsts, next, n->nchild) : NULL;
	return found ? &m->nodes[found - m->firsts] : NULL;
}

/* The longest key at `at`, among those with their right border when words is set. */
static bool longest(const struct torch_matcher *m, struct str text, size_t at, bool words,
	struct torch_hit *ret)
{
	const struct node *n = m->nodes;
	size_t end = at;
	ret->entry = NULL;
	while (end < text.n && (n = child_for(m, n, text.p[end]))) {
		if (n->label.n > text.n - end || memcmp(text.p + end, n->label.p, n->label.n) != 0)
			break;
		end += n->label.n;
		if (n->entry && (!words || py_word_ends(text, end)))
			*ret = (struct torch_hit){.from = at, .to = end, .entry = n->entry};
	}
	return ret->entry;
}

bool torch_find_word(
	const struct torch_matcher *m, struct str text, size_t at, struct torch_hit *ret)
{
	for (at = filter_next(m->filter, text, at); at < text.n;
		at = filter_next(m->filter, text, at + 1))
		if (py_word_starts(text, at) && longest(m, text, at, true, ret))
			return true;
	return false;
}

bool torch_find(const struct torch_matcher *m, struct str text, size_t at, struct torch_hit *ret)
{
	for (at = filter_next(m->filter, text, at); at < text.n;
		at = filter_next(m->filter, text, at + 1))
		if (longest(m, text, at, false, ret))
			return true;
	return false;
}

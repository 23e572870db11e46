/* The matcher: the keys in the order of their bytes, behind a table of the two bytes that keys begin with, which
 * hardly any place of a source passes; see passes.h.
 */
#include "hipify/torch/text/passes.h"

#include "lang/python/word.h"

struct torch_matcher {
	bool words;                      /* keys need borders */
	const struct torch_entry **keys; /* sorted by key, no key twice */
	size_t n;
	bool begins[256][256]; /* does a key begin with these two bytes? */
};

static int by_key(const void *x, const void *y)
{
	const struct torch_entry *const *a = x, *const *b = y;
	int order = str_cmp((*a)->from, (*b)->from);
	return order ? order : (*a > *b) - (*a < *b);
}

struct torch_matcher *torch_matcher_new(struct arena *a, const struct torch_map *map, bool words)
{
	struct torch_matcher *m = NEW(a, struct torch_matcher);
	size_t n = 0;
	m->words = words;
	m->keys = arena_array(a, map->n, sizeof(*m->keys));
	VEC_EACH (const struct torch_entry, e, map)
		if (e->from.n)
			m->keys[n++] = e;
	qsort(m->keys, n, sizeof(*m->keys), by_key);
	for (size_t i = 0; i < n; i++) {
		struct str key = m->keys[i]->from;
		if (i + 1 < n && str_eq(key, m->keys[i + 1]->from))
			continue; /* the last of equal keys counts */
		m->keys[m->n++] = m->keys[i];
		bool *second = m->begins[(unsigned char)key.p[0]];
		if (key.n > 1)
			second[(unsigned char)key.p[1]] = true;
		else
			memset(second, true, sizeof(m->begins[0]));
	}
	return m;
}

/* The first of the keys from..to, which share `depth` bytes, whose next byte is at least c. */
static size_t bound(const struct torch_matcher *m, size_t from, size_t to, size_t depth, unsigned c)
{
	while (from < to) {
		size_t mid = from + (to - from) / 2;
		struct str key = m->keys[mid]->from;
		if (key.n == depth || (unsigned char)key.p[depth] < c)
			from = mid + 1;
		else
			to = mid;
	}
	return from;
}

/* Finds the longest key at `at`; if keys need borders, among those with a right border. */
static bool longest(
	const struct torch_matcher *m, struct str text, size_t at, struct torch_hit *ret)
{
	size_t from = 0, to = m->n; /* the keys that begin with the bytes at..end of the text */
	ret->entry = NULL;
	for (size_t end = at; from < to && end < text.n;) {
		unsigned c = (unsigned char)text.p[end];
		from = bound(m, from, to, end - at, c);
		to = bound(m, from, to, end - at, c + 1);
		end++;
		if (from < to && m->keys[from]->from.n == end - at &&
			(!m->words || py_word_ends(text, end)))
			*ret = (struct torch_hit){.from = at, .to = end, .entry = m->keys[from]};
	}
	return ret->entry;
}

bool torch_find(const struct torch_matcher *m, struct str text, size_t at, struct torch_hit *ret)
{
	for (; at < text.n; at++) {
		unsigned char second = at + 1 < text.n ? (unsigned char)text.p[at + 1] : 0;
		if (m->begins[(unsigned char)text.p[at]][second] &&
			(!m->words || py_word_starts(text, at)) && longest(m, text, at, ret))
			return true;
	}
	return false;
}

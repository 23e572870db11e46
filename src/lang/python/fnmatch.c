/* Patterns of Python's fnmatch; see fnmatch.h. A pattern is compiled into nodes. A mismatch goes back to the last
 * star only, which is enough for globs. */
#include "lang/python/fnmatch.h"

#include "base/vec.h"
#include "lang/python/word.h"

struct range {
	uint32_t from, to;
};

struct ranges VEC_OF(struct range);

struct py_glob_node {
	enum { GLOB_CHAR, GLOB_ANY, GLOB_STAR, GLOB_SET } kind;
	uint32_t c;
	bool negated;
	struct ranges set; /* an empty one matches nothing */
};

/* Takes one character off s, which is not empty. */
static uint32_t take(struct str *s)
{
	size_t n = 0;
	uint32_t c = utf8_next(*s, &n);
	*s = str_sub(*s, n, s->n);
	return c;
}

/* ---- [sets] ---- */

/* The text of a set, from behind its '[' to its ']'; .p is NULL if the set never ends. A leading ']' belongs to the
 * set. */
static struct str set_text(struct str behind)
{
	size_t i = 0;
	if (i < behind.n && behind.p[i] == '!')
		i++;
	if (i < behind.n && behind.p[i] == ']')
		i++;
	while (i < behind.n && behind.p[i] != ']')
		i++;
	return i < behind.n ? str_sub(behind, 0, i) : (struct str){0};
}

/* Reads the ranges of a set; a character is a range of one. A hyphen makes a range unless it is the first or last
 * character of the set, or directly follows the end of another range. Backward ranges vanish, together with both ends. */
static void read_set(struct arena *a, struct str text, struct py_glob_node *node)
{
	struct ranges *set = &node->set;
	size_t hyphen = text.n && text.p[0] == '!' ? 2 : 1;
	bool range = false;
	for (size_t at = 0; text.n; at++) {
		uint32_t c = take(&text);
		if (c == '-' && at >= hyphen && text.n) {
			range = true;
			hyphen = at + 3;
			continue;
		}
		struct range *last = range ? &set->v[set->n - 1] : NULL;
		if (!last)
			*VEC_PUSH(a, set) = (struct range){c, c};
		else if (last->from > c)
			set->n--;
		else
			last->to = c;
		range = false;
	}
	/* Negation is decided after backward ranges have vanished, so "[b-a!x]" is "[!x]". In "[b-a!-z]" the hyphen
	 * then is a character. */
	if (!set->n || set->v[0].from != '!')
		return;
	struct range first = set->v[0];
	node->negated = true;
	memmove(set->v, set->v + 1, (set->n - 1) * sizeof(*set->v));
	set->n--;
	if (first.to == '!')
		return;
	*VEC_PUSH(a, set) = (struct range){'-', '-'};
	*VEC_PUSH(a, set) = (struct range){first.to, first.to};
}

/* ---- patterns ---- */

struct py_glob py_glob_new(struct arena *a, struct str pattern)
{
	struct py_glob g = {0};
	size_t plain = str_until(pattern, "*?[");
	g.prefix = str_sub(pattern, 0, plain);
	for (struct str rest = str_sub(pattern, plain, pattern.n); rest.n;) {
		uint32_t c = take(&rest);
		struct str set = c == '[' ? set_text(rest) : (struct str){0};
		if (c == '*' && g.n && g.v[g.n - 1].kind == GLOB_STAR)
			continue;
		struct py_glob_node *node = VEC_PUSH(a, &g);
		node->c = c;
		if (set.p) {
			node->kind = GLOB_SET;
			read_set(a, set, node);
			rest = str_sub(rest, set.n + 1, rest.n);
		} else {
			node->kind = c == '*' ? GLOB_STAR : c == '?' ? GLOB_ANY : GLOB_CHAR;
		}
	}
	g.rest = g.n == 1 && g.v[0].kind == GLOB_STAR;
	return g;
}

static bool node_takes(const struct py_glob_node *node, uint32_t c)
{
	if (node->kind != GLOB_SET)
		return node->kind == GLOB_ANY || (node->kind == GLOB_CHAR && node->c == c);
	VEC_EACH (const struct range, r, &node->set)
		if (c >= r->from && c <= r->to)
			return !node->negated;
	return node->negated;
}

bool py_glob_match(const struct py_glob *g, struct str path)
{
	size_t i = 0, star = SIZE_MAX;
	if (!str_starts(path, g->prefix))
		return false;
	if (g->rest)
		return true;
	path = str_sub(path, g->prefix.n, path.n);
	struct str retry = path;
	while (path.n) {
		if (i < g->n && g->v[i].kind == GLOB_STAR) {
			star = i++;
			retry = path;
			continue;
		}
		struct str after = path;
		if (i < g->n && node_takes(&g->v[i], take(&after))) {
			path = after;
			i++;
		} else if (star == SIZE_MAX) {
			return false;
		} else { /* the last star takes one more */
			take(&retry);
			path = retry;
			i = star + 1;
		}
	}
	return i == g->n || (i + 1 == g->n && g->v[i].kind == GLOB_STAR);
}

bool py_glob_possible(const struct py_glob *g, struct str start)
{
	if (str_starts(start, g->prefix))
		return g->n > 0;
	return str_starts(g->prefix, start);
}

bool py_glob_certain(const struct py_glob *g, struct str start)
{
	return g->rest && str_starts(start, g->prefix);
}

/* The passes that replace names: the tables' keys, path mappings, CMakeLists.txt, math functions.
 *
 * Source: preprocessor() and replace_math_functions() of torch/utils/hipify/hipify_python.py. A
 * series of str.replace() calls is run only for the keys that a first search found, unless one
 * replacement could create another key.
 */
#include "hipify/torch/text/passes.h"

#include <string.h>

#include "lang/python/word.h"

static size_t find(struct str text, size_t at, struct str needle)
{
	return at + str_find(str_sub(text, at, text.n), needle);
}

/* ---- names ---- */

struct err *torch_step_names(
	const struct torch_step *s, struct arena *a, struct str text, struct str *ret)
{
	const struct torch_matcher *m = s->j->map == TORCH_CAFFE2 ? s->e->caffe2 : s->e->names;
	struct torch_pass p = torch_pass_begin(a, text, s->trace, "name");
	struct torch_hit h = {0};
	while (torch_find(m, text, h.to, &h)) {
		const struct torch_entry *e = NULL;
		if (s->j->map == TORCH_SPECIAL)
			e = map_get(&s->e->special, h.entry->from);
		e = e ? e : h.entry;
		torch_pass_edit(&p, (struct torch_patch){h.from, h.to, e->to, e});
	}
	*ret = torch_pass_end(&p);
	return NULL;
}

/* ---- str.replace ---- */

static bool goes_into_hip(const struct torch_entry *e)
{
	return str_contains(e->to, S("/hip/")) && !str_contains(e->from, S("/hip/"));
}

static struct str replace_series(const struct torch_step *s, struct arena *a, struct str text,
	const struct torch_replaces *r, const char *kind)
{
	bool *keys = arena_alloc(a, r->map.n); /* the keys that occur in the text */
	bool any = false;
	struct torch_hit h = {0};
	for (size_t at = 0; torch_find(r->matcher, text, at, &h); at = h.from + 1) {
		keys[h.entry - r->map.v] = any = true;
		if (!r->apart)
			break;
	}
	if (!any)
		return text;
	for (size_t i = 0; i < r->map.n; i++) {
		const struct torch_entry *e = &r->map.v[i];
		if (!e->from.n || (r->apart && !keys[i]))
			continue;
		bool not_there = r == &s->e->paths && goes_into_hip(e); /* not after "/hip/" */
		struct torch_pass p = torch_pass_begin(a, text, s->trace, kind);
		size_t next;
		for (size_t at = find(text, 0, e->from); at < text.n;
			at = find(text, next, e->from)) {
			next = at + 1;
			if (not_there && str_ends(str_sub(text, 0, at), S("/hip/")))
				continue;
			next = at + e->from.n;
			torch_pass_edit(
				&p, (struct torch_patch){at, next, e->to, e->file.n ? e : NULL});
		}
		text = torch_pass_end(&p);
	}
	return text;
}

struct err *torch_step_paths(
	const struct torch_step *s, struct arena *a, struct str text, struct str *ret)
{
	if (s->e->generation == TORCH_V2)
		*ret = replace_series(s, a, text, &s->e->paths, "path");
	return NULL;
}

struct err *torch_step_math(
	const struct torch_step *s, struct arena *a, struct str text, struct str *ret)
{
	struct str path = s->j->path;
	if ((str_ends(path, S(".cu")) || str_ends(path, S(".cuh"))) &&
		!str_contains(path, S("PowKernel")))
		*ret = replace_series(s, a, text, &s->e->math, "math");
	return NULL;
}

struct err *torch_step_cmake(
	const struct torch_step *s, struct arena *a, struct str text, struct str *ret)
{
	if (!str_ends(s->j->path, S("CMakeLists.txt")))
		return NULL;
	text = replace_series(s, a, text, &s->e->cmake, "cmake");
	struct torch_pass p = torch_pass_begin(a, text, s->trace, "cmake");
	struct str key = S(".cu"); /* \.cu\b */
	for (size_t at = 0; (at = find(text, at, key)) < text.n; at += key.n)
		if (!py_word_at(text, at + key.n))
			torch_pass_edit(&p, (struct torch_patch){at, at + key.n, S(".hip"), NULL});
	*ret = torch_pass_end(&p);
	return NULL;
}

/* ---- the engine ---- */
/* Is there a position in which the two texts overlap and agree on all overlapping bytes? */
static bool overlap(struct str a, struct str b)
{
	for (size_t i = 1; i < a.n + b.n; i++) {
		size_t from_a = i > b.n ? i - b.n : 0, from_b = i < b.n ? b.n - i : 0;
		size_t n = a.n - from_a < b.n - from_b ? a.n - from_a : b.n - from_b;
		if (!memcmp(a.p + from_a, b.p + from_b, n))
			return true;
	}
	return !a.n || !b.n;
}

/* Is the series safe to shorten? No value may create a key that is replaced later, and no key may begin
 * with another, since the search for keys would find only one of the two. */
static bool are_apart(const struct torch_map *map)
{
	for (size_t i = 0; i < map->n; i++)
		for (size_t k = 0; k < map->n; k++) {
			const struct torch_entry *e = &map->v[i], *other = &map->v[k];
			if (i < k && overlap(e->to, other->from))
				return false;
			if (i != k && str_starts(other->from, e->from))
				return false;
		}
	return true;
}

static void make_replaces(struct arena *a, struct torch_replaces *r)
{
	r->matcher = torch_matcher_new(a, &r->map, false);
	r->apart = are_apart(&r->map);
}

static void add_rule(struct arena *a, struct torch_map *map, struct str from, struct str to)
{
	struct torch_entry *e = VEC_PUSH(a, map);
	*e = (struct torch_entry){.from = from, .to = to, .table = S(""), .file = S("")};
}

struct torch_engine *torch_engine_new(struct arena *a, const struct torch_tables *t)
{
	struct torch_engine *e = NEW(a, struct torch_engine);
	e->generation = t->generation;
	e->names = torch_matcher_new(a, &t->names, true);
	e->caffe2 = torch_matcher_new(a, &t->caffe2, false);
	e->special.a = a;
	VEC_EACH (struct torch_entry, entry, &t->special)
		map_put(&e->special, entry->from, entry);
	VEC_EACH (struct torch_entry, entry, &t->names) /* the user's pairs win over special ones */
		if (str_eq(entry->table, S("custom")) && map_get(&e->special, entry->from))
			map_put(&e->special, entry->from, entry);
	struct torch_map marks = {0};
	add_rule(a, &marks, S("hipLaunchKernelGGL"), S(""));
	add_rule(a, &marks, S("__global__"), S(""));
	add_rule(a, &marks, S("__shared__"), S(""));
	add_rule(a, &marks, S("__syncthreads("), S(""));
	e->marks = torch_matcher_new(a, &marks, false);
	e->paths.map = t->paths;
	VEC_EACH (const struct torch_entry, entry, &t->math) {
		struct torch_entry *call = VEC_PUSH(a, &e->math.map);
		*call = *entry;
		call->from = str_fmt(a, "%.*s(", STR(entry->from));
		call->to = str_fmt(a, "%.*s(", STR(entry->to));
	}
	add_rule(a, &e->cmake.map, S("CUDA"), S("HIP"));
	add_rule(a, &e->cmake.map, S("THC"), S("THH"));
	make_replaces(a, &e->paths);
	make_replaces(a, &e->math);
	make_replaces(a, &e->cmake);
	VEC_EACH (const struct torch_entry, entry, &t->paths)
		if (goes_into_hip(entry) && str_chr(entry->to, '\\') < entry->to.n)
			e->bad_path = entry;
	return e;
}

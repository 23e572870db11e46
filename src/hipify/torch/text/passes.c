/* The passes that replace names: the tables' keys, path mappings, CMakeLists.txt, math functions.
 *
 * Facts: preprocessor() and replace_math_functions() of torch/utils/hipify/hipify_python.py. A
 * series of str.replace() calls is run only for keys that a first search found, unless replacing
 * one could bring forth another.
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
	bool words = s->j->map != TORCH_CAFFE2;
	const struct torch_matcher *m = words ? s->e->names : s->e->caffe2;
	struct torch_pass p = torch_pass_begin(a, text, s->trace, "name");
	struct torch_hit h = {0};
	while (words ? torch_find_word(m, text, h.to, &h) : torch_find(m, text, h.to, &h)) {
		const struct torch_entry *e = NULL;
		if (s->j->map == TORCH_SPECIAL)
			e = map_get(&s->e->special, h.entry->from);
		e = e ? e : h.entry;
		torch_pass_edit(&p, (struct torch_patch){
					    .from = h.from, .to = h.to, .with = e->to, .entry = e});
	}
	*ret = torch_pass_end(&p);
	return NULL;
}

/* ---- str.replace ---- */
struct replace {
	const struct torch_entry *entry;
	struct str unless; /* not behind this text; "" = everywhere */
	const char *kind;
};

static struct str replace_all(
	const struct torch_step *s, struct arena *a, struct str text, struct replace r)
{
	struct str key = r.entry->from;
	struct torch_pass p = torch_pass_begin(a, text, s->trace, r.kind);
	for (size_t at = find(text, 0, key); at < text.n;) {
		size_t next = at + 1;
		if (!r.unless.n || !str_ends(str_sub(text, 0, at), r.unless)) {
			next = at + key.n;
			torch_pass_edit(&p, (struct torch_patch){.from = at,
						    .to = next,
						    .with = r.entry->to,
						    .entry = r.entry->file.n ? r.entry : NULL});
		}
		at = find(text, next, key);
	}
	return torch_pass_end(&p);
}

/* Notes which keys stand in the text. False: none. */
static bool present(const struct torch_replaces *r, struct str text, bool *keys)
{
	struct torch_hit h = {0};
	bool any = false;
	for (size_t at = 0; torch_find(r->matcher, text, at, &h); at = h.from + 1) {
		keys[h.entry - r->map.v] = any = true;
		if (!r->apart)
			break;
	}
	return any;
}

static bool goes_into_hip(const struct torch_entry *e)
{
	return str_contains(e->to, S("/hip/")) && !str_contains(e->from, S("/hip/"));
}

static struct str replace_series(const struct torch_step *s, struct arena *a, struct str text,
	const struct torch_replaces *r, const char *kind)
{
	bool *keys = arena_alloc(a, r->map.n);
	bool paths = r == &s->e->paths;
	if (!present(r, text, keys))
		return text;
	for (size_t i = 0; i < r->map.n; i++) {
		const struct torch_entry *e = &r->map.v[i];
		struct str unless = paths && goes_into_hip(e) ? S("/hip/") : S("");
		if (e->from.n && (keys[i] || !r->apart))
			text = replace_all(s, a, text,
				(struct replace){.entry = e, .unless = unless, .kind = kind});
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

/* \.cu\b */
static struct str replace_suffix(const struct torch_step *s, struct arena *a, struct str text)
{
	struct str key = S(".cu");
	struct torch_pass p = torch_pass_begin(a, text, s->trace, "cmake");
	for (size_t at = 0; (at = find(text, at, key)) < text.n; at += key.n)
		if (!py_word_at(text, at + key.n))
			torch_pass_edit(
				&p, (struct torch_patch){
					    .from = at, .to = at + key.n, .with = S(".hip")});
	return torch_pass_end(&p);
}

struct err *torch_step_cmake(
	const struct torch_step *s, struct arena *a, struct str text, struct str *ret)
{
	if (str_ends(s->j->path, S("CMakeLists.txt")))
		*ret = replace_suffix(s, a, replace_series(s, a, text, &s->e->cmake, "cmake"));
	return NULL;
}

/* ---- the engine ---- */
/* True when the two texts agree wherever they overlap, in some position in which they do. */
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

/* A value may neither bring forth a key that has its turn later, nor a key hide another from
 * present() by beginning with it. */
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
	r->matcher = torch_matcher_new(a, &r->map);
	r->apart = are_apart(&r->map);
}

/* "std::max" stands for calls of it: "std::max(". */
static struct torch_map calls_of(struct arena *a, const struct torch_map *map)
{
	struct torch_map ret = {0};
	VEC_EACH (const struct torch_entry, e, map) {
		struct torch_entry *call = VEC_PUSH(a, &ret);
		*call = *e;
		call->from = str_fmt(a, "%.*s(", STR(e->from));
		call->to = str_fmt(a, "%.*s(", STR(e->to));
	}
	return ret;
}

static void add_rule(struct arena *a, struct torch_map *map, struct str from, struct str to)
{
	struct torch_entry *e = VEC_PUSH(a, map);
	*e = (struct torch_entry){.from = from, .to = to, .table = S(""), .file = S("")};
}

static struct torch_matcher *marks_of_device_code(struct arena *a)
{
	struct torch_map map = {0};
	add_rule(a, &map, S("hipLaunchKernelGGL"), S(""));
	add_rule(a, &map, S("__global__"), S(""));
	add_rule(a, &map, S("__shared__"), S(""));
	add_rule(a, &map, S("__syncthreads("), S(""));
	return torch_matcher_new(a, &map);
}

/* A pair of the user's own goes before a special one. */
static void add_special(struct arena *a, const struct torch_tables *t, struct torch_engine *e)
{
	e->special.a = a;
	VEC_EACH (struct torch_entry, entry, &t->special)
		map_put(&e->special, entry->from, entry);
	VEC_EACH (struct torch_entry, entry, &t->names)
		if (str_eq(entry->table, S("custom")) && map_get(&e->special, entry->from))
			map_put(&e->special, entry->from, entry);
}

struct torch_engine *torch_engine_new(struct arena *a, const struct torch_tables *t)
{
	struct torch_engine *e = NEW(a, struct torch_engine);
	e->generation = t->generation;
	e->names = torch_matcher_new(a, &t->names);
	e->caffe2 = torch_matcher_new(a, &t->caffe2);
	e->marks = marks_of_device_code(a);
	add_special(a, t, e);
	e->paths.map = t->paths;
	e->math.map = calls_of(a, &t->math);
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

/* The passes that replace names: the tables' keys, path mappings, CMakeLists.txt, math functions.
 *
 * Source: preprocessor() and replace_math_functions() of torch/utils/hipify/hipify_python.py.
 */
#include "hipify/torch/text/passes.h"

#include "lang/python/text.h"
#include "lang/python/word.h"

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

/* Makes the replacements of a series one after another, if any of its keys occurs at first. */
static struct str replace_series(const struct torch_step *s, struct arena *a, struct str text,
	const struct torch_replaces *r, const char *kind)
{
	struct torch_hit h;
	if (!torch_find(r->matcher, text, 0, &h))
		return text;
	VEC_EACH (const struct torch_entry, e, &r->map) {
		bool not_there = r == &s->e->paths && goes_into_hip(e); /* not after "/hip/" */
		struct torch_pass p = torch_pass_begin(a, text, s->trace, kind);
		for (size_t at = 0;
			e->from.n && (at = py_str_find(text, e->from, at)) != SIZE_MAX;) {
			size_t from = at++;
			if (not_there && str_ends(str_sub(text, 0, from), S("/hip/")))
				continue;
			at = from + e->from.n;
			torch_pass_edit(
				&p, (struct torch_patch){from, at, e->to, e->file.n ? e : NULL});
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
	for (size_t at = 0; (at = py_str_find(text, key, at)) != SIZE_MAX; at += key.n)
		if (!py_word_at(text, at + key.n))
			torch_pass_edit(&p, (struct torch_patch){at, at + key.n, S(".hip"), NULL});
	*ret = torch_pass_end(&p);
	return NULL;
}

/* ---- the engine ---- */

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
	e->paths.matcher = torch_matcher_new(a, &e->paths.map, false);
	e->math.matcher = torch_matcher_new(a, &e->math.map, false);
	e->cmake.matcher = torch_matcher_new(a, &e->cmake.map, false);
	VEC_EACH (const struct torch_entry, entry, &t->paths)
		if (goes_into_hip(entry) && str_chr(entry->to, '\\') < entry->to.n)
			e->bad_path = entry;
	return e;
}

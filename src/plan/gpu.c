/* Turns a project's own code for GPUs on; see plan_int.h. */
#include "plan/plan_int.h"

#include <stdlib.h>

/* The value that the user gives a switch, in rocsmith.yaml or in the environment; "" = none. */
static struct str said_value(
	struct arena *a, const struct plan_foreign *f, const struct source_switch *w)
{
	static const char *const before[] = {"-D", "cmake.define.", "CMAKE_ARGS="};
	const char *own = w->kind == SWITCH_VARIABLE ? getenv(str_z(a, w->name)) : NULL;
	const char *args = getenv("CMAKE_ARGS");
	struct str key, value;
	struct str all = str_fmt(a, "%.*s %.*s %.*s=%s %s", STR(str_join(a, &f->options, S(" "))),
		STR(str_join(a, &f->env, S(" "))), STR(w->name), own ? own : "", args ? args : "");
	for (size_t i = 0; i < sizeof(before) / sizeof(before[0]); i++)
		all = str_replace(a, all, str_from(before[i]), S(""));
	struct strs words = str_split(a, all, ' ');
	VEC_EACH (const struct str, word, &words)
		if (str_cut(*word, '=', &key, &value) && value.n &&
			str_eq(str_sub(key, 0, str_chr(key, ':')), w->name)) /* NAME:STRING */
			return value;
	return S("");
}

void gpu_choose(struct arena *a, const struct source_gpu *g, struct plan *plan)
{
	struct plan_foreign *f = plan->foreign;
	struct strs said = {0}, has = {0}, set = {0};
	bool hip = false, core = str_starts(f->backend, S("scikit_build_core"));
	f->gpu_off = true;
	f->links = g->links;
	VEC_EACH (const struct source_switch, w, g) {
		struct str value = said_value(a, f, w), place = w->place;
		hip |= w->hip &&
		       (g->hip || w->kind == SWITCH_VARIABLE || !str_eq(w->value, S("ON")));
		f->gpu_off &= source_is_off(a, value);
		if (value.n)
			strs_fmt(
				a, &said, "%.*s=%.*s (%.*s)", STR(w->name), STR(value), STR(place));
		else if (str_eq(w->name, S("torch")) && !f->torch)
			strs_fmt(a, &f->advice,
				"%.*s imports torch: --with torch-*.whl gives one for ROCm",
				STR(place));
		else if (w->on)
			strs_fmt(a, &has, "%.*s (%.*s)", STR(w->name), STR(place));
	}
	f->gpu_off &= said.n > 0;
	VEC_EACH (const struct source_switch, w, g) {
		bool env = w->kind == SWITCH_VARIABLE, cmake = f->system == SOURCE_CMAKE;
		struct str text = str_fmt(a, "%.*s=%.*s", STR(w->name), STR(w->value));
		bool own = str_starts(w->name, S("--")); /* a word of the back end */
		const char *before = env || cmake || own ? ""
				     : core              ? "cmake.define."
							 : "CMAKE_ARGS=-D";
		bool known = env || cmake || own || core || g->passes_on;
		struct strs *list = env || !(cmake || own || core) ? &f->env : &f->options;
		if (w->kind == SWITCH_NONE || (w->on && !f->gpu_off) || (hip && !w->hip))
			continue; /* nothing to turn on, or not beside its own way for HIP */
		if (known && !said.n && w->hip == hip && g->sources) {
			strs_fmt(a, list, "%s%.*s", before, STR(text));
			strs_fmt(a, &set, "%.*s (%.*s)", STR(text), STR(w->place));
			continue;
		}
		struct str how =
			known ? str_fmt(a, ": build: {%s: ['%s%.*s']} in rocsmith.yaml",
					list == &f->env ? "env" : "options", before, STR(text))
			      : S(", if the back end passes it on to CMake");
		strs_fmt(a, &f->advice, "%.*s (%.*s) turns it on%.*s", STR(text), STR(w->place),
			STR(how));
	}
	f->own_hip = set.n && hip;
	const struct strs *first = set.n ? &set : said.n ? &said : &has;
	if (first->n)
		plan_explain(a, plan, "gpu code", str_join(a, first, S(", ")), "%s%s%.*s",
			f->own_hip ? "the project's own way for AMD's GPUs, off unless asked for"
			: set.n    ? "the project's code for GPUs, off unless asked for"
			: said.n   ? "asked for by rocsmith.yaml or your environment"
				   : "found in the scripts of its build",
			first != &has && has.n ? "; its scripts have " : "",
			STR(first != &has ? str_join(a, &has, S(", ")) : S("")));
}

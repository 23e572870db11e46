/* __CUDA_ARCH__: it is defined in device passes only, and its value is the compute capability.
 *
 * Where a condition asks only whether it is defined (or not zero), __HIP_DEVICE_COMPILE__ means the
 * same. A line that compares the value stays as it is, all of it, and is reported: no AMD GPU has a
 * compute capability, and half a translation would take branches that neither compiler meant.
 */
#include "hipify/cuda/engine.h"

#include <string.h>

static bool in_set(const struct lex *l, const struct tok *t, const char *set)
{
	return t->kind == TOK_PUNCT && t->to - t->from == 1 && strchr(set, l->s.p[t->from]);
}

/* Does this condition use the value of __CUDA_ARCH__? */
static bool compares(struct str condition)
{
	struct lex l = lex_new(condition, S(""));
	struct tok prev = {0}, t = {0};
	bool was_arch = false;
	while (lex_try(&l, &t) && t.kind != TOK_END) {
		if (was_arch && in_set(&l, &t, "<>=!/*+-%?"))
			return true;
		was_arch = tok_is(&l, &t, S("__CUDA_ARCH__"));
		if (was_arch && in_set(&l, &prev, "<>=/*+-%?:"))
			return true;
		prev = t;
	}
	return false;
}

void guard_directive(struct engine *e, const struct tok *t)
{
	struct str word = engine_text(e, t);
	e->skip_guard = false;
	if (!str_eq(word, S("if")) && !str_eq(word, S("elif")))
		return;
	struct str condition = lex_rest_of_line(&e->l);
	if (!str_contains(condition, S("__CUDA_ARCH__")) || !compares(condition))
		return;
	e->skip_guard = true;
	engine_untranslated(e, t, S("__CUDA_ARCH__"),
		S("the value is compared: no AMD GPU has a compute capability"));
}

void guard_name(struct engine *e, const struct tok *t, const struct hipify_rule *r)
{
	struct str d = e->l.directive;
	if (str_eq(d, S("ifdef")) || str_eq(d, S("ifndef")) || str_eq(d, S("elifdef")) ||
		str_eq(d, S("elifndef")) || str_eq(d, S("if")) || str_eq(d, S("elif"))) {
		if (!e->skip_guard)
			engine_replace(e, t->from, t->to, hipify_rule_hip(r), r);
		return;
	}
	engine_untranslated(e, t, S("__CUDA_ARCH__"), S("no AMD GPU has a compute capability"));
}

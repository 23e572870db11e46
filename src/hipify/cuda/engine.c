/* The operations that rules use: edits of the text, reports, and a look at the next token. */
#include "hipify/cuda/engine.h"

/* Is this a rule for what PyTorch's translation leaves? Its hipify leaves __CUDA_ARCH__, which is never defined then, so the
 * device gets the code for the host. A text that knows HIP asks HIP's question where it means it. */
static bool is_mark(const struct engine *e, const struct hipify_rule *rule)
{
	if (names_is(rule, "guard"))
		return !e->knows_hip;
	return rule == names_find(S("@brackets")) || rule == names_find(S("@vector")) ||
	       rule == names_find(S("@mask")) || rule == names_find(S("@constexpr"));
}

void engine_replace(
	struct engine *e, size_t from, size_t to, struct str with, const struct hipify_rule *rule)
{
	if (e->context && e->context->marks && !is_mark(e, rule))
		return;
	*VEC_PUSH(e->a, &e->ret->edits) = (struct hipify_edit){
		.from = from,
		.to = to,
		.with = with,
		.rule = rule,
		.line = e->l.line,
	};
}

void engine_needs(struct engine *e, const struct hipify_rule *r)
{
	if (hipify_is_our_header(names_text(r->header)))
		strs_put(e->a, &e->ret->gives, names_text(r->header));
}

void engine_untranslated(
	struct engine *e, const struct tok *at, struct str name, struct str suggestion)
{
	bool known = suggestion.n || names_find(name);
	/* Every HIP build sees code and includes outside conditions, and macros that are used further down. */
	bool reached = !e->doubt && at->kind != TOK_RAW;
	if (e->l.directive.n && at->kind != TOK_PATH) {
		enum { FAR = 1 << 16 };
		size_t to = e->l.s.n - at->to > FAR ? at->to + FAR : e->l.s.n;
		reached = reached && str_eq(e->l.directive, S("define")) && e->macro.n &&
			  str_contains(str_sub(e->l.s, at->to, to), e->macro);
	}
	*VEC_PUSH(e->a, &e->ret->untranslated) = (struct untranslated){
		.path = e->l.path,
		.name = str_dup(e->a, name),
		.line = at->line,
		.col = lex_column(&e->l, at->from),
		.suggestion = suggestion,
		.unsure = !known,
		.certain = known && reached,
	};
}

void engine_untranslated_ptx(
	struct engine *e, const struct tok *at, struct str name, struct str suggestion)
{
	engine_untranslated(e, at, name, suggestion);
	e->ret->untranslated.v[e->ret->untranslated.n - 1].ptx = true;
}

bool engine_too_new(struct engine *e, const struct tok *at, const struct hipify_rule *r)
{
	if (!e->context || !names_newer(r, e->context->rocm))
		return false;
	engine_untranslated(e, at, names_text(r->cuda),
		str_fmt(e->a, "%.*s since ROCm %.*s", STR(names_text(r->hip)),
			STR(names_text(r->since))));
	return true;
}

struct tok engine_peek(const struct engine *e)
{
	struct lex ahead = e->l;
	struct tok t = {0};
	if (!lex_try(&ahead, &t))
		t = (struct tok){.kind = TOK_END, .from = e->l.s.n, .to = e->l.s.n};
	return t;
}

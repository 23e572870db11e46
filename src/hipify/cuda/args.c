/* Wraps arguments that HIP needs in another form: HIP_SYMBOL(x), a cast of a kernel to a pointer to
 * const void, a 64-bit mask (data/cuda_names/args.tsv). A stack of open calls counts brackets and
 * commas; the opening text is inserted where the argument starts and the closing one where it ends, so
 * that nested calls need no second pass.
 */
#include "hipify/cuda/engine.h"

struct wrapper {
	struct str rule, open;
	struct str done[4]; /* an argument that starts with one of these is left alone */
};

static const struct wrapper wrappers[] = {
	{S_INIT("@symbol"), S_INIT("HIP_SYMBOL("), {S_INIT("HIP_SYMBOL")}},
	{S_INIT("@kernel"), S_INIT("reinterpret_cast<const void*>("),
		{S_INIT("reinterpret_cast"), S_INIT("const"), S_INIT("void"), S_INIT("nullptr")}},
	{S_INIT("@mask"), S_INIT("(unsigned long long)("),
		{S_INIT("unsigned"), S_INIT("uint64_t"), S_INIT("__activemask")}},
	{S_INIT("@cast"), S_INIT("(T)("), {{0}}}, /* T is the type in the row */
};

/* Does the argument that begins here have the wanted form already: f(HIP_SYMBOL(x)), f((const void *)k)? */
static bool is_wrapped(const struct engine *e, const struct wrapper *w, const struct arg_rule *r,
	const struct tok *t)
{
	struct tok next = engine_peek(e);
	struct str word = tok_text(&e->l, tok_is(&e->l, t, S("(")) ? &next : t);
	for (size_t i = 0; i < sizeof(w->done) / sizeof(*w->done); i++)
		if (w->done[i].n && str_eq(w->done[i], word))
			return true;
	if (r->text.n && str_eq(word, S("nullptr")))
		return true;
	if (!r->text.n || !tok_is(&e->l, t, S("(")))
		return false;
	/* the whole type counts: (const char *const *) is no (const char **) */
	struct str rest = str_sub(e->l.s, t->to, e->l.s.n);
	rest = str_replace(e->a, str_sub(rest, 0, str_chr(rest, ')')), S(" "), S(""));
	return str_eq(rest, str_replace(e->a, r->text, S(" "), S("")));
}

/* The innermost open call; NULL if there is none, or if it began outside the current preprocessor line. */
static struct frame *top(struct engine *e)
{
	struct frame *f = e->frames.n ? &e->frames.v[e->frames.n - 1] : NULL;
	return f && f->directive == (e->l.directive.n != 0) ? f : NULL;
}

static void close_argument(struct engine *e, struct frame *f, size_t at)
{
	if (f->open)
		engine_replace(e, at, at, S(")"), names_find(f->wraps->rule));
	f->open = false;
}

void args_before(struct engine *e, const struct tok *t)
{
	struct frame *f = top(e);
	if (!f || t->kind == TOK_LINE_END || t->kind == TOK_END)
		return;
	bool end = tok_is(&e->l, t, S(")")), comma = tok_is(&e->l, t, S(","));
	for (const struct arg_rule *r = f->rule; f->fresh && !end && !comma; r++) {
		const struct wrapper *w = NULL;
		for (size_t i = 0; i < sizeof(wrappers) / sizeof(*wrappers); i++)
			w = str_eq(wrappers[i].rule, r->rule) ? &wrappers[i] : w;
		if (!str_eq(r->name, f->rule->name))
			break;
		if (!w || f->arg != r->arg || is_wrapped(e, w, r, t))
			continue;
		struct str open = r->text.n ? str_fmt(e->a, "(%.*s)(", STR(r->text)) : w->open;
		f->opening = e->ret->edits.n;
		engine_replace(e, t->from, t->from, open, names_find(r->rule));
		f->open = e->ret->edits.n > f->opening;
		f->wraps = r;
	}
	f->fresh = false;
	bool stray =
		tok_in(&e->l, t, "]}"); /* it closes a bracket that was opened before the call */
	if (f->depth != e->depth || (!end && !stray && !(comma && !f->angle)))
		return;
	close_argument(e, f, t->from);
	if (comma)
		return;
	/* Writes out arguments that the call omits, if CUDA has a default for them and HIP does not. */
	unsigned given = f->arg;
	bool empty = stray || tok_is(&e->l, &e->prev, S("("));
	if (str_eq(f->rule->rule, S("@overload")) && f->arg == f->rule->arg &&
		f->opening < e->ret->edits.n &&
		e->ret->edits.v[f->opening].rule == names_find(S("@overload")))
		e->ret->edits.v[f->opening].with = f->rule->text;
	for (const struct arg_rule *r = f->rule; !empty && str_eq(r->name, f->rule->name); r++) {
		bool other = str_eq(r->rule, S("@overload")) ||
			     (str_eq(r->rule, S("@always-c")) && !str_ends(e->l.path, S(".c")));
		if (!r->text.n || r->arg != given + 1 || other)
			continue;
		struct str rule = str_starts(r->rule, S("@always")) ? S("@always") : r->rule;
		engine_replace(e, t->from, t->from, str_fmt(e->a, ", %.*s", STR(r->text)),
			names_find(rule));
		given++;
	}
	e->frames.n--;
}

void args_after(struct engine *e, const struct tok *t)
{
	if (tok_in(&e->l, t, ")]}") && e->depth)
		e->depth--;
	for (; top(e) && top(e)->depth > e->depth; e->frames.n--) /* a branch left it open */
		if (top(e)->open)
			e->ret->edits.v[top(e)->opening].with = S("");
	if (tok_in(&e->l, t, "([{"))
		e->depth++;
	struct frame *f = top(e);
	if (e->pending && tok_is(&e->l, t, S("("))) {
		size_t behind = e->ret->edits.n;
		/* an edit of nothing, unless there are so many arguments */
		if (str_eq(e->pending->rule, S("@overload")))
			engine_replace(
				e, e->prev.to, e->prev.to, S(""), names_find(S("@overload")));
		*VEC_PUSH(e->a, &e->frames) = (struct frame){
			.rule = e->pending,
			.depth = e->depth,
			.arg = 1,
			.fresh = true,
			.opening = behind,
			.directive = e->l.directive.n != 0,
		};
		return;
	}
	if (!f || f->depth != e->depth)
		return;
	if (!f->angle && tok_is(&e->l, t, S(","))) {
		f->arg++;
		f->fresh = true;
	} else if (tok_is(&e->l, t, S("<")) && e->prev.kind == TOK_IDENT) {
		f->angle++;
	} else if (tok_is(&e->l, t, S(">")) && f->angle && !tok_is(&e->l, &e->prev, S("-"))) {
		f->angle--;
	}
}

void args_close_all(struct engine *e, bool directive_only)
{
	/* a bracket at the end of a preprocessor line would be part of it */
	bool apart = !directive_only && e->ends_in_directive;
	while (e->frames.n) {
		struct frame *f = &e->frames.v[e->frames.n - 1];
		if (directive_only && !f->directive)
			return;
		if (f->open &&
			(e->depth > f->depth || apart)) /* hipify_text() drops an edit of nothing */
			e->ret->edits.v[f->opening].with = S("");
		else
			close_argument(e, f, e->prev.to);
		e->frames.n--;
	}
}

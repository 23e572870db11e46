/* Translates one text: drives the tokenizer, hands each token to the rules, collects the edits and
 * applies them at the end.
 */
#include "hipify/cuda/engine.h"

#include <string.h>

void engine_replace(
	struct engine *e, size_t from, size_t to, struct str with, const struct hipify_rule *rule)
{
	*VEC_PUSH(e->a, &e->ret->edits) = (struct hipify_edit){
		.from = from,
		.to = to,
		.with = with,
		.rule = rule,
		.line = e->l.line,
	};
}

void engine_insert(struct engine *e, size_t at, struct str text, const struct hipify_rule *rule)
{
	engine_replace(e, at, at, text, rule);
}

/* The column of a byte, counted on from the last question so that long lines stay linear. */
static unsigned engine_col(struct engine *e, size_t at)
{
	if (at < e->bol)
		e->bol = e->bol_scanned = 0;
	if (at > e->bol_scanned) {
		const char *p = memrchr(e->l.s.p + e->bol_scanned, '\n', at - e->bol_scanned);
		if (p)
			e->bol = (size_t)(p - e->l.s.p) + 1;
		e->bol_scanned = at;
	}
	return (unsigned)(at - e->bol) + 1;
}

void engine_untranslated(
	struct engine *e, const struct tok *at, struct str name, struct str suggestion)
{
	*VEC_PUSH(e->a, &e->ret->untranslated) = (struct untranslated){
		.path = e->l.path,
		.name = str_dup(e->a, name),
		.line = at->line,
		.col = engine_col(e, at->from),
		.suggestion = suggestion,
		.unsure = !suggestion.n && !names_find(name),
	};
}

struct tok engine_peek(const struct engine *e)
{
	struct lex ahead = e->l;
	struct tok t = {0};
	if (!lex_try(&ahead, &t))
		t = (struct tok){.kind = TOK_END, .from = e->l.s.n, .to = e->l.s.n};
	return t;
}

struct str engine_text(const struct engine *e, const struct tok *t)
{
	return tok_text(&e->l, t);
}

bool engine_is(const struct engine *e, const struct tok *t, struct str text)
{
	return tok_is(&e->l, t, text);
}

static void scoped_name(struct engine *e, const struct tok *t, const struct hipify_rule *r)
{
	struct tok next = engine_peek(e);
	if (engine_is(e, &next, S("::")) || engine_is(e, &e->prev, S("namespace")))
		engine_replace(e, t->from, t->to, hipify_rule_hip(r), r);
}

/* thrust::cuda::par and thrust::system::cuda are called hip in rocThrust; cuda:: alone is libcu++.
 */
static void cuda_word(struct engine *e, const struct tok *t)
{
	bool thrust =
		engine_is(e, &e->prev, S("::")) &&
		(engine_is(e, &e->prev2, S("thrust")) || engine_is(e, &e->prev2, S("system")));
	if (thrust)
		engine_replace(e, t->from, t->to, S("hip"), names_find(S("@thrust::cuda")));
	else
		untranslated_libcuxx(e, t);
}

static bool known_row(const struct hipify_rule *r)
{
	return r && !names_is_header(r) && !names_lacks(r);
}

static void by_row(struct engine *e, const struct tok *t, const struct hipify_rule *r)
{
	if (str_eq(hipify_rule_kind(r), S("guard")))
		guard_name(e, t, r);
	else if (str_eq(hipify_rule_kind(r), S("namespace")))
		scoped_name(e, t, r);
	else
		engine_replace(e, t->from, t->to, hipify_rule_hip(r), r);
}

static bool asm_word(struct str s)
{
	return str_eq(s, S("asm")) || str_eq(s, S("__asm__")) || str_eq(s, S("__asm"));
}

/* A HIP name that the wanted version does not have yet. */
static bool too_new(struct engine *e, const struct tok *t, const struct hipify_rule *r)
{
	struct str hip = hipify_rule_hip(r), since = hipify_rule_since(r);
	if (!e->context || !names_newer(r, e->context->rocm))
		return false;
	engine_untranslated(e, t, hipify_rule_cuda(r),
		str_fmt(e->a, "%.*s since ROCm %.*s", STR(hip), STR(since)));
	return true;
}

static void look_up(struct engine *e, const struct tok *t, struct str s)
{
	const struct hipify_rule *r = names_find(s);
	if (known_row(r) && !too_new(e, t, r))
		by_row(e, t, r);
	else if (known_row(r))
		return;
	else if ((r && names_lacks(r)) || names_look_like_cuda(s))
		untranslated_name(e, t, r);
	else if (str_eq(s, S("cuda")))
		cuda_word(e, t);
	else if (asm_word(s))
		e->in_asm = true;
}

/* A call whose arguments matter, unless this is a declaration or the name of a macro. */
static const struct arg_rule *call_rule(struct engine *e, struct str s)
{
	const struct arg_rule *r = names_arg(s);
	if (!r)
		return NULL;
	bool warp = str_eq(r->rule, S("@mask"));
	struct tok next = engine_peek(e);
	bool call = engine_is(e, &next, S("("));
	if (!call || untranslated_declaration_before(e))
		return NULL;
	e->ret->warp_sync = e->ret->warp_sync || warp;
	return r;
}

static void identifier(struct engine *e, const struct tok *t)
{
	struct str s = engine_text(e, t);
	bool names_directive = engine_is(e, &e->prev, S("#")) && e->l.directive.p == s.p;
	if (names_directive) {
		guard_directive(e, t);
		return;
	}
	if (str_eq(s, S("HIP_ENABLE_WARP_SYNC_BUILTINS")))
		e->has_warp_macro = true;
	if (str_eq(s, S("enum")))
		e->enum_head = true;
	e->pending = call_rule(e, s);
	look_up(e, t, s);
}

static void punctuation(struct engine *e, const struct tok *t)
{
	char c = e->l.s.p[t->from];
	if (c == '{' && e->enum_head)
		e->enum_depth = e->depth + 1;
	if (c == '{' || c == ';' || c == ')')
		e->enum_head = false;
	if (c == '}' && e->depth == e->enum_depth)
		e->enum_depth = 0;
	if (c == ';')
		e->in_asm = false;
	if (engine_is(e, t, S("##")))
		untranslated_paste(e);
}

static void dispatch(struct engine *e, const struct tok *t)
{
	if (t->kind == TOK_IDENT)
		identifier(e, t);
	else if (t->kind == TOK_PUNCT)
		punctuation(e, t);
	else if (t->kind == TOK_PATH)
		include_path(e, t);
	else if (t->kind == TOK_RAW)
		untranslated_raw_string(e, t);
	if (e->in_asm && (t->kind == TOK_STRING || t->kind == TOK_RAW))
		untranslated_asm_string(e, t);
}

/* Brackets in a preprocessor line do not pair with those around it. */
static void line_end(struct engine *e)
{
	args_close_all(e, true);
	e->depth = e->outer_depth;
	e->prev = e->outer_prev;
	e->skip_guard = false;
}

static void one_token(struct engine *e, const struct tok *t)
{
	if (t->kind == TOK_LINE_END) {
		line_end(e);
		return;
	}
	args_before(e, t);
	dispatch(e, t);
	args_after(e, t);
	untranslated_track(e, t);
	if (t->kind != TOK_IDENT)
		e->pending = NULL;
	bool macro_name =
		str_eq(e->l.directive, S("define")) && engine_is(e, &e->prev, S("define"));
	e->prev2 = e->prev;
	e->prev = *t;
	if (macro_name)
		e->prev.kind = TOK_LINE_END; /* no type in front of what follows */
	if (!e->l.directive.n) {
		e->outer_depth = e->depth;
		e->outer_prev = *t;
	}
}

/* Puts what the head of a program part needs in front of all other edits. */
static void add_head(struct engine *e)
{
	BUF(b, e->a);
	bool hidden =
		e->ret->warp_sync || (e->context && e->context->warp_sync && e->has_local_include);
	const struct hipify_rule *rule = names_find(S("@runtime"));
	if (hidden && !e->has_warp_macro) {
		buf_add(&b, S("#define HIP_ENABLE_WARP_SYNC_BUILTINS 1\n"));
		rule = names_find(S("@warp"));
	}
	if (!e->runtime_first)
		buf_add(&b, S("#include <hip/hip_runtime.h>\n"));
	if (!buf_str(&b).n)
		return;
	size_t at = str_starts(e->l.s, S("\xef\xbb\xbf")) ? 3 : 0;
	struct hipify_text *t = e->ret;
	*VEC_PUSH(e->a, &t->edits) = (struct hipify_edit){0};
	memmove(t->edits.v + 1, t->edits.v, (t->edits.n - 1) * sizeof(*t->edits.v));
	t->edits.v[0] = (struct hipify_edit){
		.from = at, .to = at, .with = buf_str(&b), .rule = rule, .line = 1};
}

static struct str apply(struct arena *a, struct str source, const struct hipify_text *t)
{
	BUF(b, a);
	size_t done = 0;
	VEC_EACH (const struct hipify_edit, d, &t->edits) {
		buf_add(&b, str_sub(source, done, d->from));
		buf_add(&b, d->with);
		done = d->to;
	}
	buf_add(&b, str_sub(source, done, source.n));
	return buf_str(&b);
}

/* Declared here, or in a namespace of that name that is: cuda::f, but not libcu++'s cuda::std. */
static bool own_name(struct engine *e, struct str name)
{
	if (map_get(&e->declared, name))
		return true;
	return str_starts(name, S("cuda::")) && !str_eq(name, S("cuda::std")) &&
	       map_get(&e->declared, S("cuda"));
}

/* Names that the text declares itself are not CUDA's. */
static void drop_own_names(struct engine *e)
{
	struct untranslated_list *left = &e->ret->untranslated;
	size_t n = 0;
	for (size_t i = 0; i < left->n; i++)
		if (!own_name(e, left->v[i].name))
			left->v[n++] = left->v[i];
	left->n = n;
	for (size_t i = 0; i < e->declared.n; i++)
		strs_add(e->a, &e->ret->declared, str_dup(e->a, e->declared.v[i].key));
}

static struct err *tokens(struct engine *e)
{
	struct tok t;
	do {
		TRY(lex_next(&e->l, &t));
		one_token(e, &t);
	} while (t.kind != TOK_END);
	args_close_all(e, false);
	return NULL;
}

struct err *hipify_text_in(struct arena *a, struct str source, struct str path,
	const struct hipify_context *context, struct hipify_text *ret)
{
	struct engine e = {
		.a = a,
		.l = lex_new(source, path),
		.context = context,
		.ret = ret,
		.plain = true,
		.declared = {.a = a},
		.headers = {.a = a},
	};
	*ret = (struct hipify_text){0};
	TRY(lex_check_text(source, path));
	TRY(tokens(&e));
	drop_own_names(&e);
	if (str_ends(path, S(".cu")) || str_ends(path, S(".hip")))
		add_head(&e);
	ret->text = ret->edits.n ? apply(a, source, ret) : source;
	return NULL;
}

struct err *hipify_text(
	struct arena *a, struct str source, struct str path, struct hipify_text *ret)
{
	return hipify_text_in(a, source, path, NULL, ret);
}

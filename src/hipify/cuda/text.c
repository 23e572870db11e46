/* Translates one text: drives the tokenizer, hands each token to the rules, collects the edits and
 * applies them at the end. */
#include "hipify/cuda/engine.h"

/* ---- __CUDA_ARCH__ ----
 *
 * The macro is defined in device passes only, and its value is the compute capability. In a condition
 * that only tests whether it is defined (or nonzero), __HIP_DEVICE_COMPILE__ means the same. A line
 * that compares the value is left unchanged as a whole and reported: no AMD GPU has a compute
 * capability, and half a translation would take branches that neither compiler was meant to take.
 */

/* Does this condition use the value of __CUDA_ARCH__? */
static bool compares(struct str condition)
{
	struct lex l = lex_new(condition, S(""));
	struct tok prev = {0}, t = {0};
	bool was_arch = false;
	while (lex_try(&l, &t) && t.kind != TOK_END) {
		if (was_arch && tok_in(&l, &t, "<>=!/*+-%?"))
			return true;
		was_arch = tok_is(&l, &t, S("__CUDA_ARCH__"));
		if (was_arch && tok_in(&l, &prev, "<>=/*+-%?:"))
			return true;
		prev = t;
	}
	return false;
}

/* Each branch of an #if opens the same brackets anew, so the next one begins at the depth of the first. */
static void depth_of_branch(struct engine *e, struct str directive)
{
	bool ends = str_eq(directive, S("endif"));
	if (str_starts(directive, S("if"))) {
		struct branches at = {.before = e->outer_depth, .after = e->outer_depth};
		*VEC_PUSH(e->a, &e->branches) = at;
	} else if (e->branches.n && (ends || str_starts(directive, S("el")))) {
		struct branches *b = &e->branches.v[e->branches.n - 1];
		if (b->after == b->before)
			b->after = e->outer_depth;
		e->outer_depth = ends ? b->after : b->before;
		e->branches.n -= ends;
	}
}

static void guard_directive(struct engine *e, const struct tok *t)
{
	struct str word = tok_text(&e->l, t);
	e->skip_guard = false;
	depth_of_branch(e, word);
	untranslated_condition(e, word);
	if (!str_eq(word, S("if")) && !str_eq(word, S("elif")))
		return;
	struct str condition = lex_rest_of_line(&e->l);
	if (!str_contains(condition, S("__CUDA_ARCH__")) || !compares(condition))
		return;
	e->skip_guard = true;
	engine_untranslated(e, t, S("__CUDA_ARCH__"),
		S("the value is compared: no AMD GPU has a compute capability"));
}

/* ---- names ---- */

static void by_row(struct engine *e, const struct tok *t, const struct hipify_rule *r)
{
	static const char *const conditions[] = {
		"ifdef", "ifndef", "elifdef", "elifndef", "if", "elif", NULL};
	if (names_is(r, "guard")) {
		if (!str_is_one_of(e->l.directive, conditions))
			engine_untranslated(
				e, t, S("__CUDA_ARCH__"), S("no AMD GPU has a compute capability"));
		else if (!e->skip_guard)
			engine_replace(e, t->from, t->to, names_text(r->hip), r);
		return;
	}
	if (names_is(r, "namespace")) {
		struct tok next = engine_peek(e);
		bool space = tok_is(&e->l, &e->prev, S("namespace"));
		bool named = e->alias.n && tok_is(&e->l, &e->prev, S("=")) &&
			     tok_is(&e->l, &next, S(";"));
		/* a project that knows HIP says "namespace cub = hipcub" */
		if ((space && tok_is(&e->l, &next, S("="))) ||
			(!space && !named && !tok_is(&e->l, &next, S("::"))))
			return;
	}
	engine_needs(e, r);
	if (r->hip != r->cuda)
		engine_replace(e, t->from, t->to, names_text(r->hip), r);
	if (e->context && e->context->fnuz && names_is(r, "ocp"))
		untranslated_ocp(e, t);
}

static void look_up(struct engine *e, const struct tok *t, struct str s)
{
	const struct hipify_rule *r = names_find(s);
	bool lacks = r && names_is(r, "unsupported");
	if (r && !lacks && !names_is(r, "header")) {
		if (!engine_too_new(e, t, r) && !untranslated_cublas_v1(e, t, s))
			by_row(e, t, r);
	} else if (lacks || names_look_like_cuda(s)) {
		untranslated_name(e, t, r);
	} else if (str_eq(s, S("cuda"))) {
		/* rocThrust calls thrust::cuda::par and thrust::system::cuda hip; otherwise cuda:: is
		 * libcu++. */
		if (tok_is(&e->l, &e->prev, S("::")) &&
			(tok_is(&e->l, &e->prev2, S("thrust")) ||
				tok_is(&e->l, &e->prev2, S("system"))))
			engine_replace(e, t->from, t->to, S("hip"), names_find(S("@thrust::cuda")));
		else
			untranslated_libcuxx(e, t);
	} else if (e->device_depth && str_eq(s, S("printf")) && tok_is(&e->l, &e->prev, S("::")) &&
		   tok_is(&e->l, &e->prev2, S("std"))) {
		engine_replace(e, e->prev2.from, t->to, S("printf"), names_find(S("@std::printf")));
	} else if (str_eq(s, S("asm")) || str_eq(s, S("__asm__")) || str_eq(s, S("__asm"))) {
		e->in_asm = !ptx_statement(e, t);
	}
}

static void identifier(struct engine *e, const struct tok *t)
{
	static const char *const halves[] = {"half", "half2", "__half", "__half2", "nv_bfloat16",
		"nv_bfloat162", "__nv_bfloat16", "__nv_bfloat162", NULL};
	static const char *const textures[] = {
		"tex1D", "tex2D", "tex3D", "surf1D", "surf2D", "surf3D", NULL};
	struct str s = tok_text(&e->l, t);
	if (tok_is(&e->l, &e->prev, S("#")) && e->l.directive.p == s.p) {
		guard_directive(e, t);
		return;
	}
	/* facts that a name reveals about the code around it */
	bool code = !e->l.directive.n;
	e->has_warp_macro |= str_eq(s, S("HIP_ENABLE_WARP_SYNC_BUILTINS"));
	e->enum_head |= str_eq(s, S("enum"));
	e->adds |= str_eq(s, S("atomicAdd"));
	e->halves |= str_is_one_of(s, halves);
	e->device_head |= code && (str_eq(s, S("__global__")) || str_eq(s, S("__device__")));
	e->host_head |= code && str_eq(s, S("__host__"));
	e->ret->texture_objects |= str_ends(s, S("eObject_t"));
	struct tok next = {0};
	if (code && e->ret->texture_objects && !e->ret->texture.line &&
		str_starts_one_of(s, textures)) { /* the object's type is named before its use */
		next = engine_peek(e);
		if (tok_in(&e->l, &next, "(<"))
			e->ret->texture = (struct untranslated){
				.name = s, .line = t->line, .col = lex_column(&e->l, t->from)};
	}
	/* A call with argument rules, unless this is a declaration or the definition of a macro. */
	e->pending = names_arg(s);
	if (e->pending)
		next = engine_peek(e);
	if (e->pending && (!tok_is(&e->l, &next, S("(")) || untranslated_declaration_before(e)))
		e->pending = NULL;
	if (e->pending && str_eq(e->pending->rule, S("@mask")))
		e->ret->warp_sync = true;
	if (str_eq(s, S("operator")))
		vectors_operator(e, t);
	if (str_starts(s, S("atomic")))
		vectors_atomic(e, t);
	members_constexpr(e, t);
	size_t reports = e->ret->untranslated.n;
	look_up(e, t, s);
	if (e->ret->untranslated.n > reports) /* a name that stays keeps its arguments */
		e->pending = NULL;
}

/* nvcc takes "<< <" and ">> >" for the brackets of a launch, as formatters leave them that know no CUDA; clang does not. */
static void launch_brackets(struct engine *e, const struct tok *t)
{
	const struct tok *first = &e->prev2, *second = &e->prev;
	char c = e->l.s.p[t->from];
	if (c == ';')
		e->launch_depth = 0;
	if ((c != '<' && c != '>') || !tok_in(&e->l, second, "<>") || !tok_in(&e->l, first, "<>") ||
		e->l.s.p[second->from] != c || e->l.s.p[first->from] != c)
		return;
	enum { NEAR = 256 };
	size_t near = first->from > NEAR ? first->from - NEAR : 0;
	struct tok next = engine_peek(e);
	struct str before = str_trim(str_sub(e->l.s, near, first->from));
	bool opens = c == '<' && !str_ends(before, S("operator"));
	bool closes = c == '>' && e->launch_depth == e->depth + 1 && tok_is(&e->l, &next, S("("));
	if ((!opens && !closes) || first->from < e->launch_bracket)
		return;
	e->launch_bracket = t->to;
	const struct hipify_rule *rule = names_find(S("@brackets"));
	if (first->to < second->from)
		engine_replace(e, first->to, second->from, S(""), rule);
	if (second->to < t->from)
		engine_replace(e, second->to, t->from, S(""), rule);
	e->launch_depth = opens ? e->depth + 1 : 0;
}

static void one_token(struct engine *e, const struct tok *t)
{
	if (t->kind == TOK_LINE_END) {
		/* Brackets in a preprocessor line do not pair with those around it. */
		args_close_all(e, true);
		e->depth = e->outer_depth;
		e->prev = e->outer_prev;
		e->spent = e->outer_spent;
		e->ends_in_directive = t->from == e->l.s.n;
		e->skip_guard = false;
		return;
	}
	args_before(e, t);
	members_before(e, t);
	if (t->kind == TOK_IDENT) {
		identifier(e, t);
	} else if (t->kind == TOK_PUNCT) {
		char c = e->l.s.p[t->from];
		if (c == '{' && e->enum_head)
			e->enum_depth = e->depth + 1;
		if (c == '{' || c == ';' || c == ')')
			e->enum_head = false;
		if (c == '}' && e->depth == e->enum_depth)
			e->enum_depth = 0;
		launch_brackets(e, t);
		untranslated_launch(e, t);
		e->in_asm = e->in_asm && c != ';';
		if (tok_is(&e->l, t, S("##")))
			untranslated_paste(e);
	} else if (t->kind == TOK_PATH) {
		include_path(e, t);
	} else if (t->kind == TOK_RAW) {
		untranslated_raw_string(e, t);
	}
	if (e->in_asm && (t->kind == TOK_STRING || t->kind == TOK_RAW))
		untranslated_asm_string(e, t);
	vectors_track(e, t);
	args_after(e, t);
	untranslated_track(e, t);
	if (t->kind != TOK_IDENT)
		e->pending = NULL;
	bool macro_name =
		str_eq(e->l.directive, S("define")) && tok_is(&e->l, &e->prev, S("define"));
	e->prev2 = e->prev;
	e->prev = *t;
	if (macro_name)
		e->macro = tok_text(&e->l, t);
	if (macro_name)
		e->prev.kind = TOK_LINE_END; /* a macro's name is no type for the next token */
	if (!e->l.directive.n) {
		e->outer_depth = e->depth;
		e->outer_prev = *t;
		e->outer_spent = e->spent;
	}
}

bool hipify_uses_warps(struct str text)
{
	return str_contains(text, S("_sync")) || str_contains(text, S("cooperative_groups"));
}

/* Functions that nvcc declares in each source, and the header that does so with HIP: CUDA's runtime includes the standard's
 * (CUDA 12.9's header of common functions), as HIP's does no more in ROCm 7. `cxx` is the header's name in C++. */
static const struct {
	const char *words[10], *header, *cxx;
} implied[] = {
	{{"min", "max"}, "rocsmith/minmax.h", NULL},
	{{"assert"}, "assert.h", "cassert"},
	{{"printf", "fprintf", "sprintf", "snprintf", "fflush"}, "stdio.h", "cstdio"},
	{{"memcpy", "memset", "memcmp", "memmove", "strlen", "strcmp", "strncmp", "strcpy"},
		"string.h", "cstring"},
};

unsigned hipify_calls(struct str text)
{
	unsigned ret = 0;
	for (size_t at = 0; (at += str_chr(str_sub(text, at, text.n), '(')) < text.n; at++) {
		size_t from, end = at;
		while (end && text.p[end - 1] == ' ')
			end--;
		for (from = end; from && ascii_word(text.p[from - 1]);)
			from--;
		if (from && strchr(":.>", text.p[from - 1]))
			continue;
		for (unsigned i = 0; i < sizeof(implied) / sizeof(implied[0]); i++)
			ret |= (unsigned)str_is_one_of(str_sub(text, from, end), implied[i].words)
			       << i;
	}
	return ret;
}

/* Includes what declares the functions that this source calls, or the project's headers. */
static void add_implied(struct engine *e, struct buf *b)
{
	bool around = e->context && e->has_local_include;
	unsigned called = hipify_calls(e->l.s) | (around ? e->context->calls : 0);
	for (unsigned i = 0; i < sizeof(implied) / sizeof(implied[0]); i++) {
		struct str header = str_from(implied[i].header);
		bool has = map_has(&e->ours, header) ||
			   (implied[i].cxx && map_has(&e->ours, str_from(implied[i].cxx)));
		if (!(called >> i & 1) || has)
			continue;
		if (hipify_is_our_header(header))
			strs_put(e->a, &e->ret->gives, header);
		else
			buf_fmt(b, "#include <%.*s>\n", STR(header));
	}
}

/* ---- the entry point ---- */

/* Inserts the macros and includes that belong at the top, in front of all other edits. */
static void add_head(struct engine *e, bool unit)
{
	BUF(b, e->a);
	bool hidden =
		e->ret->warp_sync || (e->context && e->context->warp_sync && e->has_local_include);
	const struct hipify_rule *rule = names_find(S("@runtime"));
	if (unit && hidden && !e->has_warp_macro) {
		buf_add(&b, S("#define HIP_ENABLE_WARP_SYNC_BUILTINS 1\n"));
		rule = names_find(S("@warp"));
	}
	if (unit && !e->runtime_first)
		buf_add(&b, S("#include <hip/hip_runtime.h>\n"));
	if (str_ends(e->l.path, S(".cu"))) /* a source for HIP has HIP's names */
		add_implied(e, &b);
	if (e->adds && e->halves)
		strs_put(e->a, &e->ret->gives, S("rocsmith/half.h"));
	VEC_EACH (const struct str, h, &e->ret->gives)
		if (!map_has(&e->ours, *h))
			buf_fmt(&b, "#include <%.*s>\n", STR(*h));
	if (!buf_str(&b).n)
		return;
	size_t at = str_starts(e->l.s, S("\xef\xbb\xbf")) ? 3 : 0;
	struct hipify_text *t = e->ret;
	*VEC_PUSH(e->a, &t->edits) = (struct hipify_edit){0};
	memmove(t->edits.v + 1, t->edits.v, (t->edits.n - 1) * sizeof(*t->edits.v));
	t->edits.v[0] = (struct hipify_edit){
		.from = at, .to = at, .with = buf_str(&b), .rule = rule, .line = 1};
}

/* Drops reports of names that the text declares itself. */
static void drop_own_names(struct engine *e)
{
	struct untranslated_list *list = &e->ret->untranslated;
	size_t n = 0;
	VEC_EACH (const struct untranslated, u, list)
		if (!names_are_own(&e->declared, u->name))
			list->v[n++] = *u;
	list->n = n;
	for (size_t i = 0; i < e->declared.n; i++)
		strs_add(e->a, &e->ret->declared, str_dup(e->a, e->declared.v[i].key));
}

/* Adds, after an edit, text by which the source's next line keeps its number. */
static void keep_line(struct buf *b, struct str old, struct str with, unsigned next)
{
	unsigned had = str_count(old, '\n'), has = str_count(with, '\n');
	bool spliced = str_contains(old, S("\\\n")); /* in the definition of a macro */
	if (has > had)
		buf_fmt(b, "#line %u\n", next);
	for (; had > has; had--)
		buf_add(b, spliced ? S("\\\n") : S("\n"));
}

static struct str operand(struct engine *e, struct str text)
{
	struct hipify_text t = {.text = text};
	err_free(hipify_text(e->a, text, S(""), e->context, &t));
	strs_put_all(e->a, &e->ret->gives, &t.gives);
	e->ret->warp_sync |= t.warp_sync;
	return t.text.n ? t.text : text;
}

struct err *hipify_text(struct arena *a, struct str source, struct str path,
	const struct hipify_context *context, struct hipify_text *ret)
{
	bool part = !path.n; /* an operand */
	struct engine e = {
		.a = a,
		.l = lex_new(source, path),
		.context = context,
		.ret = ret,
		.operand = part ? NULL : operand,
		.knows_hip =
			context && context->marks &&
			(str_contains(source, S("__HIP_")) || str_contains(source, S("USE_ROCM"))),
		.declared = {.a = a},
		.vectors = {.a = a},
		.device = {.a = a},
		.host = {.a = a},
		.ours = {.a = a},
	};
	*ret = (struct hipify_text){0};
	if (!context || !context->stands_in) /* otherwise the compiler judges the text itself */
		TRY(lex_check_text(source, path));
	struct tok t;
	members_find(&e);
	do {
		TRY(lex_next(&e.l, &t));
		one_token(&e, &t);
	} while (t.kind != TOK_END);
	args_close_all(&e, false);
	drop_own_names(&e);
	size_t kept = 0;
	VEC_EACH (const struct hipify_edit, d, &ret->edits) {
		bool v1 = d->rule == names_find(S("cublas.h")) ||
			  d->rule == names_find(S("@hipblas"));
		bool nothing = d->from == d->to && !d->with.n;
		if (!nothing && !(e.keeps_v1 && v1))
			ret->edits.v[kept++] = *d;
	}
	ret->edits.n = kept;
	if (!part && (!context || !context->marks))
		add_head(&e, str_ends(path, S(".cu")) || str_ends(path, S(".hip")));
	ret->text = source;
	if (!ret->edits.n)
		return NULL;
	BUF(b, a);
	size_t done = 0;
	unsigned line = 1;
	VEC_EACH (const struct hipify_edit, d, &ret->edits) {
		buf_add(&b, str_sub(source, done, d->from));
		buf_add(&b, d->with);
		line += str_count(str_sub(source, done, d->to), '\n');
		if (context && context->stands_in)
			keep_line(&b, str_sub(source, d->from, d->to), d->with, line);
		done = d->to;
	}
	buf_add(&b, str_sub(source, done, source.n));
	ret->text = buf_str(&b);
	return NULL;
}

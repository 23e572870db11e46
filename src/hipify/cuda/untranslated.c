/* The names that stay untranslated and are reported: CUDA names without a HIP equivalent, names in CUDA's
 * style that are in no table, inline PTX, names pasted with ##, kernels in raw strings. To avoid false
 * reports, names that the text itself declares count as the project's own.
 */
#include "hipify/cuda/engine.h"

/* Words that start a statement but never a declaration. */
static const char *const no_declaration[] = {"return", "throw", "new", "delete", "case", "goto",
	"if", "else", "sizeof", "co_return", "co_await", "co_yield", NULL};
static const char *const before_name[] = {"struct", "class", "union", "namespace", NULL};

/* Does the current token declare a name: T name, T *name, struct name {, using name =, #define name, enum { name? */
static bool declaring(const struct engine *e)
{
	struct str prev = tok_text(&e->l, &e->prev);
	struct tok next = engine_peek(e);
	if (str_eq(e->l.directive, S("define")) && str_eq(prev, S("define")))
		return true;
	if (e->enum_depth && e->depth == e->enum_depth &&
		(str_eq(prev, S("{")) || str_eq(prev, S(","))))
		return true;
	if (str_eq(prev, S("using")))
		return tok_in(&e->l, &next, "=");
	if (str_eq(prev, S("namespace")) && tok_is(&e->l, &e->prev2, S("using")))
		return false;
	if (e->prev.kind == TOK_IDENT && str_is_one_of(prev, before_name))
		return tok_in(&e->l, &next, "{:,>=;") || str_eq(prev, S("namespace"));
	if (untranslated_declaration_before(e))
		return tok_in(&e->l, &next, "(;=,)[{:");
	if (str_eq(prev, S("}"))) /* typedef struct { ... } name; */
		return tok_in(&e->l, &next, ";,=[");
	bool star = str_eq(prev, S("*"));
	if (star && tok_is(&e->l, &e->prev2, S("("))) /* T (*name)(...) */
		return tok_in(&e->l, &next, ")");
	bool list = tok_is(&e->l, star ? &e->prev2 : &e->prev, S(",")); /* T a, *name; */
	if (list && !e->spent)
		return tok_in(&e->l, &next, ";=,[");
	bool pointer = str_eq(prev, S("*")) || str_eq(prev, S("&")) || str_eq(prev, S(">"));
	return pointer && e->prev2.kind == TOK_IDENT &&
	       tok_in(&e->l, &next, e->spent ? ";=,)[" : "(;=,)[");
}

void untranslated_track(struct engine *e, const struct tok *t)
{
	struct str s = tok_text(&e->l, t);
	if (t->kind == TOK_PUNCT && strchr(";{}:", s.p[0]) && s.n == 1)
		e->spent = false;
	else if (t->kind == TOK_IDENT)
		e->spent = e->spent || str_is_one_of(s, no_declaration);
	else if (t->kind == TOK_PUNCT)
		e->spent = e->spent || !strchr("*&<>,~[]:", s.p[0]);
}

bool untranslated_declaration_before(const struct engine *e)
{
	return e->prev.kind == TOK_IDENT &&
	       !str_is_one_of(tok_text(&e->l, &e->prev), names_before_use);
}

static bool declares(struct engine *e, const struct tok *t)
{
	struct str name = tok_text(&e->l, t);
	bool attribute = str_starts(name, S("__")) && str_ends(name, S("__"));
	if (attribute || !declaring(e))
		return false;
	map_put(&e->declared, name, e);
	return true;
}

void untranslated_name(struct engine *e, const struct tok *t, const struct hipify_rule *r)
{
	struct str name = tok_text(&e->l, t), hip = r ? names_text(r->hip) : S("");
	if (declares(e, t))
		return;
	if (r && !hip.n && !str_starts(names_text(r->source), S("hipify-perl")))
		hip = names_text(r->source);
	struct tok next = engine_peek(e);
	if (!r && tok_is(&e->l, &next, S("##")))
		return; /* untranslated_paste() reports it */
	/* Common names such as umin count as CUDA's only where they are called or qualified; CUtensorMap
	 * and CUDA_VERSION always do. */
	bool used = tok_is(&e->l, &next, S("(")) || tok_is(&e->l, &next, S("::")) ||
		    tok_is(&e->l, &e->prev, S("namespace"));
	bool common = r && names_is(r, "unsupported") && !names_look_like_cuda(name) &&
		      name.p[0] != '_' && !str_starts(name, S("CU"));
	if (!used && common)
		return;
	engine_untranslated(e, t, name, hip);
	/* A member of some object or class, or a common name, may not be CUDA's. */
	bool member = tok_is(&e->l, &e->prev, S(".")) || tok_is(&e->l, &e->prev, S("->")) ||
		      (tok_is(&e->l, &e->prev, S("::")) && e->prev2.kind == TOK_IDENT) ||
		      (tok_is(&e->l, &e->prev, S(">")) && tok_is(&e->l, &e->prev2, S("-")));
	if (member || common)
		e->ret->untranslated.v[e->ret->untranslated.n - 1].certain = false;
}

bool untranslated_cublas_v1(struct engine *e, const struct tok *t, struct str name)
{
	static const char *const both[] = {"cublasSet", "cublasCreate", "cublasDestroy"};
	struct lex ahead = e->l;
	struct tok next = engine_peek(e), first = {0};
	bool call = tok_is(&e->l, &next, S("(")), macro = str_eq(e->l.directive, S("define"));
	bool v1 = (e->cublas_v1 || (e->context && e->context->cublas_v1)) && !e->cublas_v2;
	/* BLAS' own letters for what the second interface has an enum for */
	bool letter = call && lex_try(&ahead, &first) && lex_try(&ahead, &first) &&
		      first.kind == TOK_CHAR;
	bool blas = str_starts(name, S("cublas")) && name.n > 8 && memchr("ISDCZ", name.p[6], 5) &&
		    name.p[7] >= 'a' && name.p[7] <= 'z' && !str_ends(name, S("_v2")) &&
		    ((letter && !e->cublas_v2) || (v1 && (call || macro)));
	for (size_t i = 0; blas && i < sizeof(both) / sizeof(*both); i++)
		blas = !str_starts(name, str_from(both[i]));
	if (blas)
		engine_untranslated(e, t, name, names_text(names_find(S("@cublas"))->source));
	e->keeps_v1 |= blas;
	return blas;
}

void untranslated_ocp(struct engine *e, const struct tok *t)
{
	struct tok next = engine_peek(e);
	bool cast = tok_is(&e->l, &e->prev2, S("static_cast")) && tok_is(&e->l, &next, S(">"));
	bool made = e->device_depth && (cast || tok_is(&e->l, &next, S("(")));
	if (!e->device_head && !e->device_depth)
		return;
	engine_untranslated(e, t, tok_text(&e->l, t), names_text(names_find(S("@ocp"))->source));
	e->ret->untranslated.v[e->ret->untranslated.n - 1].certain &= made;
}

void untranslated_launch(struct engine *e, const struct tok *t)
{
	char c = e->l.s.p[t->from];
	if (e->l.directive.n)
		return;
	if (c == '{' && e->device_head && !e->device_depth) {
		e->device_depth = e->depth + 1;
		e->device_only = !e->host_head;
	}
	if (c == '{' || c == ';')
		e->device_head = e->host_head = false;
	if (c == '}' && e->depth == e->device_depth)
		e->device_depth = 0;
	if (c == '<' && e->device_depth && e->device_only && tok_is(&e->l, &e->prev, S("<")) &&
		tok_is(&e->l, &e->prev2, S("<")))
		engine_untranslated(
			e, &e->prev2, S("<<<"), names_text(names_find(S("@launch"))->source));
}

void untranslated_condition(struct engine *e, struct str directive)
{
	/* Conditions that hold in some pass of every HIP build. */
	static const char *const set[] = {"__cplusplus", "__CUDACC__", "__NVCC__", "__HIPCC__",
		"__CUDA_ARCH__", "defined(__CUDACC__)", "defined(__NVCC__)", "defined(__cplusplus)",
		"defined(__CUDA_ARCH__)", "1", NULL};
	bool opens = str_starts(directive, S("if")) && !e->doubt;
	bool around_header = !e->outer_prev.to && e->l.depth == 1;
	bool certain = str_eq(directive, S("ifndef"))
			       ? around_header
			       : opens && str_is_one_of(str_trim(lex_rest_of_line(&e->l)), set);
	if (opens && !certain)
		e->doubt = e->l.depth;
	else if (str_starts(directive, S("el")) && !e->doubt)
		e->doubt = e->l.depth;
	else if (str_eq(directive, S("endif")) && e->doubt > e->l.depth)
		e->doubt = 0;
}

void untranslated_libcuxx(struct engine *e, const struct tok *t)
{
	struct tok next = engine_peek(e);
	if (tok_is(&e->l, &e->prev, S("namespace")) && declares(e, t))
		return;
	if (!tok_is(&e->l, &next, S("::")) || tok_is(&e->l, &e->prev, S("::")))
		return;
	struct lex ahead = e->l;
	struct tok part = {0};
	if (!lex_try(&ahead, &part) || !lex_try(&ahead, &part))
		return;
	struct str name = str_fmt(e->a, "cuda::%.*s", STR(tok_text(&e->l, &part)));
	if (str_eq(name, S("cuda::std")) && lex_try(&ahead, &part) && lex_try(&ahead, &part) &&
		names_find(str_fmt(e->a, "cuda::std::%.*s", STR(tok_text(&e->l, &part)))))
		return;
	const struct hipify_rule *r = names_find(name);
	if (r) {
		engine_needs(e, r);
		return;
	}
	engine_untranslated(e, t, name, names_text(names_find(S("@cuda::"))->source));
}

void untranslated_raw_string(struct engine *e, const struct tok *t)
{
	MAP(seen, e->a);
	struct tok at = *t;
	for (size_t i = t->from; i < t->to;) {
		if (!ascii_word(e->l.s.p[i])) {
			at.line += e->l.s.p[i++] == '\n';
			continue;
		}
		at.from = i;
		while (i < t->to && ascii_word(e->l.s.p[i]))
			i++;
		at.to = i;
		struct str word = tok_text(&e->l, &at);
		const struct hipify_rule *r = names_find(word);
		bool known = r && !names_is(r, "header") && names_look_like_cuda(word);
		if (known && map_put(&seen, word, e))
			engine_untranslated(
				e, &at, word, names_text(names_find(S("@raw"))->source));
	}
}

/* PTX is recognised by mnemonics with dots (mov.u32, ld.global), which x86 and amdgcn do not have. ARM has some
 * (vadd.f32 q0, fmla v0.4s), but its registers have other names. */
bool untranslated_is_arm(struct str text)
{
	static const char *const registers[] = {".4s", ".2s", ".8b", ".16b", ".8h", ".4h", ".s[",
		".d[", " q0", " q1", "%q", "%P", "%w[", "%w0", "%x[", "%x0", NULL};
	return str_contains_one_of(text, registers);
}

void untranslated_asm_string(struct engine *e, const struct tok *t)
{
	struct str s = tok_text(&e->l, t);
	if (untranslated_is_arm(s))
		return;
	for (size_t i = 1; i + 1 < s.n; i++) {
		bool letters = s.p[i - 1] >= '0' && s.p[i - 1] <= 'z' && s.p[i + 1] >= 'a' &&
			       s.p[i + 1] <= 'z';
		if (s.p[i] != '.' || !letters)
			continue;
		engine_untranslated_ptx(e, t, S("asm"), names_text(names_find(S("@asm"))->source));
		e->in_asm = false;
		return;
	}
}

/* Beginnings of names that macros complete with ##. */
static const char *const stems[] = {"cuda", "cublas", "cublasLt", "cufft", "curand", "cusparse",
	"cusolver", "cusolverDn", "cu", "nvrtc", "CU_", "CUDA_", "CUBLAS_", "CUFFT_", "CURAND_",
	"CUSPARSE_", "CUSOLVER_", NULL};

void untranslated_paste(struct engine *e)
{
	struct str prev = tok_text(&e->l, &e->prev);
	if (!str_eq(e->l.directive, S("define")))
		return;
	if (e->prev.kind == TOK_IDENT && !names_find(prev) &&
		(str_is_one_of(prev, stems) || names_look_like_cuda(prev)))
		engine_untranslated(e, &e->prev, str_fmt(e->a, "%.*s##", STR(prev)),
			names_text(names_find(S("@paste"))->source));
}

struct str hipify_lacks(struct arena *a, const struct untranslated *u)
{
	struct str why = u->suggestion;
	bool name = str_chr(why, ' ') == why.n; /* one word is a similar name */
	if (u->unsure)
		return str_fmt(
			a, "'%.*s' looks like a name of CUDA, but no table has it", STR(u->name));
	return str_fmt(a, "'%.*s' has no counterpart in HIP%s%.*s", STR(u->name),
		!why.n ? ""
		: name ? "; near it: "
		       : ": ",
		STR(why));
}

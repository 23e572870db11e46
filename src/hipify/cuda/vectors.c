/* Operators that a project defines for CUDA's vector types. CUDA has none, but HIP has, beside which "float2
 * operator*(float2, float2)" is ambiguous. The project's need not mean the same (many multiply complex numbers), so they stay: clang
 * prefers a candidate with the attribute enable_if to an equally good one without, and the attribute changes no line.
 */
#include "hipify/cuda/engine.h"
#include "hipify/hipify_int.h"

/* Is this one of CUDA's vector types, or the text's own name for it? */
static bool is_vector(const struct engine *e, struct str word)
{
	static const char *const elements[] = {"char", "uchar", "short", "ushort", "int", "uint",
		"long", "ulong", "longlong", "ulonglong", "float", "double", NULL};
	static const char *const complex[] = {"cuComplex", "cuFloatComplex", "cuDoubleComplex",
		"cufftComplex", "cufftDoubleComplex", NULL};
	char last = word.n ? word.p[word.n - 1] : '\0';
	return (last >= '1' && last <= '4' &&
		       str_is_one_of(str_sub(word, 0, word.n - 1), elements)) ||
	       str_is_one_of(word, complex) || map_has(&e->vectors, word);
}

/* Reads the parameters behind the opening bracket: is one of them a vector? */
static bool takes_vector(const struct engine *e, struct lex *at, unsigned *ret_n)
{
	struct tok t;
	bool found = false;
	unsigned depth = 1;
	*ret_n = 1;
	while (depth && lex_try(at, &t) && t.kind != TOK_END && t.kind != TOK_LINE_END) {
		depth += tok_in(at, &t, "([{");
		depth -= tok_in(at, &t, ")]}");
		*ret_n += depth == 1 && tok_in(at, &t, ",");
		found = found || (t.kind == TOK_IDENT && is_vector(e, tok_text(at, &t)));
	}
	return found && !depth;
}

void vectors_operator(struct engine *e, const struct tok *t)
{
	struct lex at = e->l;
	struct tok op = {0};
	unsigned signs = 0, parameters;
	if (!untranslated_declaration_before(e) && !tok_in(&e->l, &e->prev, "*&>"))
		return; /* no type is in front of it */
	struct tok first = engine_peek(e);
	while (lex_try(&at, &op) && tok_in(&at, &op, "+-*/%^&|~!<>=") && signs < 3)
		signs++;
	if (op.kind == TOK_IDENT && !signs && str_eq(e->l.directive, S("define"))) {
		/* a macro's parameter stands for the operator */
		signs = 1;
		if (!lex_try(&at, &op))
			return;
	}
	bool assigns = signs == 1 && str_eq(tok_text(&at, &first), S("="));
	if (!signs || assigns || !tok_is(&at, &op, S("(")) || !takes_vector(e, &at, &parameters))
		return;
	if (e->depth < 64 && e->classes >> e->depth & 1 && parameters == 1)
		return; /* a member */
	const struct hipify_rule *r = names_find(S("@vector"));
	engine_replace(e, t->from, t->from, names_text(r->hip), r);
	e->ret->operators++;
}

void vectors_atomic(struct engine *e, const struct tok *t)
{
	struct lex at = e->l;
	struct tok next;
	unsigned parameters;
	if (e->l.directive.n || !untranslated_declaration_before(e) || !lex_try(&at, &next) ||
		!tok_is(&at, &next, S("(")))
		return;
	(void)takes_vector(e, &at, &parameters);
	if (lex_try(&at, &next) && tok_is(&at, &next, S("{"))) { /* its definition */
		const struct hipify_rule *r = names_find(S("@vector"));
		engine_replace(e, t->from, t->from, names_text(r->hip), r);
	}
}

void vectors_track(struct engine *e, const struct tok *t)
{
	struct str s = tok_text(&e->l, t), prev = tok_text(&e->l, &e->prev);
	char c = t->kind == TOK_PUNCT ? s.p[0] : '\0';
	if (str_eq(s, S("class")) || str_eq(s, S("struct")) || str_eq(s, S("union")))
		e->class_head = true;
	if (c == '{' && e->depth < 63) {
		uint64_t bit = (uint64_t)2 << e->depth;
		e->classes = e->class_head ? e->classes | bit : e->classes & ~bit;
	}
	if (c && strchr("{;)", c))
		e->class_head = false;
	/* using V = float3; typedef float3 V; namespace V = cub; */
	if (c == '=' &&
		(tok_is(&e->l, &e->prev2, S("using")) || tok_is(&e->l, &e->prev2, S("namespace"))))
		e->alias = prev;
	if (str_eq(s, S("typedef")))
		e->alias = s;
	if (c != ';')
		return;
	bool typedefs = str_eq(e->alias, S("typedef"));
	if (e->alias.n && is_vector(e, typedefs ? tok_text(&e->l, &e->prev2) : prev))
		map_put(&e->vectors, typedefs ? prev : e->alias, e);
	e->alias = S("");
}

void hipify_say_operators(
	struct arena *a, struct findings *list, struct str path, const struct hipify_text *t)
{
	finding_note(a, list, "hipify-vector-operators", path,
		"defines %.*s for CUDA's vector types, of which HIP has its own: a build prefers "
		"the project's",
		STR(human_count(a, t->operators, "operator")));
}

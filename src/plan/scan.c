/* Scans a source token by token; see plan_int.h. */
#include "plan/plan_int.h"

#include "lang/cxx/lexer.h"

struct scanner {
	struct arena *a;
	struct lex l;
	struct tok t; /* the current token: outside of preprocessor lines and of "#if 0" */
	struct cxx_scan *out;
};

/* Makes the next token the current one, whatever it is. */
static struct str take_token(struct scanner *s)
{
	(void)lex_try(&s->l, &s->t);
	return tok_text(&s->l, &s->t);
}

/* Moves to the next token of the code, handling preprocessor lines on the way; false at the end of the text. */
static bool advance(struct scanner *s)
{
	do {
		struct str text = take_token(s);
		if (s->l.dead)
			continue;
		s->out->kernels |= s->t.kind == TOK_IDENT && str_eq(text, S("__global__"));
		if (s->t.kind == TOK_PATH)
			*VEC_PUSH(s->a, &s->out->includes) = (struct scan_include){
				.name = str_sub(text, 1, text.n - 1), .quoted = text.p[0] == '"'};
		else if (s->t.kind == TOK_IDENT && s->l.directive.p == text.p &&
			 str_eq(text, S("define")) && str_eq(take_token(s), S("Py_LIMITED_API"))) {
			struct str value = take_token(s);
			bool word = s->t.kind == TOK_NUMBER || s->t.kind == TOK_IDENT;
			s->out->limited_api = word ? scan_api_level(value) : 0x03020000;
		}
	} while (s->t.kind != TOK_END &&
		 (s->t.kind == TOK_LINE_END || s->l.dead || s->l.directive.n));
	return s->t.kind != TOK_END;
}

static bool at(const struct scanner *s, struct str text)
{
	return tok_is(&s->l, &s->t, text);
}

/* Is the name before this token that of a function with a body? Advances past its parameters. */
static bool is_definition(struct scanner *s)
{
	size_t depth = 0;
	if (!at(s, S("(")))
		return false;
	do {
		depth += at(s, S("("));
		depth -= at(s, S(")"));
	} while (advance(s) && depth);
	if (at(s, S("noexcept")))
		advance(s);
	return at(s, S("{"));
}

void scan_text(struct arena *a, struct str text, struct cxx_scan *ret)
{
	const struct source_words *of = source_words_table();
	struct scanner s = {.a = a, .l = lex_new(text, S("")), .out = ret};
	unsigned depth = 0; /* brace depth: main() counts only at depth 0 */
	*ret = (struct cxx_scan){0};
	s.l.lenient = true;
	for (bool more = advance(&s); more; more = s.t.kind != TOK_END) {
		struct str word = tok_text(&s.l, &s.t), module = {0};
		depth += at(&s, S("{"));
		depth -= at(&s, S("}")) && depth;
		bool name = s.t.kind == TOK_IDENT;
		advance(&s);
		if (name && str_starts(word, S("PyInit_")) && is_definition(&s))
			module = str_sub(word, sizeof("PyInit_") - 1, word.n);
		else if (name && str_is_one_of(word, of->modules) && at(&s, S("(")) &&
			 advance(&s) && (s.t.kind == TOK_IDENT || s.t.kind == TOK_NUMBER))
			module = tok_text(&s.l, &s.t);
		else if (name && !depth && str_eq(word, S("main")) && is_definition(&s))
			ret->has_main = true;
		if (module.n)
			strs_put(a, &ret->modules, module);
	}
	VEC_EACH (const struct scan_include, i, &ret->includes) {
		ret->kernels |= str_starts_one_of(i->name, of->kernels);
		ret->gpu |= str_starts_one_of(i->name, of->gpu);
	}
}

uint32_t scan_api_level(struct str text)
{
	uint64_t v = 0;
	bool hex = str_starts(text, S("0x")) || str_starts(text, S("0X"));
	if (!str_u64(hex ? str_sub(text, 2, text.n) : text, hex ? 16 : 10, &v) || v > UINT32_MAX)
		return 0;
	/* CPython treats any value below 3.2 as the first stable ABI */
	return v < 0x03020000 && v ? 0x03020000 : (uint32_t)v;
}

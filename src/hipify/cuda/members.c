/* Functions that are __host__ __device__ only where they are defined, and not where they are declared, in a class or
 * above. nvcc gives the attributes to the declaration, but for clang these are two functions. So the declaration gets
 * them, by the name that the definition has for them: a macro is empty for other compilers.
 */
#include "formats/bytes.h"
#include "hipify/cuda/engine.h"

enum { MOST_TOKENS = 1000, DEEPEST = 64 };

/* A pass over the text, statement by statement: each ends with ';', or with a bracket. */
struct members {
	struct engine *e;
	struct lex l;
	struct map macros;          /* names that stand for __host__ __device__ */
	struct map declared;        /* struct member_place * by signature */
	VEC(struct tok) v;          /* the statement */
	struct str scopes[DEEPEST]; /* the class of each open bracket, or NAMESPACE, or "" */
	unsigned depth;
};

#define NAMESPACE S("::")

static bool is_at(const struct members *m, size_t i, const char *text)
{
	return i < m->v.n && tok_is(&m->l, &m->v.v[i], str_from(text));
}

static struct str join(const struct members *m, size_t from, size_t to)
{
	BUF(b, m->e->a);
	for (; from < to && from < m->v.n; from++)
		buf_fmt(&b, "%.*s ", STR(tok_text(&m->l, &m->v.v[from])));
	return str_dup(m->e->a, buf_str(&b));
}

/* The token behind the one that closes the bracket at i, in either direction. */
static size_t skip(
	const struct members *m, size_t i, const char *open, const char *close, bool back)
{
	unsigned depth = 0;
	for (; i < m->v.n; i += back ? (size_t)-1 : 1) {
		depth += is_at(m, i, open);
		depth -= is_at(m, i, close);
		if (!depth)
			return back ? i - 1 : i + 1;
	}
	return m->v.n;
}

/* The first token behind template<...>. */
static size_t head_of(const struct members *m)
{
	size_t i = 0;
	while (is_at(m, i, "template"))
		i = skip(m, i + 1, "<", ">", false);
	return i;
}

/* The types of the parameters behind the bracket at i, without names and defaults. */
static struct str parameters(const struct members *m, size_t i)
{
	static const char *const halves[] = {"const", "volatile", "unsigned", "signed", "long",
		"short", "struct", "class", "typename", NULL};
	size_t end = skip(m, i, "(", ")", false);
	BUF(b, m->e->a);
	for (bool value = false; ++i + 1 < end;) {
		const struct tok *t = &m->v.v[i], *last = t - 1;
		bool named = t->kind == TOK_IDENT && tok_in(&m->l, t + 1, ",)=[") &&
			     (tok_in(&m->l, last, "*&>") ||
				     (last->kind == TOK_IDENT &&
					     !str_is_one_of(tok_text(&m->l, last), halves)));
		value = !tok_in(&m->l, t, ",") && (value || tok_in(&m->l, t, "="));
		if (!value && !named)
			buf_fmt(&b, "%.*s ", STR(tok_text(&m->l, t)));
	}
	return str_fmt(
		m->e->a, "(%.*s)%s", STR(buf_str(&b)), is_at(m, end, "const") ? "const" : "");
}

/* Reads the head of a function in a class or namespace: remembers a declaration without the attributes, or gives it those
 * of its definition. */
static void read_function(struct members *m, struct str scope, bool declares)
{
	struct arena *a = m->e->a;
	struct str with = {0}, owner = scope;
	bool host = false, device = false;
	size_t start = head_of(m), i = start, name;
	for (; i < m->v.n && !is_at(m, i, "(") && !is_at(m, i, "operator"); i++) {
		struct str word = tok_text(&m->l, &m->v.v[i]);
		host |= str_eq(word, S("__host__"));
		device |= str_eq(word, S("__device__")) || str_eq(word, S("__global__"));
		with = map_has(&m->macros, word) ? word : with;
	}
	name = is_at(m, i, "operator") ? i : i - 1;
	for (i = name + 2 * is_at(m, name, "operator"); i < m->v.n && !is_at(m, i, "(");)
		i++;
	if (i >= m->v.n || name >= i || is_at(m, name - 1, "~"))
		return;
	if (!declares &&
		is_at(m, name - 1, "::")) { /* a template's class is named by its parameters, too */
		size_t from =
			is_at(m, name - 2, ">") ? skip(m, name - 2, ">", "<", true) : name - 2;
		owner = join(m, from, start ? from + 1 : name - 1);
	}
	struct str key = str_fmt(
		a, "%.*s::%.*s%.*s", STR(owner), STR(join(m, name, i)), STR(parameters(m, i)));
	struct member_place *place = map_get(&m->declared, key);
	if (declares && !host && !device && !with.n) {
		place = NEW(a, struct member_place);
		*place = (struct member_place){.at = m->v.v[start].from};
		map_put(&m->declared, key, place);
	} else if (!declares && place && ((host && device) || with.n)) {
		place->with = with.n ? with : S("__host__ __device__");
	}
}

/* Ends the statement, by ';' or a bracket. */
static void end_statement(struct members *m, char c)
{
	struct str head = S(""), scope = NAMESPACE;
	size_t i = head_of(m);
	if (m->depth)
		scope = m->depth <= DEEPEST ? m->scopes[m->depth - 1] : S("");
	bool inside = !str_eq(scope, NAMESPACE);
	if (c == '{' && (is_at(m, i, "class") || is_at(m, i, "struct"))) {
		size_t to = ++i;
		while (to < m->v.n && !is_at(m, to, ":") && !is_at(m, to, "final"))
			to++;
		head = join(m, i, to);
	} else if (c == '{' && !inside &&
		   (is_at(m, 0, "namespace") || is_at(m, 1, "namespace") ||
			   (is_at(m, 0, "extern") && m->v.n == 2))) {
		head = NAMESPACE;
	} else if (scope.n && m->v.n < MOST_TOKENS && c != '}' && !(inside && c == '{')) {
		read_function(m, scope, c == ';');
	}
	if (c == '{' && m->depth++ < DEEPEST)
		m->scopes[m->depth - 1] = head;
	if (c == '}' && m->depth)
		m->depth--;
	m->v.n = 0;
}

void members_find(struct engine *e)
{
	struct members m = {.e = e, .macros = {.a = e->a}, .declared = {.a = e->a}};
	struct str macro = S("");
	bool host = false, device = false;
	struct tok t, last = {0};
	if (!str_contains(e->l.s, S("__host__")) || !str_contains(e->l.s, S("__device__")))
		return;
	m.l = e->l;
	for (; lex_try(&m.l, &t) && t.kind != TOK_END; last = t) {
		if (m.l.directive.n && tok_is(&m.l, &last, S("define"))) {
			macro = tok_text(&m.l, &t);
			host = device = false;
		} else if (m.l.directive.n || t.kind == TOK_LINE_END) {
			host |= tok_is(&m.l, &t, S("__host__"));
			device |= tok_is(&m.l, &t, S("__device__"));
			if (host && device && macro.n)
				map_put(&m.macros, macro, e);
			macro = t.kind == TOK_LINE_END ? S("") : macro;
		} else if (tok_in(&m.l, &t, ";{}")) {
			end_statement(&m, m.l.s.p[t.from]);
		} else if (m.v.n == 1 && tok_in(&m.l, &t, ":")) {
			m.v.n = 0; /* public: */
		} else if (m.v.n < MOST_TOKENS && !tok_in(&m.l, &t, "#")) {
			*VEC_PUSH(e->a, &m.v) = t;
		}
	}
	for (size_t i = 0; i < m.declared.n; i++) {
		const struct member_place *place = m.declared.v[i].value;
		if (place->with.n)
			*VEC_PUSH(e->a, &e->members) = *place;
	}
	VEC_SORT(&e->members, offset_order);
}

void members_before(struct engine *e, const struct tok *t)
{
	if (e->member == e->members.n || e->members.v[e->member].at != t->from)
		return;
	engine_replace(e, t->from, t->from,
		str_fmt(e->a, "%.*s ", STR(e->members.v[e->member].with)),
		names_find(S("@member")));
	e->member++;
}

/* Has a word of the text from..to this attribute, by its own name or by a macro's? */
static bool has_attribute(
	const struct engine *e, size_t from, size_t to, struct str name, const struct map *macros)
{
	struct str rest = str_sub(e->l.s, from, to);
	while (rest.n) {
		size_t n = 0;
		while (n < rest.n && ascii_word(rest.p[n]))
			n++;
		struct str word = str_sub(rest, 0, n);
		bool plain = str_eq(word, str_sub(name, 2, name.n - 2)); /* __attribute__((host)) */
		if (n && (plain || str_eq(word, name) || map_has(macros, word)))
			return true;
		rest = str_sub(rest, n ? n : 1, rest.n);
	}
	return false;
}

void members_constexpr(struct engine *e, const struct tok *t)
{
	enum { FAR = 300, MOST_WORDS = 30 };
	struct str s = tok_text(&e->l, t), device = S("__device__"), host = S("__host__");
	if (str_eq(e->l.directive, S("define")) && e->macro.n &&
		(str_eq(s, device) || str_eq(s, host)))
		map_put(str_eq(s, device) ? &e->device : &e->host, e->macro, e);
	if (!str_eq(s, S("constexpr")) || e->l.directive.n)
		return;
	size_t from = t->from, words = 0;
	while (from && t->from - from < FAR && !strchr("{};>#", e->l.s.p[from - 1]))
		from--;
	struct lex at = e->l;
	struct tok next = {0}, name = {0};
	while (lex_try(&at, &next) && next.kind != TOK_END && words++ < MOST_WORDS &&
		!tok_in(&at, &next, "(={};["))
		name = next;
	/* a variable ends otherwise, and a word of the compiler has brackets of its own */
	if (!tok_is(&at, &next, S("(")) || name.kind != TOK_IDENT ||
		str_starts(tok_text(&at, &name), S("__")))
		return;
	if (!has_attribute(e, from, name.from, device, &e->device) ||
		has_attribute(e, from, name.from, host, &e->host))
		return;
	const struct hipify_rule *r = names_find(S("@constexpr"));
	engine_replace(e, t->from, t->from, names_text(r->hip), r);
}

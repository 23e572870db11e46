/* Values of Python literals; see literal.h.
 *
 * One pass of recursive descent evaluates while it reads. A name yields the value that an earlier statement bound to
 * it, computed once and shared, so nothing is built twice, however names refer to each other. */
#include "lang/python/literal.h"

#include "base/buf.h"

enum { MAX_DEPTH = 256 }; /* nesting of brackets, "else" branches, and names that refer to names */

struct reader {
	struct arena *a;
	struct py_module *m;
	size_t i, to;               /* next token, end of the statement */
	size_t before;              /* names bound by statements before this one are known */
	VEC(struct py_value) items; /* items of the open brackets */
	unsigned depth;
};

const char *py_kind_name(enum py_kind k)
{
	static const char *const names[] = {
		[PY_NONE] = "None",
		[PY_BOOL] = "a boolean",
		[PY_NUMBER] = "a number",
		[PY_STRING] = "a string",
		[PY_NAME] = "a name",
		[PY_TUPLE] = "a tuple",
		[PY_LIST] = "a list",
		[PY_DICT] = "a dict",
	};
	return names[k];
}

static struct err *read_value(struct reader *r, struct py_value *ret);

static const struct py_token *here(const struct reader *r)
{
	return r->i < r->to ? &r->m->tokens.v[r->i] : NULL;
}

static bool at(const struct reader *r, struct str op)
{
	return r->i < r->to && py_is(r->m, r->i, op);
}

static bool take(struct reader *r, struct str op)
{
	if (!at(r, op))
		return false;
	r->i++;
	return true;
}

/* An error that points at the next token. */
static struct err *unexpected(const struct reader *r, const char *what)
{
	const struct py_token *t = here(r);
	if (!t) {
		bool some = r->to && r->to <= r->m->tokens.n;
		const struct py_token *last = some ? &r->m->tokens.v[r->to - 1] : NULL;
		return py_error(r->m, last ? last->line : 1, last ? last->col : 1,
			"%s expected behind this", what);
	}
	struct str shown = str_sub(t->text, 0, 40);
	return py_error(r->m, t->line, t->col, "%s expected, not '%.*s'", what, STR(shown));
}

static struct py_value fresh(const struct py_token *t, enum py_kind kind)
{
	return (struct py_value){.kind = kind, .line = t->line, .col = t->col};
}

/* ---- strings ---- */

/* Decodes one escape, such as \n, \x41, \u0041, \U00000041 or \101; s starts behind the backslash. Returns the number of
 * bytes used; 0 = malformed or not supported. */
static size_t escape(struct str s, struct buf *out)
{
	static const char from[] = "\\'\"abfnrtv", to[] = "\\'\"\a\b\f\n\r\t\v";
	char c = s.n ? s.p[0] : 'N';
	size_t n = c == 'x' ? 3 : c == 'u' ? 5 : c == 'U' ? 9 : 0;
	const char *plain = c ? strchr(from, c) : NULL;
	uint64_t code = 0;
	if (c == '\n' || c == '\r')
		return str_starts(s, S("\r\n")) ? 2 : 1;
	if (plain) {
		buf_char(out, to[plain - from]);
		return 1;
	}
	if (!n && c != 'N' && (c < '0' || c > '7')) { /* Python keeps unknown escapes */
		buf_char(out, '\\');
		buf_char(out, c);
		return 1;
	}
	if (c == 'N' || (n && (s.n < n || !str_u64(str_sub(s, 1, n), 16, &code))))
		return 0;
	if (!n) /* one to three octal digits */
		for (; n < 3 && n < s.n && s.p[n] >= '0' && s.p[n] <= '7'; n++)
			code = code * 8 + (uint64_t)(s.p[n] - '0');
	if (code > 0x10FFFF || (code >= 0xD800 && code < 0xE000))
		return 0;
	buf_utf8(out, (uint32_t)code);
	return n;
}

/* Adds the text of one string token. */
static struct err *decode(const struct reader *r, const struct py_token *t, struct buf *out)
{
	struct str s = t->text;
	bool raw = false;
	for (; s.p[0] != '"' && s.p[0] != '\''; s = str_sub(s, 1, s.n)) {
		char c = (char)(s.p[0] | 0x20);
		if (c != 'r' && c != 'u')
			return py_error(r->m, t->line, t->col, "a string with the prefix '%c'", c);
		raw |= c == 'r';
	}
	size_t quotes = s.n >= 6 && s.p[1] == s.p[0] && s.p[2] == s.p[0] ? 3 : 1;
	struct str body = str_sub(s, quotes, s.n - quotes);
	for (size_t i = 0; i < body.n;) {
		char c = body.p[i++];
		if (c == '\\' && !raw) {
			size_t used = escape(str_sub(body, i, body.n), out);
			if (!used)
				return py_error(r->m, t->line, t->col,
					"the string has an escape that cannot be read");
			i += used;
		} else if (c == '\r') {
			i += i < body.n && body.p[i] == '\n';
			buf_char(out, '\n');
		} else {
			buf_char(out, c);
		}
	}
	return NULL;
}

/* ---- names and calls ---- */

static struct err *evaluate(struct reader *r, struct py_statement *s);

/* Moves the items that were pushed since `base` into the list. */
static void close_items(struct reader *r, size_t base, struct py_value *list)
{
	list->n = r->items.n - base;
	list->v = arena_array(r->a, list->n, sizeof(*list->v));
	for (size_t i = 0; i < list->n; i++)
		list->v[i] = r->items.v[base + i];
	r->items.n = base;
}

static struct err *read_items(
	struct reader *r, struct str close, struct py_value *ret, bool *ret_comma)
{
	size_t base = r->items.n;
	*ret_comma = false;
	while (!take(r, close)) {
		struct py_value item = {0};
		TRY(read_value(r, &item));
		*VEC_PUSH(r->a, &r->items) = item;
		if (take(r, close))
			break;
		if (!take(r, S(",")))
			return unexpected(r, "',' or the end of the brackets");
		*ret_comma = true;
	}
	close_items(r, base, ret);
	return NULL;
}

/* Turns [(k, v), ...] into the dict that OrderedDict() or dict() would return. */
static struct err *make_dict(struct reader *r, struct py_value *args, struct py_value *ret)
{
	ret->kind = PY_DICT;
	if (!args->n)
		return NULL;
	const struct py_value *list = &args->v[0];
	bool fits = list->kind == PY_LIST || list->kind == PY_TUPLE || list->kind == PY_DICT;
	if (!fits || args->n > 1)
		return py_error(r->m, list->line, list->col, "one list of pairs expected, not %s",
			py_kind_name(list->kind));
	r->m->checked += list->n;
	if (r->m->checked > 2 * r->m->tokens.n)
		return py_error(r->m, ret->line, ret->col, "the same pairs again and again");
	for (size_t i = 0; i < list->n; i++) {
		const struct py_value *pair = &list->v[i];
		bool two = pair->kind == PY_TUPLE || pair->kind == PY_LIST;
		if (!two || pair->n != 2)
			return py_error(r->m, pair->line, pair->col,
				"a pair of key and value expected, not %s",
				two ? "another number of items" : py_kind_name(pair->kind));
	}
	ret->v = list->v;
	ret->n = list->n;
	return NULL;
}

/* Evaluates os.environ.get("NAME", default) and os.getenv() in our environment, in which the original would run, too. */
static struct err *ask_environment(
	const struct reader *r, struct py_value *args, struct py_value *ret)
{
	if (!args->n || args->n > 2 || args->v[0].kind != PY_STRING)
		return py_error(r->m, ret->line, ret->col,
			"the name of an environment variable and a default expected");
	const char *value = getenv(str_z(r->a, args->v[0].text));
	bool fallback = !value && args->n == 2;
	ret->kind = value ? PY_STRING : fallback ? args->v[1].kind : PY_NONE;
	ret->text = fallback ? args->v[1].text : str_dup(r->a, str_from(value));
	return NULL;
}

/* Reads NAME, a.b.c, or a call of either. A name stands for its value, but keeps its own place. */
static struct err *read_named(struct reader *r, struct py_value *ret)
{
	const struct py_token *t = here(r);
	const struct py_value *known = NULL;
	struct str last = t->text;
	struct py_value args = {0};
	bool comma;
	BUF(dotted, r->a);
	buf_add(&dotted, last);
	for (r->i++; at(r, S(".")) && r->i + 1 < r->to; r->i += 2) {
		last = r->m->tokens.v[r->i + 1].text;
		buf_fmt(&dotted, ".%.*s", STR(last));
	}
	struct str name = buf_str(&dotted);
	*ret = fresh(t, PY_NAME);
	ret->text = name;
	if (take(r, S("("))) {
		ret->kind = PY_NONE;
		ret->text = (struct str){0};
		TRY(read_items(r, S(")"), &args, &comma));
		if (str_eq(last, S("OrderedDict")) || str_eq(name, S("dict")))
			return make_dict(r, &args, ret);
		if (str_ends(name, S("environ.get")) || str_eq(last, S("getenv")))
			return ask_environment(r, &args, ret);
		return py_error(r->m, ret->line, ret->col,
			"the result of '%.*s()' is not known here", STR(name));
	}
	struct py_statement *s =
		last.p == t->text.p ? py_setter(r->m, false, name, r->before) : NULL;
	if (s) {
		TRY(evaluate(r, s));
		known = s->known;
	} else if (r->m->outer && last.p == t->text.p) {
		TRY(py_get(r->a, r->m->outer, name, &known));
	}
	if (known)
		*ret = *known;
	ret->line = t->line;
	ret->col = t->col;
	return NULL;
}

/* ---- brackets ---- */

static struct err *read_brace(struct reader *r, struct py_value *ret)
{
	size_t base = r->items.n;
	*ret = fresh(here(r), PY_DICT);
	r->i++;
	while (!take(r, S("}"))) {
		struct py_value pair = here(r) ? fresh(here(r), PY_TUPLE) : (struct py_value){0};
		pair.n = 2;
		pair.v = arena_array(r->a, 2, sizeof(*pair.v));
		TRY(read_value(r, &pair.v[0]));
		if (!take(r, S(":")))
			return unexpected(r, "the ':' of a dict");
		TRY(read_value(r, &pair.v[1]));
		*VEC_PUSH(r->a, &r->items) = pair;
		if (!at(r, S("}")) && !take(r, S(",")))
			return unexpected(r, "',' or '}'");
	}
	close_items(r, base, ret);
	return NULL;
}

/* ---- expressions ---- */

static struct err *read_atom(struct reader *r, struct py_value *ret)
{
	static const char *const constants[] = {"None", "False", "True", NULL};
	/* keywords that no value starts with */
	static const char *const reserved[] = {"if", "else", "for", "lambda", "not", "await", "and",
		"or", "in", "is", "yield", NULL};
	const struct py_token *t = here(r);
	bool comma = false;
	if (!t || (t->kind == PY_TOKEN_NAME && str_is_one_of(t->text, reserved)))
		return unexpected(r, "a literal");
	if (t->kind == PY_TOKEN_STRING) { /* adjacent strings are one */
		BUF(text, r->a);
		*ret = fresh(t, PY_STRING);
		for (; here(r) && here(r)->kind == PY_TOKEN_STRING; r->i++)
			TRY(decode(r, here(r), &text));
		ret->text = buf_str(&text);
		return NULL;
	}
	if (t->kind == PY_TOKEN_NAME && str_is_one_of(t->text, constants)) {
		*ret = fresh(t, str_eq(t->text, S("None")) ? PY_NONE : PY_BOOL);
		ret->text = str_eq(t->text, S("True")) ? S("1") : S("");
		r->i++;
		return NULL;
	}
	if (t->kind == PY_TOKEN_NAME)
		return read_named(r, ret);
	bool minus = take(r, S("-"));
	if (minus || t->kind == PY_TOKEN_NUMBER) {
		if (!here(r) || here(r)->kind != PY_TOKEN_NUMBER)
			return unexpected(r, "a number");
		*ret = fresh(t, PY_NUMBER);
		ret->text = str_fmt(r->a, "%s%.*s", minus ? "-" : "", STR(here(r)->text));
		r->i++;
		return NULL;
	}
	if (at(r, S("{")))
		return read_brace(r, ret);
	bool paren = take(r, S("("));
	if (!paren && !take(r, S("[")))
		return unexpected(r, "a literal");
	struct py_value list = fresh(t, paren ? PY_TUPLE : PY_LIST);
	TRY(read_items(r, paren ? S(")") : S("]"), &list, &comma));
	*ret = paren && list.n == 1 && !comma ? list.v[0] : list;
	return NULL;
}

/* Reads a value, or A == B or A != B of scalars. */
static struct err *read_comparison(struct reader *r, struct py_value *ret)
{
	TRY(read_atom(r, ret));
	bool equal = take(r, S("=="));
	if (!equal && !take(r, S("!=")))
		return NULL;
	struct py_value left = *ret, right = {0};
	TRY(read_atom(r, &right));
	if (left.kind >= PY_NAME || right.kind >= PY_NAME)
		return py_error(r->m, left.line, left.col, "a comparison that cannot be decided");
	bool same = left.kind == right.kind && str_eq(left.text, right.text);
	ret->kind = PY_BOOL;
	ret->text = same == equal ? S("1") : S("");
	return NULL;
}

static struct err *read_value(struct reader *r, struct py_value *ret)
{
	struct py_value condition = {0}, otherwise = {0};
	if (r->depth == MAX_DEPTH)
		return unexpected(r, "something less deeply nested");
	r->depth++; /* stays so after an error, which ends the reading */
	TRY(read_comparison(r, ret));
	if (take(r, S("if"))) {
		TRY(read_comparison(r, &condition));
		if (!take(r, S("else")))
			return unexpected(r, "'else'");
		TRY(read_value(r, &otherwise));
		if (condition.kind == PY_NAME || condition.kind == PY_NUMBER)
			return py_error(r->m, condition.line, condition.col,
				"a condition that cannot be decided");
		bool scalar = condition.kind <= PY_STRING;
		if (!(scalar ? condition.text.n : condition.n))
			*ret = otherwise;
	}
	r->depth--;
	return NULL;
}

static struct err *evaluate(struct reader *r, struct py_statement *s)
{
	const struct py_token *t = &r->m->tokens.v[s->from];
	if (s->known)
		return NULL;
	if (s->bad)
		return py_error(
			r->m, t->line, t->col, "the value of '%.*s' is not known", STR(s->target));
	s->bad = true; /* reset below if the value is good */
	if (s->place != PY_PLAIN)
		return py_error(r->m, t->line, t->col,
			"the value of '%.*s' is not certain: it is set under a condition",
			STR(s->target));
	if (r->depth == MAX_DEPTH)
		return py_error(r->m, t->line, t->col, "names that lead too far");
	struct reader sub = {
		.a = r->a,
		.m = r->m,
		.i = s->value,
		.to = s->to,
		.before = (size_t)(s - r->m->statements.v),
		.depth = r->depth + 1,
	};
	struct py_value v = {0}, item;
	TRY(read_value(&sub, &v));
	if (at(&sub, S(","))) { /* the tuple `A, B` */
		*VEC_PUSH(r->a, &sub.items) = v;
		while (take(&sub, S(",")) && here(&sub)) {
			TRY(read_value(&sub, &item));
			*VEC_PUSH(r->a, &sub.items) = item;
		}
		v = (struct py_value){.kind = PY_TUPLE, .line = v.line, .col = v.col};
		close_items(&sub, 0, &v);
	}
	if (sub.i < s->to)
		return unexpected(&sub, "the end of the literal");
	s->known = NEW(r->a, struct py_value);
	*s->known = v;
	s->bad = false;
	return NULL;
}

struct err *py_value_at(struct arena *a, struct py_module *m, size_t token, struct py_value *ret)
{
	struct reader r = {.a = a, .m = m, .i = token, .before = py_statement_at(m, token)};
	r.to = r.before < m->statements.n ? m->statements.v[r.before].to : token;
	return read_value(&r, ret);
}

struct err *py_get(
	struct arena *a, struct py_module *m, struct str name, const struct py_value **ret)
{
	struct reader r = {.a = a, .m = m};
	struct py_statement *s = py_setter(m, false, name, SIZE_MAX);
	*ret = NULL;
	if (!s)
		return NULL;
	TRY(evaluate(&r, s));
	*ret = s->known;
	return NULL;
}

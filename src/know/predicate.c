/* Parses and evaluates conditions over facts in one pass; see predicate.h. */
#include "know/predicate.h"

#include <fnmatch.h>

#include "base/glob.h"
#include "know/compat.h"
#include "lang/python/version.h"
#include "machine/parse.h"

enum { NESTING_MAX = 16, BECAUSE_MAX = 4 };

enum token { T_END, T_WORD, T_TEXT, T_LITERAL, T_SIGN };

struct condition {
	struct arena *a;
	struct str text, token;
	size_t at; /* end of the token */
	enum token kind;
	unsigned depth;
	const struct scope *scope;
	struct strs *because; /* or NULL */
	struct err *failed;   /* the first error; the reader is then at the end of the text */
};

/* One side of a comparison. */
struct compared {
	const struct node *fact; /* or NULL */
	struct str text;         /* the value of the fact, or the literal as written */
	bool is_fact, is_number; /* is_number: the literal is a number or a version */
};

/* ---- facts ---- */

struct err *facts_of(struct arena *a, const struct machine *m, const struct node **ret)
{
	return json_parse(a, json_document(a, 0, machine_fields, m), S("facts"), ret);
}

static const struct scope *scope_find(const struct scope *s, struct str first)
{
	while (s && s->name.n && !str_eq(s->name, first))
		s = s->up;
	return s;
}

const struct node *facts_find(const struct scope *s, struct str path)
{
	struct str part, first = str_sub(path, 0, str_chr(path, '.'));
	const struct scope *found = scope_find(s, first);
	const struct node *n = found ? found->value : NULL;
	if (found && found->name.n)
		path = str_sub(path, first.n + 1, path.n);
	while (n && str_next(&path, '.', &part))
		n = node_get(n, part);
	return n;
}

static bool is_known(const struct node *n)
{
	if (!n || n->kind == NODE_NULL)
		return false;
	return n->kind == NODE_LIST || n->text.n;
}

/* ---- words ---- */

static bool is_word(char c)
{
	return ascii_word(c) || c == '.';
}

static void fail(struct condition *r, const char *wanted)
{
	if (!r->failed)
		r->failed = err_new(E_SYNTAX, "condition '%.*s': %s is wanted at '%.*s'",
			STR(r->text), wanted, STR(str_sub(r->text, r->at - r->token.n, r->text.n)));
	r->at = r->text.n;
	r->token = S("");
	r->kind = T_END;
}

static void next(struct condition *r)
{
	r->at += str_span(str_sub(r->text, r->at, r->text.n), " ");
	struct str rest = str_sub(r->text, r->at, r->text.n);
	size_t n = 0;
	r->kind = T_END;
	r->token = S("");
	if (!rest.n)
		return;
	if (is_word(rest.p[0])) {
		r->kind = ascii_digit(rest.p[0]) ? T_LITERAL : T_WORD;
		while (n < rest.n && is_word(rest.p[n]))
			n++;
		r->token = str_sub(rest, 0, n);
	} else if (rest.p[0] == '\'') {
		r->kind = T_TEXT;
		r->token = str_sub(rest, 1, 1 + str_chr(str_sub(rest, 1, rest.n), '\''));
		n = r->token.n + 2;
	} else {
		r->kind = T_SIGN;
		n = rest.n > 1 && rest.p[1] == '=' ? 2 : 1;
		r->token = str_sub(rest, 0, n);
	}
	r->at += n < rest.n ? n : rest.n;
}

static bool take(struct condition *r, const char *token)
{
	bool is = r->kind != T_TEXT && r->token.n && str_eq(r->token, str_from(token));
	if (is)
		next(r);
	return is;
}

static void want(struct condition *r, const char *token)
{
	if (!take(r, token))
		fail(r, token);
}

/* ---- comparing ---- */

static struct compared operand(struct condition *r)
{
	struct compared o = {
		.text = r->token, .is_fact = r->kind == T_WORD, .is_number = r->kind == T_LITERAL};
	if (r->kind == T_END || r->kind == T_SIGN) {
		fail(r, "a fact or a value");
		return o;
	}
	if (o.is_fact) {
		o.fact = facts_find(r->scope, o.text);
		o.text = is_known(o.fact) ? o.fact->text : S("");
	}
	next(r);
	return o;
}

static bool number_of(struct str s, double *ret)
{
	static const struct {
		struct str name;
		double of;
	} units[] = {{S_INIT("KiB"), 1024.0}, {S_INIT("MiB"), 1048576.0},
		{S_INIT("GiB"), 1073741824.0}, {S_INIT(""), 1}};
	char text[40] = "", *end = text;
	for (size_t i = 0; i < s.n && i < sizeof(text) - 1; i++)
		text[i] = s.p[i];
	*ret = str_starts(s, S("0x")) ? (double)strtoull(text, &end, 16) : strtod(text, &end);
	for (size_t i = 0; end != text && i < sizeof(units) / sizeof(units[0]); i++)
		if (str_eq(str_sub(s, (size_t)(end - text), s.n), units[i].name)) {
			*ret *= units[i].of;
			return true;
		}
	return false;
}

/* Orders two values; *ret is <0, 0 or >0. Returns false if they cannot be compared. A number that a version lacks counts
 * as 0. With a fourth number in y, that of a distribution counts, too: 19 of "6.17.0-19-generic". */
static bool order_of(struct arena *a, struct str x, struct str y, int *ret)
{
	enum { PARTS = 8 };
	uint64_t v[PARTS], w[PARTS];
	double m, n;
	if (number_of(x, &m) && number_of(y, &n)) {
		*ret = (m > n) - (m < n);
		if (str_chr(x, '.') == x.n && str_chr(y, '.') == y.n)
			return true;
	}
	if (str_numbers(y, w, PARTS) > 3)
		x = str_replace(a, x, S("-"), S("."));
	if (!str_numbers(x, v, PARTS) || !str_numbers(y, w, PARTS))
		return false;
	*ret = 0;
	for (size_t i = 0; !*ret && i < PARTS; i++)
		*ret = (v[i] > w[i]) - (v[i] < w[i]);
	return true;
}

static bool text_in(struct condition *r, struct str x, const struct compared *list, bool served)
{
	struct str word, words = list->is_fact ? S("") : list->text;
	struct target want = target_read(x);
	bool found = false;
	while (!found && str_next(&words, ' ', &word))
		found = fnmatch(str_z(r->a, word), str_z(r->a, x), 0) == 0;
	if (!list->fact || list->fact->kind != NODE_LIST)
		return found || (list->is_fact && str_eq(list->text, x));
	NODE_EACH (it, list->fact) {
		struct target have = target_read(it->text);
		found = found || str_eq(it->text, x) || (served && target_covers(&have, &want));
	}
	return found;
}

static enum truth is_in(
	struct condition *r, const struct compared *x, const struct compared *list, bool served)
{
	if (served && list->fact && !list->fact->n)
		return TRUTH_UNKNOWN;
	if (!x->fact || x->fact->kind != NODE_LIST)
		return text_in(r, x->text, list, served) ? TRUTH_YES : TRUTH_NO;
	NODE_EACH (it, x->fact)
		if (text_in(r, it->text, list, served))
			return TRUTH_YES;
	return TRUTH_NO;
}

/* Has one of the targets the code that this one runs under an override? */
static enum truth borrows(
	struct condition *r, const struct compared *x, const struct compared *list)
{
	const struct compat_target *t = compat_of(x->text);
	if (!list->fact || !list->fact->n)
		return TRUTH_UNKNOWN;
	return t && t->as && text_in(r, str_from(t->as), list, true) ? TRUTH_YES : TRUTH_NO;
}

static enum truth compare(
	struct arena *a, struct str op, const struct compared *x, const struct compared *y)
{
	int order = 0;
	bool ordered = order_of(a, x->text, y->text, &order);
	bool less = op.p[0] == '<', more = op.p[0] == '>', or_same = op.n == 2;
	bool equal = y->is_number ? ordered && !order : str_eq(x->text, y->text);
	if (!less && !more)
		return equal != (op.p[0] == '!') ? TRUTH_YES : TRUTH_NO;
	if (!ordered)
		return TRUTH_UNKNOWN;
	return (less && order < 0) || (more && order > 0) || (or_same && !order) ? TRUTH_YES
										 : TRUTH_NO;
}

static enum truth holds(const struct compared *x)
{
	const struct node *n = x->fact;
	if (!n)
		return TRUTH_UNKNOWN;
	if (n->kind == NODE_LIST || n->kind == NODE_MAP)
		return n->n ? TRUTH_YES : TRUTH_NO;
	bool no = n->kind == NODE_NULL || !n->text.n || str_eq(n->text, S("false")) ||
		  (n->kind == NODE_NUMBER && str_eq(n->text, S("0")));
	return no ? TRUTH_NO : TRUTH_YES;
}

/* Adds "kernel is 6.8.0-31", or "target is gfx1100" for an item of a list. */
static void note_because(struct condition *r, struct str name, const struct compared *x)
{
	struct str first = str_sub(name, 0, str_chr(name, '.'));
	const struct scope *item = scope_find(r->scope, first);
	if (!r->because || r->because->n >= BECAUSE_MAX || !x->is_fact || !is_known(x->fact))
		return;
	const struct scope s = {.name = S("it"), .value = x->fact};
	if (item && item->name.n)
		name = str_sub(name, first.n + 1, name.n);
	struct str value = x->fact->kind == NODE_LIST ? facts_expand(r->a, &s, S("{it}")) : x->text;
	struct str text =
		str_fmt(r->a, "%.*s is %.*s", STR(name), STR(value.n ? value : S("empty")));
	strs_put(r->a, r->because, text);
}

static enum truth comparison(struct condition *r)
{
	struct str name = r->token, op;
	struct compared x = operand(r);
	op = r->token;
	bool sign = r->kind == T_SIGN && op.n && str_chr(S("=!<>"), op.p[0]) < 4;
	bool in = r->kind == T_WORD && (str_eq(op, S("in")) || str_eq(op, S("served")));
	bool borrowing = r->kind == T_WORD && str_eq(op, S("borrows"));
	note_because(r, name, &x);
	if (!sign && !in && !borrowing)
		return holds(&x);
	next(r);
	struct compared y = operand(r);
	if ((x.is_fact && !is_known(x.fact)) || (y.is_fact && !is_known(y.fact)))
		return TRUTH_UNKNOWN;
	return sign        ? compare(r->a, op, &x, &y)
	       : borrowing ? borrows(r, &x, &y)
			   : is_in(r, &x, &y, str_eq(op, S("served")));
}

/* ---- not, and, or, any, all ---- */

static enum truth joined(struct condition *r, bool any);

/* Evaluates "any NAME in LIST: ..." by reading the rest of the condition again for each item. */
static enum truth quantified(struct condition *r, bool any)
{
	struct scope s = {.name = r->token, .up = r->scope};
	next(r);
	want(r, "in");
	struct str list_name = r->token;
	struct compared list = operand(r);
	if (list.fact && !list.fact->n)
		note_because(r, list_name, &list);
	const struct condition body = *r;
	size_t n = list.fact && list.fact->kind == NODE_LIST ? list.fact->n : 0;
	enum truth settled = any ? TRUTH_YES : TRUTH_NO, all = TRUTH_YES - settled;
	all = list.fact || !list.is_fact ? all : TRUTH_UNKNOWN;
	for (size_t i = 0; i < (n ? n : 1) && !r->failed && (!i || all != settled); i++) {
		*r = body;
		s.value = n ? &list.fact->v[i] : NULL;
		r->scope = &s;
		want(r, ":");
		enum truth one = joined(r, true);
		if (n)
			all = (any ? one > all : one < all) ? one : all;
	}
	r->scope = body.scope;
	return all;
}

static enum truth single(struct condition *r)
{
	enum truth t = TRUTH_UNKNOWN;
	if (++r->depth > NESTING_MAX) {
		fail(r, "less nesting");
	} else if (take(r, "not")) {
		t = TRUTH_YES - single(r);
	} else if (take(r, "(")) {
		t = joined(r, true);
		want(r, ")");
	} else if (take(r, "any")) {
		t = quantified(r, true);
	} else if (take(r, "all")) {
		t = quantified(r, false);
	} else {
		t = comparison(r);
	}
	r->depth--;
	return t;
}

/* Evaluates terms that are joined by "or" (any) or, as each of these terms, by "and". */
static enum truth joined(struct condition *r, bool any)
{
	enum truth t = any ? joined(r, false) : single(r);
	while (take(r, any ? "or" : "and")) {
		enum truth more = any ? joined(r, false) : single(r);
		t = (any ? more > t : more < t) ? more : t;
	}
	return t;
}

struct err *predicate_ask(struct arena *a, const struct scope *s, struct str text,
	struct strs *because, enum truth *ret)
{
	struct condition r = {.a = a, .text = text, .scope = s, .because = because};
	next(&r);
	*ret = joined(&r, true);
	if (r.kind != T_END)
		fail(&r, "the end");
	return r.failed;
}

/* ---- conditions as lists ---- */

struct err *predicate_version(
	struct arena *a, struct str version, struct str range, enum truth *ret)
{
	const struct version *v;
	bool in_range;
	*ret = TRUTH_UNKNOWN;
	if (!version.n)
		return NULL;
	TRY(version_parse(a, version, &v));
	TRY(version_match(v, range, &in_range));
	*ret = in_range ? TRUTH_YES : TRUTH_NO;
	return NULL;
}

bool predicate_gpu(struct str gpu, const struct strs *patterns)
{
	struct target target = target_read(gpu);
	VEC_EACH (const struct str, p, patterns) {
		bool wave32 = str_eq(*p, S("wave32"));
		if (target.gpu && (wave32 || str_eq(*p, S("wave64"))) &&
			target.gpu->wave32 == wave32)
			return true;
		if (glob_match(*p, str_sub(gpu, 0, str_chr(gpu, ':'))))
			return true;
	}
	return false;
}

enum truth predicate_gpus(const struct strs *gpus, const struct strs *patterns, bool all)
{
	size_t n = 0;
	if (!patterns->n || !gpus->n)
		return patterns->n ? TRUTH_UNKNOWN : TRUTH_YES;
	VEC_EACH (const struct str, gpu, gpus)
		n += predicate_gpu(*gpu, patterns);
	return (all ? n == gpus->n : n > 0) ? TRUTH_YES : TRUTH_NO;
}

/* ---- texts with facts ---- */

static void put_fact(struct arena *a, struct buf *b, const struct node *n, struct str form)
{
	uint64_t bytes;
	const struct compat_target *t = form.n ? compat_of(n->text) : NULL;
	if (str_eq(form, S("sibling")))
		buf_add(b, str_from(t ? t->as : NULL));
	else if (str_eq(form, S("override")))
		buf_add(b, str_from(t ? t->value : NULL));
	else if (str_eq(form, S("report")))
		buf_add(b, str_from(t ? t->text : NULL));
	else if (str_eq(form, S("shell")))
		buf_add(b, str_shell(a, n->text));
	else if (str_eq(form, S("local")))
		buf_add(b, str_shell(a, str_sub(n->text, str_rchr(n->text, '+') + 1, n->text.n)));
	else if (str_eq(form, S("count")))
		buf_fmt(b, "%zu", n->n);
	else if (str_eq(form, S("plural")))
		buf_add(b, (n->kind == NODE_LIST ? n->n == 1 : str_eq(n->text, S("1"))) ? S("")
											: S("s"));
	else if (str_eq(form, S("size")) && str_u64(n->text, 10, &bytes))
		buf_add(b, human_memory(a, bytes));
	else if (n->kind != NODE_LIST)
		buf_add(b, n->text);
	else
		NODE_EACH (it, n)
			buf_fmt(b, "%s%.*s", it == n->v ? "" : ", ", STR(it->text));
}

/* Adds the value of "g.index for g in gpus: not g.apu": the values of all items for which the condition holds,
 * separated by ",". A malformed condition holds for none; the tests check the tables of texts. */
static void put_each(struct arena *a, struct buf *b, const struct scope *s, struct str word)
{
	struct str path, name, list, condition;
	size_t at = str_find(word, S(" for "));
	bool first = true;
	path = str_sub(word, 0, at);
	str_cut(str_sub(word, at + 5, word.n), ':', &list, &condition);
	str_cut(list, ' ', &name, &list);
	str_cut(list, ' ', &(struct str){0}, &list);
	const struct node *items = facts_find(s, list);
	for (size_t i = 0; items && i < items->n; i++) {
		const struct scope it = {.name = name, .value = &items->v[i], .up = s};
		const struct node *n = facts_find(&it, path);
		enum truth t = TRUTH_NO;
		err_free(predicate_ask(a, &it, condition, NULL, &t));
		if (t == TRUTH_YES && n) {
			buf_add(b, first ? S("") : S(","));
			put_fact(a, b, n, S(""));
			first = false;
		}
	}
}

struct str facts_expand(struct arena *a, const struct scope *s, struct str text)
{
	BUF(b, a);
	while (text.n) {
		size_t open = str_chr(text, '{'),
		       close = open + str_chr(str_sub(text, open, text.n), '}');
		struct str word = str_sub(text, open + 1, close), path, form;
		buf_add(&b, str_sub(text, 0, open));
		text = str_sub(text, close + 1, text.n);
		if (str_contains(word, S(" for "))) {
			put_each(a, &b, s, word);
			continue;
		}
		str_cut(word, ' ', &path, &form);
		const struct node *n = path.n ? facts_find(s, path) : NULL;
		if (n)
			put_fact(a, &b, n, form);
	}
	return str_dup(a, buf_str(&b));
}

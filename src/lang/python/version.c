/* PEP 440: parsing by the grammar of its appendix, the order of versions, and specifiers, one clause at a time; see
 * version.h. Numbers stay text without leading zeros, so they may have any length. */
#include "lang/python/version.h"

#include "base/buf.h"

struct str package_name(struct arena *a, struct str name, char sep)
{
	BUF(b, a);
	struct str lower = str_lower(a, name);
	for (size_t i = 0; i < lower.n; i++) {
		bool dash = lower.p[i] == '-' || lower.p[i] == '_' || lower.p[i] == '.';
		if (!dash)
			buf_char(&b, lower.p[i]);
		else if (!b.n || b.p[b.n - 1] != sep)
			buf_char(&b, sep);
	}
	return buf_str(&b);
}

enum version_part { NONE, PRE_A, PRE_B, PRE_RC, POST, DEV };

/* Numbers are text without leading zeros; an absent part is an empty view. */
struct version {
	struct str epoch;
	struct strs release;
	enum version_part pre; /* NONE, or one of PRE */
	struct str pre_number, post, dev;
	struct strs local; /* lower case; numbers without leading zeros */
};

/* ---- reading ---- */

static bool all_digits(struct str s)
{
	return str_span(s, ASCII_DIGITS) == s.n;
}

/* "007" -> "7", "000" -> "0" */
static struct str number(struct str *s)
{
	size_t n = str_span(*s, ASCII_DIGITS);
	size_t zeros = str_span(str_sub(*s, 0, n ? n - 1 : 0), "0");
	struct str num = str_sub(*s, zeros, n);
	*s = str_sub(*s, n, s->n);
	return num;
}

static bool skip(struct str *s, const char *any)
{
	if (!s->n || !s->p[0] || !strchr(any, s->p[0]))
		return false;
	*s = str_sub(*s, 1, s->n);
	return true;
}

/* The spellings of the parts behind the release; a word that begins with another one comes before it. */
static const struct {
	const char *word;
	enum version_part part;
} spellings[] = {
	{"alpha", PRE_A},
	{"a", PRE_A},
	{"beta", PRE_B},
	{"b", PRE_B},
	{"preview", PRE_RC},
	{"pre", PRE_RC},
	{"c", PRE_RC},
	{"rc", PRE_RC},
	{"post", POST},
	{"rev", POST},
	{"r", POST},
	{"dev", DEV},
};

/* Takes [-_.]? WORD [-_.]? NUMBER?  The number defaults to 0. Without such a part, *s is not changed. */
static enum version_part part(
	struct str *s, enum version_part first, enum version_part last, struct str *ret_number)
{
	struct str rest = *s;
	(void)skip(&rest, "-_.");
	for (size_t i = 0; i < sizeof(spellings) / sizeof(*spellings); i++) {
		struct str word = str_from(spellings[i].word);
		bool wanted = spellings[i].part >= first && spellings[i].part <= last;
		if (!wanted || !str_starts(rest, word))
			continue;
		rest = str_sub(rest, word.n, rest.n);
		struct str before = rest;
		(void)skip(&rest, "-_.");
		*ret_number = number(&rest);
		if (!ret_number->n) {
			*ret_number = S("0");
			rest = before;
		}
		*s = rest;
		return spellings[i].part;
	}
	return NONE;
}

/* Parses text; false if it is not a version. */
static bool scan(struct arena *a, struct str text, struct version *ret)
{
	struct str s = str_lower(a, str_trim(text));
	struct version v = {.epoch = S("0")};
	(void)skip(&s, "v");
	struct str rest = s, n = number(&rest);
	if (n.n && skip(&rest, "!")) { /* "1!", the epoch */
		v.epoch = n;
		s = rest;
	}
	do { /* the release "1.2"; what follows another dot belongs to it if it is a number */
		rest = s;
		if (v.release.n && (!skip(&rest, ".") || !rest.n || !ascii_digit(rest.p[0])))
			break;
		s = rest;
		n = number(&s);
		strs_add(a, &v.release, n);
	} while (n.n);
	if (!v.release.v[0].n)
		return false;
	v.pre = part(&s, PRE_A, PRE_RC, &v.pre_number);
	rest = s;
	if (skip(&rest, "-") && (n = number(&rest)).n) { /* post-release "1.0-1" */
		v.post = n;
		s = rest;
	} else {
		(void)part(&s, POST, POST, &v.post);
	}
	(void)part(&s, DEV, DEV, &v.dev);
	/* "+ubuntu.1", the local part: pieces of letters and digits, separated by [-_.] */
	for (bool more = skip(&s, "+"); more; more = skip(&s, "-_.")) {
		size_t end = 0;
		while (end < s.n && ascii_alnum(s.p[end]))
			end++;
		struct str piece = str_sub(s, 0, end), num = piece;
		if (!end)
			return false;
		s = str_sub(s, end, s.n);
		strs_add(a, &v.local, all_digits(piece) ? number(&num) : piece);
	}
	*ret = v;
	return !s.n;
}

struct err *version_parse(struct arena *a, struct str text, const struct version **ret)
{
	struct version *v = NEW(a, struct version);
	*ret = v;
	return scan(a, text, v) ? NULL : err_new(E_SYNTAX, "'%.*s' is not a version", STR(text));
}

/* ---- writing ---- */

struct str version_release(struct str text)
{
	text = str_trim(text);
	if (text.n && (text.p[0] == '\'' || text.p[0] == '"'))
		text = str_sub(text, 1, text.n);
	size_t n = str_span(text, ASCII_DIGITS ".");
	while (n && text.p[n - 1] == '.')
		n--;
	return str_sub(text, 0, n);
}

bool version_is_pre(const struct version *v)
{
	return v->pre != NONE || v->dev.n;
}

struct str version_text(struct arena *a, const struct version *v)
{
	static const char *const pre_text[] = {[PRE_A] = "a", [PRE_B] = "b", [PRE_RC] = "rc"};
	BUF(b, a);
	if (!str_eq(v->epoch, S("0")))
		buf_fmt(&b, "%.*s!", STR(v->epoch));
	for (size_t i = 0; i < v->release.n; i++)
		buf_fmt(&b, "%s%.*s", i ? "." : "", STR(v->release.v[i]));
	if (v->pre)
		buf_fmt(&b, "%s%.*s", pre_text[v->pre], STR(v->pre_number));
	if (v->post.n)
		buf_fmt(&b, ".post%.*s", STR(v->post));
	if (v->dev.n)
		buf_fmt(&b, ".dev%.*s", STR(v->dev));
	for (size_t i = 0; i < v->local.n; i++)
		buf_fmt(&b, "%c%.*s", i ? '.' : '+', STR(v->local.v[i]));
	return buf_str(&b);
}

/* ---- order ---- */

static int cmp_number(struct str a, struct str b)
{
	return a.n != b.n ? (a.n > b.n) - (a.n < b.n) : str_cmp(a, b);
}

/* Within one release: 1.dev0 < 1a < 1b < 1rc < 1 and 1.post (which may have a .dev of its own). */
static int pre_rank(const struct version *v)
{
	if (v->pre)
		return (int)v->pre;
	return v->dev.n && !v->post.n ? 0 : PRE_RC + 1;
}

/* Compares numbers that may be absent; an absent one is before all (post) or after all (dev). */
static int cmp_optional(struct str a, struct str b, int none)
{
	if (!a.n || !b.n)
		return a.n ? -none : b.n ? none : 0;
	return cmp_number(a, b);
}

/* Compares versions without their local parts. Missing numbers of a release count as 0. */
static int cmp_public(const struct version *a, const struct version *b)
{
	int r = cmp_number(a->epoch, b->epoch);
	for (size_t i = 0; !r && (i < a->release.n || i < b->release.n); i++)
		r = cmp_number(i < a->release.n ? a->release.v[i] : S("0"),
			i < b->release.n ? b->release.v[i] : S("0"));
	if (!r)
		r = pre_rank(a) - pre_rank(b);
	if (!r && a->pre)
		r = cmp_number(a->pre_number, b->pre_number);
	if (!r)
		r = cmp_optional(a->post, b->post, -1);
	return r ? r : cmp_optional(a->dev, b->dev, 1);
}

/* Numbers of local parts are compared by value, and sort after all words; a list sorts after its own prefixes. */
int version_cmp(const struct version *a, const struct version *b)
{
	const struct strs *x = &a->local, *y = &b->local;
	int r = cmp_public(a, b);
	for (size_t i = 0; !r && i < x->n && i < y->n; i++) {
		bool p = all_digits(x->v[i]), q = all_digits(y->v[i]);
		r = p != q ? p - q : p ? cmp_number(x->v[i], y->v[i]) : str_cmp(x->v[i], y->v[i]);
	}
	return r ? r : (x->n > y->n) - (x->n < y->n);
}

/* ---- specifiers ---- */

struct clause {
	struct str op, text; /* text: the version as written */
	bool wildcard;       /* "==1.2.*" */
	struct version v;    /* unset for "===" */
};

static bool parse_clause(struct arena *a, struct str text, struct clause *c)
{
	/* An operator that begins with another one comes before it. */
	static const char *const ops[] = {"===", "~=", "==", "!=", "<=", ">=", "<", ">", NULL};
	*c = (struct clause){0};
	for (size_t i = 0; ops[i] && !c->op.n; i++)
		if (str_starts(text, str_from(ops[i])))
			c->op = str_from(ops[i]);
	c->text = str_trim(str_sub(text, c->op.n, text.n));
	if (c->op.n == 3)
		return c->text.n && str_chr(c->text, ' ') == c->text.n;
	struct str v = c->text;
	c->wildcard = str_ends(v, S(".*"));
	if (c->wildcard)
		v.n -= 2;
	if (!c->op.n || !scan(a, v, &c->v))
		return false;
	bool equality = str_eq(c->op, S("==")) || str_eq(c->op, S("!="));
	if (c->wildcard) /* nothing but a release (and an epoch) goes before the star */
		return equality && !c->v.pre && !c->v.post.n && !c->v.dev.n && !c->v.local.n;
	if (str_eq(c->op, S("~=")))
		return c->v.release.n >= 2 && !c->v.local.n;
	return equality || !c->v.local.n;
}

/* Does v begin with the first n numbers of p's release? */
static bool has_prefix(const struct version *v, const struct version *p, size_t n)
{
	if (!str_eq(v->epoch, p->epoch))
		return false;
	for (size_t i = 0; i < n; i++)
		if (!str_eq(i < v->release.n ? v->release.v[i] : S("0"), p->release.v[i]))
			return false;
	return true;
}

static bool fulfils(const struct version *v, const struct clause *c)
{
	ARENA(tmp);
	const struct version *than = &c->v;
	if (str_eq(c->op, S("===")))
		return str_eq(str_lower(&tmp, c->text), version_text(&tmp, v));
	int order = cmp_public(v, than);
	if (str_eq(c->op, S("~="))) /* "~=2.2" is ">=2.2,==2.*" */
		return order >= 0 && has_prefix(v, than, than->release.n - 1);
	if (str_eq(c->op, S("<=")))
		return order <= 0;
	if (str_eq(c->op, S(">=")))
		return order >= 0;
	if (str_eq(c->op, S("<"))) {
		/* "<V" is "<V.dev0", which excludes pre-releases of V, unless V is a pre-release itself. */
		struct version first = *than;
		if (!than->pre && !than->dev.n)
			first.dev = S("0");
		return version_cmp(v, &first) < 0;
	}
	if (str_eq(c->op, S(">"))) {
		/* ">V" excludes post-releases of V, unless V is one itself, and local versions of V. */
		struct version base = *v;
		base.post = base.dev = S("");
		return order > 0 &&
		       (than->post.n || than->dev.n || !v->post.n || cmp_public(&base, than) != 0);
	}
	/* If the clause has no local part, that of the version is ignored. */
	bool equal = c->wildcard ? has_prefix(v, than, than->release.n)
				 : (than->local.n ? version_cmp(v, than) : order) == 0;
	return equal == str_eq(c->op, S("=="));
}

struct err *version_match(const struct version *v, struct str specifier, bool *ret)
{
	ARENA(tmp);
	struct str rest = specifier, text;
	bool all = true;
	while (str_next(&rest, ',', &text)) {
		struct clause c;
		text = str_trim(text);
		if (!text.n)
			continue;
		if (!parse_clause(&tmp, text, &c))
			return err_new(E_SYNTAX, "'%.*s' is not a version specifier", STR(text));
		all = all && fulfils(v, &c);
	}
	*ret = all;
	return NULL;
}

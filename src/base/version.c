/* PEP 440: parsing by the grammar of its appendix, and the order of versions. The specifiers are in
 * version_spec.c. Numbers stay text without leading zeros, so that none is too long. */
#include "base/version_int.h"

#include "base/buf.h"

/* ---- reading ---- */

static char lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
	return lower(c) >= 'a' && lower(c) <= 'z';
}

/* "007" -> "7", "000" -> "0" */
static struct str number(struct str *s)
{
	size_t n = 0, zeros = 0;
	while (n < s->n && is_digit(s->p[n]))
		n++;
	while (zeros + 1 < n && s->p[zeros] == '0')
		zeros++;
	struct str num = str_sub(*s, zeros, n);
	*s = str_sub(*s, n, s->n);
	return num;
}

static bool skip(struct str *s, const char *any)
{
	for (; s->n && *any; any++) {
		if (s->p[0] == *any) {
			*s = str_sub(*s, 1, s->n);
			return true;
		}
	}
	return false;
}

static bool starts_nocase(struct str s, struct str word)
{
	if (s.n < word.n)
		return false;
	for (size_t i = 0; i < word.n; i++)
		if (lower(s.p[i]) != word.p[i])
			return false;
	return true;
}

/* The spellings of a part, longest first where one starts another. */
static const struct spelling {
	struct str word;
	enum version_pre pre;
} pre_words[] =
	{
		{.word = S_INIT("alpha"), .pre = PRE_A},
		{.word = S_INIT("a"), .pre = PRE_A},
		{.word = S_INIT("beta"), .pre = PRE_B},
		{.word = S_INIT("b"), .pre = PRE_B},
		{.word = S_INIT("preview"), .pre = PRE_RC},
		{.word = S_INIT("pre"), .pre = PRE_RC},
		{.word = S_INIT("c"), .pre = PRE_RC},
		{.word = S_INIT("rc"), .pre = PRE_RC},
},
  post_words[] =
	  {
		  {.word = S_INIT("post")},
		  {.word = S_INIT("rev")},
		  {.word = S_INIT("r")},
},
  dev_words[] = {
	  {.word = S_INIT("dev")},
};

/* [-_.]? WORD [-_.]? NUMBER?  The number defaults to 0; leaves *s alone without such a part. */
static const struct spelling *part(
	struct str *s, const struct spelling *words, size_t n, struct str *ret_number)
{
	struct str rest = *s;
	(void)skip(&rest, "-_.");
	for (size_t i = 0; i < n; i++) {
		if (!starts_nocase(rest, words[i].word))
			continue;
		rest = str_sub(rest, words[i].word.n, rest.n);
		struct str before = rest;
		(void)skip(&rest, "-_.");
		*ret_number = number(&rest);
		if (!ret_number->n) {
			*ret_number = S("0");
			rest = before;
		}
		*s = rest;
		return &words[i];
	}
	return NULL;
}

#define PART(s, words, ret) part((s), (words), sizeof(words) / sizeof(*(words)), (ret))

static bool release(struct arena *a, struct str *s, struct version *v)
{
	for (;;) {
		struct str n = number(s), before = *s;
		if (!n.n)
			return false;
		strs_add(a, &v->release, n);
		if (!skip(s, ".") || !s->n || !is_digit(s->p[0])) {
			*s = before;
			return true;
		}
	}
}

/* "1!" in front. */
static void epoch(struct str *s, struct version *v)
{
	struct str rest = *s, n = number(&rest);
	v->epoch = S("0");
	if (n.n && skip(&rest, "!")) {
		v->epoch = n;
		*s = rest;
	}
}

static void post(struct str *s, struct version *v)
{
	struct str rest = *s, n;
	if (skip(&rest, "-") && (n = number(&rest)).n) { /* "1.0-1" */
		v->post = n;
		*s = rest;
		return;
	}
	(void)PART(s, post_words, &v->post);
}

/* "+ubuntu.1": letters and digits in pieces between [-_.] */
static bool local(struct arena *a, struct str *s, struct version *v)
{
	if (!skip(s, "+"))
		return true;
	do {
		size_t n = 0;
		bool digits = true;
		for (; n < s->n && (is_digit(s->p[n]) || is_letter(s->p[n])); n++)
			digits = digits && is_digit(s->p[n]);
		if (!n)
			return false;
		struct str piece = str_lower(a, str_sub(*s, 0, n)), num = piece;
		*s = str_sub(*s, n, s->n);
		strs_add(a, &v->local, digits ? number(&num) : piece);
	} while (skip(s, "-_."));
	return true;
}

bool version_scan(struct arena *a, struct str text, struct version *ret)
{
	struct str s = str_trim(text);
	struct version v = {0};
	(void)skip(&s, "vV");
	epoch(&s, &v);
	if (!release(a, &s, &v))
		return false;
	const struct spelling *pre = PART(&s, pre_words, &v.pre_number);
	v.pre = pre ? pre->pre : PRE_NONE;
	post(&s, &v);
	(void)PART(&s, dev_words, &v.dev);
	if (!local(a, &s, &v) || s.n)
		return false;
	*ret = v;
	return true;
}

struct err *version_parse(struct arena *a, struct str text, const struct version **ret)
{
	struct version v;
	if (!version_scan(a, str_dup(a, text), &v))
		return err_new(E_SYNTAX, "'%.*s' is not a version", STR(text));
	struct version *copy = NEW(a, struct version);
	*copy = v;
	*ret = copy;
	return NULL;
}

/* ---- writing ---- */

static const char *const pre_text[] = {[PRE_A] = "a", [PRE_B] = "b", [PRE_RC] = "rc"};

struct str version_text(struct arena *a, const struct version *v)
{
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

bool version_is_prerelease(const struct version *v)
{
	return v->pre || v->dev.n;
}

/* ---- order ---- */

static int cmp_number(struct str a, struct str b)
{
	return a.n != b.n ? (a.n > b.n) - (a.n < b.n) : str_cmp(a, b);
}

/* Missing places count as 0. */
static int cmp_release(const struct strs *a, const struct strs *b)
{
	for (size_t i = 0; i < a->n || i < b->n; i++) {
		int r = cmp_number(i < a->n ? a->v[i] : S("0"), i < b->n ? b->v[i] : S("0"));
		if (r)
			return r;
	}
	return 0;
}

/* Within one release: 1.dev0 < 1a < 1b < 1rc < 1 and 1.post (which may have a .dev of its own). */
static int pre_rank(const struct version *v)
{
	if (v->pre)
		return (int)v->pre;
	return v->dev.n && !v->post.n ? 0 : PRE_RC + 1;
}

/* None is before any (post), or after any (dev). */
static int cmp_optional(struct str a, struct str b, int none)
{
	if (!a.n || !b.n)
		return a.n ? -none : b.n ? none : 0;
	return cmp_number(a, b);
}

static bool all_digits(struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if (!is_digit(s.p[i]))
			return false;
	return true;
}

/* Numbers by value and after all words; a longer list after its own beginning. */
static int cmp_local(const struct strs *a, const struct strs *b)
{
	for (size_t i = 0; i < a->n && i < b->n; i++) {
		bool x = all_digits(a->v[i]), y = all_digits(b->v[i]);
		int r = x != y ? x - y
			: x    ? cmp_number(a->v[i], b->v[i])
			       : str_cmp(a->v[i], b->v[i]);
		if (r)
			return r;
	}
	return (a->n > b->n) - (a->n < b->n);
}

int version_cmp_public(const struct version *a, const struct version *b)
{
	int r = cmp_number(a->epoch, b->epoch);
	if (!r)
		r = cmp_release(&a->release, &b->release);
	if (!r)
		r = pre_rank(a) - pre_rank(b);
	if (!r && a->pre)
		r = cmp_number(a->pre_number, b->pre_number);
	if (!r)
		r = cmp_optional(a->post, b->post, -1);
	return r ? r : cmp_optional(a->dev, b->dev, 1);
}

int version_cmp(const struct version *a, const struct version *b)
{
	int r = version_cmp_public(a, b);
	return r ? r : cmp_local(&a->local, &b->local);
}

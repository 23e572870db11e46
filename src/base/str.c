/* String views; see str.h. */
#include "base/str.h"

#include <stdio.h>
#include <strings.h>
#include <time.h>

#include "base/buf.h"
#include "base/vec.h"

struct str str_from(const char *z)
{
	return z ? (struct str){.p = z, .n = strlen(z)} : S("");
}

int str_cmp(struct str a, struct str b)
{
	size_t n = a.n < b.n ? a.n : b.n;
	int r = n ? memcmp(a.p, b.p, n) : 0;
	return r ? r : (a.n > b.n) - (a.n < b.n);
}

bool str_contains(struct str s, struct str needle)
{
	return needle.n == 0 || str_find(s, needle) < s.n;
}

static bool is_space(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

struct str str_trim(struct str s)
{
	while (s.n && is_space(s.p[0]))
		s = str_sub(s, 1, s.n);
	while (s.n && is_space(s.p[s.n - 1]))
		s.n--;
	return s;
}

size_t str_chr(struct str s, char c)
{
	const char *p = s.n ? memchr(s.p, c, s.n) : NULL;
	return p ? (size_t)(p - s.p) : s.n;
}

size_t str_rchr(struct str s, char c)
{
	const char *p = s.n ? memrchr(s.p, c, s.n) : NULL;
	return p ? (size_t)(p - s.p) : s.n;
}

size_t str_find(struct str s, struct str needle)
{
	if (!needle.n) /* needle.p may be NULL */
		return 0;
	const char *p = s.n ? memmem(s.p, s.n, needle.p, needle.n) : NULL;
	return p ? (size_t)(p - s.p) : s.n;
}

unsigned str_count(struct str s, char c)
{
	unsigned n = 0;
	for (size_t at; (at = str_chr(s, c)) < s.n; n++)
		s = str_sub(s, at + 1, s.n);
	return n;
}

size_t str_span(struct str s, const char *characters)
{
	size_t n = 0, known = strlen(characters);
	while (n < s.n && memchr(characters, s.p[n], known))
		n++;
	return n;
}

size_t str_until(struct str s, const char *characters)
{
	size_t n = 0, known = strlen(characters);
	while (n < s.n && !memchr(characters, s.p[n], known))
		n++;
	return n;
}

bool str_cut(struct str s, char sep, struct str *ret_key, struct str *ret_val)
{
	size_t at = str_chr(s, sep);
	*ret_key = str_sub(s, 0, at);
	*ret_val = str_sub(s, at + 1, s.n);
	return at < s.n;
}

bool str_next(struct str *rest, char sep, struct str *ret_piece)
{
	if (!rest->n)
		return false;
	size_t at = str_chr(*rest, sep);
	*ret_piece = str_sub(*rest, 0, at);
	*rest = str_sub(*rest, at + 1, rest->n);
	return true;
}

bool str_u64(struct str s, unsigned base, uint64_t *ret)
{
	static const char digits[] = "0123456789abcdefABCDEF";
	uint64_t n = 0;
	for (size_t i = 0; i < s.n; i++) {
		const char *at = memchr(digits, s.p[i], sizeof(digits) - 1);
		unsigned d = at ? (unsigned)(at - digits) : base;
		d -= d >= 16 ? 6 : 0;
		if (!at || d >= base || n > (UINT64_MAX - d) / base)
			return false;
		n = n * base + d;
	}
	if (!s.n)
		return false;
	*ret = n;
	return true;
}

bool str_amount(struct str s, const struct str_unit *units, uint64_t *ret)
{
	size_t digits = str_span(s, ASCII_DIGITS);
	struct str name = str_sub(s, digits, s.n);
	for (; units->name; units++)
		if (name.n == strlen(units->name) && !strncasecmp(name.p, units->name, name.n) &&
			str_u64(str_sub(s, 0, digits), 10, ret) &&
			*ret <= UINT64_MAX / units->each) {
			*ret *= units->each;
			return true;
		}
	return false;
}

const struct str_unit str_sizes[] = {{"", 1}, {"b", 1}, {"k", 1000}, {"kb", 1000}, {"kib", 1 << 10},
	{"m", 1000000}, {"mb", 1000000}, {"mib", 1 << 20}, {"g", 1000000000}, {"gb", 1000000000},
	{"gib", 1 << 30}, {"t", 1000000000000}, {"tb", 1000000000000}, {"tib", UINT64_C(1) << 40},
	{0}};

char *str_z(struct arena *a, struct str s)
{
	char *p = arena_raw(a, s.n + 1);
	if (s.n)
		memcpy(p, s.p, s.n);
	p[s.n] = 0;
	return p;
}

size_t str_numbers(struct str text, uint64_t *ret, size_t n)
{
	size_t found = 0;
	memset(ret, 0, n * sizeof(*ret));
	while (found < n) {
		size_t digits = str_span(text, ASCII_DIGITS);
		if (!digits || !str_u64(str_sub(text, 0, digits), 10, &ret[found]))
			break;
		found++;
		if (digits == text.n || text.p[digits] != '.')
			break;
		text = str_sub(text, digits + 1, text.n);
	}
	return found;
}

/* The second byte reveals overlong forms, surrogates and code points that are too large (Unicode, table 3-7). */
size_t utf8_length(struct str s)
{
	const unsigned char *p = (const unsigned char *)s.p;
	if (!s.n || p[0] < 0x80)
		return s.n > 0;
	size_t n = p[0] >= 0xf0 ? 4 : p[0] >= 0xe0 ? 3 : 2;
	unsigned char low = p[0] == 0xe0 ? 0xa0 : p[0] == 0xf0 ? 0x90 : 0x80;
	unsigned char high = p[0] == 0xed ? 0x9f : p[0] == 0xf4 ? 0x8f : 0xbf;
	if (p[0] < 0xc2 || p[0] > 0xf4 || n > s.n || p[1] < low || p[1] > high)
		return 0;
	for (size_t i = 2; i < n; i++)
		if ((p[i] & 0xc0) != 0x80)
			return 0;
	return n;
}

size_t utf8_fit(struct str s, size_t bytes, size_t characters)
{
	size_t end = 0;
	for (; end < s.n && characters; characters--) {
		size_t n = utf8_length(str_sub(s, end, s.n));
		n = n ? n : 1;
		if (end + n > bytes)
			break;
		end += n;
	}
	return end;
}

size_t utf8_end(struct str s)
{
	size_t at = 0;
	uint64_t w[4]; /* a fast path, since most text is ASCII */
	for (size_t n = 1; n; at += n) {
		for (; s.n - at >= sizeof(w); at += sizeof(w)) {
			memcpy(w, s.p + at, sizeof(w));
			if ((w[0] | w[1] | w[2] | w[3]) & 0x8080808080808080u)
				break;
		}
		while (at < s.n && (unsigned char)s.p[at] < 0x80)
			at++;
		n = utf8_length(str_sub(s, at, s.n));
	}
	return at;
}

struct str str_dup(struct arena *a, struct str s)
{
	return (struct str){.p = str_z(a, s), .n = s.n};
}

struct str str_vfmt(struct arena *a, const char *fmt, va_list ap)
{
	va_list again;
	va_copy(again, ap);
	int n = vsnprintf(NULL, 0, fmt, again);
	va_end(again);
	if (n < 0)
		return S("");
	char *p = arena_alloc(a, (size_t)n + 1);
	vsnprintf(p, (size_t)n + 1, fmt, ap);
	return (struct str){.p = p, .n = (size_t)n};
}

struct str str_fmt(struct arena *a, const char *fmt, ...)
{
	FORMAT(text, a, fmt);
	return text;
}

struct str str_lower(struct arena *a, struct str s)
{
	char *p = str_z(a, s);
	for (size_t i = 0; i < s.n; i++)
		if (p[i] >= 'A' && p[i] <= 'Z')
			p[i] = (char)(p[i] - 'A' + 'a');
	return (struct str){.p = p, .n = s.n};
}

struct str str_fill(struct arena *a, const char *text, const struct strs *values)
{
	struct str rest = str_from(text), name, value;
	BUF(b, a);
	for (size_t at; (at = str_chr(rest, '{')) < rest.n;) {
		buf_add(&b, str_sub(rest, 0, at));
		str_cut(str_sub(rest, at + 1, rest.n), '}', &name, &rest);
		const struct str *line = strs_variable(values, name);
		if (line && str_cut(*line, '=', &name, &value))
			buf_add(&b, value);
	}
	buf_add(&b, rest);
	return buf_str(&b);
}

struct str str_join(struct arena *a, const struct strs *list, struct str sep)
{
	size_t n = 0;
	for (size_t i = 0; i < list->n; i++)
		n += list->v[i].n + (i ? sep.n : 0);
	char *p = arena_alloc(a, n + 1), *q = p;
	for (size_t i = 0; i < list->n; i++) {
		if (i && sep.n)
			q = mempcpy(q, sep.p, sep.n);
		if (list->v[i].n)
			q = mempcpy(q, list->v[i].p, list->v[i].n);
	}
	return (struct str){.p = p, .n = n};
}

struct str str_replace(struct arena *a, struct str s, struct str from, struct str to)
{
	struct strs parts = {0};
	for (size_t at; (at = str_find(s, from)) < s.n; s = str_sub(s, at + from.n, s.n))
		strs_add(a, &parts, str_sub(s, 0, at));
	strs_add(a, &parts, s);
	return parts.n > 1 ? str_join(a, &parts, to) : s;
}

/* In the form $'\033', in which a byte is three digits: no terminal or message can change it. */
static struct str shell_escaped(struct arena *a, struct str s)
{
	BUF(b, a);
	buf_add(&b, S("$'"));
	for (size_t i = 0; i < s.n; i++)
		if (s.p[i] >= ' ' && s.p[i] < 0x7f && s.p[i] != '\'' && s.p[i] != '\\')
			buf_char(&b, s.p[i]);
		else
			buf_fmt(&b, "\\%03o", (unsigned char)s.p[i]);
	buf_char(&b, '\'');
	return buf_str(&b);
}

struct str str_shell(struct arena *a, struct str s)
{
	if (utf8_end(s) < s.n || !str_is_plain(s, ""))
		return shell_escaped(a, s);
	return str_made_of(s, "_-+.,:/=@%^")
		       ? s
		       : str_fmt(a, "'%.*s'", STR(str_replace(a, s, S("'"), S("'\\''"))));
}

struct strs str_split(struct arena *a, struct str s, char sep)
{
	struct strs list = {0};
	struct str piece;
	while (str_next(&s, sep, &piece)) {
		piece = str_trim(piece);
		if (piece.n)
			strs_add(a, &list, piece);
	}
	return list;
}

void strs_add(struct arena *a, struct strs *list, struct str s)
{
	*VEC_PUSH(a, list) = s;
}

void strs_fmt(struct arena *a, struct strs *list, const char *fmt, ...)
{
	FORMAT(text, a, fmt);
	strs_add(a, list, text);
}

void strs_add_all(struct arena *a, struct strs *list, const struct strs *more)
{
	for (size_t i = 0; i < more->n; i++)
		strs_add(a, list, more->v[i]);
}

void strs_add_words(struct arena *a, struct strs *list, const char *const *words)
{
	for (; words && *words; words++)
		strs_add(a, list, str_from(*words));
}

void strs_put_all(struct arena *a, struct strs *list, const struct strs *more)
{
	for (size_t i = 0; i < more->n; i++)
		strs_put(a, list, more->v[i]);
}

bool strs_has(const struct strs *list, struct str s)
{
	for (size_t i = 0; i < list->n; i++)
		if (str_eq(list->v[i], s))
			return true;
	return false;
}

bool strs_eq(const struct strs *x, const struct strs *y)
{
	bool same = x->n == y->n;
	for (size_t i = 0; same && i < x->n; i++)
		same = str_eq(x->v[i], y->v[i]);
	return same;
}

struct str *strs_variable(const struct strs *list, struct str name)
{
	for (size_t i = 0; i < list->n; i++)
		if (str_starts(list->v[i], name) && str_chr(list->v[i], '=') == name.n)
			return &list->v[i];
	return NULL;
}

bool strs_put(struct arena *a, struct strs *list, struct str s)
{
	if (strs_has(list, s))
		return false;
	strs_add(a, list, s);
	return true;
}

bool str_is_one_of(struct str s, const char *const *words)
{
	for (; *words; words++)
		if (str_eq(s, str_from(*words)))
			return true;
	return false;
}

bool str_starts_one_of(struct str s, const char *const *words)
{
	for (; *words; words++)
		if (str_starts(s, str_from(*words)))
			return true;
	return false;
}

bool str_ends_one_of(struct str s, const char *const *words)
{
	for (; *words; words++)
		if (str_ends(s, str_from(*words)))
			return true;
	return false;
}

bool str_contains_one_of(struct str s, const char *const *words)
{
	for (; *words; words++)
		if (str_contains(s, str_from(*words)))
			return true;
	return false;
}

int str_order(const void *x, const void *y)
{
	return str_cmp(*(const struct str *)x, *(const struct str *)y);
}

void strs_sort(struct strs *list)
{
	VEC_SORT(list, str_order);
}

/* ---- human-readable figures ---- */

struct str human_count(struct arena *a, size_t n, const char *noun)
{
	return str_fmt(a, "%zu %s%s", n, noun, n == 1 ? "" : "s");
}

static struct str human(struct arena *a, uint64_t n, double base, const char *const units[7])
{
	double d = (double)n;
	size_t u = 0;
	while (d >= base - 0.5 && u < 6) {
		d /= base;
		u++;
	}
	return str_fmt(a, u && d < 9.95 ? "%.1f %s" : "%.0f %s", d, units[u]);
}

struct str human_bytes(struct arena *a, uint64_t n)
{
	static const char *const units[] = {"B", "kB", "MB", "GB", "TB", "PB", "EB"};
	return human(a, n, 1000, units);
}

struct str human_memory(struct arena *a, uint64_t n)
{
	static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
	return human(a, n, 1024, units);
}

struct str human_seconds(struct arena *a, double s)
{
	if (s < 9.995)
		return str_fmt(a, "%.2f s", s);
	if (s < 99.5)
		return str_fmt(a, "%.0f s", s);
	unsigned long t = (unsigned long)(s < 1e12 ? s + 0.5 : 1e12);
	if (t < 3600)
		return str_fmt(a, "%lum%02lus", t / 60, t % 60);
	return str_fmt(a, "%luh%02lum", t / 3600, t / 60 % 60);
}

bool str_is_plain(struct str s, const char *bad)
{
	for (size_t i = 0; i < s.n; i++)
		if ((unsigned char)s.p[i] < 0x20 || s.p[i] == 0x7f || strchr(bad, s.p[i]))
			return false;
	return true;
}

bool str_is_hex(struct str s)
{
	return str_span(s, ASCII_DIGITS "abcdef") == s.n;
}

bool str_made_of(struct str s, const char *more)
{
	for (size_t i = 0; i < s.n; i++)
		if (!ascii_alnum(s.p[i]) && !memchr(more, s.p[i], strlen(more)))
			return false;
	return s.n > 0;
}

bool str_is_day(struct str s)
{
	uint64_t n[3];
	bool good = s.n == 10 && s.p[4] == '-' && s.p[7] == '-';
	for (size_t i = 0; good && i < 3; i++)
		good = str_u64(str_sub(s, i ? 2 + 3 * i : 0, i ? 4 + 3 * i : 4), 10, &n[i]);
	return good && n[1] >= 1 && n[1] <= 12 && n[2] >= 1 && n[2] <= 31;
}

struct str str_utc(struct arena *a, int64_t seconds)
{
	char text[32] = "";
	struct tm tm;
	time_t t = (time_t)seconds;
	if (gmtime_r(&t, &tm))
		(void)strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &tm);
	return str_dup(a, str_from(text));
}

struct str str_today(struct arena *a)
{
	return str_sub(str_utc(a, (int64_t)time(NULL)), 0, 10);
}

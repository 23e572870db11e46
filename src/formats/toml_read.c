/* Reads TOML into nodes; see node.h. Source: toml.io/en/v1.0.0.
 *
 * Numbers and dates are checked but keep their text, since no pyproject.toml needs their values. Tables may
 * come in pieces and in any order; a map of their members records how each was defined, which decides
 * whether it may be extended. */
#include "base/buf.h"
#include "base/fs.h"
#include "base/map.h"
#include "base/vec.h"
#include "formats/node.h"

/* How a member was defined. */
enum how {
	MADE_ON_THE_WAY, /* table `a`, by [a.b] */
	MADE_BY_HEADER,  /* table `a.b`, by [a.b] */
	MADE_BY_KEY,     /* table `a`, by a.b = 1 */
	MADE_ARRAY,      /* array `a`, by [[a]] */
	MADE_VALUE,      /* a value, which cannot be extended */
};

struct toml_member {
	enum how how;
	size_t index; /* index in its table */
	size_t id;    /* number of the table that the member is; for [[a]], of the last one */
};

struct toml_reader {
	struct arena *a;
	struct str text, name;
	size_t at;
	size_t counted; /* line and line_start belong to this offset */
	unsigned line;
	size_t line_start;
	struct map made; /* "NUMBER:KEY" of a table -> struct toml_member * */
	size_t tables;   /* number of the last table */
	size_t count;    /* values so far */
};

struct toml_table {
	struct node *node;
	size_t id;      /* 0: the document */
	unsigned depth; /* nesting of the node */
};

static struct err *value(struct toml_reader *r, struct toml_table t);

/* ---- places ---- */

static struct loc here(struct toml_reader *r)
{
	for (; r->counted < r->at; r->counted++) {
		if (r->text.p[r->counted] == '\n') {
			r->line++;
			r->line_start = r->counted + 1;
		}
	}
	return (struct loc){
		.path = r->name, .line = r->line, .col = (unsigned)(r->at - r->line_start) + 1};
}

static struct err *wrong(struct toml_reader *r, const char *what)
{
	return err_at(err_new(E_SYNTAX, "%s", what), here(r));
}

/* ---- characters ---- */

static char peek(const struct toml_reader *r)
{
	return r->at < r->text.n ? r->text.p[r->at] : 0;
}

static bool at_end(const struct toml_reader *r)
{
	return r->at >= r->text.n;
}

static bool ahead(const struct toml_reader *r, struct str what)
{
	return str_starts(str_sub(r->text, r->at, r->text.n), what);
}

static bool take(struct toml_reader *r, struct str what)
{
	if (!ahead(r, what))
		return false;
	r->at += what.n;
	return true;
}

static void skip_blanks(struct toml_reader *r)
{
	r->at += str_span(str_sub(r->text, r->at, r->text.n), " \t");
}

static bool take_newline(struct toml_reader *r)
{
	return take(r, S("\n")) || take(r, S("\r\n"));
}

static bool is_control(char c)
{
	return ((unsigned char)c < 0x20 && c != '\t') || c == 0x7f;
}

static struct err *skip_comment(struct toml_reader *r)
{
	if (!take(r, S("#")))
		return NULL;
	while (!at_end(r) && !ahead(r, S("\n")) && !ahead(r, S("\r\n"))) {
		if (is_control(peek(r)))
			return wrong(r, "a control character in a comment");
		r->at++;
	}
	return NULL;
}

/* Skips blanks, comments and line ends, as between the elements of an array. */
static struct err *skip_lines(struct toml_reader *r)
{
	do {
		skip_blanks(r);
		TRY(skip_comment(r));
	} while (take_newline(r));
	return NULL;
}

/* ---- strings ---- */

/* Reads what is behind a backslash. */
static struct err *escape(struct toml_reader *r, bool lines, struct buf *b)
{
	static const char from[] = "btnfr\"\\", to[] = "\b\t\n\f\r\"\\";
	size_t start = r->at;
	/* at the end of a line it swallows all white space that follows */
	skip_blanks(r);
	if (lines && take_newline(r)) {
		do
			skip_blanks(r);
		while (take_newline(r));
		return NULL;
	}
	r->at = start;
	char c = peek(r);
	const char *at = c ? strchr(from, c) : NULL;
	if (!at && c != 'u' && c != 'U')
		return wrong(r, "this is not an escape of TOML");
	r->at++;
	if (at) {
		buf_char(b, to[at - from]);
		return NULL;
	}
	unsigned digits = c == 'u' ? 4 : 8;
	uint64_t code = 0;
	struct str hex = str_sub(r->text, r->at, r->at + digits);
	if (hex.n < digits || !str_u64(hex, 16, &code) || code > 0x10ffff ||
		(code >= 0xd800 && code < 0xe000))
		return wrong(r, "no Unicode character has this number");
	r->at += digits;
	buf_utf8(b, (uint32_t)code);
	return NULL;
}

static struct err *string(struct toml_reader *r, bool may_have_lines, struct str *ret)
{
	BUF(b, r->a);
	char quote = peek(r);
	bool basic = quote == '"', lines = ahead(r, basic ? S("\"\"\"") : S("'''")), end = false;
	if (lines && !may_have_lines)
		return wrong(r, "a key cannot be a multi-line text");
	r->at += lines ? 3 : 1;
	if (lines)
		(void)take_newline(r);
	while (!end) {
		size_t run = 0;
		while (r->at + run < r->text.n && r->text.p[r->at + run] == quote)
			run++;
		if (at_end(r))
			return wrong(r, "the text has no end");
		if (run) {
			/* the last three quotes end a multi-line text; up to two before them belong to it */
			size_t inside = !lines ? 0 : run < 3 ? run : run < 6 ? run - 3 : 2;
			end = !lines || run >= 3;
			r->at += inside + (!end ? 0 : lines ? 3 : 1);
			while (inside--)
				buf_char(&b, quote);
		} else if (basic && take(r, S("\\"))) {
			TRY(escape(r, lines, &b));
		} else if (lines && take_newline(r)) {
			buf_char(&b, '\n');
		} else if (is_control(peek(r))) {
			return wrong(r, lines ? "a control character in a text"
					      : "the text has no end on its line");
		} else {
			buf_char(&b, r->text.p[r->at++]);
		}
	}
	*ret = b.n ? str_dup(r->a, buf_str(&b)) : S("");
	return NULL;
}

/* ---- numbers, dates, words ---- */

/* Does s consist of digits of the set, with single underscores between them? */
static bool digits_only(struct str s, const char *set, bool zero_first)
{
	if (!s.n || (!zero_first && s.n > 1 && s.p[0] == '0'))
		return false;
	for (size_t i = 0; i < s.n; i++) {
		bool inner = i && i + 1 < s.n && s.p[i] == '_' && s.p[i - 1] != '_';
		if (!inner && !(s.p[i] && strchr(set, s.p[i])))
			return false;
	}
	return true;
}

static bool is_number(struct str s)
{
	struct str rest, exponent, fraction;
	if (str_starts(s, S("0x")))
		return digits_only(str_sub(s, 2, s.n), ASCII_DIGITS "abcdefABCDEF", true);
	if (str_starts(s, S("0o")))
		return digits_only(str_sub(s, 2, s.n), "01234567", true);
	if (str_starts(s, S("0b")))
		return digits_only(str_sub(s, 2, s.n), "01", true);
	if (s.n && (s.p[0] == '-' || s.p[0] == '+'))
		s = str_sub(s, 1, s.n);
	if (str_eq(s, S("inf")) || str_eq(s, S("nan")))
		return true;
	size_t e = str_until(s, "eE");
	rest = str_sub(s, 0, e);
	exponent = str_sub(s, e + 1, s.n);
	if (exponent.n && (exponent.p[0] == '-' || exponent.p[0] == '+'))
		exponent = str_sub(exponent, 1, exponent.n);
	if (e < s.n && !digits_only(exponent, ASCII_DIGITS, true))
		return false;
	bool point = str_cut(rest, '.', &rest, &fraction);
	return digits_only(rest, ASCII_DIGITS, false) &&
	       (!point || digits_only(fraction, ASCII_DIGITS, true));
}

/* Matches s against a form in which 'd' stands for a digit. */
static bool has_form(struct str s, const char *form)
{
	if (s.n != strlen(form))
		return false;
	for (size_t i = 0; i < s.n; i++)
		if (form[i] == 'd' ? !ascii_digit(s.p[i]) : form[i] != s.p[i])
			return false;
	return true;
}

/* Is s a date, a time, or both with an optional zone? */
static bool is_date(struct str s)
{
	bool date = has_form(str_sub(s, 0, 10), "dddd-dd-dd");
	size_t at = date ? 10 : 0;
	if (date && s.n > at && !strchr("Tt ", s.p[at++]))
		return false;
	if (date && s.n == 10)
		return true;
	if (!has_form(str_sub(s, at, at + 8), "dd:dd:dd"))
		return false;
	at += 8;
	if (at < s.n && s.p[at] == '.') {
		size_t n = str_span(str_sub(s, ++at, s.n), ASCII_DIGITS);
		if (!n)
			return false;
		at += n;
	}
	struct str zone = str_sub(s, at, s.n);
	return !zone.n || (date && (str_eq(zone, S("Z")) || str_eq(zone, S("z")) ||
					   has_form(zone, "+dd:dd") || has_form(zone, "-dd:dd")));
}

static struct err *word(struct toml_reader *r, struct node *n)
{
	size_t end = r->at;
	struct str s;
	do {
		end += end > r->at; /* the one blank that may separate a date from its time */
		while (end < r->text.n && !strchr(" \t\r\n,]}#", r->text.p[end]))
			end++;
		s = str_sub(r->text, r->at, end);
	} while (has_form(s, "dddd-dd-dd") && has_form(str_sub(r->text, end, end + 4), " dd:"));
	n->text = str_dup(r->a, s);
	if (str_eq(s, S("true")) || str_eq(s, S("false")))
		n->kind = NODE_BOOL;
	else if (is_number(s))
		n->kind = NODE_NUMBER;
	else if (is_date(s))
		n->kind = NODE_STRING;
	else
		return wrong(r, s.n ? "this is not a value of TOML; does a text lack its quotes?"
				    : "a value is expected here");
	r->at = end;
	return NULL;
}

/* ---- tables ---- */

static struct str path_of(struct toml_reader *r, const struct toml_table *t, struct str key)
{
	return str_fmt(r->a, "%zu:%.*s", t->id, STR(key));
}

static struct err *too_many(struct toml_reader *r)
{
	return err_at(err_new(E_LIMIT, "more than %d values", NODE_COUNT), here(r));
}

static struct node *add(struct toml_reader *r, struct node *to, struct str key, struct loc at)
{
	r->count++;
	struct node *n = VEC_PUSH(r->a, to);
	*n = (struct node){.kind = NODE_MAP, .key = key, .at = at, .key_at = at};
	return n;
}

/* Adds a member that t does not have yet. */
static struct toml_member *add_member(
	struct toml_reader *r, struct toml_table *t, struct str key, enum how how, struct loc at)
{
	struct toml_member *m = NEW(r->a, struct toml_member);
	*m = (struct toml_member){.how = how, .index = t->node->n, .id = ++r->tables};
	add(r, t->node, key, at);
	map_put(&r->made, path_of(r, t, key), m);
	return m;
}

/* The table that a member is; for [[a]], the last one of the array. */
static struct toml_table inside(const struct toml_table *t, const struct toml_member *m)
{
	struct node *n = &t->node->v[m->index];
	if (m->how != MADE_ARRAY)
		return (struct toml_table){.node = n, .id = m->id, .depth = t->depth + 1};
	return (struct toml_table){.node = &n->v[n->n - 1], .id = m->id, .depth = t->depth + 2};
}

static struct err *key(struct toml_reader *r, struct str *ret)
{
	skip_blanks(r);
	if (peek(r) == '"' || peek(r) == '\'') {
		TRY(string(r, false, ret));
	} else {
		size_t start = r->at;
		while (ascii_word(peek(r)) || peek(r) == '-')
			r->at++;
		*ret = str_dup(r->a, str_sub(r->text, start, r->at));
		if (!ret->n)
			return wrong(r, "a key is expected here");
	}
	skip_blanks(r);
	return NULL;
}

/* Reads "a.b.c" and enters all tables but the last key, which becomes *ret. */
static struct err *dotted(
	struct toml_reader *r, struct toml_table *t, enum how how, struct str *ret)
{
	TRY(key(r, ret));
	while (take(r, S("."))) {
		struct toml_member *m = map_get(&r->made, path_of(r, t, *ret));
		if (t->depth + 2 > NODE_DEPTH)
			return wrong(r, "nested too deeply");
		if (!m)
			m = add_member(r, t, *ret, how, here(r));
		else if (m->how == MADE_VALUE || (how == MADE_BY_KEY && m->how != MADE_BY_KEY))
			return wrong(r, "this has a value already, and cannot be extended");
		*t = inside(t, m);
		TRY(key(r, ret));
	}
	return NULL;
}

static struct err *key_value(struct toml_reader *r, struct toml_table t)
{
	struct str last;
	struct loc at = here(r);
	TRY(dotted(r, &t, MADE_BY_KEY, &last));
	if (map_get(&r->made, path_of(r, &t, last)))
		return err_at(err_new(E_SYNTAX, "'%.*s' is there twice", STR(last)), at);
	if (!take(r, S("=")))
		return wrong(r, "'=' is expected here");
	skip_blanks(r);
	struct toml_table to = inside(&t, add_member(r, &t, last, MADE_VALUE, at));
	to.node->at = here(r);
	return value(r, to);
}

static struct err *value(struct toml_reader *r, struct toml_table t)
{
	struct node *n = t.node;
	if (t.depth >= NODE_DEPTH)
		return wrong(r, "nested too deeply");
	if (r->count > NODE_COUNT)
		return too_many(r);
	if (take(r, S("["))) {
		n->kind = NODE_LIST;
		for (;;) {
			TRY(skip_lines(r));
			if (take(r, S("]")))
				return NULL;
			struct toml_table to = {.node = add(r, n, S(""), here(r)),
				.id = ++r->tables,
				.depth = t.depth + 1};
			TRY(value(r, to));
			TRY(skip_lines(r));
			if (!take(r, S(",")) && peek(r) != ']')
				return wrong(r, "',' or ']' is expected here");
		}
	}
	if (take(r, S("{"))) {
		n->kind = NODE_MAP;
		skip_blanks(r);
		if (take(r, S("}")))
			return NULL;
		do
			TRY(key_value(r, t));
		while (skip_blanks(r), take(r, S(",")));
		return take(r, S("}")) ? NULL : wrong(r, "',' or '}' is expected here");
	}
	if (peek(r) != '"' && peek(r) != '\'')
		return word(r, n);
	n->kind = NODE_STRING;
	return string(r, true, &n->text);
}

/* Reads [a.b] or [[a.b]]. */
static struct err *header(struct toml_reader *r, struct toml_table *t)
{
	struct str last;
	struct loc at = here(r);
	bool array = take(r, S("[["));
	if (!array)
		r->at++;
	TRY(dotted(r, t, MADE_ON_THE_WAY, &last));
	if (!take(r, array ? S("]]") : S("]")))
		return wrong(r, "the end of the table's name is expected here");
	struct toml_member *m = map_get(&r->made, path_of(r, t, last));
	if (m && m->how != (array ? MADE_ARRAY : MADE_ON_THE_WAY))
		return err_at(err_new(E_SYNTAX, "'%.*s' is there twice", STR(last)), at);
	if (!m)
		m = add_member(r, t, last, MADE_BY_HEADER, at);
	m->how = array ? MADE_ARRAY : MADE_BY_HEADER;
	if (array) {
		struct node *n = &t->node->v[m->index];
		n->kind = NODE_LIST;
		m->id = ++r->tables;
		add(r, n, S(""), at);
	}
	*t = inside(t, m);
	return NULL;
}

struct err *toml_parse(struct arena *a, struct str text, struct str name, const struct node **ret)
{
	struct toml_reader r = {
		.a = a, .text = text, .name = str_dup(a, name), .line = 1, .made.a = a};
	struct node *root = NEW(a, struct node);
	const struct toml_table top = {.node = root};
	struct toml_table t = top;
	if (take(&r, S("\xef\xbb\xbf")))
		return wrong(&r, "TOML has no byte order mark");
	*root = (struct node){.kind = NODE_MAP, .at = here(&r), .key_at = here(&r)};
	size_t end = utf8_end(text);
	if (text.n > NODE_SIZE)
		return err_new(E_LIMIT, "'%.*s' is too large", STR(name));
	if (end < text.n) {
		r.at = end;
		return wrong(&r, "not UTF-8");
	}
	TRY(skip_lines(&r));
	while (!at_end(&r)) {
		if (r.count > NODE_COUNT)
			return too_many(&r);
		if (peek(&r) == '[') {
			t = top;
			TRY(header(&r, &t));
		} else {
			TRY(key_value(&r, t));
		}
		skip_blanks(&r);
		TRY(skip_comment(&r));
		if (!at_end(&r) && !take_newline(&r))
			return wrong(&r, "the end of the line is expected here");
		TRY(skip_lines(&r));
	}
	*ret = root;
	return NULL;
}

struct err *toml_read(struct arena *a, struct str path, const struct node **ret)
{
	struct str text;
	TRY(fs_read(a, path, NODE_SIZE, &text));
	return toml_parse(a, text, path, ret);
}

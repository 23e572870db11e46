/* The tokenizer; see lexer.h. Each function reads one kind of token. */
#include "lang/cxx/lexer.h"

struct lex lex_new(struct str source, struct str path)
{
	struct lex l = {.s = source, .path = path, .line = 1, .line_start = true};
	if (str_starts(source, S("\xef\xbb\xbf")))
		l.at = 3;
	return l;
}

static PRINTF(3, 4) struct err *lex_error(const struct lex *l, size_t at, const char *fmt, ...)
{
	ARENA(a);
	FORMAT(msg, &a, fmt);
	size_t bol = at;
	while (bol && l->s.p[bol - 1] != '\n')
		bol--;
	struct loc loc = {
		.path = l->path,
		.line = 1 + str_count(str_sub(l->s, 0, at), '\n'),
		.col = (unsigned)(at - bol) + 1,
	};
	return err_at(err_new(E_HIPIFY, "%.*s", STR(msg)), loc);
}

static char peek(const struct lex *l, size_t ahead)
{
	return l->at + ahead < l->s.n ? l->s.p[l->at + ahead] : '\0';
}

/* Length of a backslash-newline at offset at, or 0. */
static size_t splice(struct str s, size_t at)
{
	if (at + 1 >= s.n || s.p[at] != '\\')
		return 0;
	if (s.p[at + 1] == '\n')
		return 2;
	return at + 2 < s.n && s.p[at + 1] == '\r' && s.p[at + 2] == '\n' ? 3 : 0;
}

static bool ident_char(char c)
{
	return ascii_word(c) || (unsigned char)c >= 0x80 || c == '$';
}

static struct err *block_comment(struct lex *l)
{
	size_t start = l->at, end = start + 2 + str_find(str_sub(l->s, start + 2, l->s.n), S("*/"));
	if (end == l->s.n && !l->lenient)
		return lex_error(l, start, "a comment that starts here does not end");
	if (end < l->s.n) {
		l->line += str_count(str_sub(l->s, start, end), '\n');
		end += 2;
	}
	l->at = end;
	return NULL;
}

static void newline(struct lex *l)
{
	l->at++;
	l->line++;
	l->line_start = true;
}

/* Skips white space and comments; stops at a newline that ends a preprocessor line. */
static struct err *skip_blank(struct lex *l)
{
	while (l->at < l->s.n) {
		char c = peek(l, 0);
		size_t n = splice(l->s, l->at);
		if (n) {
			l->at += n;
			l->line++;
		} else if (c == '\n' && l->directive.n) {
			return NULL;
		} else if (c == '\n') {
			newline(l);
		} else if (c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v') {
			l->at++;
		} else if (c == '/' && peek(l, 1) == '/') {
			for (; l->at < l->s.n && l->s.p[l->at] != '\n'; l->at += n ? n : 1) {
				n = splice(l->s, l->at);
				l->line += n ? 1 : 0;
			}
		} else if (c == '/' && peek(l, 1) == '*') {
			TRY(block_comment(l));
		} else {
			return NULL;
		}
	}
	return NULL;
}

/* Is this text that compilers skip or do not tokenize? */
static bool free_text(const struct lex *l)
{
	static const char *const directives[] = {"error", "warning", "pragma", NULL};
	return l->dead || str_is_one_of(l->directive, directives);
}

/* Reads a literal whose opening quote is at l->at; an unpaired quote becomes punctuation. */
static struct err *quoted(struct lex *l, char quote, struct tok *t)
{
	size_t start = l->at, i = l->at + 1;
	unsigned lines = 0;
	while (i < l->s.n && l->s.p[i] != quote && l->s.p[i] != '\n') {
		size_t n = splice(l->s, i);
		lines += n ? 1 : 0;
		i += n ? n : l->s.p[i] == '\\' && i + 1 < l->s.n && l->s.p[i + 1] != '\n' ? 2 : 1;
	}
	if (i < l->s.n && l->s.p[i] == quote) {
		t->kind = quote == '"' ? TOK_STRING : TOK_CHAR;
		l->at = i + 1;
		l->line += lines;
		return NULL;
	}
	if (quote == '"' && !free_text(l) && !l->lenient) /* it may contain unpaired quotes */
		return lex_error(l, start, "a string that starts here does not end on its line");
	t->kind = TOK_PUNCT;
	l->at = start + 1;
	return NULL;
}

/* Reads R"delim( ... )delim", with l->at on the opening quote. */
static struct err *raw_string(struct lex *l, struct tok *t)
{
	size_t open = l->at + 1, n = 0;
	while (n <= 16 && open + n < l->s.n && !strchr("( )\\\t\v\f\n", l->s.p[open + n]))
		n++;
	if (n > 16 || open + n >= l->s.n || l->s.p[open + n] != '(')
		return quoted(l, '"', t);
	char close[18] = ")"; /* the delimiter and a quote follow */
	memcpy(close + 1, l->s.p + open, n);
	close[n + 1] = '"';
	size_t from = open + n + 1, rest = l->s.n - from;
	size_t end = str_find(str_sub(l->s, from, l->s.n), (struct str){close, n + 2});
	if (end == rest && !l->lenient)
		return lex_error(l, l->at, "a raw string that starts here does not end");
	if (end < rest)
		l->line += str_count(str_sub(l->s, l->at, from + end), '\n');
	l->at = end < rest ? from + end + n + 2 : l->s.n;
	t->kind = TOK_RAW;
	return NULL;
}

/* Follows #if, #else and #endif to find dead text; word is the directive, l->at its end. */
static void conditional(struct lex *l, struct str word)
{
	if (str_starts(word, S("if"))) {
		l->depth++;
		struct str cond = str_trim(lex_rest_of_line(l));
		struct str behind = str_trim(str_sub(cond, 1, cond.n)); /* may be a comment */
		bool never = str_starts(cond, S("0")) && (!behind.n || behind.p[0] == '/');
		if (!l->dead && never && str_eq(word, S("if")))
			l->dead = l->depth;
	} else if (str_starts(word, S("el")) && l->dead == l->depth) {
		l->dead = 0;
	} else if (str_eq(word, S("endif"))) {
		l->dead = l->dead == l->depth ? 0 : l->dead;
		l->depth -= l->depth ? 1 : 0;
	}
}

static struct err *word(struct lex *l, struct tok *t)
{
	while (l->at < l->s.n && ident_char(l->s.p[l->at]))
		l->at++;
	struct str text = str_sub(l->s, t->from, l->at);
	char next = peek(l, 0);
	bool raw = text.p[text.n - 1] == 'R';
	struct str code = str_sub(text, 0, text.n - raw);
	bool prefix = !code.n || str_eq(code, S("L")) || str_eq(code, S("u")) ||
		      str_eq(code, S("U")) || str_eq(code, S("u8"));
	if (prefix && (next == '"' || (next == '\'' && !raw)))
		return raw ? raw_string(l, t) : quoted(l, next, t);
	t->kind = TOK_IDENT;
	if (l->want_name) {
		l->directive = text;
		l->want_name = false;
		conditional(l, text);
	}
	return NULL;
}

/* Reads a preprocessing number: digits, letters, dots, exponent signs, digit separators. */
static void number(struct lex *l, struct tok *t)
{
	t->kind = TOK_NUMBER;
	for (l->at++; l->at < l->s.n; l->at++) {
		char c = peek(l, 0), prev = l->s.p[l->at - 1];
		bool sign = (c == '+' || c == '-') && prev && strchr("eEpP", prev);
		bool separator = c == '\'' && ident_char(peek(l, 1));
		if (!ident_char(c) && c != '.' && !sign && !separator)
			return;
	}
}

/* Reads the "path" or <path> of an #include; false if the line has neither (but a macro, for example). */
static bool header_path(struct lex *l)
{
	char close = peek(l, 0) == '<' ? '>' : '"';
	for (size_t i = l->at + 1; i < l->s.n && l->s.p[i] != '\n'; i++) {
		if (l->s.p[i] != close)
			continue;
		l->at = i + 1;
		return true;
	}
	return false;
}

unsigned lex_column(struct lex *l, size_t at)
{
	if (at < l->bol)
		l->bol = l->seen = 0;
	const char *eol = at > l->seen ? memrchr(l->s.p + l->seen, '\n', at - l->seen) : NULL;
	if (eol)
		l->bol = (size_t)(eol - l->s.p) + 1;
	l->seen = at > l->seen ? at : l->seen;
	return (unsigned)(at - l->bol) + 1;
}

struct err *lex_next(struct lex *l, struct tok *ret)
{
	TRY(skip_blank(l));
	char c = peek(l, 0);
	*ret = (struct tok){.kind = TOK_END, .from = l->at, .to = l->at, .line = l->line};
	if (l->directive.n && (l->at >= l->s.n || c == '\n')) {
		ret->kind = TOK_LINE_END;
		l->directive = S("");
		l->want_name = false;
		if (l->at < l->s.n)
			newline(l);
		return NULL;
	}
	if (l->at >= l->s.n)
		return NULL;
	bool naming = l->want_name;
	static const char *const includes[] = {"include", "import", "include_next", NULL};
	bool including = !naming && l->directive.n && str_is_one_of(l->directive, includes);
	if (including) /* only its first token is a path */
		l->directive = S("#");
	if (including && (c == '"' || c == '<') && header_path(l)) {
		ret->kind = TOK_PATH;
	} else if (ascii_digit(c) || (c == '.' && ascii_digit(peek(l, 1)))) {
		number(l, ret);
	} else if (ident_char(c)) {
		TRY(word(l, ret));
	} else if (c == '"' || c == '\'') {
		TRY(quoted(l, c, ret));
	} else {
		ret->kind = TOK_PUNCT;
		if (c == '#' && l->line_start && !l->directive.n) {
			l->directive = S("#");
			l->want_name = true;
		}
		l->at += (c == ':' || c == '#') && peek(l, 1) == c ? 2 : 1;
	}
	l->want_name = l->want_name && !naming;
	l->line_start = false;
	ret->to = l->at;
	return NULL;
}

bool lex_try(struct lex *l, struct tok *ret)
{
	struct err *e = lex_next(l, ret);
	err_free(e);
	return !e;
}

struct str tok_text(const struct lex *l, const struct tok *t)
{
	return str_sub(l->s, t->from, t->to);
}

bool tok_is(const struct lex *l, const struct tok *t, struct str text)
{
	return t->to - t->from == text.n && !memcmp(l->s.p + t->from, text.p, text.n);
}

bool tok_in(const struct lex *l, const struct tok *t, const char *set)
{
	return t->kind == TOK_PUNCT && t->to - t->from == 1 && l->s.p[t->from] &&
	       strchr(set, l->s.p[t->from]);
}

struct str lex_rest_of_line(const struct lex *l)
{
	size_t i = l->at;
	while (i < l->s.n && l->s.p[i] != '\n') {
		size_t n = splice(l->s, i);
		i += n ? n : 1;
	}
	return str_sub(l->s, l->at, i);
}

/* The offset of the first byte that is no UTF-8 and that compilers read as code, or the text's length. Comments and literals
 * may be in any encoding, and so may what compilers skip. */
static size_t no_utf8_in_code(struct lex l)
{
	size_t bad = utf8_end(l.s);
	struct tok t = {0};
	while (bad < l.s.n && lex_try(&l, &t) && t.kind != TOK_END) {
		bool literal = t.kind == TOK_STRING || t.kind == TOK_RAW || t.kind == TOK_CHAR;
		struct str text = tok_text(&l, &t);
		size_t end = literal || free_text(&l) ? text.n : utf8_end(text);
		if (end < text.n)
			return t.from + end;
	}
	return l.s.n;
}

struct err *lex_check_text(struct str source, struct str path)
{
	struct lex l = lex_new(source, path);
	size_t bad = no_utf8_in_code(l), nul = str_chr(source, '\0');
	if (nul < bad)
		return lex_error(&l, nul, "a NUL byte: this is no source text");
	if (bad < source.n)
		return err_hint(lex_error(&l, bad, "byte 0x%02x is not valid UTF-8",
					(unsigned char)source.p[bad]),
			"convert the file first, for example with iconv -f latin1 -t utf-8");
	return NULL;
}

/* A light scanner for C++ and CUDA sources; see scan.h. It moves over the text token by token and
 * never fails: what it cannot understand is the compiler's to complain about. */
#include "plan/scan.h"

#include <string.h>

#include "base/vec.h"

struct scanner {
	struct arena *a;
	struct str text;
	size_t at;
	unsigned depth; /* of braces and parentheses: definitions count at any depth */
	struct scan *out;
};

static bool is_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_';
}

static char peek(const struct scanner *s, size_t ahead)
{
	return s->at + ahead < s->text.n ? s->text.p[s->at + ahead] : '\0';
}

static bool looking_at(const struct scanner *s, struct str what)
{
	return str_starts(str_sub(s->text, s->at, s->text.n), what);
}

/* Behind the next occurrence of end, or at the end of the text. */
static void skip_past(struct scanner *s, struct str end)
{
	size_t n = str_find(str_sub(s->text, s->at, s->text.n), end);
	s->at += n;
	s->at = s->at + end.n < s->text.n ? s->at + end.n : s->text.n;
}

static void skip_quoted(struct scanner *s, char quote)
{
	for (s->at++; s->at < s->text.n; s->at++) {
		char c = s->text.p[s->at];
		if (c == '\\')
			s->at++;
		else if (c == quote || c == '\n')
			break;
	}
	s->at = s->at < s->text.n ? s->at + 1 : s->text.n;
}

/* At the R of R"delim( ... )delim". */
static void skip_raw(struct scanner *s)
{
	s->at += 2;
	struct str rest = str_sub(s->text, s->at, s->text.n);
	struct str delim = str_sub(rest, 0, str_chr(rest, '('));
	if (delim.n > 16)
		return;
	skip_past(s, str_fmt(s->a, ")%.*s\"", STR(delim)));
}

static void skip_line_comment(struct scanner *s)
{
	while (s->at < s->text.n && s->text.p[s->at] != '\n')
		s->at += s->text.p[s->at] == '\\' && peek(s, 1) == '\n' ? 2 : 1;
}

/* Spaces, newlines and comments. */
static void skip_blank(struct scanner *s)
{
	for (;;) {
		char c = peek(s, 0);
		if (c == ' ' || (c >= '\t' && c <= '\r'))
			s->at++;
		else if (looking_at(s, S("//")))
			skip_line_comment(s);
		else if (looking_at(s, S("/*")))
			skip_past(s, S("*/"));
		else if (c == '\\' && peek(s, 1) == '\n')
			s->at += 2;
		else
			return;
	}
}

static struct str take_word(struct scanner *s)
{
	size_t from = s->at;
	while (is_word(peek(s, 0)))
		s->at++;
	return str_sub(s->text, from, s->at);
}

/* From an opening bracket to behind its partner; false when there is none. */
static bool skip_parens(struct scanner *s)
{
	unsigned depth = 0;
	while (s->at < s->text.n) {
		skip_blank(s);
		char c = peek(s, 0);
		if (c == '"' || c == '\'')
			skip_quoted(s, c);
		else
			s->at++;
		depth += c == '(';
		if (c == ')' && --depth == 0)
			return true;
	}
	return false;
}

/* Macros that define a module: its name is their first argument. */
static const char *const module_macros[] = {
	"PYBIND11_MODULE", "NB_MODULE", "BOOST_PYTHON_MODULE", NULL};

static bool is_module_macro(struct str word)
{
	for (size_t i = 0; module_macros[i]; i++)
		if (str_eq(word, str_from(module_macros[i])))
			return true;
	return false;
}

/* Is the word that was just read a function with a body? Moves behind its parameters. */
static bool is_definition(struct scanner *s)
{
	skip_blank(s);
	if (peek(s, 0) != '(' || !skip_parens(s))
		return false;
	skip_blank(s);
	if (looking_at(s, S("noexcept"))) {
		s->at += 8;
		skip_blank(s);
	}
	return peek(s, 0) == '{';
}

static void add_module(struct scanner *s, struct str name)
{
	if (name.n && !strs_has(&s->out->modules, name))
		strs_add(s->a, &s->out->modules, name);
}

static void on_word(struct scanner *s, struct str word)
{
	struct str prefix = S("PyInit_");
	if (str_starts(word, prefix) && is_definition(s)) {
		add_module(s, str_sub(word, prefix.n, word.n));
	} else if (is_module_macro(word)) {
		skip_blank(s);
		if (peek(s, 0) != '(')
			return;
		s->at++;
		skip_blank(s);
		add_module(s, take_word(s));
	} else if (str_eq(word, S("main")) && s->depth == 0 && is_definition(s)) {
		s->out->has_main = true;
	}
}

uint32_t scan_api_level(struct str text)
{
	uint64_t v = 0;
	bool hex = str_starts(text, S("0x")) || str_starts(text, S("0X"));
	if (!str_u64(hex ? str_sub(text, 2, text.n) : text, hex ? 16 : 10, &v) || v > UINT32_MAX)
		return 0;
	/* CPython: any value below 3.2 means the first stable ABI. */
	return v < 0x03020000 && v ? 0x03020000 : (uint32_t)v;
}

static void on_include(struct scanner *s)
{
	char open = peek(s, 0), close = open == '<' ? '>' : '"';
	if (open != '<' && open != '"')
		return; /* a macro names the header */
	size_t from = ++s->at;
	while (s->at < s->text.n && peek(s, 0) != close && peek(s, 0) != '\n')
		s->at++;
	if (peek(s, 0) != close)
		return;
	*VEC_PUSH(s->a, &s->out->includes) =
		(struct scan_include){.name = str_sub(s->text, from, s->at), .quoted = open == '"'};
	s->at++;
}

static void skip_spaces(struct scanner *s)
{
	while (peek(s, 0) == ' ' || peek(s, 0) == '\t')
		s->at++;
}

static void on_define(struct scanner *s)
{
	if (!str_eq(take_word(s), S("Py_LIMITED_API")))
		return;
	skip_spaces(s);
	struct str value = take_word(s);
	s->out->limited_api = value.n ? scan_api_level(value) : 0x03020000;
}

/* To the end of a preprocessor line, which comments and backslashes may prolong. */
static void skip_directive(struct scanner *s)
{
	while (s->at < s->text.n && peek(s, 0) != '\n') {
		if (looking_at(s, S("/*")))
			skip_past(s, S("*/"));
		else if (looking_at(s, S("//")))
			skip_line_comment(s);
		else
			s->at += peek(s, 0) == '\\' && peek(s, 1) == '\n' ? 2 : 1;
	}
}

/* At a '#': reads the directive's name. */
static struct str take_directive(struct scanner *s)
{
	s->at++;
	skip_spaces(s);
	struct str word = take_word(s);
	skip_spaces(s);
	return word;
}

/* Behind `#if 0`: to its #else, #elif or #endif. */
static void skip_disabled(struct scanner *s)
{
	unsigned depth = 1;
	while (s->at < s->text.n && depth) {
		skip_directive(s);
		skip_blank(s);
		if (peek(s, 0) != '#')
			continue;
		struct str word = take_directive(s);
		if (str_starts(word, S("if")))
			depth++;
		else if (str_eq(word, S("endif")) || (depth == 1 && str_starts(word, S("el"))))
			depth--;
	}
}

static void on_directive(struct scanner *s)
{
	struct str word = take_directive(s);
	if (str_eq(word, S("include")))
		on_include(s);
	else if (str_eq(word, S("define")))
		on_define(s);
	else if (str_eq(word, S("if")) && str_eq(take_word(s), S("0")))
		skip_disabled(s);
	skip_directive(s);
}

static void on_other(struct scanner *s)
{
	char c = peek(s, 0);
	if (c == '"' || c == '\'') {
		skip_quoted(s, c);
		return;
	}
	s->depth += c == '{';
	s->depth -= c == '}' && s->depth;
	s->at++;
}

static bool raw_prefix(struct str word)
{
	return str_eq(word, S("R")) || str_eq(word, S("u8R")) || str_eq(word, S("LR")) ||
	       str_eq(word, S("uR")) || str_eq(word, S("UR"));
}

/* An identifier or a number. */
static void on_token(struct scanner *s)
{
	struct str word = take_word(s);
	if (raw_prefix(word) && peek(s, 0) == '"') {
		s->at--;
		skip_raw(s);
		return;
	}
	/* 1'000: the quote belongs to the number */
	while (word.p[0] <= '9' && peek(s, 0) == '\'' && is_word(peek(s, 1)))
		s->at += 2;
	on_word(s, word);
}

void scan_text(struct arena *a, struct str text, struct scan *ret)
{
	*ret = (struct scan){0};
	struct scanner s = {.a = a, .text = text, .out = ret};
	bool line_start = true;
	while (s.at < text.n) {
		size_t before = s.at;
		skip_blank(&s);
		if (s.at > before && memchr(text.p + before, '\n', s.at - before))
			line_start = true;
		char c = peek(&s, 0);
		if (c == '#' && line_start)
			on_directive(&s);
		else if (is_word(c))
			on_token(&s);
		else if (s.at < text.n)
			on_other(&s);
		line_start = false;
	}
}

/* Splits C++/CUDA source text into tokens, in one pass and without allocation.
 *
 * Knows comments, string and character literals with their prefixes, raw strings, numbers with
 * digit separators, spliced lines and preprocessor lines: inside one, `directive` names it, and the
 * path of an #include is one token. Comments and white space are no tokens. Nothing is expanded. A
 * literal that ends with its line is a mistake (E_HIPIFY) except where compilers do not look: in
 * "#error don't", below "#if 0", or when it is a lone apostrophe.
 */
#pragma once

#include "base/err.h"

enum tok_kind {
	TOK_END,
	TOK_IDENT,
	TOK_PUNCT, /* one character, but "::" and "##" are one token */
	TOK_NUMBER,
	TOK_STRING, /* with prefix and quotes */
	TOK_RAW,    /* R"x(...)x" with prefix */
	TOK_CHAR,
	TOK_PATH,     /* an #include's path, with quotes or angle brackets */
	TOK_LINE_END, /* ends a preprocessor line; text is empty */
};

struct tok {
	enum tok_kind kind;
	size_t from, to; /* bytes of the source */
	unsigned line;
};

struct lex {
	struct str s, path; /* path is for messages */
	size_t at;
	unsigned line;
	bool line_start;      /* nothing but white space since the last newline */
	bool want_name;       /* behind '#': the next identifier names the directive */
	struct str directive; /* "include", "define", ... inside a preprocessor line, else "" */
	unsigned depth,
		dead; /* open #ifs; depth of the outermost "#if 0" around this place, or 0 */
	bool lenient; /* to be set: nothing is a mistake, what does not end runs to the end */
};

struct lex lex_new(struct str source, struct str path);
MUST_USE struct err *lex_next(struct lex *l, struct tok *ret);
/* The same where a mistake does not matter (looking ahead): false then. */
bool lex_try(struct lex *l, struct tok *ret);
bool cxx_word_char(char c); /* an ASCII letter, a digit or "_" */
struct str tok_text(const struct lex *l, const struct tok *t);
bool tok_is(const struct lex *l, const struct tok *t, struct str text);
/* Is it one of these characters, as punctuation? */
bool tok_in(const struct lex *l, const struct tok *t, const char *set);
/* The rest of the current preprocessor line, spliced lines included. */
struct str lex_rest_of_line(const struct lex *l);
/* Line of a byte at or behind *from (a byte whose line is known); for text inside a token. */
unsigned lex_count_lines(struct str s, size_t from, size_t to);
/* E_HIPIFY when the text is not valid UTF-8 or has NUL bytes. */
MUST_USE struct err *lex_check_text(struct str source, struct str path);

/* Splits C++/CUDA source text into tokens, in one pass and without allocation.
 *
 * Handles comments, string and character literals with their prefixes, raw strings, numbers with
 * digit separators, spliced lines and preprocessor lines, inside which `directive` names the directive
 * and the path of an #include is one token. Comments and white space yield no tokens; macros are not
 * expanded. A literal that is unterminated at the end of its line is an error (E_HIPIFY), except where
 * compilers accept it: in "#error don't", below "#if 0", or as a lone apostrophe.
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
	size_t from, to; /* byte offsets in the source */
	unsigned line;
};

struct lex {
	struct str s, path; /* path is for messages */
	size_t at;
	unsigned line;
	/* lex_column() found the start of a line at `bol`, and looked up to `seen` */
	size_t bol, seen;
	bool line_start;      /* nothing but white space since the last newline */
	bool want_name;       /* after '#': the next identifier names the directive */
	struct str directive; /* "include", "define", ... inside a preprocessor line, else "" */
	unsigned depth, dead; /* open #ifs; depth of the outermost enclosing "#if 0", or 0 */
	bool lenient; /* set by the caller: no errors; unterminated tokens run to the end of the text */
};

struct lex lex_new(struct str source, struct str path);
MUST_USE struct err *lex_next(struct lex *l, struct tok *ret);
/* Like lex_next(), for lookahead: returns false instead of an error. */
bool lex_try(struct lex *l, struct tok *ret);
/* The column of an offset, from 1. Looks only at what is behind the last offset that it was asked for, if it can, so that
 * long lines stay linear. */
unsigned lex_column(struct lex *l, size_t at);
struct str tok_text(const struct lex *l, const struct tok *t);
bool tok_is(const struct lex *l, const struct tok *t, struct str text);
/* Is the token punctuation, and one of these characters? */
bool tok_in(const struct lex *l, const struct tok *t, const char *set);
/* The rest of the current preprocessor line, spliced lines included. */
struct str lex_rest_of_line(const struct lex *l);
/* Fails with E_HIPIFY and the place if the text has NUL bytes, or bytes in its code that are not valid UTF-8; comments and
 * literals may be in any encoding. */
MUST_USE struct err *lex_check_text(struct str source, struct str path);

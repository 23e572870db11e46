/* Parses dependency files; see depfile.h. */
#include "formats/depfile.h"

#include "base/buf.h"
#include "base/map.h"

struct dep_reader {
	struct str text;
	size_t at;
};

static char peek(const struct dep_reader *r, size_t ahead)
{
	return r->at + ahead < r->text.n ? r->text.p[r->at + ahead] : '\0';
}

/* The length of a backslash with the newline that it escapes, or 0. */
static size_t continuation(const struct dep_reader *r)
{
	if (peek(r, 0) != '\\')
		return 0;
	if (peek(r, 1) == '\n')
		return 2;
	return peek(r, 1) == '\r' && peek(r, 2) == '\n' ? 3 : 0;
}

/* Takes a word. A run of backslashes before a blank or hash quotes: 2n+1 of them give n and the character. */
static struct str take_word(struct dep_reader *r, struct arena *a)
{
	BUF(b, a);
	while (r->at < r->text.n && str_chr(S(" \t\r\n"), r->text.p[r->at]) == 4 &&
		!continuation(r)) {
		size_t n = str_span(str_sub(r->text, r->at, r->text.n), "\\");
		char next = peek(r, n);
		bool quotes = n && (next == ' ' || next == '\t' || next == '#');
		if (n && (next == '\n' || (next == '\r' && peek(r, n + 1) == '\n')))
			n--; /* the last one continues the line */
		for (size_t i = 0; i < (quotes ? n / 2 : n); i++)
			buf_char(&b, '\\');
		r->at += n;
		if (n && !(quotes && n % 2))
			continue;
		r->at += next == '$' && peek(r, 1) == '$';
		buf_char(&b, r->text.p[r->at++]);
	}
	return str_dup(a, buf_str(&b));
}

void depfile_parse(struct arena *a, struct str text, struct strs *ret)
{
	*ret = (struct strs){0};
	MAP(seen, a);
	struct dep_reader r = {.text = text};
	bool behind = false; /* the words of a rule up to one that ends in ':' are targets */
	while (r.at < text.n) {
		char c = text.p[r.at];
		size_t skip = continuation(&r);
		skip = c == ' ' || c == '\t' || c == '\r' || c == '\n' ? 1 : skip;
		r.at += skip;
		behind = behind && c != '\n';
		if (skip)
			continue;
		struct str word = take_word(&r, a);
		if (behind && word.n && map_put(&seen, word, ret))
			strs_add(a, ret, word);
		behind |= str_ends(word, S(":"));
	}
}

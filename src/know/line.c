/* Lines of logs as patterns see them; see diagnosis.h. Logs come through terminals, CI systems, journals,
 * containers and editors, and each adds or changes something; what is a message is the same for all. */
#include <regex.h>

#include "know/diagnosis.h"

enum { CLEAN_MAX = 4096 };

/* Quotes of several languages and of broken encodings, blanks, and what HTML and JSON make of a character. */
static const struct {
	struct str from;
	char to; /* 0: nothing */
} others[] = {
	{S_INIT("\xe2\x80\x98"), '\''}, /* U+2018 to U+201F */
	{S_INIT("\xe2\x80\x99"), '\''}, {S_INIT("\xe2\x80\x9a"), '\''},
	{S_INIT("\xe2\x80\x9b"), '\''}, {S_INIT("\xe2\x80\x9c"), '\''},
	{S_INIT("\xe2\x80\x9d"), '\''}, {S_INIT("\xe2\x80\x9e"), '\''},
	{S_INIT("\xe2\x80\x9f"), '\''}, {S_INIT("\xe2\x80\xb9"), '\''}, /* single angle quotes */
	{S_INIT("\xe2\x80\xba"), '\''}, {S_INIT("\xc2\xab"), '\''},     /* double ones */
	{S_INIT("\xc2\xbb"), '\''}, {S_INIT("\xe3\x80\x8c"), '\''},     /* corner brackets */
	{S_INIT("\xe3\x80\x8d"), '\''},
	{S_INIT("\xc3\xa2\xe2\x82\xac\xcb\x9c"), '\''}, /* U+2018, U+2019 read as Windows-1252 */
	{S_INIT("\xc3\xa2\xe2\x82\xac\xe2\x84\xa2"), '\''}, {S_INIT("\\\""), '\''}, /* JSON */
	{S_INIT("\\u001b"), '\033'}, {S_INIT("&quot;"), '\''}, {S_INIT("&#39;"), '\''},
	{S_INIT("&#x27;"), '\''}, {S_INIT("&lt;"), '<'}, {S_INIT("&gt;"), '>'},
	{S_INIT("&amp;"), '&'}, {S_INIT("\xc2\xa0"), ' '}, {S_INIT("\xe2\x80\xaf"), ' '},
	{S_INIT("\xe2\x80\x8b"), 0}, {S_INIT("\xef\xbb\xbf"), 0},
	{S_INIT("\xef\xbc\x9a"), ':'}, /* the wide colon of Chinese and Japanese messages */
};

/* Length of an escape sequence behind ESC: CSI (ECMA-48), OSC or APC up to its end, or one character. */
static size_t escape_length(struct str s)
{
	size_t n = 1;
	if (!s.n)
		return 0;
	if (s.p[0] == ']' || s.p[0] == '_') {
		while (n < s.n && s.p[n] != '\a' && s.p[n] != '\033')
			n++;
		return n < s.n && s.p[n] == '\033' ? n + 2 : n + 1;
	}
	if (s.p[0] != '[')
		return 1;
	while (n < s.n && (unsigned char)s.p[n] < 0x40)
		n++;
	return n + 1;
}

static size_t other_at(struct str s, char *to)
{
	if (!s.p[0] || !strchr("\xe2\xc2\xc3\xe3\xef\\& ", s.p[0]))
		return 0;
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		if (str_starts(s, others[i].from)) {
			*to = others[i].to;
			return others[i].from.n;
		}
	}
	return 0;
}

/* Nix shows what a builder said behind "       > "; people quote each other at the beginning of a line. */
static struct str builders_line(struct str line)
{
	enum { INDENT = 6 };
	size_t n = 0;
	while (n < line.n && line.p[n] == ' ')
		n++;
	bool nix = n >= INDENT && str_starts(str_sub(line, n, line.n), S("> "));
	return str_sub(line, nix ? n + 2 : 0, line.n);
}

void line_clean(struct buf *out, struct str line)
{
	size_t begin = out->n;
	line = builders_line(line);
	for (size_t i = 0, step; i < line.n && out->n - begin < CLEAN_MAX; i += step) {
		struct str rest = str_sub(line, i, line.n);
		char c = line.p[i];
		step = other_at(rest, &c);
		if (!step)
			step = 1;
		if (c == '\033') {
			step += escape_length(str_sub(rest, step, rest.n));
			continue;
		}
		if (c == '"' || c == '`')
			c = '\'';
		bool blank = (unsigned char)c <= ' ' || c == 127;
		if (blank && (out->n == begin || out->p[out->n - 1] == ' '))
			continue;
		if (c || step == 1)
			buf_char(out, blank ? ' ' : c);
	}
}

/* ---- what stands around a message ---- */

static struct str any_of(struct arena *a, const char *const *any)
{
	struct strs all = {0};
	for (; *any; any++)
		strs_add(a, &all, str_from(*any));
	return str_join(a, &all, S("|"));
}

static struct str shape_text(struct arena *a, const struct diagnosis_shape *s)
{
	struct str text = s->text ? str_from(s->text) : any_of(a, s->any);
	for (size_t i = 0; s->text && i < diagnosis_shape_count; i++) {
		const struct diagnosis_shape *part = &diagnosis_shape_table()[i];
		if (part->any)
			text = str_replace(
				a, text, str_fmt(a, "{%s}", part->name), any_of(a, part->any));
	}
	return text;
}

/* They are compiled once, when they are asked for, and live as long as the program. */
static bool has_shape(const char *name, struct str s, regmatch_t *ret)
{
	enum { SHAPES = 32 };
	static regex_t compiled[SHAPES];
	static bool ready[SHAPES];
	ARENA(tmp);
	regmatch_t at = {.rm_so = 0, .rm_eo = (regoff_t)s.n};
	const struct diagnosis_shape *shapes = diagnosis_shape_table();
	size_t i = 0;
	while (i < diagnosis_shape_count && strcmp(shapes[i].name, name) != 0)
		i++;
	if (i == diagnosis_shape_count || i == SHAPES)
		return false;
	if (!ready[i] &&
		regcomp(&compiled[i], str_z(&tmp, shape_text(&tmp, &shapes[i])), REG_EXTENDED) != 0)
		return false;
	ready[i] = true;
	if (regexec(&compiled[i], s.n ? s.p : "", 1, &at, REG_STARTEND) != 0)
		return false;
	*ret = at;
	return true;
}

size_t line_lead(struct str clean)
{
	regmatch_t at;
	return has_shape("lead", clean, &at) ? (size_t)at.rm_eo : 0;
}

static bool is_word(char c)
{
	return ascii_alnum(c) || c == '_';
}

bool line_is_own(struct str match)
{
	regmatch_t at;
	return has_shape("own", match, &at);
}

bool line_introduces(struct str clean)
{
	regmatch_t at;
	return has_shape("intro", clean, &at);
}

bool line_probes(struct str clean)
{
	regmatch_t at;
	return has_shape("probe", clean, &at);
}

bool line_explains(struct str clean, bool inner)
{
	regmatch_t at;
	return has_shape("answer", clean, &at) || (inner && has_shape("sentence", clean, &at));
}

bool line_goes_on(struct str clean, bool inner)
{
	regmatch_t at;
	struct str said = str_sub(clean, line_lead(clean), clean.n);
	bool code = str_contains(said, S(" # ")) || /* a traceback's line, with its comment */
		    str_contains(said, S("Warning: "));
	return (!code && has_shape("unfinished", said, &at)) ||
	       (inner && has_shape("open", said, &at));
}

bool line_speaks(struct str clean, size_t from, size_t to)
{
	regmatch_t at;
	size_t lead = line_lead(clean);
	lead = lead < from ? lead : from;
	struct str said = str_sub(clean, lead, clean.n), before = str_sub(clean, lead, from);
	struct str match = str_sub(clean, from, to), after = str_sub(clean, to, clean.n);
	/* part of another name */
	if (from && to > from && is_word(clean.p[from - 1]) && is_word(clean.p[from]))
		return true;
	if (after.n && to > from && is_word(clean.p[to - 1]) && is_word(after.p[0]) &&
		!ascii_digit(after.p[0]))
		return true;
	if (has_shape("test", clean, &at) || has_shape("source", said, &at) ||
		has_shape("after", after, &at) || has_shape("speaks", before, &at))
		return true;
	return has_shape("constant", match, &at) && !has_shape("printed", said, &at);
}

/* No program prints more bytes before a message, and comparing more would take milliseconds. */
enum { HEAD = 400 };

bool line_quotes(struct str clean, size_t from, size_t to)
{
	regmatch_t at;
	size_t lead = line_lead(clean);
	struct str before = str_sub(clean, lead < from ? lead : from, from);
	return line_speaks(clean, from, to) ||
	       (before.n && (before.n > HEAD || !has_shape("head", before, &at)));
}

enum line_kind line_kind(struct str clean, bool indented)
{
	ARENA(tmp);
	regmatch_t at;
	const char *indent = indented ? " " : "";
	struct str head = str_sub(clean, 0, HEAD);
	size_t lead = line_lead(head);
	struct str s = str_fmt(&tmp, "%s%.*s", indent, STR(head));
	if (has_shape("stamped", s, &at))
		return LINE_OUTPUT;
	bool output = has_shape("output", s, &at), prose = has_shape("prose", s, &at);
	if (lead) { /* what looks like a time stamp may be a part of a list, too: both are asked */
		struct str said = str_fmt(&tmp, "%s%.*s", indent, STR(str_sub(head, lead, head.n)));
		output = output || has_shape("output", said, &at);
		prose = prose || has_shape("prose", said, &at);
	}
	return output == prose ? LINE_ANY : output ? LINE_OUTPUT : LINE_PROSE;
}

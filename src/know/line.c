/* Cleans and classifies lines of logs; see diagnosis.h. Logs come through terminals, CI systems, journals, containers
 * and editors, each of which adds or changes something; the message is the same in all of them. */
#include "know/diagnosis.h"
#include "know/match.h"

enum { CLEAN_MAX = 8192 };

/* The length of an escape sequence after ESC: a CSI (ECMA-48), an OSC or APC with its terminator, or one character. */
static size_t escape_length(struct str s)
{
	size_t n = 1;
	if (!s.n)
		return 0;
	if (s.p[0] == ']' || s.p[0] == '_') {
		n = str_until(s, "\a\033");
		return n < s.n && s.p[n] == '\033' ? n + 2 : n + 1;
	}
	if (s.p[0] != '[')
		return 1;
	while (n < s.n && (unsigned char)s.p[n] < 0x40)
		n++;
	return n + 1;
}

void line_plain(struct buf *out, struct str line)
{
	for (size_t i = 0; i < line.n; i++)
		if (line.p[i] == '\033')
			i += escape_length(str_sub(line, i + 1, line.n));
		else if (line.p[i] != '\r')
			buf_char(out, line.p[i]);
}

/* The number of bytes that encode one character in another form, 0 if there are none; *to: that character. */
static size_t other_form(struct str s, char *to)
{
	char first = s.p[0];
	if ((unsigned char)first < 128 && first != '\\' && first != '&')
		return 0;
	TABLE_EACH (diagnosis_form, f) {
		if (first != *f->from || !str_starts(s, str_from(f->from)))
			continue;
		*to = *f->to;
		return strlen(f->from);
	}
	return 0;
}

void line_clean(struct buf *out, struct str line)
{
	enum { NIX_INDENT = 6 };
	size_t begin = out->n, indent = str_span(line, " ");
	/* Nix puts "       > " before a builder's output, whereas people put the quote sign at the start of a line. */
	if (indent >= NIX_INDENT && str_starts(str_sub(line, indent, line.n), S("> ")))
		line = str_sub(line, indent + 2, line.n);
	for (size_t i = 0, step; i < line.n && out->n - begin < CLEAN_MAX; i += step) {
		struct str rest = str_sub(line, i, line.n);
		char c = line.p[i];
		step = other_form(rest, &c);
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

/* ---- the text around a message ---- */

static struct str any_of(struct arena *a, const char *const *any)
{
	struct strs all = {0};
	strs_add_words(a, &all, any);
	return str_join(a, &all, S("|"));
}

/* Compiles a shape on its first use, and keeps it until the program ends. {NAME} in it stands for the alternatives of that
 * shape. */
static bool has_shape(const char *name, struct str s, struct span ret[2])
{
	enum { SHAPES = 32 };
	static struct arena kept;
	static struct expression all[SHAPES];
	const struct diagnosis_shape *table = diagnosis_shape_table();
	ARENA(tmp);
	size_t i = 0;
	while (i < diagnosis_shape_count && strcmp(table[i].name, name) != 0)
		i++;
	if (i == diagnosis_shape_count || i == SHAPES)
		return false;
	const char *text = all[i].text;
	if (!text) {
		struct str whole =
			table[i].text ? str_from(table[i].text) : any_of(&tmp, table[i].any);
		for (size_t k = 0; table[i].text && k < diagnosis_shape_count; k++)
			if (table[k].any)
				whole = str_replace(&tmp, whole,
					str_fmt(&tmp, "{%s}", table[k].name),
					any_of(&tmp, table[k].any));
		text = str_z(&kept, whole);
	}
	return expression_fits(&kept, &all[i], text, s, ret);
}

bool line_has(struct str clean, const char *shape)
{
	return has_shape(shape, clean, NULL);
}

size_t line_lead(struct str clean)
{
	struct span at[2];
	return has_shape("lead", clean, at) ? at[0].to : 0;
}

bool line_goes_on(struct str clean)
{
	struct str said = str_sub(clean, line_lead(clean), clean.n);
	bool code = str_contains(said, S(" # ")) || /* code in a traceback, with its comment */
		    str_contains(said, S("Warning: "));
	return !code && line_has(said, "unfinished");
}

bool line_speaks(struct str clean, size_t from, size_t to)
{
	size_t lead = line_lead(clean);
	lead = lead < from ? lead : from;
	struct str said = str_sub(clean, lead, clean.n), before = str_sub(clean, lead, from);
	struct str match = str_sub(clean, from, to), after = str_sub(clean, to, clean.n);
	/* is the match part of a longer name? */
	if (from && to > from && ascii_word(clean.p[from - 1]) && ascii_word(clean.p[from]))
		return true;
	if (after.n && to > from && ascii_word(clean.p[to - 1]) && ascii_word(after.p[0]) &&
		!ascii_digit(after.p[0]))
		return true;
	if (line_has(clean, "test") || line_has(said, "source") || line_has(after, "after") ||
		line_has(before, "speaks"))
		return true;
	return line_has(match, "constant") && !line_has(said, "printed");
}

/* No program prints more bytes before a message, and comparing more would take milliseconds. */
enum { HEAD = 400 };

bool line_quotes(struct str clean, size_t from, size_t to)
{
	size_t lead = line_lead(clean);
	struct str before = str_sub(clean, lead < from ? lead : from, from);
	return line_speaks(clean, from, to) ||
	       (before.n && (before.n > HEAD || !line_has(before, "head")));
}

enum line_kind line_kind(struct str clean, bool indented)
{
	ARENA(tmp);
	const char *indent = indented ? " " : "";
	struct str head = str_sub(clean, 0, HEAD);
	size_t lead = line_lead(head);
	struct str s = str_fmt(&tmp, "%s%.*s", indent, STR(head));
	if (line_has(s, "stamped"))
		return LINE_OUTPUT;
	bool output = line_has(s, "output"), prose = line_has(s, "prose");
	if (lead) { /* an apparent time stamp may be part of a list, so try without it, too */
		struct str said = str_fmt(&tmp, "%s%.*s", indent, STR(str_sub(head, lead, head.n)));
		output = output || line_has(said, "output");
		prose = prose || line_has(said, "prose");
	}
	return output == prose ? LINE_ANY : output ? LINE_OUTPUT : LINE_PROSE;
}

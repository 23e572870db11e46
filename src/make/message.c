/* Reads what compilers say; see message.h. */
#include "make/message.h"

#include "know/know.h"

enum { MAX_NOTES = 12 };

/* ---- lines ---- */

/* Without colours and links: ESC [ ... letter, ESC ] ... BEL or ESC \\ (ECMA-48). */
static struct str plain(struct arena *a, struct str line)
{
	if (str_chr(line, 033) == line.n)
		return line;
	BUF(b, a);
	for (size_t i = 0; i < line.n; i++) {
		if (line.p[i] != 033) {
			buf_char(&b, line.p[i]);
			continue;
		}
		bool text = i + 1 < line.n && line.p[i + 1] == ']';
		for (i += 2; i < line.n; i++) {
			char c = line.p[i];
			if (text ? c == 7 || c == '\\' : c >= '@' && c <= '~')
				break;
		}
	}
	return buf_str(&b);
}

static bool take_number(struct str *s, unsigned *ret)
{
	struct str digits;
	uint64_t n;
	size_t colon = str_chr(*s, ':');
	digits = str_sub(*s, 0, colon);
	if (colon == s->n || !str_u64(digits, 10, &n) || n > UINT32_MAX)
		return false;
	*ret = (unsigned)n;
	*s = str_sub(*s, colon + 1, s->n);
	return true;
}

/* Kinds as clang writes them; "error" must come after "fatal error". */
static bool take_kind(struct str s, struct message *m)
{
	static const char *const kinds[] = {"fatal error", "error", "warning", "note", NULL};
	s = str_trim(s);
	for (size_t i = 0; kinds[i]; i++) {
		struct str kind = str_from(kinds[i]);
		if (str_starts(s, kind) && str_starts(str_sub(s, kind.n, s.n), S(": "))) {
			m->kind = kind;
			m->text = str_sub(s, kind.n + 2, s.n);
			return true;
		}
	}
	return false;
}

static bool message_parse(struct str line, struct message *m)
{
	*m = (struct message){0};
	size_t colon = str_chr(line, ':');
	struct str rest = str_sub(line, colon + 1, line.n);
	m->path = str_sub(line, 0, colon);
	if (!take_number(&rest, &m->line))
		m->line = 0;
	else if (!take_number(&rest, &m->col))
		m->col = 0;
	return colon < line.n && take_kind(rest, m);
}

/* gcc goes on from the inside outwards; clang's lines lead inwards, each like the first. */
static bool is_continued(struct str line)
{
	return str_starts(line, S("                 from "));
}

/* "In file included from path:12:" */
static bool parse_included(struct str line, struct message *m)
{
	struct str prefix = S("In file included from ");
	if (!str_starts(line, prefix) && !is_continued(line))
		return false;
	struct str rest = str_sub(line, prefix.n, line.n);
	size_t colon = str_chr(rest, ':');
	*m = (struct message){.path = str_sub(rest, 0, colon)};
	rest = str_sub(rest, colon + 1, rest.n);
	struct str digits =
		str_sub(rest, 0, str_chr(rest, str_chr(rest, ',') < rest.n ? ',' : ':'));
	uint64_t n;
	if (!str_u64(digits, 10, &n) || n > UINT32_MAX)
		return false;
	m->line = (unsigned)n;
	return true;
}

/* "path:12:5:   required from here": how gcc came to a template. */
static bool parse_required(struct str line, struct message *m)
{
	size_t colon = str_chr(line, ':');
	struct str rest = str_sub(line, colon + 1, line.n);
	*m = (struct message){.path = str_sub(line, 0, colon)};
	return colon < line.n && take_number(&rest, &m->line) && take_number(&rest, &m->col) &&
	       str_starts(rest, S("   required from "));
}

static bool message_is_error(const struct message *m)
{
	return str_ends(m->kind, S("error"));
}

/* ---- the block of the first error ---- */

static struct message kept(struct arena *a, const struct message *m)
{
	struct message copy = *m;
	copy.path = str_dup(a, m->path);
	copy.text = str_dup(a, m->text);
	return copy;
}

static void consider(
	const struct message_places *f, struct message_block *b, const struct message *m)
{
	if (!b->mine.path.n && m->line && f->file(f->user, m->path).n)
		b->mine = kept(b->notes.a, m);
}

/* A line behind the error: is it still about it? Adds it to the notes; what has a place in the
 * project is shown there. */
static bool belongs(const struct message_places *f, struct message_block *b, struct str line)
{
	struct message m;
	if (parse_included(line, &m))
		return false;
	bool message = message_parse(line, &m);
	if (message && (message_is_error(&m) || str_eq(m.kind, S("warning"))))
		return false;
	if (message)
		consider(f, b, &m);
	if (b->kept >= MAX_NOTES)
		return true;
	b->kept++;
	if (message) {
		struct str file = f->file(f->user, m.path);
		if (file.n && m.line)
			f->map(f->user, file, &m);
		buf_fmt(&b->notes, "%.*s:%u:%u: %.*s: %.*s\n", STR(file.n ? file : m.path), m.line,
			m.col, STR(m.kind), STR(m.text));
	} else if (!b->first.line) {
		buf_fmt(&b->notes, "%.*s\n", STR(line));
	}
	return true;
}

/* Of the lines that say which file includes which, or which code wants a template, up to the error: the
 * place nearest to it. */
static void consider_includes(
	const struct message_places *f, struct message_block *b, struct str lines, const char *end)
{
	ARENA(scratch);
	struct message m, above = {0}, wanted = {0};
	struct str line;
	while (lines.p < end && str_next(&lines, '\n', &line)) {
		line = plain(&scratch, line);
		bool required = !wanted.path.n && parse_required(line, &m);
		if ((!required && !parse_included(line, &m)) || !f->file(f->user, m.path).n)
			continue;
		if (required)
			wanted = m;
		else if (!is_continued(line) || !above.path.n)
			above = m;
	}
	if (wanted.path.n || above.path.n)
		consider(f, b, wanted.path.n ? &wanted : &above);
}

/* Takes lines off *text up to the second error. Include lines right above an error belong to it. */
void message_block(struct arena *tmp, const struct message_places *f, struct str *text,
	struct message_block *b)
{
	struct message m;
	struct str raw, rest = *text, above = {0};
	*b = (struct message_block){.notes = {.a = tmp}};
	while (str_next(&rest, '\n', &raw)) {
		ARENA(scratch);
		struct str line = plain(&scratch, raw);
		if (b->found && !belongs(f, b, line))
			break;
		*text = rest;
		if (b->found)
			continue;
		if (parse_included(line, &m) || parse_required(line, &m)) {
			if (!above.p)
				above = (struct str){.p = raw.p, .n = raw.n + 1 + rest.n};
			continue;
		}
		if (!message_parse(line, &m))
			continue;
		if (f->warnings ? str_eq(m.kind, S("warning")) : message_is_error(&m)) {
			b->found = true;
			b->first = kept(tmp, &m);
			consider(f, b, &m);
			if (above.p)
				consider_includes(f, b, above, raw.p);
		}
		above = (struct str){0};
	}
}

/* ---- hints: only what is known to be true ---- */

/* A header or a library that is missing: which component has it, or what else may help. */
struct err *message_hint(struct arena *tmp, struct err *e, const char *tool, struct str text)
{
	struct str part;
	const struct know_rule *rule = know_match(tool, text, &part);
	if (!rule)
		return e;
	const struct know_library *l = know_header(part);
	if (!l)
		l = know_link(part);
	if (!l)
		return err_hint(e, "%.*s", STR(know_hint(tmp, rule, part)));
	return err_hint(e,
		"the SDK component '%s' has it: sdk: {components: [%s]} in rocsmith.yaml", l->name,
		l->name);
}

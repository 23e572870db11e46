/* Reading case files: a line that starts with '@' opens a section, the lines below are its text. */
#include "case.h"

static const char *const known[] = {"args", "copy", "dir", "env", "exit", "file", "gone", "has",
	"hex", "json", "link", "needs", "remove", "stderr", "stdin", "stdout", "tree", "unchanged"};

static bool is_known(struct str name)
{
	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (str_eq(name, str_from(known[i])))
			return true;
	return false;
}

/* The text without its last blank lines, one newline at the end, and "@@" as "@". */
static struct str section_text(struct arena *a, struct str body)
{
	BUF(b, a);
	while (body.n && body.p[body.n - 1] == '\n')
		body.n--;
	struct str line;
	while (body.n && str_next(&body, '\n', &line)) {
		buf_add(&b, str_starts(line, S("@@")) ? str_sub(line, 1, line.n) : line);
		buf_char(&b, '\n');
	}
	return buf_str(&b);
}

static struct err *open_section(
	struct arena *a, struct sections *list, struct str line, struct loc at)
{
	struct section *s = VEC_PUSH(a, list);
	str_cut(str_sub(line, 1, line.n), ' ', &s->name, &s->arg);
	s->arg = str_trim(s->arg);
	s->raw = line;
	s->line = at.line;
	if (is_known(s->name))
		return NULL;
	return err_at(err_new(E_SYNTAX, "unknown section '@%.*s'", STR(s->name)), at);
}

struct err *case_parse(struct arena *a, struct str text, struct str path, struct sections *ret)
{
	struct str rest = text, line;
	struct loc at = {.path = path};
	while (rest.n && str_next(&rest, '\n', &line)) {
		at.line++;
		bool heading = str_starts(line, S("@")) && !str_starts(line, S("@@"));
		if (heading)
			TRY(open_section(a, ret, line, at));
		else if (ret->n)
			ret->v[ret->n - 1].raw.n =
				(size_t)(line.p + line.n - ret->v[ret->n - 1].raw.p);
	}
	VEC_EACH (struct section, s, ret) {
		struct str head, body;
		str_cut(s->raw, '\n', &head, &body);
		s->text = section_text(a, body);
	}
	return NULL;
}

struct strs case_words(struct arena *a, struct str line)
{
	struct strs words = {0};
	for (size_t i = 0; i < line.n;) {
		if (line.p[i] == ' ') {
			i++;
			continue;
		}
		bool quoted = line.p[i] == '"';
		struct str rest = str_sub(line, i + quoted, line.n);
		size_t n = str_chr(rest, quoted ? '"' : ' ');
		strs_add(a, &words, str_sub(rest, 0, n));
		i += n + 2 * (size_t)quoted;
	}
	return words;
}

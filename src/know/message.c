/* Reads messages of compilers and build tools; see message.h. */
#include "know/message.h"

#include "base/fs.h"
#include "know/diagnosis.h"
#include "know/know.h"

enum { MAX_NOTES = 12, MAX_DETAIL = 20, MAX_MORE = 5 };

#define MEMORY_HINT "the system may have run out of memory: try fewer jobs, -j1"
#define CMAKE_ERROR "CMake Error"

/* ---- one line ---- */

static struct str without_colours(struct arena *a, struct str line)
{
	BUF(b, a);
	line = str_replace(a, line, S("\0"), S(" ")); /* it would end what is shown */
	if (str_chr(line, 033) == line.n)
		return line;
	line_plain(&b, line);
	return buf_str(&b);
}

static bool number_of(struct str digits, unsigned *ret)
{
	uint64_t n;
	if (!str_u64(digits, 10, &n) || n > UINT32_MAX)
		return false;
	*ret = (unsigned)n;
	return true;
}

/* Removes a line number such as "12:" from *s. */
static bool take_line_number(struct str *s, unsigned *ret)
{
	size_t colon = str_chr(*s, ':');
	if (colon == s->n || !number_of(str_sub(*s, 0, colon), ret))
		return false;
	*s = str_sub(*s, colon + 1, s->n);
	return true;
}

bool message_parse(struct str line, struct message *m)
{
	static const char *const kinds[] = {"fatal error", "error", "warning", "note", NULL};
	size_t colon = str_chr(line, ':');
	struct str rest = str_sub(line, colon + 1, line.n);
	*m = (struct message){.path = str_sub(line, 0, colon)};
	if (!take_line_number(&rest, &m->line))
		m->line = 0;
	else if (!take_line_number(&rest, &m->col))
		m->col = 0;
	rest = str_trim(rest);
	for (size_t i = 0; colon < line.n && kinds[i]; i++) {
		struct str kind = str_from(kinds[i]);
		if (!str_starts(rest, kind) || !str_starts(str_sub(rest, kind.n, rest.n), S(": ")))
			continue;
		m->kind = kind;
		m->text = str_sub(rest, kind.n + 2, rest.n);
		return true;
	}
	return false;
}

/* gcc's further including files, from the inside outwards, look like this; all lines of clang look like the first. */
static bool continues_includes(struct str line)
{
	return str_starts(line, S("                 from "));
}

/* Parses "In file included from path:12:". */
static bool parse_included(struct str line, struct message *m)
{
	struct str prefix = S("In file included from "), rest, digits;
	if (!str_starts(line, prefix) && !continues_includes(line))
		return false;
	*m = (struct message){0};
	str_cut(str_sub(line, prefix.n, line.n), ':', &m->path, &rest);
	digits = str_sub(rest, 0, str_chr(rest, str_chr(rest, ',') < rest.n ? ',' : ':'));
	return number_of(digits, &m->line);
}

/* Parses "path:12:5:   required from here", by which gcc shows the use of a template. */
static bool parse_required(struct str line, struct message *m)
{
	size_t colon = str_chr(line, ':');
	struct str rest = str_sub(line, colon + 1, line.n);
	*m = (struct message){.path = str_sub(line, 0, colon)};
	return colon < line.n && take_line_number(&rest, &m->line) &&
	       take_line_number(&rest, &m->col) && str_starts(rest, S("   required from "));
}

/* ---- the block of an error ---- */

static struct message message_copy(struct arena *a, const struct message *m)
{
	struct message copy = *m;
	copy.path = str_dup(a, m->path);
	copy.text = str_dup(a, m->text);
	return copy;
}

/* Records m as the nearest place in the project, unless one is recorded already or m is outside of the project. */
static void consider(
	const struct message_origin *o, struct message_block *b, const struct message *m)
{
	if (!b->mine.path.n && m->line && o->file(o->user, m->path).n)
		b->mine = message_copy(o->a, m);
}

/* Adds a line below the error to the notes, with its place in the project if it has one. Returns false if the line does
 * not belong to the error. */
static bool add_note(const struct message_origin *o, struct message_block *b, struct str line)
{
	struct message m;
	if (parse_included(line, &m))
		return false;
	bool message = message_parse(line, &m);
	if (message && (str_ends(m.kind, S("error")) || str_eq(m.kind, S("warning"))))
		return false;
	/* gcc places the error of a macro in the header that defines it: who uses it is nearer than who includes it */
	if (message && b->by_include && str_starts(m.text, S("in expansion of macro")) &&
		o->file(o->user, m.path).n) {
		b->mine.path = S("");
		b->by_include = false;
	}
	if (message)
		consider(o, b, &m);
	if (b->kept >= MAX_NOTES)
		return true;
	b->kept++;
	if (message) {
		struct str file = o->file(o->user, m.path);
		if (file.n && m.line)
			o->map(o->user, file, &m);
		buf_fmt(&b->notes, "%.*s:%u:%u: %.*s: %.*s\n", STR(file.n ? file : m.path), m.line,
			m.col, STR(m.kind), STR(m.text));
	} else if (!b->first.line) {
		buf_fmt(&b->notes, "%.*s\n", STR(line));
	}
	return true;
}

/* The lines above an error, up to `end`, show the including files, or the code that uses a template. Considers the
 * place among them that is nearest to the error. */
static void consider_above(
	const struct message_origin *o, struct message_block *b, struct str lines, const char *end)
{
	ARENA(scratch);
	struct message m, above = {0}, wanted = {0};
	struct str line;
	while (lines.p < end && str_next(&lines, '\n', &line)) {
		line = without_colours(&scratch, line);
		bool required = !wanted.path.n && parse_required(line, &m);
		if ((!required && !parse_included(line, &m)) || !o->file(o->user, m.path).n)
			continue;
		if (required)
			wanted = m;
		else if (!continues_includes(line) || !above.path.n)
			above = m;
	}
	b->by_include = !b->mine.path.n && !wanted.path.n && above.path.n;
	if (wanted.path.n || above.path.n)
		consider(o, b, wanted.path.n ? &wanted : &above);
}

void message_block(const struct message_origin *o, struct str *text, struct message_block *b)
{
	struct message m;
	struct str raw, rest = *text, above = {0};
	*b = (struct message_block){.notes = {.a = o->a}};
	while (str_next(&rest, '\n', &raw)) {
		ARENA(scratch);
		struct str line = without_colours(&scratch, raw);
		if (b->found && !add_note(o, b, line))
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
		if (o->warnings ? str_eq(m.kind, S("warning")) : str_ends(m.kind, S("error"))) {
			b->found = true;
			b->first = message_copy(o->a, &m);
			consider(o, b, &m);
			if (above.p)
				consider_above(o, b, above, raw.p);
		}
		above = (struct str){0};
	}
}

/* ---- errors ---- */

/* Adds the hint of each tool's first rule that matches. For a missing header or library that is part of a component of
 * the SDK, the hint names that component. */
static struct err *add_hints(const struct message_origin *o, struct err *e, struct str text)
{
	for (size_t i = 0; i < sizeof(o->tools) / sizeof(o->tools[0]) && o->tools[i]; i++) {
		struct str part;
		const struct know_rule *rule = know_match(o->tools[i], text, &part);
		bool module = str_eq(str_from(o->tools[i]), S("build")) && part.n;
		if (!rule || (module && o->file(o->user, str_fmt(o->a, "%.*s.py", STR(part))).n))
			continue; /* no package has a module of the project */
		const struct know_library *l = know_header(part);
		if (!l)
			l = know_link(part);
		if (l)
			err_hint(e,
				"the SDK component '%s' has it: sdk: {components: [%s]} in "
				"rocsmith.yaml",
				l->name, l->name);
		else if (rule->hint)
			err_hint(e, "%.*s", STR(know_hint(o->a, rule, part)));
	}
	return e;
}

/* A message names a file of the copy that a build gets as the project does. */
static struct str in_users_words(const struct message_origin *o, struct str text)
{
	struct str copy = str_fmt(o->a, "%.*s/", STR(o->cmake));
	return copy.n > 1 ? str_replace(o->a, text, copy, S("")) : text;
}

/* Locates the error in a file of the project. */
static void place_error(
	const struct message_origin *o, struct err *e, struct str file, unsigned line, unsigned col)
{
	err_at(e,
		(struct loc){.path = path_join(o->a, o->project, file), .line = line, .col = col});
}

struct err *message_error(const struct message_origin *o, struct message_block *b)
{
	struct message *at = &b->mine;
	struct str text = b->first.text, part;
	struct err *e;
	if (!b->first.line) { /* "ld.lld: error: ...", "clang++: error: ..." */
		e = err_new(o->program, "%.*s: %.*s%.*s", STR(path_base(b->first.path)),
			STR(in_users_words(o, text)), STR(o->about));
		if (know_match("memory", text, &part))
			err_hint(e, MEMORY_HINT);
	} else {
		struct str where = S(""), file = at->path.n ? o->file(o->user, at->path) : S("");
		if (!str_eq(at->path, b->first.path))
			where = str_fmt(o->a, " (in %.*s:%u)", STR(b->first.path), b->first.line);
		e = err_new(E_COMPILE, "%.*s%.*s%.*s", STR(text), STR(where), STR(o->about));
		if (file.n) {
			o->map(o->user, file, at);
			place_error(o, e, file, at->line, at->col);
		}
		if (file.n && o->hint)
			o->hint(o->user, file, e);
	}
	if (b->notes.n)
		err_detail(e, buf_str(&b->notes));
	struct str line, notes = buf_str(&b->notes);
	while (str_next(&notes, '\n', &line)) /* gcc knows the header of many names */
		if (str_contains(line, S("is defined in header")))
			text = line;
	return add_hints(o, e, text);
}

/* Finds a linker's error. Those of lld have the word "error", those of GNU ld do not. */
static struct err *linker_error(const struct message_origin *o, struct str text)
{
	struct str line, more;
	while (str_next(&text, '\n', &line)) {
		bool ld = str_contains(line, S("ld: ")),
		     lld = str_contains(line, S("lld: error: "));
		if (!lld && !str_contains(line, S("undefined reference to")) &&
			!str_contains(line, S("ld: cannot find ")) &&
			!(ld && str_contains(line, S("multiple definition"))))
			continue;
		struct err *e = err_new(E_LINK, "%.*s", STR(in_users_words(o, str_trim(line))));
		BUF(b, o->a);
		for (unsigned n = 0; n < MAX_DETAIL && str_next(&text, '\n', &more); n++) {
			if (!str_starts(more, S(">>> ")))
				break;
			buf_fmt(&b, "%.*s\n", STR(more));
		}
		if (b.n)
			err_detail(e, buf_str(&b));
		return add_hints(o, e, line);
	}
	return NULL;
}

/* ---- CMake ---- */

struct cmake_message {
	struct str text;  /* the first paragraph, as one line */
	struct buf block; /* the other paragraphs, at most MAX_DETAIL lines */
	struct str file;  /* the nearest place in the project, "" = none */
	unsigned line;
};

/* The part of the text that begins with the first line of this prefix; without one, the empty end of the text. */
static struct str part_from(struct str text, struct str prefix)
{
	struct str line, rest = text;
	for (; str_next(&rest, '\n', &line); text = rest)
		if (str_starts(line, prefix))
			return text;
	return str_sub(text, text.n, text.n);
}

/* Reads a place, "a/CMakeLists.txt:12 (find_package)", if none in the project is known yet. An error in one of CMake's
 * own modules has its caller in a later line. */
static void cmake_place(const struct message_origin *o, struct str text, struct cmake_message *m)
{
	struct str place, number, rest;
	unsigned line;
	str_cut(text, ':', &place, &rest);
	str_cut(rest, ' ', &number, &rest);
	if (m->file.n || !number_of(str_trim(number), &line))
		return;
	m->file = o->file(o->user, path_join(o->a, o->cmake, place));
	m->line = line;
}

/* Removes one message from *text: "CMake Error at PLACE:" or "CMake Error: text", its indented text, and its call
 * stack. */
static void take_cmake_message(
	const struct message_origin *o, struct str *text, struct cmake_message *m)
{
	struct str line, next = *text;
	bool at = str_starts(next, S(CMAKE_ERROR " at ")), stack = false, more = false;
	unsigned lines = 0;
	BUF(said, o->a);
	*m = (struct cmake_message){.block = {.a = o->a}};
	str_next(&next, '\n', &line);
	line = str_sub(line, at ? 15 : sizeof(CMAKE_ERROR) - 1, line.n);
	if (at)
		cmake_place(o, line, m);
	else
		buf_add(&said, str_trim(str_sub(line, str_chr(line, ':') + 1, line.n)));
	for (*text = next; str_next(&next, '\n', &line); *text = next) {
		struct str sentence = {.p = said.p, .n = said.n}, words = str_trim(line);
		bool call = str_starts(line, S("Call Stack"));
		if (line.n && line.p[0] != ' ' && !call)
			break;
		stack |= call;
		/* CMake prints a quoted name in the middle of a sentence as a separate paragraph */
		if (lines == 0 && (str_starts(words, S("\"")) || str_ends(sentence, S("\""))))
			more = false;
		if (call || !words.n)
			more |= said.n > 0;
		else if (stack)
			cmake_place(o, words, m);
		else if (!more)
			buf_fmt(&said, "%s%.*s", said.n ? " " : "", STR(words));
		else if (lines++ < MAX_DETAIL)
			buf_fmt(&m->block, "%.*s\n", STR(line));
	}
	m->text = said.n ? buf_str(&said) : S("CMake stopped");
}

/* Makes an error of the first message of a configuration. CMake continues after some errors, so later messages become
 * details. */
static struct err *cmake_error(const struct message_origin *o, struct str text)
{
	struct cmake_message m, next;
	if (!text.n)
		return NULL;
	take_cmake_message(o, &text, &m);
	struct strs seen = {0};
	strs_add(o->a, &seen, m.text);
	while ((text = part_from(text, S(CMAKE_ERROR))).n && seen.n <= MAX_MORE) {
		take_cmake_message(o, &text, &next);
		struct str where = S("");
		if (next.file.n)
			where = str_fmt(o->a, "%.*s:%u: ", STR(next.file), next.line);
		if (strs_put(o->a, &seen, next.text))
			buf_fmt(&m.block, "also: %.*s%.*s\n", STR(where), STR(next.text));
	}
	struct err *e = err_new(E_FOREIGN, "%.*s", STR(in_users_words(o, m.text)));
	if (m.file.n)
		place_error(o, e, m.file, m.line, 0);
	if (m.block.n)
		err_detail(e, in_users_words(o, buf_str(&m.block)));
	return add_hints(o, e, m.text);
}

/* ---- Meson, Python, ninja ---- */

/* Makes an error of Meson's "../../meson.build:101:12: ERROR: ...", whose paths are relative to its build folder. */
static struct err *meson_error(const struct message_origin *o, struct str text)
{
	struct str line, place, path, said = S(": ERROR: ");
	unsigned number;
	while (str_next(&text, '\n', &line)) {
		size_t at = str_find(line, said);
		struct str what = str_trim(str_sub(line, at + said.n, line.n));
		if (!what.n || !str_cut(str_sub(line, 0, at), ':', &path, &place) ||
			!take_line_number(&place, &number))
			continue;
		while (str_starts(path, S("../")))
			path = str_sub(path, 3, path.n);
		struct str file = o->file(o->user, path);
		struct err *e = err_new(E_FOREIGN, "%.*s", STR(in_users_words(o, what)));
		if (file.n)
			place_error(o, e, file, number, 0);
		return add_hints(o, e, line);
	}
	return NULL;
}

/* Makes an error of the last line of the first traceback, located at the innermost place in the project. */
static struct err *python_error(const struct message_origin *o, struct str text)
{
	struct str line = S("");
	struct message mine = {0};
	bool more, by_setuptools = false, in_script = false;
	text = part_from(text, S("Traceback (most recent call last):"));
	str_next(&text, '\n', &line);
	while ((more = str_next(&text, '\n', &line)) && (!line.n || line.p[0] == ' ')) {
		/* "  File \"setup.py\", line 12, in f" */
		struct str file = S("  File \""), path, rest, number;
		if (!str_starts(line, file) ||
			!str_cut(str_sub(line, file.n, line.n), '"', &path, &rest) ||
			!str_starts(rest, S(", line ")))
			continue;
		/* setuptools runs setup.py as a text; what setup.py itself runs so has no place */
		by_setuptools |= str_ends(path, S("/setuptools/build_meta.py"));
		if (by_setuptools && str_eq(path, S("<string>"))) {
			bool script = !str_contains(rest, S(", in ")) ||
				      str_ends(str_trim(rest), S(", in <module>"));
			path = script && in_script ? S("") : S("setup.py");
			in_script |= script;
		}
		if (!path.n || !o->file(o->user, path).n)
			continue;
		str_cut(str_sub(rest, 7, rest.n), ',', &number, &rest);
		if (number_of(str_trim(number), &mine.line))
			mine.path = path;
	}
	if (!more)
		return NULL;
	struct err *e = err_new(E_FOREIGN, "%.*s", STR(in_users_words(o, str_trim(line))));
	if (mine.path.n)
		place_error(o, e, o->file(o->user, mine.path), mine.line, 0);
	return add_hints(o, e, line);
}

/* Makes an error of the first step that failed in ninja: "FAILED: [code=1] a.o", its command, its output. */
static struct err *ninja_error(const struct message_origin *o, struct str text)
{
	struct str line, prefix = S("FAILED: "), step;
	BUF(b, o->a);
	text = part_from(text, prefix);
	if (!str_next(&text, '\n', &line))
		return NULL;
	step = str_trim(str_sub(line, prefix.n, line.n));
	if (str_starts(step, S("[")))
		step = str_trim(str_sub(step, str_chr(step, ']') + 1, step.n));
	str_next(&text, '\n', &line); /* the command */
	for (unsigned n = 0; n < MAX_DETAIL && str_next(&text, '\n', &line); n++) {
		if (str_starts(line, S("[")) || str_starts(line, S("ninja: ")) ||
			str_starts(line, prefix))
			break;
		buf_fmt(&b, "%.*s\n", STR(line));
	}
	struct err *e = err_new(E_FOREIGN, "the step '%.*s' of its build failed", STR(step));
	return add_hints(o, b.n ? err_detail(e, buf_str(&b)) : e, buf_str(&b));
}

/* ---- a whole log ---- */

/* Prefers compilers' messages with a place, up to the first error of CMake (which quotes the compilers' output in its
 * checks); then come errors of linkers, CMake, Python, and messages without a place. */
struct err *message_first_error(const struct message_origin *o, struct str text)
{
	struct message_block b, loose = {0};
	text = str_replace(o->a, text, S("\0"), S(" "));
	struct str cmake = part_from(text, S(CMAKE_ERROR)),
		   rest = str_sub(text, 0, text.n - cmake.n);
	do {
		message_block(o, &rest, &b);
		if (b.found && b.first.line)
			return message_error(o, &b);
		bool echo = str_contains(b.first.text, S("linker command failed")) ||
			    str_contains(b.first.text, S("ld returned "));
		if (b.found && !loose.found && !echo)
			loose = b;
	} while (b.found);
	struct err *e = linker_error(o, text);
	if (!e)
		e = cmake_error(o, cmake);
	if (!e)
		e = meson_error(o, text);
	if (!e)
		e = python_error(o, text);
	/* the last line of a traceback often only reports that another program failed */
	if (e && !str_contains(str_from(e->msg), S("failed with exit code")) &&
		!str_contains(str_from(e->msg), S("non-zero exit status")) &&
		!str_contains(str_from(e->msg), S("Error compiling objects")))
		return e;
	loose.notes.n = 0; /* a log does not show where the output of that program ends */
	struct err *better = loose.found ? message_error(o, &loose) : ninja_error(o, text);
	if (!better)
		return e;
	err_free(e);
	return better;
}

struct err *message_hint_killed(struct err *e, const struct proc_result *r)
{
	return r->status == 128 + 9 ? err_hint(e, MEMORY_HINT) : e;
}

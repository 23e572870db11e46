/* What went wrong in a build of another build system, from the whole of what it said: the first real
 * error, not the last line; where there is a place, in the user's own file. */
#include "base/fs.h"
#include "foreign/foreign_int.h"
#include "know/know.h"
#include "make/message.h"

enum { MAX_SOURCE = 64 << 20, NEAR = 20, MAX_DETAIL = 20, MAX_MORE = 5 };

#define MEMORY_HINT "the system may have run out of memory: try fewer jobs, -j1"

struct places {
	struct arena *a;
	const struct foreign *f;
	struct str cwd;
};

/* ---- from the copy back to the project ---- */

static bool in_project(const struct places *p, struct str rel)
{
	return rel.n && path_is_inside(rel) &&
	       fs_is_file(path_join(p->a, p->f->plan->project, rel));
}

/* "hip" becomes "cuda" where it was that, in names of folders or anywhere. */
static struct str as_cuda(struct arena *a, struct str rel, bool folders)
{
	BUF(b, a);
	size_t base = rel.n - path_base(rel).n;
	for (size_t i = 0; i < rel.n; i++) {
		bool hip = str_starts(str_sub(rel, i, rel.n), S("hip")) && (i < base || !folders);
		buf_add(&b, hip ? S("cuda") : str_sub(rel, i, i + 1));
		i += hip ? 2 : 0;
	}
	return str_dup(a, buf_str(&b));
}

/* The source that torch's hipify made this file of: "hip/a_hip.cuh" of "cuda/a_cuda.cuh". */
static struct str origin(const struct places *p, struct str rel)
{
	static const struct {
		const char *made, *source;
	} ends[] = {{".hip", ".cu"}, {"_hip.cpp", ".cpp"}, {"_hip.cc", ".cc"}, {"_hip.h", ".h"},
		{"_hip.hpp", ".hpp"}, {"_hip.cuh", ".cuh"}, {"", ""}};
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		struct str end = str_from(ends[i].made);
		if (!str_ends(rel, end))
			continue;
		struct str name = str_fmt(
			p->a, "%.*s%s", STR(str_sub(rel, 0, rel.n - end.n)), ends[i].source);
		struct str names[] = {name, as_cuda(p->a, name, true), as_cuda(p->a, name, false)};
		for (size_t k = 0; k < sizeof(names) / sizeof(names[0]); k++)
			if (in_project(p, names[k]))
				return names[k];
	}
	return S("");
}

static struct str in_tree(const struct places *p, struct str path)
{
	struct str full = path_clean(p->a, path_join(p->a, p->cwd, path));
	struct str top = str_fmt(p->a, "%.*s/", STR(p->f->tree));
	return str_starts(full, top) ? str_sub(full, top.n, full.n) : S("");
}

static struct str project_file(const void *user, struct str path)
{
	const struct places *p = user;
	struct str rel = in_tree(p, path);
	if (!rel.n || in_project(p, rel))
		return rel;
	return origin(p, rel);
}

static struct strs lines_of(struct arena *a, struct str text)
{
	struct strs list = {0};
	struct str line;
	while (str_next(&text, '\n', &line))
		strs_add(a, &list, line);
	return list;
}

/* hipify adds lines in front and changes names within lines: what is as far from the end is it, or
 * a line nearby that is the very same. */
static void map_place(const void *user, struct str file, struct message *at)
{
	const struct places *p = user;
	struct str made_text, text, rel = in_tree(p, at->path);
	if (str_eq(rel, file) || !rel.n)
		return;
	struct err *e = fs_read(p->a, path_join(p->a, p->f->tree, rel), MAX_SOURCE, &made_text);
	if (!e)
		e = fs_read(p->a, path_join(p->a, p->f->plan->project, file), MAX_SOURCE, &text);
	if (e) {
		err_free(e);
		return;
	}
	struct strs made = lines_of(p->a, made_text), source = lines_of(p->a, text);
	size_t more = made.n > source.n ? made.n - source.n : 0;
	if (!at->line || at->line > made.n)
		return;
	struct str line = made.v[at->line - 1];
	size_t guess = at->line > more ? at->line - more : 1;
	for (size_t off = 0; off <= NEAR; off++) {
		size_t up = guess > off ? guess - off : 1, down = guess + off;
		size_t hit = up <= source.n && str_eq(source.v[up - 1], line)       ? up
			     : down <= source.n && str_eq(source.v[down - 1], line) ? down
										    : 0;
		if (hit) {
			at->line = (unsigned)hit;
			return;
		}
	}
	at->line = (unsigned)guess;
	at->col = 0;
}

/* ---- compilers and linkers ---- */

static struct err *compile_error(const struct places *p, struct message_block *b)
{
	struct message *at = &b->mine;
	struct str file = at->path.n ? project_file(p, at->path) : S(""), where = S("");
	if (!str_eq(at->path, b->first.path))
		where = str_fmt(p->a, " (in %.*s:%u)", STR(b->first.path), b->first.line);
	struct err *e = err_new(E_COMPILE, "%.*s%.*s", STR(b->first.text), STR(where));
	if (file.n) {
		map_place(p, file, at);
		err_at(e, (struct loc){.path = path_join(p->a, p->f->plan->project, file),
				  .line = at->line,
				  .col = at->col});
	}
	if (b->notes.n)
		err_detail(e, buf_str(&b->notes));
	return message_hint(
		p->a, message_hint(p->a, e, "build", b->first.text), "clang", b->first.text);
}

/* One that only says that another program has said why. */
static bool is_echo(struct str text)
{
	return str_contains(text, S("linker command failed")) ||
	       str_contains(text, S("ld returned "));
}

/* GNU ld's messages have no word "error". */
static bool is_link_error(struct str line)
{
	return str_contains(line, S("undefined reference to")) ||
	       str_contains(line, S("ld: cannot find ")) ||
	       (str_contains(line, S("ld: ")) && str_contains(line, S("multiple definition")));
}

static struct err *link_error(const struct places *p, struct str text)
{
	struct str line, more;
	while (str_next(&text, '\n', &line)) {
		if (!is_link_error(line) && !str_contains(line, S("lld: error: ")))
			continue;
		struct err *e = err_new(E_LINK, "%.*s", STR(str_trim(line)));
		BUF(b, p->a);
		for (unsigned n = 0; n < MAX_DETAIL && str_next(&text, '\n', &more); n++) {
			if (!str_starts(more, S(">>> ")))
				break;
			buf_fmt(&b, "%.*s\n", STR(more));
		}
		if (b.n)
			err_detail(e, buf_str(&b));
		return message_hint(p->a, message_hint(p->a, e, "build", line), "ld", line);
	}
	return NULL;
}

/* ---- CMake ---- */

#define CMAKE_ERROR "CMake Error"

/* From the line on that is the first "CMake Error", or the empty rest. */
static struct str cmake_part(struct str text)
{
	struct str line, rest = text;
	for (; str_next(&rest, '\n', &line); text = rest)
		if (str_starts(line, S(CMAKE_ERROR)))
			return text;
	return str_sub(text, text.n, text.n);
}

struct cmake_message {
	struct str said;  /* its first paragraph, as one line */
	struct buf block; /* what it says besides, at most MAX_DETAIL lines */
	struct str file;  /* the place in the project nearest to it, "" = none */
	unsigned line;
};

/* "a/CMakeLists.txt:12 (find_package)": in a module of CMake's own, the call of it is told below. */
static void cmake_place(const struct places *p, struct str text, struct cmake_message *m)
{
	struct str place, number, rest;
	uint64_t n;
	str_cut(text, ':', &place, &rest);
	str_cut(rest, ' ', &number, &rest);
	if (m->file.n || !str_u64(str_trim(number), 10, &n) || n > UINT32_MAX)
		return;
	m->file = project_file(p, path_join(p->a, p->f->tree, place));
	m->line = (unsigned)n;
}

static bool ends_quoted(const struct buf *b)
{
	return str_ends((struct str){.p = b->p, .n = b->n}, S("\""));
}

/* "CMake Error at PLACE:" or "CMake Error: text", its text indented below it, then who called. */
static void cmake_message(const struct places *p, struct str *text, struct cmake_message *m)
{
	struct str line, next = *text;
	bool at = str_starts(next, S(CMAKE_ERROR " at ")), stack = false, more = false;
	unsigned lines = 0;
	BUF(said, p->a);
	*m = (struct cmake_message){.block = {.a = p->a}};
	str_next(&next, '\n', &line);
	line = str_sub(line, at ? 15 : sizeof(CMAKE_ERROR) - 1, line.n);
	if (at)
		cmake_place(p, line, m);
	else
		buf_add(&said, str_trim(str_sub(line, str_chr(line, ':') + 1, line.n)));
	for (*text = next; str_next(&next, '\n', &line); *text = next) {
		bool call = str_starts(line, S("Call Stack"));
		if (line.n && line.p[0] != ' ' && !call)
			break;
		stack |= call;
		/* a paragraph of its own may be a name in the middle of the sentence */
		if (more && lines == 0 &&
			(str_starts(str_trim(line), S("\"")) || ends_quoted(&said)))
			more = false;
		if (call || !str_trim(line).n)
			more |= said.n > 0;
		else if (stack)
			cmake_place(p, str_trim(line), m);
		else if (!more)
			buf_fmt(&said, "%s%.*s", said.n ? " " : "", STR(str_trim(line)));
		else if (lines++ < MAX_DETAIL)
			buf_fmt(&m->block, "%.*s\n", STR(line));
	}
	m->said = said.n ? buf_str(&said) : S("CMake stopped");
}

/* The first one; a configuration goes on after some errors, and what it says then is told, too. */
static struct err *cmake_error(const struct places *p, struct str text)
{
	struct cmake_message m, next;
	text = cmake_part(text);
	if (!text.n)
		return NULL;
	cmake_message(p, &text, &m);
	struct strs told = {0};
	strs_add(p->a, &told, m.said);
	for (text = cmake_part(text); text.n && told.n <= MAX_MORE; text = cmake_part(text)) {
		cmake_message(p, &text, &next);
		struct str where = S("");
		if (next.file.n)
			where = str_fmt(p->a, "%.*s:%u: ", STR(next.file), next.line);
		if (!strs_has(&told, next.said))
			buf_fmt(&m.block, "also: %.*s%.*s\n", STR(where), STR(next.said));
		strs_put(p->a, &told, next.said);
	}
	struct err *e = err_new(E_FOREIGN, "%.*s", STR(m.said));
	if (m.file.n)
		err_at(e, (struct loc){.path = path_join(p->a, p->f->plan->project, m.file),
				  .line = m.line});
	if (m.block.n)
		err_detail(e, buf_str(&m.block));
	return message_hint(p->a, e, "build", m.said);
}

/* ---- Python ---- */

/* "  File \"setup.py\", line 12, in f" */
static bool parse_frame(struct str line, struct message *m)
{
	struct str rest, number, prefix = S("  File \"");
	uint64_t n;
	if (!str_starts(line, prefix) ||
		!str_cut(str_sub(line, prefix.n, line.n), '"', &m->path, &rest) ||
		!str_starts(rest, S(", line ")))
		return false;
	rest = str_sub(rest, 7, rest.n);
	str_cut(rest, ',', &number, &rest);
	if (!str_u64(str_trim(number), 10, &n) || n > UINT32_MAX)
		return false;
	m->line = (unsigned)n;
	return true;
}

/* The first traceback: its last line, at the innermost place in the project. */
static struct err *python_error(const struct places *p, struct str text)
{
	struct str line, mark = S("Traceback (most recent call last):");
	struct message m = {0}, mine = {0};
	while (str_next(&text, '\n', &line) && !str_starts(line, mark))
		continue;
	if (!str_starts(line, mark))
		return NULL;
	bool more;
	while ((more = str_next(&text, '\n', &line)) && (!line.n || line.p[0] == ' '))
		if (parse_frame(line, &m) && project_file(p, m.path).n)
			mine = m;
	if (!more)
		return NULL;
	struct err *e = err_new(E_FOREIGN, "%.*s", STR(str_trim(line)));
	if (mine.path.n)
		err_at(e, (struct loc){.path = path_join(p->a, p->f->plan->project,
					       project_file(p, mine.path)),
				  .line = mine.line});
	return message_hint(p->a, e, "build", line);
}

/* ---- programs ---- */

/* What a compiler says without a place: it was killed, or knows an option not. */
static struct err *program_error(const struct places *p, const struct message_block *b)
{
	struct str part;
	if (!b->found)
		return NULL;
	struct err *e =
		err_new(E_FOREIGN, "%.*s: %.*s", STR(path_base(b->first.path)), STR(b->first.text));
	if (know_match("memory", b->first.text, &part))
		err_hint(e, MEMORY_HINT);
	return message_hint(p->a, e, "build", b->first.text);
}

/* The first step that ninja could not do ("FAILED: [code=1] a.o", the command, what it said). */
static struct err *failed_step(const struct places *p, struct str text)
{
	struct str line, prefix = S("FAILED: "), step;
	BUF(b, p->a);
	while (str_next(&text, '\n', &line) && !str_starts(line, prefix))
		continue;
	if (!str_starts(line, prefix))
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
	return b.n ? err_detail(e, buf_str(&b)) : e;
}

/* Python's last word is that another program failed. */
static bool is_about_program(const struct err *e)
{
	static const char *const says[] = {
		"failed with exit code", "non-zero exit status", "Error compiling objects", NULL};
	for (size_t i = 0; e && says[i]; i++)
		if (str_contains(str_from(e->msg), str_from(says[i])))
			return true;
	return false;
}

/* ---- the whole ---- */

/* Compilers' messages with a place are the surest, those before any error of CMake's (which shows in
 * its own words what a compiler said that it tried); then linkers, CMake, Python; then what has no place. */
static struct err *first_error(const struct places *p, struct str text)
{
	const struct message_places places = {.user = p, .file = project_file, .map = map_place};
	struct message_block b, loose = {0};
	struct str cmake = cmake_part(text), rest = str_sub(text, 0, text.n - cmake.n);
	do {
		message_block(p->a, &places, &rest, &b);
		if (b.found && b.first.line)
			return compile_error(p, &b);
		if (b.found && !loose.found && !is_echo(b.first.text))
			loose = b;
	} while (b.found);
	struct err *e = link_error(p, text);
	if (!e)
		e = cmake_error(p, cmake);
	if (!e)
		e = python_error(p, text);
	if (e && !is_about_program(e))
		return e;
	struct err *better = program_error(p, &loose);
	if (!better)
		better = failed_step(p, text);
	if (!better)
		return e;
	err_free(e);
	return better;
}

struct err *foreign_explain(const struct foreign *f, const char *kind, const struct proc *p,
	const struct proc_result *r, struct str text)
{
	struct places places = {.a = f->a, .f = f, .cwd = p->cwd};
	struct err *e = r->timed_out || r->status > 128 ? NULL : first_error(&places, text);
	if (!e)
		e = err_wrap(proc_failure(p, r), "the step '%s' of '%.*s' failed", kind,
			STR(f->plan->name));
	if (r->status == 128 + 9)
		err_hint(e, MEMORY_HINT);
	return err_hint(e, "its whole output is in '%.*s'", STR(p->log));
}

struct err *foreign_check_rocm(const struct foreign *f, struct str text)
{
	struct str part;
	const struct know_rule *rule = know_match("rocm-off", text, &part);
	if (!rule)
		return NULL;
	struct err *e = err_new(E_FOREIGN, "'%.*s' is configured, but without ROCm: %s",
		STR(f->plan->name), rule->about);
	if (rule->hint)
		err_hint(e, "%.*s", STR(know_hint(f->a, rule, part)));
	return err_hint(e, "its whole output is in '%.*s/configure.log'", STR(f->log));
}

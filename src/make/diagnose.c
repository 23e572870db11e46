/* Turns what a failing compiler said into one error: its own first error, in the user's source.
 *
 * The compiler saw the translated file. Lines and columns are led back through the edits that made
 * it: the source is translated once more, which only a failure pays for.
 */
#include "base/fs.h"
#include "know/know.h"
#include "make/make.h"

enum { MAX_SOURCE = 64 << 20, MAX_NOTES = 12, MAX_ERRORS = 20 };

/* A failed run: what it was about. */
struct failed {
	struct arena *tmp;
	const struct make *m;
	const struct job *job;
};

/* "path:12:5: error: text" */
struct message {
	struct str path, kind, text;
	unsigned line, col;
};

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

static bool parse_message(struct str line, struct message *m)
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

/* "In file included from path:12:" */
static bool parse_included(struct str line, struct message *m)
{
	struct str prefix = S("In file included from ");
	if (!str_starts(line, prefix))
		return false;
	struct str rest = str_sub(line, prefix.n, line.n);
	size_t colon = str_chr(rest, ':');
	*m = (struct message){.path = str_sub(rest, 0, colon)};
	rest = str_sub(rest, colon + 1, rest.n);
	return take_number(&rest, &m->line);
}

static bool is_error(const struct message *m)
{
	return str_ends(m->kind, S("error"));
}

/* ---- from the translated tree back to the project ---- */

/* The file of the project that a path of the compiler stands for, or "". */
static struct str project_file(const struct failed *f, struct str path)
{
	const struct plan *plan = f->m->plan;
	struct str full = path_clean(f->tmp, path_join(f->tmp, f->job->proc.cwd, path));
	struct str inside = str_fmt(f->tmp, "%.*s/", STR(plan->project));
	struct str hip = str_fmt(f->tmp, "%.*s/", STR(f->m->hip));
	if (!str_starts(full, hip))
		return str_starts(full, inside) ? str_sub(full, inside.n, full.n) : S("");
	struct str rel = str_sub(full, hip.n, full.n);
	VEC_EACH (const struct plan_source, src, &plan->sources)
		if (str_eq(make_output(f->m, src), rel))
			return src->path;
	VEC_EACH (const struct change, file, &f->m->tree.changes)
		if (str_eq(file->output, rel))
			return file->source;
	return rel;
}

static size_t offset_of(struct str text, unsigned line, unsigned col)
{
	size_t at = 0;
	for (unsigned i = 1; i < line && at < text.n; i++)
		at += str_chr(str_sub(text, at, text.n), '\n') + 1;
	at += col ? col - 1 : 0;
	return at < text.n ? at : text.n;
}

/* An offset of the translated text as one of the source; edits are in order. */
static size_t untranslate(const struct hipify_text *t, size_t at)
{
	size_t out = 0, in = 0; /* both behind the last edit */
	VEC_EACH (const struct hipify_edit, e, &t->edits) {
		size_t start = out + (e->from - in);
		if (at < start)
			break;
		if (at < start + e->with.n)
			return e->from;
		out = start + e->with.n;
		in = e->to;
	}
	return in + (at - out);
}

/* The project is as a whole what decides on a file in the modes of PyTorch. */
static struct err *translate_again(
	const struct failed *f, struct str file, struct str *ret_source, struct hipify_text *ret)
{
	const struct make *m = f->m;
	if (hipify_by_torch(&m->translation))
		return hipify_file_text(f->tmp, &m->translation,
			path_rel(f->tmp, file, m->plan->project), ret_source, ret);
	TRY(fs_read(f->tmp, file, MAX_SOURCE, ret_source));
	return hipify_text_in(f->tmp, *ret_source, file, &m->tree.context, ret);
}

/* Turns line and column of the translated file into those of the user's. */
static void map_place(const struct failed *f, struct str file, struct message *at)
{
	struct str source;
	struct hipify_text t;
	struct err *e = translate_again(f, file, &source, &t);
	if (e) {
		err_free(e);
		return;
	}
	size_t offset = untranslate(&t, offset_of(t.text, at->line, at->col));
	unsigned line = 1, col = 1;
	for (size_t i = 0; i < offset && i < source.n; i++) {
		col = source.p[i] == '\n' ? 1 : col + 1;
		line += source.p[i] == '\n';
	}
	at->line = line;
	at->col = at->col ? col : 0;
}

/* ---- the block of the first error ---- */

struct block {
	struct message first; /* the error */
	struct message mine;  /* the place in the project nearest to it; path "" = none */
	struct buf notes;     /* lines behind the error that belong to it */
	unsigned kept;        /* how many */
	bool found;
};

static void consider(const struct failed *f, struct block *b, const struct message *m)
{
	if (!b->mine.path.n && m->line && project_file(f, m->path).n)
		b->mine = *m;
}

/* A line behind the error: is it still about it? Adds it to the notes; what has a place in the
 * project is shown there. */
static bool belongs(const struct failed *f, struct block *b, struct str line)
{
	struct message m;
	if (parse_included(line, &m))
		return false;
	bool message = parse_message(line, &m);
	if (message && (is_error(&m) || str_eq(m.kind, S("warning"))))
		return false;
	if (message)
		consider(f, b, &m);
	if (b->kept >= MAX_NOTES)
		return true;
	b->kept++;
	if (message) {
		struct str file = project_file(f, m.path);
		if (file.n && m.line)
			map_place(f, path_join(f->tmp, f->m->plan->project, file), &m);
		buf_fmt(&b->notes, "%.*s:%u:%u: %.*s: %.*s\n", STR(file.n ? file : m.path), m.line,
			m.col, STR(m.kind), STR(m.text));
	} else if (!b->first.line) {
		buf_fmt(&b->notes, "%.*s\n", STR(line));
	}
	return true;
}

/* Takes lines off *text up to the second error. Include lines right above an error belong to it. */
static void find_block(const struct failed *f, struct str *text, struct block *b)
{
	struct message m, above = {0};
	struct str line, rest = *text;
	*b = (struct block){.notes = {.a = f->tmp}};
	while (str_next(&rest, '\n', &line)) {
		if (b->found && !belongs(f, b, line))
			break;
		*text = rest;
		if (b->found)
			continue;
		if (parse_included(line, &m)) {
			if (project_file(f, m.path).n)
				above = m;
			continue;
		}
		if (!parse_message(line, &m))
			continue;
		if (is_error(&m)) {
			b->found = true;
			b->first = m;
			consider(f, b, &m);
			if (above.path.n)
				consider(f, b, &above);
		}
		above = (struct message){0};
	}
}

/* ---- hints: only what is known to be true ---- */

/* A header or a library that is missing: which component has it, or what else may help. */
static struct err *hint_missing(struct arena *tmp, struct err *e, const char *tool, struct str text)
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

/* Names of CUDA left in the failing file: what the tree needs more than translation. */
static struct err *hint_untranslated(struct err *e, const struct failed *f, struct str file)
{
	unsigned said = 0;
	VEC_EACH (const struct untranslated, l, &f->m->tree.untranslated) {
		if (!str_eq(l->path, file) || said >= 8)
			continue;
		said++;
		err_hint(e, "%.*s:%u: '%.*s' %s%s%.*s", STR(l->path), l->line, STR(l->name),
			l->unsure ? "looks like a name of CUDA, but no table has it"
				  : "has no counterpart in HIP",
			l->suggestion.n ? ": " : "", STR(l->suggestion));
	}
	return e;
}

/* ---- the error ---- */

static struct err *compile_error(const struct failed *f, struct block *b)
{
	const struct job_report *what = &f->job->report;
	struct message *at = &b->mine;
	struct str file = at->path.n ? project_file(f, at->path) : S("");
	struct str where = S("");
	if (!str_eq(at->path, b->first.path))
		where = str_fmt(f->tmp, " (in %.*s:%u)", STR(b->first.path), b->first.line);
	struct err *e = err_new(E_COMPILE, "%.*s%.*s (compiling '%.*s'%s%.*s)", STR(b->first.text),
		STR(where), STR(what->name), what->gpu.n ? " for " : "", STR(what->gpu));
	if (file.n) {
		struct str full = path_join(f->tmp, f->m->plan->project, file);
		map_place(f, full, at);
		err_at(e, (struct loc){.path = full, .line = at->line, .col = at->col});
		hint_untranslated(e, f, file);
	}
	if (b->notes.n)
		err_detail(e, buf_str(&b->notes));
	return hint_missing(f->tmp, e, "clang", b->first.text);
}

/* "ld.lld: error: ..." and "clang++: error: ...": programs, not places. */
static struct err *tool_error(const struct failed *f, struct block *b)
{
	const struct job_report *what = &f->job->report;
	bool link = str_eq(what->kind, S("link"));
	struct err *e = err_new(link ? E_LINK : E_COMPILE, "%.*s: %.*s (%s '%.*s'%s%.*s)",
		STR(path_base(b->first.path)), STR(b->first.text), link ? "linking" : "compiling",
		STR(what->name), what->gpu.n ? " for " : "", STR(what->gpu));
	if (b->notes.n)
		err_detail(e, buf_str(&b->notes));
	return link ? hint_missing(f->tmp, e, "ld", b->first.text) : e;
}

struct err *make_diagnose(
	struct arena *tmp, const struct make *m, const struct job *j, const struct proc_result *r)
{
	struct failed f = {.tmp = tmp, .m = m, .job = j};
	struct block b;
	struct str text = r->err;
	find_block(&f, &text, &b);
	if (!b.found) {
		struct err *e = proc_failure(&j->proc, r);
		return r->status == 128 + 9 ? err_hint(e, "the system may have run out of memory: "
							  "try fewer jobs, -j1")
					    : e;
	}
	struct err *e = b.first.line ? compile_error(&f, &b) : tool_error(&f, &b);
	/* Where all errors are wanted: those behind the first, as far as they are located. */
	for (unsigned i = 0; m->keep_going && i < MAX_ERRORS; i++) {
		find_block(&f, &text, &b);
		if (!b.found || !b.first.line)
			break;
		e = err_join(e, compile_error(&f, &b));
	}
	return e;
}

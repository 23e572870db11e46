/* Turns what a failing compiler said into one error: its own first error, in the user's source.
 *
 * The compiler saw the translated file. Lines and columns are led back through the edits that made
 * it: the source is translated once more, which only a failure pays for.
 */
#include "base/fs.h"
#include "make/make.h"
#include "make/message.h"

enum { MAX_SOURCE = 64 << 20, MAX_ERRORS = 20, MAX_WARNINGS = 200 };

/* A failed run: what it was about. */
struct failed {
	struct arena *tmp;
	const struct make *m;
	const struct job *job;
};

/* ---- from the translated tree back to the project ---- */

/* The file of the project that a path of the compiler stands for, or "". */
static struct str project_file(const void *user, struct str path)
{
	const struct failed *f = user;
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
static void map_place(const void *user, struct str rel, struct message *at)
{
	const struct failed *f = user;
	struct str file = path_join(f->tmp, f->m->plan->project, rel);
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

/* ---- hints ---- */

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

static struct err *compile_error(const struct failed *f, struct message_block *b)
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
		map_place(f, file, at);
		err_at(e, (struct loc){.path = full, .line = at->line, .col = at->col});
		hint_untranslated(e, f, file);
	}
	if (b->notes.n)
		err_detail(e, buf_str(&b->notes));
	return message_hint(f->tmp, e, "clang", b->first.text);
}

/* "ld.lld: error: ..." and "clang++: error: ...": programs, not places. */
static struct err *tool_error(const struct failed *f, struct message_block *b)
{
	const struct job_report *what = &f->job->report;
	bool link = str_eq(what->kind, S("link"));
	struct err *e = err_new(link ? E_LINK : E_COMPILE, "%.*s: %.*s (%s '%.*s'%s%.*s)",
		STR(path_base(b->first.path)), STR(b->first.text), link ? "linking" : "compiling",
		STR(what->name), what->gpu.n ? " for " : "", STR(what->gpu));
	if (b->notes.n)
		err_detail(e, buf_str(&b->notes));
	return link ? message_hint(f->tmp, e, "ld", b->first.text) : e;
}

struct err *make_diagnose(
	struct arena *tmp, const struct make *m, const struct job *j, const struct proc_result *r)
{
	struct failed f = {.tmp = tmp, .m = m, .job = j};
	const struct message_places places = {.user = &f, .file = project_file, .map = map_place};
	struct message_block b;
	struct str text = r->err;
	message_block(tmp, &places, &text, &b);
	if (!b.found) {
		struct err *e = proc_failure(&j->proc, r);
		return r->status == 128 + 9 ? err_hint(e, "the system may have run out of memory: "
							  "try fewer jobs, -j1")
					    : e;
	}
	struct err *e = b.first.line ? compile_error(&f, &b) : tool_error(&f, &b);
	/* Where all errors are wanted: those behind the first, as far as they are located. */
	for (unsigned i = 0; m->keep_going && i < MAX_ERRORS; i++) {
		message_block(tmp, &places, &text, &b);
		if (!b.found || !b.first.line)
			break;
		e = err_join(e, compile_error(&f, &b));
	}
	return e;
}

void make_add_warnings(struct make *m, const struct job *j, struct str said)
{
	struct failed f = {.tmp = m->a, .m = m, .job = j};
	const struct message_places places = {
		.warnings = true, .user = &f, .file = project_file, .map = map_place};
	while (said.n && m->warnings.n < MAX_WARNINGS) {
		struct message_block b;
		message_block(m->a, &places, &said, &b);
		struct message *at = b.mine.path.n ? &b.mine : &b.first;
		struct str file = b.mine.path.n ? project_file(&f, at->path) : at->path;
		if (!b.found)
			break;
		struct str raw = str_fmt(
			m->a, "%.*s:%u:%u %.*s", STR(file), at->line, at->col, STR(b.first.text));
		if (!strs_put(m->a, &m->warned, raw))
			continue;
		if (b.mine.path.n)
			map_place(&f, file, at);
		struct str where =
			at->line ? str_fmt(m->a, "%.*s:%u:%u", STR(file), at->line, at->col) : file;
		struct finding *w =
			finding_add(m->a, &m->warnings, "compiler-warning", SEV_WARNING, where);
		finding_say(m->a, w, "%.*s", STR(b.first.text));
	}
}

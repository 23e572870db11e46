/* Maps messages of our own compiler runs back to the user's source.
 *
 * The compiler read the translated file. To undo its edits, the source is translated once more. Only a build that fails
 * or has warnings pays for that.
 */
#include "base/fs.h"
#include "know/message.h"
#include "make/make.h"

enum { MAX_SOURCE = 64 << 20, MAX_ERRORS = 20, MAX_WARNINGS = 200 };

/* The job whose output is being read. */
struct failed_job {
	struct arena *tmp;
	const struct make *m;
	const struct job *job;
};

/* ---- from the translated tree back to the project ---- */

/* Maps a path in a message to the project's file; "" if there is none. */
static struct str project_file(const void *user, struct str path)
{
	const struct failed_job *f = user;
	const struct plan *plan = f->m->plan;
	struct str full = path_clean(f->tmp, path_join(f->tmp, f->job->proc.cwd, path));
	struct str inside = str_fmt(f->tmp, "%.*s/", STR(plan->project));
	struct str hip = str_fmt(f->tmp, "%.*s/", STR(f->m->hip));
	bool made = str_starts(full, hip);
	struct str rel = made ? str_sub(full, hip.n, full.n) : str_sub(full, inside.n, full.n);
	/* "#line 1" names any file; the one of a place is shown, so it must be a file of the project */
	if (!(made || str_starts(full, inside)) ||
		fs_leads_out(path_join(f->tmp, plan->project, rel)))
		return S("");
	if (!made)
		return rel;
	for (size_t i = 0; i < plan->includes.n; i++) {
		struct str dir = plan->includes.v[i], at = make_outside(f->m, dir);
		if (dir.p[0] == '/' && path_is_below(rel, at))
			return path_join(f->tmp, dir, str_sub(rel, at.n + 1, rel.n));
	}
	VEC_EACH (const struct plan_source, src, &plan->sources)
		if (str_eq(make_output(f->m, src), rel))
			return src->path;
	const struct change *file = VEC_FIND(const struct change, &f->m->tree.changes, output, rel);
	return file ? file->source : rel;
}

/* Maps an offset of the translated text to one of the source; edits are in order. */
static size_t untranslate(const struct hipify_text *t, size_t at)
{
	size_t out = 0,
	       in = 0; /* ends of the last edit, in the translated text and in the source */
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

/* Replaces line and column in the translated file by those in the user's file, which is translated again to get the
 * edits. */
static void map_place(const void *user, struct str rel, struct message *at)
{
	const struct failed_job *f = user;
	const struct make *m = f->m;
	struct str file = path_join(f->tmp, m->plan->project, rel), source;
	struct hipify_text t;
	struct err *e;
	if (hipify_by_torch(
		    &m->translation)) { /* PyTorch's modes translate a file by the whole project */
		e = hipify_file_text(f->tmp, &m->translation, rel, &source, &t);
	} else {
		e = fs_read(f->tmp, file, MAX_SOURCE, &source);
		if (!e)
			e = hipify_text(f->tmp, source, file, &m->tree.context, &t);
	}
	if (e) {
		err_free(e);
		return;
	}
	size_t made = 0;
	for (unsigned i = 1; i < at->line && made < t.text.n; i++)
		made += str_chr(str_sub(t.text, made, t.text.n), '\n') + 1;
	made += at->col ? at->col - 1 : 0;
	size_t offset = untranslate(&t, made < t.text.n ? made : t.text.n);
	struct str before = str_sub(source, 0, offset);
	size_t end = str_rchr(before, '\n'); /* the line above ends there */
	at->line = 1 + str_count(before, '\n');
	if (at->col)
		at->col = (unsigned)(end < before.n ? before.n - end : before.n + 1);
}

/* Adds a hint for each CUDA name that the translation left in the failing file. */
static void hint_untranslated(const void *user, struct str file, struct err *e)
{
	const struct failed_job *f = user;
	unsigned shown = 0;
	VEC_EACH (const struct untranslated, l, &f->m->tree.untranslated) {
		if (!str_eq(l->path, file) || shown >= 8)
			continue;
		shown++;
		err_hint(e, "%.*s:%u: %.*s", STR(l->path), l->line, STR(hipify_lacks(f->tmp, l)));
	}
}

/* ---- errors and warnings ---- */

struct err *make_diagnose(struct arena *tmp, const struct job *j, const struct proc_result *r)
{
	CLEANUP(fs_unguardp) struct fs_tree *guard = NULL;
	const struct make *m = j->set->user;
	const struct job_report *what = &j->report;
	bool link = str_eq(what->kind, S("link"));
	struct failed_job f = {.tmp = tmp, .m = m, .job = j};
	const struct message_origin origin = {.a = tmp,
		.project = m->plan->project,
		.about = str_fmt(tmp, " (%s '%.*s'%s%.*s)", link ? "linking" : "compiling",
			STR(what->name), what->gpu.n ? " for " : "", STR(what->gpu)),
		.program = link ? E_LINK : E_COMPILE,
		.tools = {link ? "ld" : "clang"},
		.user = &f,
		.file = project_file,
		.map = map_place,
		.hint = hint_untranslated};
	struct message_block b;
	struct str text = r->err;
	TRY(fs_guard_sources(m->plan->project, &guard));
	message_block(&origin, &text, &b);
	if (!b.found)
		return message_hint_killed(proc_failure(&j->proc, r), r);
	struct err *e = message_error(&origin, &b);
	if (proc_lacks_space(str_from(e->msg)))
		e->code = E_NOSPACE;
	/* --keep-going also reports the errors after the first, as long as they have a place */
	for (unsigned i = 0; m->keep_going && i < MAX_ERRORS; i++) {
		message_block(&origin, &text, &b);
		if (!b.found || !b.first.line)
			break;
		e = err_join(e, message_error(&origin, &b));
	}
	return e;
}

void make_add_warnings(struct make *m, const struct job *j, struct str said)
{
	struct failed_job f = {.tmp = m->a, .m = m, .job = j};
	const struct message_origin origin = {
		.a = m->a, .warnings = true, .user = &f, .file = project_file, .map = map_place};
	while (said.n && m->warnings.n < MAX_WARNINGS) {
		struct message_block b;
		message_block(&origin, &said, &b);
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
		finding_note(
			m->a, &m->warnings, "compiler-warning", where, "%.*s", STR(b.first.text));
	}
}

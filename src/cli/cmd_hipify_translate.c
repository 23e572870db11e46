/* Translating, or looking at what a translation would change: runs hipify and shows what came of
 * it, as text, a list, a diff or JSON.
 */
#include "cli/cmd_hipify.h"

#include "base/fs.h"
#include "term/out.h"

static const char *const status_names[] = {
	[CHANGE_OK] = "ok",
	[CHANGE_UNCHANGED] = "unchanged",
	[CHANGE_SKIPPED] = "skipped",
	[CHANGE_FAILED] = "failed",
};

/* The folder of the results; "" when nothing says where they would go. */
static struct str target(const struct hipify_options *o)
{
	return o->in_place ? o->dir : o->out;
}

static struct str source_of(struct hipify_job *job, const struct change *f)
{
	return hipify_in_dir(job->a, job->o.dir, f->source);
}

static struct str output_of(struct hipify_job *job, const struct change *f)
{
	return hipify_in_dir(job->a, target(&job->o), f->output);
}

/* Where nothing says where results would go: beside the sources. */
static struct str shown_output(struct hipify_job *job, const struct change *f)
{
	struct str dir = target(&job->o).n ? target(&job->o) : job->o.dir;
	return hipify_in_dir(job->a, dir, f->output);
}

/* When two sources give one output, the first has no text of its own. */
static bool is_result(const struct change *f)
{
	return f->status == CHANGE_OK && f->text.p;
}

static size_t count(const struct hipify_tree *t, enum change_status s)
{
	size_t n = 0;
	VEC_EACH (const struct change, f, &t->changes)
		n += f->status == s;
	return n;
}

/* ---- JSON ---- */

static void json_error(struct json *j, const struct err *e)
{
	if (!e)
		return;
	json_key(j, "error");
	json_open(j, '{');
	json_put(j, "id", str_from(err_id(e->code)));
	json_put(j, "message", str_from(e->msg));
	if (e->line) {
		json_put_u64(j, "line", e->line);
		json_put_u64(j, "column", e->col);
	}
	json_close(j);
}

static void json_file(struct json *j, struct hipify_job *job, const struct change *f)
{
	json_open(j, '{');
	json_put(j, "source", source_of(job, f));
	json_put(j, "output", output_of(job, f));
	json_put(j, "status", str_from(status_names[f->status]));
	if (job->o.mode == HIPIFY_STANDALONE)
		json_put_u64(j, "edits", f->edits);
	json_error(j, f->error);
	json_close(j);
}

static void json_repeats(struct json *j, struct hipify_job *job, const struct hipify_tree *t)
{
	json_key(j, "repeats");
	json_open(j, '[');
	VEC_EACH (const struct change, f, &t->changes)
		if (f->mark == HIPIFY_REPEATS)
			json_str(j, output_of(job, f));
	json_close(j);
}

static void print_json(struct hipify_job *job, const struct hipify_tree *t)
{
	const struct hipify_options *o = &job->o;
	BUF(b, job->a);
	struct json j = {.out = &b, .indent = 2};
	json_open(&j, '{');
	json_put(&j, "schema", S("rocsmith.hipify/1"));
	json_put(&j, "mode", str_from(hipify_modes[o->mode - 1]));
	json_put(&j, "directory", o->dir);
	json_put(&j, "output", target(o));
	if (o->mode != HIPIFY_STANDALONE)
		hipify_json_torch(&j, &t->torch);
	json_key(&j, "files");
	json_open(&j, '[');
	VEC_EACH (const struct change, f, &t->changes)
		json_file(&j, job, f);
	json_close(&j);
	hipify_json_left(job->a, &j, o->dir, &t->untranslated);
	json_repeats(&j, job, t);
	json_key(&j, "findings");
	findings_json(&j, &t->findings);
	json_put_strs(&j, "headers", &t->headers);
	json_put_strs(&j, "removed", &t->changes.removed);
	json_put_strs(&j, "edited", &t->changes.edited);
	json_close(&j);
	hipify_print_json(&b);
}

/* ---- text ---- */

/* Names that stay: in mode standalone always (its tables are ours to answer for), else on request.
 */
static void print_left(struct hipify_job *job, const struct untranslated_list *left)
{
	const struct hipify_args *h = job->args;
	bool standalone = job->o.mode == HIPIFY_STANDALONE;
	VEC_EACH (const struct untranslated, l, left) {
		struct str line = hipify_left_text(job->a, job->o.dir, l);
		if (h->diff && standalone)
			say_warning("%.*s", STR(line));
		else if (standalone || h->check)
			out_fmt("%.*s\n", STR(line));
		else
			say_verbose("%.*s", STR(line));
	}
}

static void say_repeats(struct hipify_job *job, const struct hipify_tree *t)
{
	size_t n = 0;
	VEC_EACH (const struct change, f, &t->changes)
		n += f->mark == HIPIFY_REPEATS;
	if (!n)
		return;
	say_warning("torch's own hipify, run once more on the result, would change %zu file%s of "
		    "it again",
		n, n == 1 ? "" : "s");
	VEC_EACH (const struct change, f, &t->changes)
		if (f->mark == HIPIFY_REPEATS)
			say_verbose("would be changed again: %.*s", STR(output_of(job, f)));
}

static void print_summary(struct hipify_job *job, const struct hipify_tree *t)
{
	VEC_EACH (const struct change, f, &t->changes)
		if (f->status == CHANGE_OK)
			say_verbose("%.*s -> %.*s", STR(source_of(job, f)), STR(output_of(job, f)));
	say_repeats(job, t);
	bool only_looked = job->o.look_only || fs_writes_forbidden();
	struct str where = job->build.n ? str_fmt(job->a, "; in %.*s", STR(job->o.out)) : S("");
	bool sought = job->o.mode == HIPIFY_STANDALONE || job->o.want_untranslated;
	struct str left = sought ? str_fmt(job->a, ", %zu names left", t->untranslated.n) : S("");
	say_status(only_looked ? S("Checked") : S("Translated"),
		"%zu files%s (%zu up to date, %zu need no change, %zu failed, %zu removed)%.*s%.*s",
		count(t, CHANGE_OK), only_looked ? " would change" : "", count(t, CHANGE_SKIPPED),
		count(t, CHANGE_UNCHANGED), count(t, CHANGE_FAILED), t->changes.removed.n,
		STR(left), STR(where));
}

static void print_check(struct hipify_job *job, const struct hipify_tree *t)
{
	VEC_EACH (const struct change, f, &t->changes) {
		if (!is_result(f))
			continue;
		if (job->o.mode == HIPIFY_STANDALONE)
			out_fmt("%.*s: %zu changes\n", STR(source_of(job, f)), f->edits);
		else if (str_eq(f->source, f->output))
			out_fmt("%.*s: would change\n", STR(source_of(job, f)));
		else
			out_fmt("%.*s: would give %.*s\n", STR(source_of(job, f)),
				STR(shown_output(job, f)));
	}
}

static struct err *print_diff(struct hipify_job *job, const struct hipify_tree *t)
{
	struct hipify_options *o = &job->o;
	VEC_EACH (const struct change, f, &t->changes) {
		ARENA(tmp);
		struct str source;
		if (!is_result(f))
			continue;
		TRY(hipify_source(&tmp, o, f->source, &source));
		struct changes_diff d = {.old_name = source_of(job, f),
			.new_name = shown_output(job, f),
			.old = source,
			.new = f->text};
		out_text(changes_diff(&tmp, &d));
	}
	return NULL;
}

static void say_findings(const struct findings *list)
{
	VEC_EACH (const struct finding, f, list) {
		if (f->severity == SEV_INFO)
			say_verbose("%.*s: %.*s", STR(f->path), STR(f->message));
		else
			say_warning("%.*s: %.*s", STR(f->path), STR(f->message));
		VEC_EACH (const struct str, fix, &f->fix)
			say_hint("%.*s", STR(*fix));
	}
}

static void say_edited(struct hipify_job *job, const struct hipify_tree *t)
{
	VEC_EACH (const struct str, e, &t->changes.edited) {
		struct str path = hipify_in_dir(job->a, target(&job->o), *e);
		if (job->o.in_place)
			say_warning("'%.*s' was edited since: the edit counts as a new source",
				STR(path));
		else
			say_warning(
				"'%.*s' was edited and is made anew; the edit is kept in '%.*s'",
				STR(path), STR(path_join(job->a, job->o.out, S(".rocsmith/kept"))));
	}
}

static struct err *show(struct hipify_job *job, struct hipify_tree *t)
{
	const struct hipify_args *h = job->args;
	hipify_warn_unknown(&t->torch);
	say_findings(&t->findings);
	say_edited(job, t);
	if (h->common.json && h->verify)
		return NULL; /* the comparison was the answer */
	if (h->common.json) {
		print_json(job, t);
		return NULL;
	}
	if (h->check)
		print_check(job, t);
	if (h->diff)
		TRY(print_diff(job, t));
	print_left(job, &t->untranslated);
	print_summary(job, t);
	return NULL;
}

/* ---- the run ---- */

/* The overlay that nobody named lies in the folder of the project's builds: not while one runs. */
static struct err *lock_build(const struct hipify_job *job, int *ret_fd)
{
	ARENA(tmp);
	if (!job->build.n || fs_writes_forbidden())
		return NULL;
	TRY(fs_mkdirs(job->build));
	return fs_lock(path_join(&tmp, job->build, S("lock")), true, ret_fd);
}

struct err *hipify_translate(struct hipify_job *job, int *ret_status)
{
	CLEANUP(fd_closep) int lock = -1;
	struct hipify_tree t = {0};
	TRY(lock_build(job, &lock));
	job->o.want_untranslated =
		job->args->common.json || job->args->check || out_verbosity() > 0;
	struct err *e = hipify_run(job->a, &job->o, &t);
	if (!e)
		e = show(job, &t);
	if (!e)
		e = hipify_failures(job->a, &t);
	if (!e && job->args->check && count(&t, CHANGE_OK))
		*ret_status = 1;
	hipify_tree_free(&t);
	return e;
}

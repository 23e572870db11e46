/* Translating, or looking at what a translation would change: runs hipify and shows what came of
 * it, as text, a list, a diff or JSON.
 */
#include "cli/cmd_hipify.h"

#include "base/fs.h"
#include "base/progress.h"
#include "term/out.h"

static const char *const status_names[] = {
	[CHANGE_OK] = "ok",
	[CHANGE_UNCHANGED] = "unchanged",
	[CHANGE_SKIPPED] = "skipped",
	[CHANGE_FAILED] = "failed",
	[CHANGE_FAILED + 1] = NULL,
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

/* A header that results include and that no source stands for. */
static bool is_ours(const struct change *f)
{
	return f->absent && str_eq(f->source, f->output) && hipify_is_our_header(f->output);
}

/* When two sources give one output, the first has no text of its own. */
static bool is_result(const struct change *f)
{
	return f->status == CHANGE_OK && f->text.p && !is_ours(f);
}

static size_t count(const struct hipify_tree *t, enum change_status s)
{
	size_t n = 0;
	VEC_EACH (const struct change, f, &t->changes)
		n += f->status == s && !is_ours(f);
	return n;
}

/* ---- JSON ---- */

struct shown_error {
	const char *id, *message;
	const struct err *place; /* NULL = none is known */
};

struct shown_file {
	struct str source, output;
	enum change_status status;
	const struct change *counted; /* mode standalone */
	const struct shown_error *error;
};

struct shown {
	const char *mode;
	struct str directory, output;
	const struct torch_source *torch; /* modes torch and extension */
	VEC(struct shown_file) files;
	struct untranslated_list untranslated;
	struct strs repeats;
	const struct hipify_tree *tree;
};

static const struct json_field place_fields[] = {
	FIELD("line", struct err, line),
	FIELD("column", struct err, col),
	{.kind = FIELD_END},
};
static const struct json_field error_fields[] = {
	FIELDS(struct shown_error, id, message),
	FIELD_FROM(struct shown_error, place, place_fields),
	{.kind = FIELD_END},
};
static const struct json_field edits_fields[] = {
	FIELD("edits", struct change, edits),
	{.kind = FIELD_END},
};
static const struct json_field file_fields[] = {
	FIELDS(struct shown_file, source, output),
	FIELD_ENUM("status", struct shown_file, status, status_names),
	FIELD_FROM(struct shown_file, counted, edits_fields),
	FIELD_POINTER("error", struct shown_file, error, error_fields),
	{.kind = FIELD_END},
};
static const struct json_field tree_fields[] = {
	FIELD_LIST("findings", struct hipify_tree, findings, finding_fields),
	FIELD("headers", struct hipify_tree, headers),
	FIELDS_IN(struct hipify_tree, changes, removed, edited),
	{.kind = FIELD_END},
};
static const struct json_field shown_fields[] = {
	FIELD_CONST("schema", "rocsmith.hipify/1"),
	FIELDS(struct shown, mode, directory, output),
	FIELD_POINTER("torch", struct shown, torch, hipify_torch_fields),
	FIELD_LIST("files", struct shown, files, file_fields),
	FIELD_LIST("untranslated", struct shown, untranslated, hipify_untranslated_fields),
	FIELD("repeats", struct shown, repeats),
	FIELD_FROM(struct shown, tree, tree_fields),
	{.kind = FIELD_END},
};

static const struct shown_error *shown_error(struct arena *a, const struct err *e)
{
	struct shown_error *shown = NEW(a, struct shown_error);
	*shown = (struct shown_error){err_id(e->code), e->msg, e->line ? e : NULL};
	return shown;
}

static void print_json(struct hipify_job *job, const struct hipify_tree *t)
{
	const struct hipify_options *o = &job->o;
	struct arena *a = job->a;
	struct shown s = {.mode = hipify_modes[o->mode],
		.directory = o->dir,
		.output = target(o),
		.torch = hipify_by_torch(o) ? &t->torch : NULL,
		.tree = t};
	VEC_EACH (const struct untranslated, u, &t->untranslated) {
		struct untranslated *name = VEC_PUSH(a, &s.untranslated);
		*name = *u;
		name->path = hipify_in_dir(a, o->dir, u->path);
	}
	VEC_EACH (const struct change, f, &t->changes) {
		*VEC_PUSH(a, &s.files) = (struct shown_file){
			.source = source_of(job, f),
			.output = output_of(job, f),
			.status = f->status,
			.counted = hipify_by_torch(o) ? NULL : f,
			.error = f->error ? shown_error(a, f->error) : NULL,
		};
		if (f->mark == HIPIFY_REPEATS)
			strs_add(a, &s.repeats, output_of(job, f));
	}
	out_text(json_document(a, 2, shown_fields, &s));
}

/* ---- text ---- */

/* Names that stay: in mode standalone always (its tables are ours to answer for), else on request.
 */
static void print_untranslated(struct hipify_job *job, const struct untranslated_list *list)
{
	const struct hipify_args *h = job->args;
	bool standalone = !hipify_by_torch(&job->o);
	VEC_EACH (const struct untranslated, u, list) {
		struct str line = hipify_untranslated_text(job->a, job->o.dir, u);
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

/* "3 up to date, 1 failed": what there is none of is not mentioned. */
static struct str other_files(struct arena *a, const struct hipify_tree *t)
{
	const struct {
		size_t n;
		const char *what;
	} parts[] = {{count(t, CHANGE_SKIPPED), "up to date"},
		{count(t, CHANGE_UNCHANGED), "unchanged"}, {count(t, CHANGE_FAILED), "failed"},
		{t->changes.removed.n, "removed"}};
	struct strs words = {0};
	size_t ours = 0;
	VEC_EACH (const struct change, f, &t->changes)
		ours += is_ours(f);
	if (ours)
		strs_add(a, &words,
			str_fmt(a, "and %.*s of rocsmith", STR(human_count(a, ours, "header"))));
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		if (parts[i].n)
			strs_add(a, &words, str_fmt(a, "%zu %s", parts[i].n, parts[i].what));
	return words.n ? str_fmt(a, " (%.*s)", STR(str_join(a, &words, S(", ")))) : S("");
}

static void print_summary(struct hipify_job *job, const struct hipify_tree *t)
{
	struct arena *a = job->a;
	VEC_EACH (const struct change, f, &t->changes)
		if (f->status == CHANGE_OK)
			say_verbose("%.*s -> %.*s", STR(source_of(job, f)), STR(output_of(job, f)));
	say_repeats(job, t);
	bool only_looked = job->o.look_only || fs_writes_forbidden();
	size_t n = t->untranslated.n;
	struct str where = job->build.n ? str_fmt(a, "; in %.*s", STR(job->o.out)) : S("");
	struct str left =
		n ? human_count(a, n, "untranslated CUDA name") : S("no untranslated CUDA names");
	if (hipify_by_torch(&job->o) && !job->o.want_untranslated)
		left = S("");
	say_status(only_looked ? S("Checked") : S("Translated"), "%s%.*s%s%.*s%s%.*s%.*s",
		only_looked ? "the sources: " : "",
		STR(human_count(a, count(t, CHANGE_OK), "file")),
		only_looked ? " would change" : "", STR(other_files(a, t)), left.n ? ", " : "",
		STR(left), STR(where));
}

static void print_check(struct hipify_job *job, const struct hipify_tree *t)
{
	VEC_EACH (const struct change, f, &t->changes) {
		if (!is_result(f))
			continue;
		if (!hipify_by_torch(&job->o))
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

/* Of an algorithm that is in no table of ours. */
static void warn_unknown(const struct torch_source *t)
{
	if (t->known || !t->algorithm.path.n)
		return;
	say_warning("'%.*s' is not one of the known releases (fingerprint %.*s): the rules "
		    "of %s are used",
		STR(t->algorithm.path), STR(str_sub(t->fingerprint, 0, 16)),
		t->generation == TORCH_V1 ? "torch up to 2.10" : "torch 2.11 and later");
	say_hint("--verify compares the result with that torch's own Python; --engine torch runs "
		 "it instead");
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
	warn_unknown(&t->torch);
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
	print_untranslated(job, &t->untranslated);
	print_summary(job, t);
	return NULL;
}

/* ---- the run ---- */

struct err *hipify_translate(struct hipify_job *job, int *ret_status)
{
	CLEANUP(fd_closep) int lock = -1;
	struct hipify_tree t = {0};
	/* The overlay that nobody named lies in the folder of the project's builds: not while one
	 * runs. */
	if (job->build.n && !fs_writes_forbidden()) {
		TRY(fs_place_check(FS_CACHE));
		TRY(fs_mkdirs(job->build));
		TRY(progress_lock(path_join(job->a, job->build, S("lock")), &lock, "builds '%.*s'",
			STR(job->o.dir)));
	}
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

/* Prints a translation for the commands of hipify: files, names left untranslated, findings and failures, as text, a
 * list, a diff or JSON.
 */
#include "cli/cmd_hipify.h"

#include "base/fs.h"
#include "term/out.h"

static const char *const status_names[] = {
	[CHANGE_OK] = "ok",
	[CHANGE_UNCHANGED] = "unchanged",
	[CHANGE_SKIPPED] = "skipped",
	[CHANGE_FAILED] = "failed",
	[CHANGE_FAILED + 1] = NULL,
};

/* ---- paths and counts ---- */

struct str hipify_in_dir(struct arena *a, struct str dir, struct str path)
{
	return dir.n && !str_eq(dir, S(".")) ? path_join(a, dir, path) : path;
}

/* The folder of the results; "" if they are not written. */
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

/* The path of an output; one that is not written is shown beside its source. */
static struct str shown_output(struct hipify_job *job, const struct change *f)
{
	struct str dir = target(&job->o).n ? target(&job->o) : job->o.dir;
	return hipify_in_dir(job->a, dir, f->output);
}

/* Is it a header of rocsmith's own, of this run? */
static bool is_ours(const struct change *f)
{
	return f->mark == HIPIFY_OURS && f->text.p;
}

/* Is it an output with a text? If two sources give the same output, the first has none. */
static bool is_result(const struct change *f)
{
	return f->status == CHANGE_OK && f->text.p && !is_ours(f);
}

size_t hipify_count(const struct hipify_tree *t, enum change_status s)
{
	size_t n = 0;
	VEC_EACH (const struct change, f, &t->changes)
		n += f->status == s && !is_ours(f);
	return n;
}

/* ---- JSON ---- */

struct shown_error {
	const char *id, *message;
	const struct err *place; /* NULL = unknown */
};

struct shown_file {
	struct str source, output;
	enum change_status status;
	const struct change *counted; /* mode standalone */
	const struct shown_error *error;
};

struct shown_tree {
	const char *mode;
	struct str directory, output;
	const struct torch_source *torch; /* modes torch and extension */
	VEC(struct shown_file) files;
	struct untranslated_list untranslated;
	struct strs repeats;
	const struct hipify_tree *tree;
};

const struct json_field hipify_untranslated_fields[] = {
	FIELDS(struct untranslated, path, line, name),
	FIELD("column", struct untranslated, col),
	FIELD_OPTIONAL("certain", struct untranslated, certain),
	FIELD_OPTIONAL("suggestion", struct untranslated, suggestion),
	FIELD_LAST(FIELD_OPTIONAL("since", struct untranslated, since)),
};
const struct json_field hipify_torch_fields[] = {
	FIELDS(struct torch_source, path, version, known, fingerprint, generation),
	FIELD_LAST(FIELD("file", struct torch_source, algorithm.path)),
};
static const struct json_field place_fields[] = {
	FIELD("line", struct err, line),
	FIELD_LAST(FIELD("column", struct err, col)),
};
static const struct json_field error_fields[] = {
	FIELDS(struct shown_error, id, message),
	FIELD_LAST(FIELD_FROM(struct shown_error, place, place_fields)),
};
static const struct json_field edits_fields[] = FIELDS_ONLY(struct change, edits);
static const struct json_field file_fields[] = {
	FIELDS(struct shown_file, source, output),
	FIELD_ENUM("status", struct shown_file, status, status_names),
	FIELD_FROM(struct shown_file, counted, edits_fields),
	FIELD_LAST(FIELD_POINTER("error", struct shown_file, error, error_fields)),
};
static const struct json_field tree_fields[] = {
	FIELD_LIST("findings", struct hipify_tree, findings, finding_fields),
	FIELD("headers", struct hipify_tree, headers),
	FIELD_LAST(FIELDS_IN(struct hipify_tree, changes, removed, edited)),
};
static const struct json_field shown_fields[] = {
	FIELD_CONST("schema", "rocsmith.hipify/1"),
	FIELDS(struct shown_tree, mode, directory, output),
	FIELD_POINTER("torch", struct shown_tree, torch, hipify_torch_fields),
	FIELD_LIST("files", struct shown_tree, files, file_fields),
	FIELD_LIST("untranslated", struct shown_tree, untranslated, hipify_untranslated_fields),
	FIELD("repeats", struct shown_tree, repeats),
	FIELD_LAST(FIELD_FROM(struct shown_tree, tree, tree_fields)),
};

static void print_json(struct hipify_job *job, const struct hipify_tree *t)
{
	const struct hipify_options *o = &job->o;
	struct arena *a = job->a;
	struct shown_tree s = {.mode = hipify_modes[o->mode],
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
		struct shown_file *file = VEC_PUSH(a, &s.files);
		*file = (struct shown_file){.source = source_of(job, f),
			.output = output_of(job, f),
			.status = f->status,
			.counted = hipify_by_torch(o) ? NULL : f};
		if (f->mark == HIPIFY_REPEATS)
			strs_add(a, &s.repeats, file->output);
		if (!f->error)
			continue;
		struct shown_error *e = NEW(a, struct shown_error);
		*e = (struct shown_error){
			err_id(f->error->code), f->error->msg, f->error->line ? f->error : NULL};
		file->error = e;
	}
	out_text(json_document(a, 2, shown_fields, &s));
}

struct str hipify_untranslated_text(struct arena *a, struct str dir, const struct untranslated *u)
{
	struct str path = hipify_in_dir(a, dir, u->path);
	bool name = str_chr(u->suggestion, ' ') == u->suggestion.n;
	struct str why = S("");
	if (u->suggestion.n && u->since.n)
		why = str_fmt(a, " (%.*s, since ROCm %.*s)", STR(u->suggestion), STR(u->since));
	else if (u->suggestion.n)
		why = str_fmt(a, name ? " (near it: %.*s)" : " (%.*s)", STR(u->suggestion));
	return str_fmt(a, "%.*s:%u:%u: '%.*s' is not translated%.*s", STR(path), u->line, u->col,
		STR(u->name), STR(why));
}

static void print_summary(struct hipify_job *job, const struct hipify_tree *t)
{
	struct arena *a = job->a;
	const struct {
		size_t n;
		const char *what;
	} parts[] = {{hipify_count(t, CHANGE_SKIPPED), "up to date"},
		{hipify_count(t, CHANGE_UNCHANGED), "unchanged"},
		{hipify_count(t, CHANGE_FAILED), "failed"}, {t->changes.removed.n, "removed"}};
	struct strs others = {0};
	size_t repeats = 0, ours = 0, n = t->untranslated.n;
	VEC_EACH (const struct change, f, &t->changes) {
		repeats += f->mark == HIPIFY_REPEATS;
		ours += is_ours(f);
		if (f->status == CHANGE_OK)
			say_verbose("%.*s -> %.*s", STR(source_of(job, f)), STR(output_of(job, f)));
	}
	if (ours)
		strs_fmt(a, &others, "and %.*s of rocsmith", STR(human_count(a, ours, "header")));
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		if (parts[i].n)
			strs_fmt(a, &others, "%zu %s", parts[i].n, parts[i].what);
	if (repeats)
		say_warning("torch's own hipify, run once more on the result, would change %zu "
			    "file%s of it again",
			repeats, repeats == 1 ? "" : "s");
	VEC_EACH (const struct change, f, &t->changes)
		if (f->mark == HIPIFY_REPEATS)
			say_verbose("would be changed again: %.*s", STR(output_of(job, f)));
	bool only_looked = job->o.look_only || fs_writes_forbidden();
	struct str where = job->build.n ? str_fmt(a, "; in %.*s", STR(job->o.out)) : S("");
	struct str left =
		n ? human_count(a, n, "untranslated CUDA name") : S("no untranslated CUDA names");
	if (hipify_by_torch(&job->o) && !job->o.want_untranslated)
		left = S("");
	say_status(only_looked ? S("Checked") : S("Translated"), "%s%.*s%s%s%.*s%s%s%.*s%.*s",
		only_looked ? "the sources: " : "",
		STR(human_count(a, hipify_count(t, CHANGE_OK), "file")),
		only_looked ? " would change" : "", others.n ? " (" : "",
		STR(str_join(a, &others, S(", "))), others.n ? ")" : "", left.n ? ", " : "",
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
	VEC_EACH (const struct change, f, &t->changes) {
		ARENA(tmp);
		struct str source;
		if (!is_result(f))
			continue;
		TRY(hipify_source(&tmp, &job->o, f->source, &source));
		struct changes_diff d = {.old_name = source_of(job, f),
			.new_name = shown_output(job, f),
			.old = source,
			.new = f->text};
		out_text(changes_diff(&tmp, &d));
	}
	return NULL;
}

struct err *hipify_show(struct hipify_job *job, struct hipify_tree *t)
{
	const struct hipify_args *h = job->args;
	const struct torch_source *s = &t->torch;
	struct arena *a = job->a;
	bool standalone = !hipify_by_torch(&job->o);
	if (!s->known && s->algorithm.path.n) {
		say_warning("'%.*s' is not one of the known releases (fingerprint %.*s): the rules "
			    "of %s are used",
			STR(s->algorithm.path), STR(str_sub(s->fingerprint, 0, 16)),
			s->generation == TORCH_V1 ? "torch up to 2.10" : "torch 2.11 and later");
		say_hint("'rocsmith hipify verify' with the same arguments compares the result "
			 "with that torch's own Python; --engine torch runs it instead");
	}
	say_findings(&t->findings);
	VEC_EACH (const struct str, e, &t->changes.edited) {
		struct str path = hipify_in_dir(a, target(&job->o), *e);
		if (job->o.in_place)
			say_warning("'%.*s' was edited since: the edit counts as a new source",
				STR(path));
		else
			say_warning(
				"'%.*s' was edited and is made anew; the edit is kept in '%.*s'",
				STR(path), STR(path_join(a, job->o.out, S(".rocsmith/kept"))));
	}
	if (h->common.json) {
		if (!job->answered)
			print_json(job, t);
		return NULL;
	}
	if (h->check)
		print_check(job, t);
	if (h->diff)
		TRY(print_diff(job, t));
	/* names missing in our own tables are always shown, those missing in a torch's only on request */
	VEC_EACH (const struct untranslated, u, &t->untranslated) {
		struct str line = hipify_untranslated_text(a, job->o.dir, u);
		if (h->diff && standalone)
			say_warning("%.*s", STR(line));
		else if (standalone || h->check)
			out_fmt("%.*s\n", STR(line));
		else
			say_verbose("%.*s", STR(line));
	}
	print_summary(job, t);
	return NULL;
}

struct err *hipify_failures(struct arena *a, struct hipify_tree *t)
{
	size_t failed = hipify_count(t, CHANGE_FAILED);
	VEC_EACH (struct change, f, &t->changes) {
		if (f->status != CHANGE_FAILED)
			continue;
		if (failed == 1) {
			struct err *only =
				err_new(E_HIPIFY, "'%.*s' could not be translated", STR(f->source));
			only->cause = f->error;
			f->error = NULL;
			return only;
		}
		const struct err *e = f->error;
		BUF(why, a);
		if (e->path && e->line && e->col)
			buf_fmt(&why, "%s:%u:%u: ", e->path, e->line, e->col);
		else if (e->path && e->line)
			buf_fmt(&why, "%s:%u: ", e->path, e->line);
		for (; e; e = e->cause)
			buf_fmt(&why, "%s%s", e->msg, e->cause ? ": " : "");
		say_warning("%.*s", STR(buf_str(&why)));
	}
	if (!failed)
		return NULL;
	return err_new(
		E_HIPIFY, "%zu of %zu sources could not be translated", failed, t->changes.n);
}

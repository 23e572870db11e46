/* Feeds index.py and a job to a Python, and reads the answer. A job is JSON, which is also an expression of Python:
 * it is the argument of the call that the script ends with, so that no address is among the arguments of a program. */
#include "archive/index.h"

#include "base/buf.h"
#include "base/fs.h"
#include "base/progress.h"
#include "formats/json_fields.h"
#include "formats/node.h"
#include "know/address.h"

struct index_call {
	struct str what; /* "list", "sizes", "metadata", "fetch", "sdist" */
	struct strs urls, links, names;
	struct str name, version, folder, config;
	struct archive_items files;
};

static const struct json_field file_fields[] = {
	FIELD("project", struct archive_item, name),
	FIELD("name", struct archive_item, file),
	FIELDS(struct archive_item, url, index, sha256, requires_python, metadata_sha256, size,
		yanked),
	{.kind = FIELD_END},
};

static const struct json_field missing_fields[] = FIELDS_ONLY(struct index_missing, project, why);

static const struct json_field metadata_fields[] = FIELDS_ONLY(struct index_metadata, text, why);

static const struct json_field call_fields[] = {
	FIELD("do", struct index_call, what),
	FIELDS(struct index_call, urls, links, names, name, version, folder, config),
	FIELD_LIST("files", struct index_call, files, file_fields),
	{.kind = FIELD_END},
};

static const struct json_field answer_fields[] = {
	FIELD_LIST("files", struct index_answer, files, file_fields),
	FIELD_LIST("missing", struct index_answer, missing, missing_fields),
	FIELD_LIST("metadata", struct index_answer, metadata, metadata_fields),
	FIELDS(struct index_answer, text, config, error, kind),
	{.kind = FIELD_END},
};

struct index_bar {
	struct progress *bar;
	struct arena *a;
	struct str file;
	uint64_t done;
};

/* Reads "progress DONE TOTAL FILE". */
static void show_progress(void *user, struct str line)
{
	struct index_bar *b = user;
	struct str word, done, total;
	uint64_t n, all;
	if (!str_starts(line, S("progress ")) || !str_next(&line, ' ', &word) ||
		!str_next(&line, ' ', &done) || !str_next(&line, ' ', &total) ||
		!str_u64(done, 10, &n) || !str_u64(total, 10, &all))
		return;
	if (!str_eq(b->file, line)) {
		progress_end(b->bar);
		b->file = str_dup(b->a, line);
		b->bar = progress_begin(S("Fetching"), b->file, UNIT_BYTES, all);
		b->done = 0;
	}
	progress_add(b->bar, n > b->done ? n - b->done : 0, S(""));
	b->done = n > b->done ? n : b->done;
}

struct err *index_answer_parse(struct arena *a, struct str text, struct index_answer *ret)
{
	static const struct {
		const char *kind;
		enum errcode code;
	} kinds[] = {{"net", E_NET}, {"hash", E_HASH}, {"tool", E_TOOL_FAILED}, {"usage", E_USAGE},
		{"space", E_NOSPACE}};
	const struct node *doc;
	enum errcode code = E_NOENT;
	*ret = (struct index_answer){0};
	TRY(json_parse(a, text, S("answer"), &doc));
	TRY(json_fields_read(a, doc, answer_fields, ret));
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (str_eq(ret->kind, str_from(kinds[i].kind)))
			code = kinds[i].code;
	const char *variable = code == E_NET ? address_variable(ret->error) : NULL;
	if (ret->error.n) {
		struct err *e = err_new(code, "%.*s", STR(ret->error));
		return variable ? err_hint(e, "set %s to the address of a mirror", variable) : e;
	}
	VEC_EACH (const struct archive_item, f, &ret->files)
		if (!path_is_inside(f->file) || str_chr(f->file, '/') < f->file.n)
			return err_new(E_NET, "'%.*s' is not the name of a file", STR(f->file));
	return NULL;
}

static struct err *index_ask(struct arena *a, const struct index_job *job, struct index_call *call,
	struct index_answer *ret)
{
	struct index_bar bar = {.a = a};
	struct proc p = {.line = show_progress, .user = &bar, .limit = NODE_SIZE};
	struct proc_result r;
	BUF(script, a);
	buf_fmt(&script, "%.*s\nrun(", STR(index_driver));
	call->urls = job->urls;
	call->links = job->links;
	call->config = job->config ? *job->config : S("");
	json_struct(&(struct json){.out = &script}, call_fields, call);
	buf_add(&script, S(")\n"));
	p.input = buf_str(&script);
	struct str python = job->python.n ? job->python : S("3");
	bool number = ascii_digit(python.p[0]);
	strs_add(a, &p.argv, number ? str_fmt(a, "python%.*s", STR(python)) : python);
	proc_arg(a, &p, "-I", "-", NULL);
	struct err *e = proc_run(a, &p, &r);
	progress_end(bar.bar);
	if (e && e->code == E_TOOL_MISSING)
		e = err_hint(e, "Python is needed to ask the package index; --python names one");
	TRY(e);
	struct str text = str_trim(r.out);
	text = str_sub(text, str_rchr(text, '\n') < text.n ? str_rchr(text, '\n') + 1 : 0, text.n);
	if (r.status != 0 || !text.n)
		return proc_failure(&p, &r);
	e = index_answer_parse(a, text, ret);
	if (job->config && ret->config.n)
		*job->config = ret->config;
	return e;
}

struct err *index_lists(struct arena *a, const struct index_job *job, const struct strs *projects,
	struct archive_items *ret, struct index_missings *ret_missing)
{
	struct index_call call = {.what = S("list"), .names = *projects};
	struct index_answer got;
	TRY(index_ask(a, job, &call, &got));
	VEC_EACH (const struct archive_item, f, &got.files)
		*VEC_PUSH(a, ret) = *f;
	VEC_EACH (const struct index_missing, m, &got.missing)
		*VEC_PUSH(a, ret_missing) = *m;
	return NULL;
}

struct err *index_list(
	struct arena *a, const struct index_job *job, struct str project, struct archive_items *ret)
{
	struct strs one = {0};
	struct index_missings missing = {0};
	strs_add(a, &one, project);
	TRY(index_lists(a, job, &one, ret, &missing));
	if (!missing.n)
		return NULL;
	return err_new(E_NOENT, "no index has the project '%.*s': %.*s", STR(project),
		STR(missing.v[0].why));
}

struct err *index_sizes(struct arena *a, const struct index_job *job, struct archive_items *io)
{
	struct index_call call = {.what = S("sizes"), .files = *io};
	struct index_answer got;
	TRY(index_ask(a, job, &call, &got));
	for (size_t i = 0; i < io->n && i < got.files.n; i++)
		io->v[i].size = got.files.v[i].size;
	return NULL;
}

struct err *index_metadata(struct arena *a, const struct index_job *job,
	const struct archive_items *files, struct index_metadatas *ret)
{
	struct index_call call = {.what = S("metadata"), .files = *files};
	struct index_answer got;
	TRY(index_ask(a, job, &call, &got));
	if (got.metadata.n != files->n)
		return err_new(E_NET, "the package index gives metadata of %zu files, not of %zu",
			got.metadata.n, files->n);
	*ret = got.metadata;
	return NULL;
}

struct err *index_fetch(
	struct arena *a, const struct index_job *job, struct archive_items *io, struct str dir)
{
	struct index_call call = {.what = S("fetch"), .folder = path_abs(a, dir), .files = *io};
	struct index_answer got;
	TRY(index_ask(a, job, &call, &got));
	for (size_t i = 0; i < io->n && i < got.files.n; i++) {
		io->v[i].sha256 = got.files.v[i].sha256;
		io->v[i].size = got.files.v[i].size;
		io->v[i].path = path_join(a, dir, io->v[i].file);
	}
	return NULL;
}

struct err *index_sdist(
	struct arena *a, const struct index_job *job, struct str dir, struct index_sdist *io)
{
	struct index_call call = {.what = S("sdist"),
		.name = io->package,
		.version = io->version,
		.folder = path_abs(a, dir)};
	struct index_answer got;
	TRY(index_ask(a, job, &call, &got));
	if (got.files.n != 1)
		return err_new(E_NET, "the package index names %zu files", got.files.n);
	io->file = got.files.v[0];
	io->note = got.text;
	return NULL;
}

struct proc pip_command(struct arena *a, struct str python)
{
	static const char *const unset[] = {"PYTHONPATH", "PYTHONHOME", "PIP_TARGET", "PIP_PREFIX",
		"PIP_USER", "PIP_REQUIRE_VIRTUALENV", "VIRTUAL_ENV", NULL};
	struct proc p = {0};
	strs_add_words(a, &p.setenv, unset);
	strs_add(a, &p.argv, python);
	proc_arg(a, &p, "-m", "pip", "--disable-pip-version-check", NULL);
	return p;
}

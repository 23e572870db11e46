/* Source distributions, either the user's own file or one from the package index.
 *
 * pip itself cannot fetch it: `pip download` of a source distribution prepares its metadata, which runs the project's
 * setup.py or build back end, and those of CUDA extensions need a torch. So sdist.py, which uses only Python's standard
 * library, gets the index from pip's configuration, and talks to it as pip would. */
#include "base/fs.h"
#include "base/hash.h"
#include "base/proc.h"
#include "base/progress.h"
#include "formats/node.h"
#include "source/fetch_int.h"

struct download {
	struct progress *bar;
	uint64_t done;
	struct arena *a;
	struct str answer; /* the last line that does not report progress */
};

/* Reads "progress DONE TOTAL FILE", and keeps any other line as the answer. */
static void take_line(void *user, struct str line)
{
	struct download *d = user;
	struct str word, done, total;
	uint64_t n, all;
	struct str rest = line;
	if (!str_starts(line, S("progress "))) {
		d->answer = str_dup(d->a, line);
		return;
	}
	if (!str_next(&rest, ' ', &word) || !str_next(&rest, ' ', &done) ||
		!str_next(&rest, ' ', &total) || !str_u64(done, 10, &n) ||
		!str_u64(total, 10, &all))
		return;
	if (!d->bar)
		d->bar = progress_begin(S("Fetching"), rest, UNIT_BYTES, all);
	progress_add(d->bar, n > d->done ? n - d->done : 0, S(""));
	d->done = n > d->done ? n : d->done;
}

struct sdist_answer {
	struct str file, sha256, index, note;
	struct str error, kind; /* "net", "hash", "gone" */
};

static const struct json_field answer_fields[] =
	FIELDS_ONLY(struct sdist_answer, file, sha256, index, note, error, kind);

static struct err *download(struct fetch *f, struct str *ret)
{
	static const struct {
		const char *kind;
		enum errcode code;
	} kinds[] = {{"net", E_NET}, {"hash", E_HASH}, {"tool", E_TOOL_FAILED}};
	const struct source_spec *s = &f->r->spec;
	struct download d = {.a = f->a};
	struct proc p = {.input = sdist_driver, .line = take_line, .user = &d, .cwd = f->files};
	struct proc_result r;
	const struct node *doc;
	struct sdist_answer got = {0};
	struct str python = f->r->python.n ? f->r->python : S("3");
	bool number = ascii_digit(python.p[0]); /* a version such as 3.12, which --python accepts */
	strs_add(f->a, &p.argv, number ? str_fmt(f->a, "python%.*s", STR(python)) : python);
	proc_arg(f->a, &p, "-I", "-", str_z(f->a, s->package), str_z(f->a, s->version), ".", NULL);
	struct err *e = proc_run(f->a, &p, &r);
	progress_end(d.bar);
	if (e && e->code == E_TOOL_MISSING)
		e = err_hint(e, "Python is needed to ask the package index; --python names one");
	TRY(e);
	if (r.status != 0 || !d.answer.n)
		return proc_failure(&p, &r);
	TRY(json_parse(f->a, d.answer, S("answer"), &doc));
	TRY(json_fields_read(f->a, doc, answer_fields, &got));
	enum errcode code = E_SOURCE;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (str_eq(got.kind, str_from(kinds[i].kind)))
			code = kinds[i].code;
	if (got.error.n)
		return err_new(code, "%.*s", STR(got.error));
	if (!path_is_inside(got.file) || str_chr(got.file, '/') < got.file.n)
		return err_new(E_SOURCE, "'%.*s' is not the name of a file", STR(got.file));
	if (got.note.n)
		strs_add(f->a, &f->tree.notes, got.note);
	f->tree.mirror = got.index;
	*ret = path_join(f->a, f->files, got.file);
	return NULL;
}

static struct err *get(struct fetch *f)
{
	const struct source_spec *s = &f->r->spec;
	struct str path = s->path;
	struct digest d;
	struct stat st;
	if (!path.n)
		TRY_CTX(download(f, &path), "cannot get the source distribution of '%.*s' %.*s",
			STR(s->package), STR(s->version));
	else if (!fs_is_file(path))
		return err_new(E_NOENT, "there is no file '%.*s'", STR(path));
	TRY(hash_file(HASH_SHA256, path, &d));
	TRY(fs_stat(path, &st));
	f->tree.files.n = f->paths.n = 0;
	f->tree.package = s->package;
	f->tree.version = f->tree.upstream = s->version;
	*VEC_PUSH(f->a, &f->tree.files) = (struct source_file){.name = path_base(path),
		.sha256 = digest_hex(f->a, &d),
		.size = (uint64_t)st.st_size};
	strs_add(f->a, &f->paths, path);
	return NULL;
}

/* Honest archives unpack to less than 20 times their size; a small one may hold a table of zeros. */
static struct err *fill(struct fetch *f, struct str scratch, struct str dir)
{
	static const uint64_t ratio = 50, least = 128 << 20;
	const struct source_file *file = &f->tree.files.v[0];
	struct str from = f->paths.v[0], copy;
	TRY(fill_archive(f, 0, scratch, &copy));
	struct err *e = fill_folder(f->a, copy, least + ratio * file->size, scratch, dir);
	if (!e || e->code != E_LIMIT)
		return e;
	bool zip = str_ends(copy, S(".zip"));
	struct str to = str_fmt(f->a, "%.*s-%.*s", STR(f->tree.package), STR(f->tree.version));
	return err_hint(err_wrap(e, "refused to unpack '%.*s', of %llu bytes", STR(from),
				(unsigned long long)file->size),
		"if it is what you want, name its folder in its place: mkdir %.*s && %s %.*s %s"
		"%.*s",
		STR(to), zip ? "python3 -m zipfile -e" : "tar -xf", STR(str_shell(f->a, from)),
		zip ? "" : "-C ", STR(to));
}

const struct fetch_kind fetch_sdist = {.get = get, .fill = fill};

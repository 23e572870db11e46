/* Source distributions, either the user's own file or one from the package index.
 *
 * pip itself cannot fetch it: `pip download` of a source distribution prepares its metadata, which runs the project's
 * setup.py or build back end, and those of CUDA extensions need a torch. So archive/index.h talks to its index. */
#include "archive/index.h"
#include "base/fs.h"
#include "base/hash.h"
#include "source/fetch_int.h"

static struct err *download(struct fetch *f, struct str *ret)
{
	const struct source_spec *s = &f->r->spec;
	struct index_job job = {.python = f->r->python};
	struct index_sdist d = {.package = s->package, .version = s->version};
	struct err *e = index_sdist(f->a, &job, f->files, &d);
	if (e && e->code == E_NOENT)
		e->code = E_SOURCE;
	TRY(e);
	if (d.note.n)
		strs_add(f->a, &f->tree.notes, d.note);
	f->tree.mirror = d.file.index;
	*ret = path_join(f->a, f->files, d.file.file);
	return NULL;
}

static struct err *get(struct fetch *f)
{
	const struct source_spec *s = &f->r->spec;
	struct str path = s->path;
	struct stat st;
	if (!path.n)
		TRY_CTX(download(f, &path), "cannot get the source distribution of '%.*s' %.*s",
			STR(s->package), STR(s->version));
	else if (!fs_is_file(path))
		return err_new(E_NOENT, "there is no file '%.*s'", STR(path));
	TRY(fs_stat(path, &st));
	f->tree.files.n = f->paths.n = 0;
	f->tree.package = s->package;
	f->tree.version = f->tree.upstream = s->version;
	struct source_file file = {.name = path_base(path), .size = (uint64_t)st.st_size};
	TRY(sha256_file(f->a, path, &file.sha256));
	*VEC_PUSH(f->a, &f->tree.files) = file;
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

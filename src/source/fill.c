/* Unpacks archives into a tree and patches it, as dpkg-source does: dpkg-source(1), "Format: 3.0 (quilt)"; the series
 * file follows quilt(1). */
#include "archive/unpack.h"
#include "base/fs.h"
#include "base/hash.h"
#include "base/proc.h"
#include "base/progress.h"
#include "formats/diff.h"
#include "source/fetch_int.h"

static const size_t MAX_TEXT = 64 << 20;

struct err *fill_archive(const struct fetch *f, size_t n, struct str scratch, struct str *ret)
{
	const struct source_file *file = &f->tree.files.v[n];
	*ret = f->paths.v[n];
	if (path_is_below(*ret, f->files) && !fs_is_link(*ret))
		return NULL;
	*ret = path_join(f->a, scratch, file->name);
	return hash_copy(f->paths.v[n], *ret, file->sha256);
}

static struct err *unpack(struct arena *a, struct str archive, struct unpack_job *u)
{
	struct stat st;
	u->path = archive;
	u->id = S("source");
	u->closed = true;
	TRY(fs_stat(archive, &st));
	CLEANUP(progress_endp) struct progress *bar = NULL;
	bar = progress_begin(S("Unpacking"), path_base(archive), UNIT_BYTES, (uint64_t)st.st_size);
	u->progress = bar;
	return str_ends(archive, S(".zip")) ? unpack_zip(a, u) : unpack_tar(a, u);
}

struct err *fill_over(struct arena *a, struct str archive, struct str dir)
{
	struct unpack_job u = {.root = dir};
	return unpack(a, archive, &u);
}

struct err *fill_folder(
	struct arena *a, struct str archive, uint64_t most, struct str scratch, struct str dir)
{
	struct str new = path_join(a, scratch, S("new")), only;
	struct unpack_job u = {.root = new, .most = most};
	struct strs names;
	TRY(fs_mkdirs(new));
	TRY(unpack(a, archive, &u));
	TRY(fs_list(a, new, &names));
	only = names.n == 1 ? path_join(a, new, names.v[0]) : S("");
	if (!only.n || !fs_is_dir(only) || fs_is_link(only))
		return fs_rename(new, dir);
	if (u.leaves_top) /* once the folder is moved up, that link would lead out of the tree */
		return err_new(E_ARCHIVE,
			"refused to unpack '%.*s': a link in it leads out of its folder",
			STR(path_base(archive)));
	TRY(fs_rename(only, dir));
	return fs_remove(new);
}

/* ---- patches ---- */
static struct err *change_file(
	struct arena *a, struct str tree, struct str name, const struct diff_file *f)
{
	struct str path = path_join(a, tree, f->path), old;
	struct stat st = {.st_mode = f->executable ? 0755 : 0644};
	struct diff_result r;
	if (fs_try_lstat(path, &st) && !S_ISREG(st.st_mode))
		return err_new(E_SOURCE, "the patch '%.*s' is for '%.*s', which is not a file",
			STR(name), STR(f->path));
	TRY(fs_read_opt(a, path, MAX_TEXT, &old));
	/* diff -N names a new file on both sides; its only hunk then just adds lines */
	bool adds = !old.p && f->hunks.n == 1 && f->hunks.v[0].first == 1;
	VEC_EACH (const struct diff_hunk, h, &f->hunks)
		VEC_EACH (const struct diff_line, l, &h->lines)
			adds = adds && l->kind == '+';
	struct diff_file file = *f;
	file.adds = f->adds || adds;
	TRY(diff_apply(a, &file, old, &r));
	if (r.fit != DIFF_FITS)
		return err_detail(err_new(E_SOURCE, "the patch '%.*s' does not fit '%.*s'",
					  STR(name), STR(f->path)),
			str_join(a, &r.notes, S("\n")));
	if (r.text.n) {
		TRY(fs_mkdirs(path_dir(path)));
		return fs_write(path, r.text, st.st_mode | FS_LOOSE);
	}
	/* dpkg-source calls patch with -E, which removes empty files, and folders that become empty */
	TRY(fs_remove(path));
	for (struct str dir = path_dir(path); dir.n > tree.n; dir = path_dir(dir))
		TRY(fs_remove_empty(dir));
	return NULL;
}

static struct err *apply_patch(struct str tree, struct str name)
{
	ARENA(tmp);
	struct str path = path_join(&tmp, path_join(&tmp, tree, S("debian/patches")), name), text;
	struct diff diff;
	TRY(cancel_check());
	TRY(fs_read(&tmp, path, MAX_TEXT, &text));
	TRY(diff_parse(&tmp, text, path, DIFF_PATCH, &diff));
	VEC_EACH (const struct diff_file, f, &diff)
		TRY(change_file(&tmp, tree, name, f));
	return NULL;
}

struct err *fill_patches(struct arena *a, struct str tree, struct strs *ret_applied)
{
	/* the first existing file is used: Debian's own series takes precedence over the general one */
	static const char *const series[] = {
		"debian/patches/debian.series", "debian/patches/series"};
	struct str text = {0}, line, name, options;
	for (size_t i = 0; i < sizeof(series) / sizeof(series[0]) && !text.p; i++)
		TRY(fs_read_opt(a, path_join(a, tree, str_from(series[i])), MAX_TEXT, &text));
	while (str_next(&text, '\n', &line)) {
		line = str_trim(str_sub(line, 0, str_chr(line, '#')));
		if (!line.n)
			continue;
		(void)str_cut(line, ' ', &name, &options);
		options = str_trim(options);
		if (!path_is_inside(name) || (options.n && !str_eq(options, S("-p1"))))
			return err_new(E_SOURCE,
				"the line '%.*s' of debian/patches/series is not understood",
				STR(line));
		TRY_CTX(apply_patch(tree, name), "cannot apply the patches of the package");
		strs_add(a, ret_applied, str_dup(a, name));
	}
	return NULL;
}

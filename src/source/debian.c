/* A Debian source package. A private apt with a signed index fetches its files; the tree is made of upstream's
 * archives and, if patches are wanted, Debian's folder and its patches. */
#include "archive/apt.h"
#include "base/fs.h"
#include "source/fetch_int.h"

enum source_part {
	PART_DSC,
	PART_ORIG,
	PART_MORE,
	PART_DEBIAN,
	PART_DIFF,
	PART_SIGNATURE,
	PART_NATIVE
};

/* Classifies a file of a source package by its name: Debian Policy 5.6.21, dpkg-source(1). For an additional archive
 * (.orig-NAME.tar.xz) *ret_name is its folder in the tree. */
static enum source_part part_of(struct str file, struct str *ret_name)
{
	static const struct {
		const char *in;
		enum source_part part;
	} marks[] = {
		{".orig.tar.", PART_ORIG}, {".debian.tar.", PART_DEBIAN}, {".diff.", PART_DIFF}};
	size_t more = str_find(file, S(".orig-")), tar = str_find(file, S(".tar."));
	*ret_name = S("");
	if (str_ends(file, S(".dsc")))
		return PART_DSC;
	if (str_ends(file, S(".asc")))
		return PART_SIGNATURE;
	for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++)
		if (str_contains(file, str_from(marks[i].in)))
			return marks[i].part;
	if (more >= file.n || tar < more)
		return PART_NATIVE;
	*ret_name = str_sub(file, more + 6, tar);
	return PART_MORE;
}

/* ---- getting ---- */
/* Our index may be old. If it lacks the package, or the archive no longer has the package's files, we try again with a
 * fresh index. */
static struct err *find_and_fetch(
	struct fetch *f, struct apt *apt, struct apt_package *p, struct strs *gone)
{
	for (bool fresh = f->r->refresh || !apt_has_lists(f->a, apt);; fresh = true) {
		*gone = (struct strs){0};
		struct err *e = apt_prepare(f->a, apt);
		if (!e && fresh)
			e = apt_update(f->a, apt);
		e = e ? e : apt_source_resolve(f->a, apt, f->r->spec.version, p);
		e = e ? e : apt_source_fetch(f->a, apt, p, f->files, gone);
		if (fresh || (!e && !gone->n) || (e && e->code != E_SDK_SOURCE))
			return e;
		err_free(e);
	}
}

static void note(struct fetch *f, const char *what, struct str file)
{
	if (f->r->patches)
		strs_fmt(f->a, &f->tree.notes,
			"%s '%.*s': the sources are upstream's alone, without Debian's "
			"changes",
			what, STR(file));
}

static struct err *get(struct fetch *f)
{
	struct arena *a = f->a;
	struct apt_package p = {.name = f->r->spec.package};
	struct apt apt = {.mirror = f->r->mirror, .keyring = f->r->keyring, .sources = true};
	struct strs gone = {0};
	struct str name;
	apt.dir = str_fmt(a, "%.*s/apt-%.*s", STR(f->cache), STR(f->r->spec.suite));
	strs_add(a, &apt.suites, f->r->spec.suite);
	struct err *e = apt_complete(a, &apt);
	e = e ? e : find_and_fetch(f, &apt, &p, &gone);
	if (e && e->code == E_SDK_SOURCE) /* apt's code for any archive */
		e->code = E_SOURCE;
	TRY(e);
	f->tree.mirror = apt.mirror;
	f->tree.files.n = f->paths.n = 0;
	f->tree.package = p.name;
	/* Upstream's archives are required. Without the other files the tree has only upstream's sources, and gets a
	 * note. The .dsc is not needed: it has nothing that the index lacks. */
	VEC_EACH (const struct archive_item, i, &p.files) {
		enum source_part part = part_of(i->file, &name);
		bool lost = strs_has(&gone, i->file);
		if (part == PART_DSC)
			f->tree.version =
				str_sub(i->file, str_chr(i->file, '_') + 1, i->file.n - 4);
		if (lost && (part == PART_ORIG || part == PART_MORE || part == PART_NATIVE))
			return err_new(E_SOURCE,
				"the archive no longer has '%.*s', which its index names",
				STR(i->file));
		if (lost && part == PART_DEBIAN)
			note(f, "the archive no longer serves", i->file);
		if (part == PART_DIFF)
			note(f, "of an old format, and not applied, is", i->file);
		if (!i->path.n)
			continue;
		*VEC_PUSH(a, &f->tree.files) =
			(struct source_file){.name = i->file, .sha256 = i->sha256, .size = i->size};
		strs_add(a, &f->paths, i->path);
	}
	f->tree.upstream = apt_upstream(f->tree.version);
	return apt_index_date(a, &apt, &f->tree.index_date, &f->tree.notes);
}

/* ---- filling ---- */
static struct err *fill(struct fetch *f, struct str scratch, struct str dir)
{
	static const enum source_part order[] = {PART_ORIG, PART_NATIVE, PART_MORE, PART_DEBIAN};
	struct str debian = {0}, path, name;
	for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++)
		for (size_t n = 0; n < f->paths.n; n++) {
			enum source_part part = part_of(path_base(f->paths.v[n]), &name);
			bool more = part == PART_MORE;
			struct str to = more ? path_join(f->a, dir, name) : dir;
			if (part != order[i])
				continue;
			if (more && !path_is_inside(name))
				return err_new(
					E_SOURCE, "'%.*s' is not the name of a folder", STR(name));
			if (more)
				TRY(fs_remove_tree(to));
			TRY(fill_archive(f, n, scratch, &path));
			if (part != PART_DEBIAN)
				TRY(fill_folder(f->a, path, 0, scratch, to));
			else if (f->r->patches)
				debian = path;
		}
	if (debian.n) { /* its folder replaces upstream's debian/, and its patches go on top */
		TRY(fs_remove_tree(path_join(f->a, dir, S("debian"))));
		TRY(fill_over(f->a, debian, dir));
		TRY(fill_patches(f->a, dir, &f->tree.patches));
	}
	return fs_is_dir(dir) ? NULL
			      : err_new(E_SOURCE, "the package '%.*s' has no sources of upstream",
					STR(f->tree.package));
}

const struct fetch_kind fetch_debian = {.get = get, .fill = fill};

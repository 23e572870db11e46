/* Source distributions of a set: NAME-VERSION.tar.gz with PKG-INFO (PEP 517, 625, 643). They come from strangers like wheels, so they
 * are unpacked without trust (archive/unpack.h, closed, as PEP 706 has it), and nothing of them is run. */
#include "archive/unpack.h"
#include "base/fs.h"
#include "base/proc.h"
#include "formats/tar.h"
#include "lang/python/version.h"
#include "release/release.h"
#include "wheel/archive.h"

/* Text compresses to a tenth; a hundredth is a bomb. */
enum { SDIST_LEAST = 256 << 20, SDIST_RATIO = 100, SDIST_RENAMED = 256 << 20 };

static const struct str SUFFIX = {.p = ".tar.gz", .n = sizeof(".tar.gz") - 1};

bool release_is_sdist(struct str file)
{
	return str_ends(file, SUFFIX);
}

struct err *release_file_name(
	struct arena *a, struct str file, struct str *ret_name, struct str *ret_version)
{
	struct wheel_name n;
	if (release_is_sdist(file)) {
		struct str stem = str_sub(file, 0, file.n - SUFFIX.n);
		size_t at = str_rchr(stem, '-');
		*ret_name = str_sub(stem, 0, at);
		*ret_version = str_sub(stem, at + 1, stem.n);
		return ret_name->n && ret_version->n && str_made_of(*ret_name, "-_.")
			       ? NULL
			       : err_new(E_WHEEL,
					 "'%.*s' is no name of a source distribution, as "
					 "NAME-VERSION.tar.gz",
					 STR(file));
	}
	TRY(wheel_name_parse(a, file, &n));
	*ret_name = n.dist;
	*ret_version = n.version;
	return NULL;
}

bool release_is_static(const struct release_wheel *w)
{
	uint64_t v[2];
	if (!release_is_sdist(w->file))
		return true;
	size_t n = str_numbers(dist_header_value(&w->headers, "Metadata-Version"), v, 2);
	return n == 2 && (v[0] > 2 || (v[0] == 2 && v[1] >= 2)) &&
	       !dist_header(&w->headers, "Dynamic");
}

/* Unpacks it into a new folder, whose only content is the folder NAME-VERSION. */
static struct err *unpack_sdist(
	struct arena *a, struct str path, struct str *ret_dir, struct str *ret_top)
{
	struct stat st;
	struct strs names;
	struct str file = path_base(path);
	TRY(fs_lstat(path, &st));
	if (!S_ISREG(st.st_mode))
		return err_new(E_WHEEL, "'%.*s' is not a file", STR(path));
	TRY(fs_tempdir(a, S(""), ret_dir));
	struct unpack_job u = {.path = path,
		.root = *ret_dir,
		.id = S("sdist"),
		.closed = true,
		.most = SDIST_LEAST + (uint64_t)st.st_size * SDIST_RATIO};
	TRY(unpack_tar(a, &u));
	TRY(fs_list(a, *ret_dir, &names));
	*ret_top = str_sub(file, 0, file.n - SUFFIX.n);
	if (names.n == 1 && str_eq(names.v[0], *ret_top))
		return NULL;
	return err_new(
		E_WHEEL, "a source distribution has all in the folder '%.*s'", STR(*ret_top));
}

struct err *release_read_sdist(struct arena *a, struct str path, struct str *ret)
{
	ARENA(tmp);
	CLEANUP(fs_tempdirp) struct str dir = S("");
	struct str top, text;
	TRY(unpack_sdist(&tmp, path, &dir, &top));
	struct str root = path_join(&tmp, dir, top);
	if (!fs_is_file(path_join(&tmp, root, S("pyproject.toml"))) &&
		!fs_is_file(path_join(&tmp, root, S("setup.py"))))
		return err_new(E_WHEEL, "it has neither pyproject.toml nor setup.py");
	TRY_CTX(fs_read_below(&tmp, dir, path_join(&tmp, top, S("PKG-INFO")), RELEASE_TEXT, &text),
		"it has no PKG-INFO that can be read");
	*ret = str_dup(a, text);
	return NULL;
}

/* ---- another version ---- */

struct sdist_renaming {
	struct arena *a;
	const struct wheel_request *q;
	struct str dir, top, now; /* the folder; its name of before, and the new one */
	struct str metadata;
	struct buf tar;
	bool changed;
};

static struct err *add_member(void *user, struct fs_entry *e)
{
	/* files by which it tells its version, beside those that wheels have */
	static const char *const builds[] = {"pyproject.toml", "setup.py", "setup.cfg", NULL};
	struct sdist_renaming *r = user;
	struct arena *a = r->a;
	struct str within = str_sub(e->path, r->top.n + 1, e->path.n);
	struct tar_member m = {.type = TAR_FILE,
		.path = path_join(a, r->now, within),
		.mode = S_ISDIR(e->st.st_mode) || (e->st.st_mode & 0100) ? 0755 : 0644};
	struct dist_headers h;
	if (r->tar.n > SDIST_RENAMED || e->st.st_size > SDIST_RENAMED)
		return err_new(E_LIMIT,
			"a source distribution of more than %d MiB cannot get another version",
			SDIST_RENAMED >> 20);
	if (S_ISDIR(e->st.st_mode)) {
		m.type = TAR_DIR;
		m.path = str_fmt(a, "%.*s/", STR(m.path));
	} else if (S_ISLNK(e->st.st_mode)) {
		m.type = TAR_LINK;
		TRY(fs_readlink(a, path_join(a, r->dir, e->path), &m.text));
	} else {
		TRY(fs_read(a, path_join(a, r->dir, e->path), SDIST_RENAMED, &m.text));
	}
	struct str old = m.text;
	if (m.type == TAR_FILE && str_eq(within, S("PKG-INFO"))) {
		TRY(dist_headers_parse(a, m.text, &h));
		struct str version = dist_header_value(&h, "Version");
		m.text = wheel_new_metadata(
			a, r->q, m.text, &h, wheel_with_versions(a, version, &r->q->renames));
		r->metadata = m.text;
	} else if (m.type == TAR_FILE &&
		   (str_is_one_of(within, builds) ||
			   wheel_has_versions(a, str_fmt(a, "x/%.*s", STR(within))))) {
		m.text = wheel_with_versions(a, m.text, &r->q->renames);
	}
	r->changed = r->changed || !str_eq(old, m.text);
	tar_add(&r->tar, &m);
	return cancel_check();
}

struct err *release_rename_sdist(
	struct arena *a, const struct wheel_request *q, struct release_wheel *io, struct str *ret)
{
	CLEANUP(fs_tempdirp) struct str dir = S("");
	struct sdist_renaming r = {.a = a, .q = q, .tar.a = a};
	struct str name, version;
	*ret = S("");
	TRY(release_file_name(a, io->file, &name, &version));
	TRY(unpack_sdist(a, io->path, &dir, &r.top));
	r.dir = dir;
	r.now = str_fmt(
		a, "%.*s-%.*s", STR(name), STR(wheel_with_versions(a, version, &q->renames)));
	TRY(fs_walk(dir, add_member, &r));
	if (!r.changed && str_eq(r.now, r.top))
		return NULL;
	tar_end(&r.tar);
	*ret = gzip_text(a, buf_str(&r.tar));
	io->file = str_fmt(a, "%.*s%.*s", STR(r.now), STR(SUFFIX));
	io->metadata = r.metadata;
	return NULL;
}

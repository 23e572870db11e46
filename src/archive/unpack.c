/* Unpacks members of archives; see unpack.h. Each is created under a temporary name in a folder that the kernel
 * resolved inside the root (openat2), and then renamed. */
#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "archive/unpack.h"
#include "base/fs.h"
#include "base/hash.h"
#include "base/library.h"
#include "base/proc.h"
#include "formats/zip.h"

static const uint64_t max_file = (uint64_t)16 << 30, max_total = (uint64_t)64 << 30;
enum { MAX_ENTRIES = 1000000, MAX_NAME = 4096, CHUNK = 1 << 17, FEW_ENTRIES = 1000, BLOCK = 4096 };

/* ---- libarchive ---- */

/* Loaded when the first archive is unpacked: with its own dependencies (libxml2, and ICU through that) it costs more
 * start-up time than everything else, and most commands never need it. */
#define SONAME "libarchive.so.13" /* since libarchive 3.0 */
#define LIBARCHIVE_FUNCTIONS(X)                                                                    \
	X(archive_read_new)                                                                        \
	X(archive_read_free)                                                                       \
	X(archive_read_support_format_tar)                                                         \
	X(archive_read_support_filter_xz)                                                          \
	X(archive_read_support_filter_zstd)                                                        \
	X(archive_read_support_filter_gzip)                                                        \
	X(archive_read_support_filter_bzip2)                                                       \
	X(archive_read_support_filter_lzma)                                                        \
	X(archive_read_open_memory)                                                                \
	X(archive_read_open_filename)                                                              \
	X(archive_read_next_header)                                                                \
	X(archive_read_data)                                                                       \
	X(archive_filter_bytes)                                                                    \
	X(archive_error_string)                                                                    \
	X(archive_entry_pathname)                                                                  \
	X(archive_entry_filetype)                                                                  \
	X(archive_entry_hardlink)                                                                  \
	X(archive_entry_symlink)                                                                   \
	X(archive_entry_mtime)                                                                     \
	X(archive_entry_perm)

struct libarchive {
	LIBARCHIVE_FUNCTIONS(LIBRARY_MEMBER)
};

static struct libarchive la; /* filled by open_once() */
static pthread_once_t once = PTHREAD_ONCE_INIT;
static bool complete;

static void open_once(void)
{
	complete = LIBRARY_OPEN(SONAME, LIBARCHIVE_FUNCTIONS, &la);
}

struct unpack_place {     /* the path of a member in the tree */
	int dir;          /* folder, opened inside the tree */
	const char *base; /* the name in dir */
	struct str path;  /* relative to the tree */
};

struct unpacking {
	struct arena *tmp;
	struct unpack_job *u;
	int root;
	const char *
		passing; /* the temporary name, in a member's folder, under which its content is written */
	uint64_t total, entries, used; /* bytes written; members; bytes of the archive */
	/* the present member, of a tar or of a zip: */
	struct archive *tar;
	char *chunk;
	const struct zip *zip;
	const struct zip_member *member;
	struct unpack_file *file;
	struct hash *hash; /* NULL = nobody wants it */
};

static void archive_freep(struct archive **a)
{
	if (*a)
		la.archive_read_free(*a);
}

static struct err *damaged(struct str path, struct archive *a, const char *what)
{
	const char *why = a ? la.archive_error_string(a) : NULL;
	struct err *e = err_new(E_ARCHIVE, "cannot unpack '%.*s': %s", STR(path_base(path)), what);
	if (why)
		e->cause = err_new(E_ARCHIVE, "%s", why);
	return e;
}

/* The name may have any bytes; the message must stay one line. */
static struct err *hostile(const struct unpacking *x, struct str name, const char *what)
{
	char *shown = str_z(x->tmp, name);
	for (char *p = shown; *p; p++)
		if ((unsigned char)*p < 0x20 || *p == 0x7f)
			*p = '?';
	return err_new(E_ARCHIVE, "refused to unpack '%.*s': '%.256s' %s",
		STR(path_base(x->u->path)), shown, what);
}

/* Finds the data of a member of an ar archive (ar(5)), as dpkg writes it: without long names. */
static struct err *find_member(const struct unpack_job *u, struct str ar, struct str *ret)
{
	enum { MAGIC = 8, HEADER = 60, SIZE = 48, DIGITS = 10 };
	uint64_t size;
	if (!str_starts(ar, S("!<arch>\n")))
		return damaged(u->path, NULL, "it cannot be opened as a package");
	for (size_t at = MAGIC; at + HEADER <= ar.n; at += HEADER + size + size % 2) {
		struct str head = str_sub(ar, at, at + HEADER);
		struct str digits = str_trim(str_sub(head, SIZE, SIZE + DIGITS));
		if (!str_ends(head, S("`\n")) || !str_u64(digits, 10, &size) ||
			size > ar.n - at - HEADER)
			return damaged(u->path, NULL, "its data ends early or is damaged");
		*ret = str_sub(ar, at + HEADER, at + HEADER + size);
		if (str_starts(head, str_from(u->member)))
			return NULL;
	}
	return damaged(u->path, NULL, "it has no data member");
}

/* ---- names ---- */
/* Checks and cleans a member's name, relative to the tree; "." is the tree itself. */
static struct err *clean_name(const struct unpacking *x, const char *raw, struct str *ret)
{
	struct str name = str_from(raw ? raw : "");
	if (!name.n || name.n > MAX_NAME || !str_is_plain(name, ""))
		return hostile(x, name, "is no acceptable file name");
	if (name.p[0] == '/')
		return hostile(x, name, "is an absolute path");
	struct str piece, rest = name;
	while (str_next(&rest, '/', &piece))
		if (str_eq(piece, S("..")))
			return hostile(x, name, "leads out of the tree");
	*ret = path_clean(x->tmp, name);
	return NULL;
}

/* The number of folders that a path leads down; *ret_up is the number that it leads up before that. -1 if ".." follows
 * a name, which may be a link: then the text cannot tell where the path leads. */
static int depth_below(struct str path, int *ret_up)
{
	int down = 0;
	struct str piece;
	*ret_up = 0;
	while (str_next(&path, '/', &piece)) {
		bool up = str_eq(piece, S(".."));
		if (up && down)
			return -1;
		*ret_up += up;
		down += !up && piece.n && !str_eq(piece, S("."));
	}
	return down;
}

/* Does a link stay inside the tree? *ret_root: it leads up to the root, out of its own top folder. */
static bool leads_inside(struct str path, struct str target, bool *ret_root)
{
	int up, none, depth = depth_below(path, &none) - 1;
	bool relative = !str_starts(target, S("/")) && depth_below(target, &up) >= 0;
	*ret_root = relative && depth && up == depth;
	return relative && up <= depth;
}

/* ---- folders ---- */
static int open_inside(const struct unpacking *x, const char *path)
{
	uint64_t links = x->u->closed ? RESOLVE_NO_SYMLINKS : 0;
	return fs_open_inside(x->root, path, RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS | links);
}

/* Opens a folder of the tree, and makes it and its parents if they are missing. */
static struct err *open_dir(const struct unpacking *x, struct str path, int *ret)
{
	char *z = str_z(x->tmp, str_eq(path, S(".")) ? S("") : path);
	*ret = open_inside(x, z);
	if (*ret >= 0)
		return NULL;
	if (errno == ENOTDIR || errno == ELOOP)
		return hostile(x, path, "is to be a folder, and is none");
	if (errno != ENOENT || !*z)
		return err_errno("cannot open the folder '%.*s' of the tree", STR(path));
	CLEANUP(fd_closep) int parent = -1;
	TRY(open_dir(x, path_dir(path), &parent));
	char *base = str_z(x->tmp, path_base(path));
	if (mkdirat(parent, base, 0755) < 0 && errno != EEXIST)
		return err_errno("cannot create the folder '%.*s' of the tree", STR(path));
	*ret = open_inside(x, z);
	if (*ret >= 0)
		return NULL;
	if (errno == ENOENT || errno == ENOTDIR || errno == ELOOP)
		return hostile(x, path, "lies behind a link that leads to no folder");
	return err_errno("cannot open the folder '%.*s' of the tree", STR(path));
}

static struct err *open_place(const struct unpacking *x, struct str path, struct unpack_place *ret)
{
	*ret = (struct unpack_place){
		.dir = -1, .path = path, .base = str_z(x->tmp, path_base(path))};
	return open_dir(x, path_dir(path), &ret->dir);
}

static void place_done(struct unpack_place *p)
{
	fd_closep(&p->dir);
}

/* ---- members ---- */
static struct err *call_back(const struct unpacking *x, const struct unpack_file *f)
{
	return x->u->told ? x->u->told(x->u->user, f) : NULL;
}

static struct err *move_in(const struct unpacking *x, const struct unpack_place *p)
{
	if (renameat(p->dir, x->passing, p->dir, p->base) == 0)
		return NULL;
	struct err *e = err_errno("cannot put '%.*s' into the tree", STR(p->path));
	unlinkat(p->dir, x->passing, 0);
	return e;
}

static struct err *count_bytes(struct unpacking *x, size_t n)
{
	x->total += n;
	if (x->total > max_total)
		return damaged(x->u->path, NULL, "it is larger than any package");
	if (x->u->most && x->total > x->u->most)
		return err_new(E_LIMIT, "it unpacks to more than %llu bytes",
			(unsigned long long)x->u->most);
	return cancel_check();
}

/* Writes a piece of the present member. */
static struct err *add_content(void *user, const void *p, size_t n, bool *stop)
{
	(void)stop;
	struct unpacking *x = user;
	struct unpack_file *f = x->file;
	if (x->hash)
		hash_add(x->hash, p, n);
	if (f->size + n > max_file)
		return err_new(E_ARCHIVE, "'%.*s' is larger than any package", STR(f->path));
	TRY(count_bytes(x, n));
	TRY(fs_pwrite(f->fd, p, n, f->size));
	f->size += n;
	return NULL;
}

static struct err *put_file(
	struct unpacking *x, mode_t mode, struct unpack_file *f, const struct unpack_place *p)
{
	mode = x->u->closed ? (mode & 0100 ? 0755 : 0644) : (mode & 0755) | 0600;
	unlinkat(p->dir, x->passing, 0); /* a killed run may have left one, even a link */
	CLEANUP(fd_closep)
	int fd = openat(p->dir, x->passing, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return err_errno("cannot create '%.*s' in the tree", STR(p->path));
	la_ssize_t n = 0;
	struct err *e = NULL;
	f->fd = fd;
	x->file = f;
	x->hash = x->u->told ? hash_new(HASH_SHA256) : NULL;
	if (x->zip)
		e = zip_stream(x->zip, x->member, add_content, x);
	while (!x->zip && !e && (n = la.archive_read_data(x->tar, x->chunk, CHUNK)) > 0)
		e = add_content(x, x->chunk, (size_t)n, NULL);
	if (n < 0)
		e = damaged(x->u->path, x->tar, "its data ends early or is damaged");
	if (x->hash)
		f->value = digest_hex(x->tmp, hash_end(x->hash));
	struct timespec times[2] = {{.tv_sec = f->mtime}, {.tv_sec = f->mtime}};
	if (!e)
		e = call_back(x, f);
	if (!e && (fchmod(fd, mode) < 0 || futimens(fd, times) < 0))
		e = err_errno("cannot set mode and time");
	if (e) {
		unlinkat(p->dir, x->passing, 0);
		return err_wrap(e, "cannot write '%.*s' of the tree", STR(p->path));
	}
	return move_in(x, p);
}

static struct err *put_symlink(
	struct unpacking *x, const char *target, const struct unpack_place *p)
{
	struct unpack_file f = {.type = 'l', .path = p->path, .value = str_from(target)};
	struct stat st;
	if (!f.value.n || !str_is_plain(f.value, ""))
		return hostile(x, p->path, "is a link to nothing acceptable");
	bool root = false;
	if (x->u->closed && !leads_inside(p->path, f.value, &root))
		return hostile(x, p->path, "is a link that leads out of the tree");
	x->u->leaves_top |= root;
	if (fstatat(p->dir, p->base, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(st.st_mode))
		return NULL; /* as with dpkg, a link does not replace a folder */
	unlinkat(p->dir, x->passing, 0);
	if (symlinkat(target, p->dir, x->passing) < 0)
		return err_errno("cannot create the link '%.*s' in the tree", STR(p->path));
	TRY(move_in(x, p));
	return call_back(x, &f);
}

static struct err *put_hardlink(struct unpacking *x, const char *to, const struct unpack_place *p)
{
	struct unpack_file f = {.type = 'h', .path = p->path};
	CLEANUP(place_done) struct unpack_place from = {.dir = -1};
	struct stat st;
	TRY(clean_name(x, to, &f.value));
	if (x->u->place)
		f.value = x->u->place(x->u->user, x->tmp, f.value);
	TRY(call_back(x, &f));
	TRY(open_place(x, f.value, &from));
	if (x->u->closed && (fstatat(from.dir, from.base, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
				    !S_ISREG(st.st_mode)))
		return hostile(x, p->path, "is a hard link to no file of the archive");
	unlinkat(p->dir, x->passing, 0);
	if (linkat(from.dir, from.base, p->dir, x->passing, 0) < 0)
		return err_errno("cannot create the hard link '%.*s' in the tree", STR(p->path));
	TRY(move_in(x, p));
	/* rename() does nothing if both names are already hard links to the same file */
	unlinkat(p->dir, x->passing, 0);
	return NULL;
}

/* Finds the path of a member; ret->base is NULL if the member is left out, is a folder, or is the root itself. */
static struct err *find_place(
	struct unpacking *x, const char *name, bool is_dir, struct unpack_place *ret)
{
	struct str path;
	if (++x->entries > MAX_ENTRIES)
		return damaged(x->u->path, NULL, "it has too many files");
	if (x->u->most && x->entries > FEW_ENTRIES + x->u->most / BLOCK)
		return err_new(E_LIMIT, "it unpacks to more than %llu files",
			(unsigned long long)x->entries - 1);
	TRY(clean_name(x, name, &path));
	if (x->u->place && !str_eq(path, S(".")))
		path = x->u->place(x->u->user, x->tmp, path);
	*ret = (struct unpack_place){.dir = -1};
	if (!path.n || str_eq(path, S(".")))
		return NULL;
	if (is_dir)
		return open_dir(x, path, &ret->dir);
	return open_place(x, path, ret);
}

static struct err *put_entry(struct unpacking *x, struct archive_entry *entry)
{
	mode_t type = la.archive_entry_filetype(entry);
	const char *hard = la.archive_entry_hardlink(entry);
	CLEANUP(place_done) struct unpack_place p = {.dir = -1};
	TRY(find_place(x, la.archive_entry_pathname(entry), !hard && type == AE_IFDIR, &p));
	if (!p.base)
		return NULL;
	struct unpack_file f = {
		.type = 'f', .path = p.path, .mtime = la.archive_entry_mtime(entry)};
	if (hard)
		return put_hardlink(x, hard, &p);
	if (type == AE_IFREG)
		return put_file(x, la.archive_entry_perm(entry), &f, &p);
	if (type == AE_IFLNK)
		return put_symlink(x, la.archive_entry_symlink(entry), &p);
	return hostile(x, p.path, "is a device node, pipe or socket");
}

/* Counts what follows the header of a link or of a member that is left out: decompressing it takes time, too. */
static struct err *skip_data(struct unpacking *x)
{
	la_ssize_t n;
	while ((n = la.archive_read_data(x->tar, x->chunk, CHUNK)) > 0)
		TRY(count_bytes(x, (size_t)n));
	return n < 0 ? damaged(x->u->path, x->tar, "its data ends early or is damaged") : NULL;
}

static void add_progress(struct unpacking *x, uint64_t used)
{
	if (used > x->used)
		progress_add(x->u->progress, used - x->used, S(""));
	x->used = used > x->used ? used : x->used;
}

static void unpacking_done(struct unpacking *x)
{
	fd_closep(&x->root);
}

static struct err *open_root(struct arena *tmp, struct unpack_job *u, struct unpacking *ret)
{
	*ret = (struct unpacking){.tmp = tmp, .u = u};
	ret->passing = str_fmt(tmp, ".rs-%.*s.tmp", STR(u->id)).p;
	ret->root = open(str_z(tmp, u->root), O_PATH | O_DIRECTORY | O_CLOEXEC);
	return ret->root >= 0 ? NULL : err_errno("cannot open the tree '%.*s'", STR(u->root));
}

struct err *unpack_tar(struct arena *tmp, struct unpack_job *u)
{
	CLEANUP(fs_unmap) struct str ar = {0};
	CLEANUP(archive_freep) struct archive *tar = NULL;
	CLEANUP(unpacking_done) struct unpacking x;
	struct archive_entry *entry;
	int r;
	TRY(open_root(tmp, u, &x));
	pthread_once(&once, open_once);
	if (!complete)
		return err_hint(
			err_new(E_TOOL_MISSING, "packages cannot be unpacked without " SONAME),
			"install the package libarchive13 or libarchive13t64");
	struct str data = {0};
	if (u->member) {
		TRY(fs_map(u->path, &ar));
		TRY(find_member(u, ar, &data));
	}
	x.tar = tar = la.archive_read_new();
	x.chunk = arena_alloc(tmp, CHUNK);
	la.archive_read_support_format_tar(tar);
	la.archive_read_support_filter_xz(tar);
	la.archive_read_support_filter_zstd(tar);
	la.archive_read_support_filter_gzip(tar);
	la.archive_read_support_filter_bzip2(tar);
	la.archive_read_support_filter_lzma(tar);
	r = u->member ? la.archive_read_open_memory(tar, data.p, data.n)
		      : la.archive_read_open_filename(tar, str_z(tmp, u->path), CHUNK);
	if (r != ARCHIVE_OK)
		return damaged(u->path, tar,
			u->member ? "its data member cannot be read" : "it cannot be read");
	while ((r = la.archive_read_next_header(tar, &entry)) == ARCHIVE_OK || r == ARCHIVE_WARN) {
		struct arena_mark m = arena_mark(tmp);
		TRY(cancel_check());
		TRY(put_entry(&x, entry));
		TRY(skip_data(&x));
		add_progress(&x, (uint64_t)la.archive_filter_bytes(tar, -1));
		arena_rewind(tmp, m);
	}
	if (r != ARCHIVE_EOF)
		return damaged(u->path, tar, "its data ends early or is damaged");
	return NULL;
}

/* Unpacks only files and folders: sources do not need the links and devices that some zip tools write. */
struct err *unpack_zip(struct arena *tmp, struct unpack_job *u)
{
	CLEANUP(zip_close) struct zip zip = {.fd = -1};
	CLEANUP(unpacking_done) struct unpacking x;
	TRY(open_root(tmp, u, &x));
	TRY_CTX(zip_open(tmp, u->path, NULL, &zip), "cannot unpack '%.*s'",
		STR(path_base(u->path)));
	x.zip = &zip;
	VEC_EACH (const struct zip_member, m, &zip.members) {
		struct arena_mark mark = arena_mark(tmp);
		CLEANUP(place_done) struct unpack_place p = {.dir = -1};
		x.member = m;
		TRY(find_place(&x, str_z(tmp, m->name), m->dir, &p));
		struct unpack_file f = {.type = 'f', .path = p.path};
		if (p.base && (m->mode & S_IFMT) && !S_ISREG(m->mode))
			return hostile(&x, p.path, "is a link or a device");
		if (p.base)
			TRY(put_file(&x, m->mode, &f, &p));
		add_progress(&x, m->data + m->stored);
		arena_rewind(tmp, mark);
	}
	return NULL;
}

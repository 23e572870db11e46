/* One .deb into a tree: ar -> data.tar.{xz,zst,gz} -> files, by libarchive. Format: deb(5).
 *
 * Names in the archive are not trusted: every entry is created through a folder that the kernel
 * resolved inside the tree (openat2, RESOLVE_IN_ROOT: links in the tree cannot lead out, as little
 * as ".."). Device nodes, sockets and absolute names are refused; set-user-id bits are dropped.
 * Each file is written beside its name and renamed, so that a tree in use is completed or repaired
 * without a torn file. Scripts of the package are not even read. */
#include <archive.h>
#include <archive_entry.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/fs.h"
#include "base/hash.h"
#include "base/proc.h"
#include "sdk/provider.h"

static const uint64_t max_file = (uint64_t)16 << 30, max_total = (uint64_t)64 << 30;
enum { MAX_ENTRIES = 1000000, MAX_NAME = 4096, CHUNK = 1 << 17 };

/* ---- libarchive ---- */

/* It is opened when the first package is unpacked: with its own libraries (ICU among them, by way of
 * libxml2) it costs more start-up time than everything else, and most commands never need it. */
#define SONAME "libarchive.so.13" /* since libarchive 3.0 */
#define LIBARCHIVE_FUNCTIONS(X)                                                                    \
	X(archive_read_new)                                                                        \
	X(archive_read_free)                                                                       \
	X(archive_read_support_format_ar)                                                          \
	X(archive_read_support_format_tar)                                                         \
	X(archive_read_support_filter_none)                                                        \
	X(archive_read_support_filter_xz)                                                          \
	X(archive_read_support_filter_zstd)                                                        \
	X(archive_read_support_filter_gzip)                                                        \
	X(archive_read_support_filter_bzip2)                                                       \
	X(archive_read_support_filter_lzma)                                                        \
	X(archive_read_open)                                                                       \
	X(archive_read_open_filename)                                                              \
	X(archive_read_next_header)                                                                \
	X(archive_read_data)                                                                       \
	X(archive_read_data_block)                                                                 \
	X(archive_errno)                                                                           \
	X(archive_error_string)                                                                    \
	X(archive_set_error)                                                                       \
	X(archive_entry_pathname)                                                                  \
	X(archive_entry_filetype)                                                                  \
	X(archive_entry_hardlink)                                                                  \
	X(archive_entry_symlink)                                                                   \
	X(archive_entry_mtime)                                                                     \
	X(archive_entry_perm)

struct libarchive {
#define X(name) __typeof__(name) *name;
	LIBARCHIVE_FUNCTIONS(X)
#undef X
};

static struct libarchive la; /* filled by libarchive_open() */
static pthread_once_t once = PTHREAD_ONCE_INIT;
static bool complete;

static void open_once(void)
{
	void *lib = dlopen(SONAME, RTLD_NOW | RTLD_LOCAL);
	complete = lib != NULL;
	/* ISO C has no conversion from dlsym()'s result, POSIX guarantees the representation. */
#define X(name)                                                                                    \
	{                                                                                          \
		void *p = lib ? dlsym(lib, #name) : NULL;                                          \
		memcpy(&la.name, &p, sizeof(p));                                                   \
		complete = complete && p;                                                          \
	}
	LIBARCHIVE_FUNCTIONS(X)
#undef X
}

static struct err *libarchive_open(void)
{
	pthread_once(&once, open_once);
	if (complete)
		return NULL;
	return err_hint(err_new(E_TOOL_MISSING, "packages cannot be unpacked without " SONAME),
		"install the package libarchive13 or libarchive13t64");
}

/* ---- what a package may put where ---- */

/* Documentation that no build reads; copyright files stay. */
static const char *const left_out[] = {
	"usr/share/man/",
	"usr/share/info/",
	"usr/share/locale/",
	"usr/share/lintian/",
	"usr/share/doc-base/",
};

/* Where the archive's top folders are: merged into /usr, whatever the suite's packages say. */
static const char *const merged[] = {"bin/", "sbin/", "lib/", "lib32/", "lib64/", "libx32/"};

struct outer { /* the .deb: feeds its data member to the inner archive */
	struct archive *ar;
	struct str path;
};

struct place {            /* where an entry goes */
	int dir;          /* folder, opened inside the tree */
	const char *base; /* name in it */
	struct str path;  /* relative to the tree */
};

struct unpacking {
	struct arena *tmp;
	struct sdk_unpack *u;
	struct archive *tar;
	int root;
	char *chunk;
	uint64_t total, entries;
};

static void archive_freep(struct archive **a)
{
	if (*a)
		la.archive_read_free(*a);
}

static void outer_done(struct outer *o)
{
	archive_freep(&o->ar);
}

static struct err *damaged(struct str path, struct archive *a, const char *what)
{
	const char *why = a ? la.archive_error_string(a) : NULL;
	struct err *e = err_new(E_ARCHIVE, "cannot unpack '%.*s': %s", STR(path_base(path)), what);
	if (why)
		e->cause = err_new(E_ARCHIVE, "%s", why);
	return e;
}

static bool is_control(char c)
{
	return (unsigned char)c < 0x20 || c == 0x7f;
}

static bool has_control(struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if (is_control(s.p[i]))
			return true;
	return false;
}

/* name may hold anything; the message is one line. */
static struct err *hostile(const struct unpacking *x, struct str name, const char *what)
{
	char *shown = str_z(x->tmp, name);
	for (char *p = shown; *p; p++)
		if (is_control(*p))
			*p = '?';
	return err_new(E_ARCHIVE, "refused to unpack '%.*s': '%.256s' %s",
		STR(path_base(x->u->item->path)), shown, what);
}

static la_ssize_t feed(struct archive *tar, void *user, const void **ret)
{
	struct outer *o = user;
	size_t n;
	la_int64_t offset;
	int r = la.archive_read_data_block(o->ar, ret, &n, &offset);
	if (r == ARCHIVE_EOF)
		return 0;
	if (r < ARCHIVE_WARN) {
		la.archive_set_error(
			tar, la.archive_errno(o->ar), "%s", la.archive_error_string(o->ar));
		return -1;
	}
	return (la_ssize_t)n;
}

/* Stands at the data member afterwards. */
static struct err *open_outer(struct outer *o)
{
	ARENA(tmp);
	TRY(libarchive_open());
	o->ar = la.archive_read_new();
	la.archive_read_support_format_ar(o->ar);
	la.archive_read_support_filter_none(o->ar);
	if (la.archive_read_open_filename(o->ar, str_z(&tmp, o->path), CHUNK) != ARCHIVE_OK)
		return damaged(o->path, o->ar, "it cannot be opened as a package");
	struct archive_entry *entry;
	int r;
	while ((r = la.archive_read_next_header(o->ar, &entry)) == ARCHIVE_OK) {
		const char *name = la.archive_entry_pathname(entry);
		if (name && strncmp(name, "data.tar", 8) == 0)
			return NULL;
	}
	return damaged(o->path, r == ARCHIVE_EOF ? NULL : o->ar, "it has no data member");
}

/* ---- names ---- */
/* A name of the archive -> clean and relative to the tree; "." for the tree itself. */
static struct err *clean_name(const struct unpacking *x, const char *raw, struct str *ret)
{
	struct str name = str_from(raw ? raw : "");
	if (!name.n || name.n > MAX_NAME || has_control(name))
		return hostile(x, name, "is no acceptable file name");
	if (name.p[0] == '/')
		return hostile(x, name, "is an absolute path");
	struct str piece, rest = name;
	while (str_next(&rest, '/', &piece))
		if (str_eq(piece, S("..")))
			return hostile(x, name, "leads out of the tree");
	*ret = path_clean(x->tmp, name);
	for (size_t i = 0; i < sizeof(merged) / sizeof(merged[0]); i++)
		if (str_starts(*ret, str_from(merged[i]))) {
			*ret = path_join(x->tmp, S("usr"), *ret);
			break;
		}
	return NULL;
}

static bool wanted(struct str path)
{
	for (size_t i = 0; i < sizeof(left_out) / sizeof(left_out[0]); i++)
		if (str_starts(path, str_from(left_out[i])))
			return false;
	return !str_starts(path, S("usr/share/doc/")) || str_ends(path, S("/copyright"));
}

/* ---- folders ---- */
/* Without openat2 (old kernel, seccomp): no link on the way is followed. */
static int open_step_by_step(int root, char *path)
{
	int at = fcntl(root, F_DUPFD_CLOEXEC, 0);
	for (char *p = path; at >= 0 && p && *p;) {
		char *slash = strchr(p, '/');
		if (slash)
			*slash = 0;
		int next = openat(at, p, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		int no = errno;
		close(at);
		errno = no;
		at = next;
		if (slash)
			*slash = '/';
		p = slash ? slash + 1 : NULL;
	}
	return at;
}

static int open_inside(int root, char *path)
{
	struct open_how how = {
		.flags = O_PATH | O_DIRECTORY | O_CLOEXEC,
		.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS,
	};
	long fd = syscall(SYS_openat2, root, *path ? path : ".", &how, sizeof(how));
	if (fd < 0 && (errno == ENOSYS || errno == EPERM))
		return open_step_by_step(root, path);
	return (int)fd;
}

/* Opens a folder of the tree, making it and its parents where they are missing. */
static struct err *open_dir(const struct unpacking *x, struct str path, int *ret)
{
	char *z = str_z(x->tmp, str_eq(path, S(".")) ? S("") : path);
	*ret = open_inside(x->root, z);
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
	*ret = open_inside(x->root, z);
	if (*ret >= 0)
		return NULL;
	if (errno == ENOENT || errno == ENOTDIR || errno == ELOOP)
		return hostile(x, path, "lies behind a link that leads to no folder");
	return err_errno("cannot open the folder '%.*s' of the tree", STR(path));
}

static struct err *open_place(const struct unpacking *x, struct str path, struct place *ret)
{
	*ret = (struct place){.dir = -1, .path = path, .base = str_z(x->tmp, path_base(path))};
	return open_dir(x, path_dir(path), &ret->dir);
}

static void place_done(struct place *p)
{
	fd_closep(&p->dir);
}

/* ---- entries ---- */
/* The name beside the target that content is written to; unique among threads by the package. */
static const char *beside(const struct unpacking *x)
{
	return str_fmt(x->tmp, ".rs-%.*s.tmp", STR(x->u->item->name)).p;
}

static struct err *move_in(const struct place *p, const char *from)
{
	if (renameat(p->dir, from, p->dir, p->base) == 0)
		return NULL;
	struct err *e = err_errno("cannot put '%.*s' into the tree", STR(p->path));
	unlinkat(p->dir, from, 0);
	return e;
}

/* The content goes into fd, and its size and hash into rec. */
static struct err *copy_data(struct unpacking *x, int fd, struct sdk_record *rec)
{
	struct hash *h = hash_new(HASH_SHA256);
	struct err *e = NULL;
	la_ssize_t n = 0;
	while (!e && (n = la.archive_read_data(x->tar, x->chunk, CHUNK)) > 0) {
		hash_add(h, x->chunk, (size_t)n);
		x->total += (uint64_t)n;
		if (rec->size + (uint64_t)n > max_file || x->total > max_total)
			e = err_new(E_ARCHIVE, "'%.*s' is larger than any package", STR(rec->path));
		else
			e = fs_pwrite(fd, x->chunk, (size_t)n, rec->size);
		rec->size += (uint64_t)n;
	}
	struct digest d = hash_end(h);
	rec->value = digest_hex(x->tmp, &d);
	if (!e && n < 0)
		e = damaged(x->u->item->path, x->tar, "its data ends early or is damaged");
	return e;
}

static struct err *put_file(struct unpacking *x, struct archive_entry *entry, struct place *p)
{
	const char *name = beside(x);
	struct sdk_record rec = {.type = 'f', .path = p->path};
	rec.mtime = la.archive_entry_mtime(entry);
	mode_t mode = (la.archive_entry_perm(entry) & 0755) | 0600;
	unlinkat(p->dir, name, 0); /* a killed install may have left a link of that name */
	CLEANUP(fd_closep)
	int fd = openat(p->dir, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return err_errno("cannot create '%.*s' in the tree", STR(p->path));
	struct err *e = copy_data(x, fd, &rec);
	struct timespec times[2] = {{.tv_sec = rec.mtime}, {.tv_sec = rec.mtime}};
	if (!e && (fchmod(fd, mode) < 0 || futimens(fd, times) < 0))
		e = err_errno("cannot set mode and time");
	if (e) {
		unlinkat(p->dir, name, 0);
		return err_wrap(e, "cannot write '%.*s' of the tree", STR(p->path));
	}
	TRY(move_in(p, name));
	record_add(x->u->record, &rec);
	x->u->bytes += rec.size;
	return NULL;
}

static struct err *put_symlink(struct unpacking *x, struct archive_entry *entry, struct place *p)
{
	const char *name = beside(x), *target = la.archive_entry_symlink(entry);
	if (!target || !*target || has_control(str_from(target)))
		return hostile(x, p->path, "is a link to nothing acceptable");
	struct stat st;
	if (fstatat(p->dir, p->base, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(st.st_mode))
		return NULL; /* as dpkg does: a folder is not replaced by a link */
	unlinkat(p->dir, name, 0);
	if (symlinkat(target, p->dir, name) < 0)
		return err_errno("cannot create the link '%.*s' in the tree", STR(p->path));
	TRY(move_in(p, name));
	struct sdk_record rec = {.type = 'l', .path = p->path, .value = str_from(target)};
	record_add(x->u->record, &rec);
	return NULL;
}

/* Its line in the record is like that of the file that it links to. */
static struct err *put_hardlink(struct unpacking *x, struct archive_entry *entry, struct place *p)
{
	struct sdk_record twin;
	bool found = false, bad;
	struct str target, rest = str_dup(x->tmp, buf_str(x->u->record));
	TRY(clean_name(x, la.archive_entry_hardlink(entry), &target));
	while (!found && record_next(&rest, &twin, &bad))
		found = str_eq(twin.path, target);
	if (!found)
		return hostile(
			x, p->path, "is a hard link to a file that the package does not hold");
	twin.path = p->path;
	record_add(x->u->record, &twin);
	CLEANUP(place_done) struct place from;
	TRY(open_place(x, target, &from));
	const char *name = beside(x);
	unlinkat(p->dir, name, 0);
	if (linkat(from.dir, from.base, p->dir, name, 0) < 0)
		return err_errno("cannot create the hard link '%.*s' in the tree", STR(p->path));
	TRY(move_in(p, name));
	/* rename() keeps both names when they are the same file already */
	unlinkat(p->dir, name, 0);
	return NULL;
}

static struct err *put_entry(struct unpacking *x, struct archive_entry *entry)
{
	struct str path;
	TRY(clean_name(x, la.archive_entry_pathname(entry), &path));
	mode_t type = la.archive_entry_filetype(entry);
	if (str_eq(path, S(".")) || !wanted(path))
		return NULL;
	CLEANUP(fd_closep) int dir = -1;
	if (!la.archive_entry_hardlink(entry) && type == AE_IFDIR)
		return open_dir(x, path, &dir);
	CLEANUP(place_done) struct place p;
	TRY(open_place(x, path, &p));
	x->u->files++;
	if (la.archive_entry_hardlink(entry))
		return put_hardlink(x, entry, &p);
	if (type == AE_IFREG)
		return put_file(x, entry, &p);
	if (type == AE_IFLNK)
		return put_symlink(x, entry, &p);
	return hostile(x, path, "is a device node, pipe or socket");
}

static struct err *put_all(struct unpacking *x)
{
	struct archive_entry *entry;
	int r;
	while ((r = la.archive_read_next_header(x->tar, &entry)) == ARCHIVE_OK ||
		r == ARCHIVE_WARN) {
		struct arena_mark m = arena_mark(x->tmp);
		TRY(cancel_check());
		if (++x->entries > MAX_ENTRIES)
			return damaged(x->u->item->path, NULL, "it has too many files");
		TRY(put_entry(x, entry));
		if (x->u->record->a != x->tmp)
			arena_rewind(x->tmp, m);
	}
	if (r != ARCHIVE_EOF)
		return damaged(x->u->item->path, x->tar, "its data ends early or is damaged");
	return NULL;
}

struct err *deb_unpack(struct arena *tmp, struct sdk_unpack *u)
{
	CLEANUP(outer_done) struct outer outer = {.path = u->item->path};
	CLEANUP(archive_freep) struct archive *tar = NULL;
	TRY(open_outer(&outer));
	tar = la.archive_read_new();
	la.archive_read_support_format_tar(tar);
	la.archive_read_support_filter_xz(tar);
	la.archive_read_support_filter_zstd(tar);
	la.archive_read_support_filter_gzip(tar);
	la.archive_read_support_filter_bzip2(tar);
	la.archive_read_support_filter_lzma(tar);
	if (la.archive_read_open(tar, &outer, NULL, feed, NULL) != ARCHIVE_OK)
		return damaged(outer.path, tar, "its data member cannot be read");
	CLEANUP(fd_closep)
	int root = open(str_z(tmp, u->root), O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (root < 0)
		return err_errno("cannot open the tree '%.*s'", STR(u->root));
	struct unpacking x = {.tmp = tmp, .u = u, .root = root, .tar = tar};
	x.chunk = arena_alloc(tmp, CHUNK);
	return put_all(&x);
}

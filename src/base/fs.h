/* Files and folders: everything that rocsmith reads or writes goes through here.
 *
 * There are two ways to write a file: fs_write() for a text, and struct fs_out for one that comes in pieces. Both
 * fill a file that has no name yet, sync it, and put it in the place of the old one, so that a reader sees the old
 * or the new content, and a kill leaves neither a torn file nor litter. For folders fs_stage.h does the same.
 * After fs_forbid_writes() (a dry run) every function that changes something fails with E_DRY_RUN.
 */
#pragma once

#include <sys/stat.h>

#include "base/err.h"

/* ---- path text (no file system access) ---- */
struct str path_join(struct arena *a, struct str dir, struct str name); /* absolute name wins */
struct str path_dir(struct str path);  /* "a/b.c" -> "a"; "b.c" -> "." ; "/x" -> "/" */
struct str path_base(struct str path); /* "a/b.c" -> "b.c" */
struct str path_ext(struct str path);  /* "b.c" -> ".c"; none -> "" */
/* Without "." and "..", doubled and trailing slashes; by text alone. */
struct str path_clean(struct arena *a, struct str path);
struct str path_abs(struct arena *a, struct str path); /* against the current folder, cleaned */
/* The path relative to the folder base; both are absolute and clean. */
struct str path_rel(struct arena *a, struct str path, struct str base);
/* Is it relative, and by text never above its start? Then it is safe to join to a folder. */
bool path_is_inside(struct str rel);
/* Is it dir, or below it? By text alone. */
bool path_is_below(struct str path, struct str dir);

/* ---- looking ---- */
bool fs_exists(struct str path);  /* follows links */
bool fs_present(struct str path); /* something has this name, even if it is a dangling link */
bool fs_is_dir(struct str path);  /* follows links */
bool fs_is_file(struct str path); /* follows links */
bool fs_is_link(struct str path);
/* May this process read or write it? The kernel decides; errno has the reason if not. */
bool fs_readable(struct str path);
bool fs_writable(struct str path);
MUST_USE struct err *fs_stat(struct str path, struct stat *ret);  /* follows links */
MUST_USE struct err *fs_lstat(struct str path, struct stat *ret); /* does not */
/* The same for paths that may well not exist: false, with errno. */
bool fs_try_stat(struct str path, struct stat *ret);
bool fs_try_lstat(struct str path, struct stat *ret);
/* Size and mtime as a text, to see whether a file is still the same; "" when it is not there. */
struct str fs_state(struct arena *a, struct str path);
/* The same below an open folder, for many looks into one tree. */
bool fs_try_stat_in(int dir, struct str path, bool follow, struct stat *ret);
/* realpath(3); false when part of it is missing. */
bool fs_real(struct arena *a, struct str path, struct str *ret);
MUST_USE struct err *fs_readlink(struct arena *a, struct str path, struct str *ret);
/* Bytes free for this user on the file system of path, or of the folder that it would be in, and its size. */
bool fs_free_space(struct str path, uint64_t *ret, uint64_t *ret_size);
struct str fs_existing(struct str path); /* path, or the nearest folder above it that exists */

/* ---- folders ---- */
/* Names in a folder, sorted, without "." and "..". */
MUST_USE struct err *fs_list(struct arena *a, struct str dir, struct strs *ret);

struct fs_name {
	struct str name;
	bool dir, link; /* a folder, also through a link; the entry itself is a link */
};

struct fs_names {
	struct fs_name *v;
	size_t n, cap;
};

/* The same in the order of the file system, with the kinds of entries, for fast walks. *ret_st is the folder's own. */
MUST_USE struct err *fs_scan(
	struct arena *a, struct str dir, struct fs_names *ret, struct stat *ret_st);

struct fs_entry {
	struct str path; /* relative to the walked folder */
	struct stat st;  /* of the entry itself; links are not followed */
};

/* Called for every entry below a folder, parents first, names in byte order; the entry and its path
 * live for the call only. Setting *prune on a folder skips what is in it. */
typedef struct err *fs_visit(void *user, const struct fs_entry *e, bool *prune);
MUST_USE struct err *fs_walk(struct str dir, fs_visit *visit, void *user);

/* ---- reading ---- */
/* The whole file, NUL-terminated behind .n; E_LIMIT when it is larger than limit bytes. */
MUST_USE struct err *fs_read(struct arena *a, struct str path, size_t limit, struct str *ret);
/* The same, with its stat from just before. */
MUST_USE struct err *fs_read_stat(
	struct arena *a, struct str path, size_t limit, struct str *ret, struct stat *ret_st);
/* The same, but a missing file is no error: ret->p is NULL then. */
MUST_USE struct err *fs_read_opt(struct arena *a, struct str path, size_t limit, struct str *ret);
/* The first n bytes, or all when there are fewer. */
MUST_USE struct err *fs_read_head(struct arena *a, struct str path, size_t n, struct str *ret);
/* Maps a whole file, for files that are too large to be read. Not for files that others may truncate meanwhile. */
MUST_USE struct err *fs_map(struct str path, struct str *ret);
void fs_unmap(struct str *text);
/* An fd for reading a file, or for a folder; close-on-exec. */
MUST_USE struct err *fs_open(struct str path, int *ret_fd);
void fd_closep(int *fd);
/* Exactly n bytes at offset, or E_IO ("unexpected end of file"). */
MUST_USE struct err *fs_pread(int fd, void *p, size_t n, uint64_t offset);

/* ---- writing ---- */
void fs_forbid_writes(void); /* from now on, except in scratch folders: a dry run */
bool fs_writes_forbidden(void);
/* A file of this content. mode holds the bits of a new file's mode (0644), less the umask, and flags: */
enum {
	FS_EXACT = 1 << 16, /* the mode as it is, whatever the umask */
	FS_IF_CHANGED =
		1 << 17, /* leave the file and its mtime alone when it has the content already */
	FS_THROUGH = 1 << 18, /* an output that the user named: into links, devices and pipes, as a
				  * shell does it */
	FS_LOOSE = 1 << 19, /* neither atomic nor synced, for new files by the hundreds that nobody
				  * else looks at; without mode bits 0666 */
};
/* Creates or replaces path atomically, unless a flag says otherwise. E_IO where a device, a pipe or a socket
 * lies; with FS_LOOSE also where a link does. Setuid, setgid and sticky bits are dropped. */
MUST_USE struct err *fs_write(struct str path, struct str content, unsigned mode);
/* Appends a line by one write; the file is made if there is none. With several processes, and when one is killed,
 * every line is whole or missing. Not synced. */
MUST_USE struct err *fs_append(struct str path, struct str line);
/* A file of at least size bytes that processes share by locks on those bytes; it is made if there is none. For
 * fs_pread() and fs_pwrite(). Programs that we start inherit the fd. */
MUST_USE struct err *fs_open_shared(struct str path, size_t size, int *ret_fd);

/* A file being written in pieces: open, write, then commit; abandon() (or the cleanup attribute)
 * removes the temporary file. The first failure sticks and is returned by commit. */
struct fs_out {
	int fd, dir;       /* -1: not open; dir: the folder for the file */
	char *tmp, *path;  /* malloc'ed; tmp, a name in dir, is NULL while the file has none */
	uint64_t offset;   /* bytes written */
	struct err *first; /* sticky */
};

MUST_USE struct err *fs_out_open(struct fs_out *o, struct str path, unsigned mode);
void fs_out_write(struct fs_out *o, const void *p, size_t n);
void fs_out_zeros(struct fs_out *o, uint64_t to);   /* up to that offset */
void fs_out_cut(struct fs_out *o, uint64_t offset); /* truncates; writing goes on from there */
MUST_USE struct err *fs_out_commit(struct fs_out *o);
void fs_out_abandon(struct fs_out *o);

/* ---- folders and names ---- */
MUST_USE struct err *fs_mkdirs(struct str path); /* and its parents; fine when it exists */
MUST_USE struct err *fs_rename(struct str from, struct str to);     /* and fsyncs the folder */
MUST_USE struct err *fs_exchange(struct str one, struct str other); /* each gets the other's name */
MUST_USE struct err *fs_symlink(struct str target, struct str path); /* replaces atomically */
MUST_USE struct err *fs_link(struct str from, struct str to);        /* a second name (hard link) */
/* Sets the owner of a file or link; false, with errno, if we may not. */
bool fs_try_chown(struct str path, unsigned uid, unsigned gid);
MUST_USE struct err *fs_remove(struct str path); /* file, link, empty folder; fine when absent */
MUST_USE struct err *fs_remove_empty(struct str dir); /* fine when absent, full, or no folder */
/* A whole tree, links not followed; fine when absent. Only for what we created. */
MUST_USE struct err *fs_remove_tree(struct str path);
/* Makes a hole in an open file, which reads as zeros and keeps its size; false if that is not possible. */
bool fs_try_punch(int fd, uint64_t offset, uint64_t n);
/* Writes the first byte of an open file again, and stats it; false when it is empty. */
bool fs_try_touch(int fd, struct stat *ret);
/* Is an open file the one that st was taken from? */
bool fs_is_same(int fd, const struct stat *st);
/* An exclusive lock (flock) on path, held until the fd is closed. E_LOCKED with who holds it when
 * it is taken and wait is false. */
MUST_USE struct err *fs_lock(struct str path, bool wait, int *ret_fd);
/* A shared lock on a file that exists; nothing is written. */
MUST_USE struct err *fs_lock_shared(struct str path, bool wait, int *ret_fd);

/* ---- many files at once: not atomic and not synced, for results that can be made again ---- */
/* Another file's content, shared where the file system can; mode and mtime as st, which is how the caller saw
 * it: E_IO when it is another file by now (st_ino 0: any will do). Otherwise as fs_write() with FS_LOOSE. */
MUST_USE struct err *fs_copy(struct str from, struct str path, const struct stat *st);
/* A rename; over = false: E_IO when there is something at to. */
MUST_USE struct err *fs_move(struct str from, struct str to, bool over);
MUST_USE struct err *fs_symlink_new(struct str target, struct str path); /* not atomic */
/* The passing name, beside path, of what will replace it: hidden, short, and always the same for a path. */
struct str fs_temp_name(struct arena *a, struct str path);
bool fs_is_temp_name(struct str name);
MUST_USE struct err *fs_sync(struct str path); /* a file, or a folder's entries */
/* Syncs everything on the file system of path, for whole trees that were written without a sync. */
MUST_USE struct err *fs_sync_all(struct str path);

/* ---- trees of strangers ---- */
/* Guards a folder until the guard is released: changes below it, and reads in its folders .rocsmith*, go through
 * real folders only; a link on the way is E_PERM. *ret is NULL when there is no such folder. The innermost of
 * several guards counts. */
struct fs_tree;
MUST_USE struct err *fs_guard(struct str dir, struct fs_tree **ret);
void fs_unguardp(struct fs_tree **t);
/* An O_PATH fd of a folder below root, resolved by openat2() with these RESOLVE_* flags. On kernels without openat2()
 * no link is followed at all. -1 with errno. */
int fs_open_inside(int root, const char *path, uint64_t resolve);

/* ---- scratch: may be made, and written, in a dry run too ---- */
/* A new folder with a unique name in dir, mode 0700. dir "" means $TMPDIR or /tmp, which a dry run may use, too. */
MUST_USE struct err *fs_tempdir(struct arena *a, struct str dir, struct str *ret);
void fs_tempdirp(struct str *dir); /* removes it, for CLEANUP(); "" is fine */
/* An unnamed file in $TMPDIR or /tmp, to read and write. */
MUST_USE struct err *fs_tempfile(int *ret_fd);
/* Writes exactly n bytes at offset. */
MUST_USE struct err *fs_pwrite(int fd, const void *p, size_t n, uint64_t offset);

/* ---- where things live (XDG base directories) ---- */
enum fs_place { FS_DATA, FS_CACHE, FS_STATE, FS_CONFIG };
/* e.g. ~/.cache/rocsmith/NAME; ROCSMITH_HOME=DIR puts all four below DIR. Not created. */
struct str fs_place(struct arena *a, enum fs_place place, struct str name);
/* Checks a folder before its contents are run, believed or changed: E_PERM when it is another user's, or no folder;
 * fine when it does not exist. A place may also be a link or root's, but others must not be able to write there. */
MUST_USE struct err *fs_check_own(struct str dir, bool place);
/* The same for one of the four; E_NOENT when this user has no home folder. */
MUST_USE struct err *fs_place_check(enum fs_place place);

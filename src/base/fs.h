/* Files and folders: all file access of rocsmith goes through these functions.
 *
 * There are two ways to write a file: fs_write() for a whole text, and struct fs_out for content that comes in pieces.
 * Both fill a file that has no name yet, sync it, and let it replace the old one, so that a reader sees the old or the
 * new content, and a kill leaves neither a torn nor a stray file. For folders, fs_stage.h does the same.
 * After fs_forbid_writes() (a dry run) every function that changes something fails with E_DRY_RUN.
 */
#pragma once

#include <sys/stat.h>

#include "base/err.h"
#include "base/vec.h"

/* ---- path text (no file system access) ---- */
struct str path_join(struct arena *a, struct str dir, struct str name); /* absolute name wins */
struct str path_dir(struct str path);  /* "a/b.c" -> "a"; "b.c" -> "." ; "/x" -> "/" */
struct str path_base(struct str path); /* "a/b.c" -> "b.c" */
struct str path_ext(struct str path);  /* "b.c" -> ".c"; none -> "" */
/* The name of a shared library without its version, and without the hash that auditwheel gives to a copy in a wheel:
 * "libamdhip64" with the version "7.2" for "lib/libamdhip64-d01f4dc2.so.7.2"; "" for other files. */
struct str path_library(struct str path, struct str *ret_version);
/* Removes ".", "..", doubled and trailing slashes; looks only at the text. */
struct str path_clean(struct arena *a, struct str path);
struct str path_abs(struct arena *a, struct str path); /* against the current folder, cleaned */
/* The path relative to the folder base; both are absolute and clean. */
struct str path_rel(struct arena *a, struct str path, struct str base);
/* Is it relative, and does its text never lead above its start? Then it is safe to join to a folder. */
bool path_is_inside(struct str rel);
/* Is path dir or below it? Looks only at the text. */
bool path_is_below(struct str path, struct str dir);

/* ---- examining ---- */
bool fs_exists(struct str path);  /* follows links */
bool fs_present(struct str path); /* something has this name, even if it is a dangling link */
bool fs_is_dir(struct str path);  /* follows links */
bool fs_is_file(struct str path); /* follows links */
bool fs_is_link(struct str path);
/* May this process use it as access(2) says (R_OK, W_OK)? If not, errno has the reason. */
bool fs_access(struct str path, int how);
MUST_USE struct err *fs_stat(struct str path, struct stat *ret);  /* follows links */
MUST_USE struct err *fs_lstat(struct str path, struct stat *ret); /* does not */
/* The same for paths that often do not exist: false, with errno. */
bool fs_try_stat(struct str path, struct stat *ret);
bool fs_try_lstat(struct str path, struct stat *ret);
/* Size and mtime as a text, to detect a changed file; "" if there is none. */
struct str fs_state(struct arena *a, struct str path);
/* A word that changes with the content of a regular file, and with its inode: programs can set the size and the mtime, but not
 * the ctime. "" if it is none. */
struct str fs_exact_state(struct arena *a, struct str path);
/* The same below an open folder, for many calls in one tree. */
bool fs_try_stat_in(int dir, struct str path, bool follow, struct stat *ret);
/* Does a folder show the running system (/proc, /sys)? To read all that is there may never end. */
bool fs_is_live(struct str dir);
/* realpath(3); false if a part of the path is missing. */
bool fs_real(struct arena *a, struct str path, struct str *ret);
MUST_USE struct err *fs_readlink(struct arena *a, struct str path, struct str *ret);
/* The bytes free for this user on the file system of path (or of its nearest existing folder), and its size. */
bool fs_free_space(struct str path, uint64_t *ret, uint64_t *ret_size);
struct str fs_existing(struct str path); /* path, or the nearest folder above it that exists */

/* ---- folders ---- */
/* The names in a folder, sorted, without "." and "..". */
MUST_USE struct err *fs_list(struct arena *a, struct str dir, struct strs *ret);

struct fs_name {
	struct str name;
	bool dir, link; /* dir: it is a folder, perhaps through a link; link: the entry is a link */
};

struct fs_names VEC_OF(struct fs_name);

/* The same in the order of the file system, with the types of entries, for fast walks. *ret_st is the folder's stat; if
 * it is NULL, only the names are set. */
MUST_USE struct err *fs_scan(
	struct arena *a, struct str dir, struct fs_names *ret, struct stat *ret_st);

struct fs_entry {
	struct str path; /* relative to the walked folder */
	struct stat st;  /* lstat() of the entry: links are not followed */
	bool prune;      /* set by the visitor of a folder: its contents are skipped */
};

/* Called for every entry below a folder, parents first, names in byte order; the entry and its path
 * live for the call only. */
typedef struct err *fs_visit(void *user, struct fs_entry *e);
MUST_USE struct err *fs_walk(struct str dir, fs_visit *visit, void *user);
/* The entries that a walk could not look at: their number, and why the first could not be. */
struct fs_skipped {
	size_t n;
	struct err *first;
};
/* The same, but only the folder itself must be readable; what is not, below it, is skipped. */
MUST_USE struct err *fs_walk_rest(
	struct str dir, fs_visit *visit, void *user, struct fs_skipped *ret);

/* ---- reading ---- */
/* The whole file, NUL-terminated behind .n; E_LIMIT when it is larger than limit bytes. */
MUST_USE struct err *fs_read(struct arena *a, struct str path, size_t limit, struct str *ret);
/* The same, with the file's stat from just before the read. */
MUST_USE struct err *fs_read_stat(
	struct arena *a, struct str path, size_t limit, struct str *ret, struct stat *ret_st);
/* The same, but a missing file is no error: ret->p is NULL then. */
MUST_USE struct err *fs_read_opt(struct arena *a, struct str path, size_t limit, struct str *ret);
/* The first n bytes, or all when there are fewer. */
MUST_USE struct err *fs_read_head(struct arena *a, struct str path, size_t n, struct str *ret);
/* Maps a whole file that is too large to read. The file must not be truncated meanwhile. */
MUST_USE struct err *fs_map(struct str path, struct str *ret);
void fs_unmap(struct str *text);
/* An fd for reading a file, or for a folder; close-on-exec. */
MUST_USE struct err *fs_open(struct str path, int *ret_fd);
void fd_closep(int *fd);
/* Does reading come to an end? By the size of a regular file; when a writer closes its pipe or terminal; never with a device
 * such as /dev/zero. /dev/null counts as a pipe. */
enum fs_end { FS_END_BY_SIZE, FS_END_BY_WRITER, FS_END_NEVER };
enum fs_end fs_end(int fd);
/* The same for a regular file below a folder that somebody else may have filled: no link on the way is followed, and
 * nothing that is no file is opened. E_PERM behind a link or outside, E_IO if it is no regular file or has more than
 * `most` bytes. */
MUST_USE struct err *fs_open_below(struct str dir, struct str rel, uint64_t most, int *ret_fd);
/* Reads such a file whole. */
MUST_USE struct err *fs_read_below(
	struct arena *a, struct str dir, struct str rel, uint64_t most, struct str *ret);
/* Exactly n bytes at offset, or E_IO ("unexpected end of file"). */
MUST_USE struct err *fs_pread(int fd, void *p, size_t n, uint64_t offset);

/* ---- writing ---- */
void fs_forbid_writes(void); /* begins a dry run: only scratch folders may be written */
bool fs_writes_forbidden(void);
/* The parameter `mode` of fs_write() holds a new file's mode bits (0644), from which the umask is removed, and
 * flags: */
enum {
	FS_EXACT = 1 << 16,      /* exactly this mode, whatever the umask */
	FS_IF_CHANGED = 1 << 17, /* keep the file and its mtime if it already has the content */
	FS_THROUGH = 1 << 18,    /* write into links, devices and pipes, as a shell does */
	/* Neither atomic nor synced, for hundreds of new files that no one reads yet; the default mode is 0666. A struct
	 * fs_out is not synced with it. */
	FS_LOOSE = 1 << 19,
};
/* Creates or replaces path atomically, unless a flag says otherwise. E_IO if path is a device, a pipe or a
 * socket; with FS_LOOSE also if it is a link. Setuid, setgid and sticky bits are dropped. */
MUST_USE struct err *fs_write(struct str path, struct str content, unsigned mode);
/* Appends a line by one write; creates the file if there is none. Each line is whole or missing, even if several
 * processes append or one is killed. Not synced. */
MUST_USE struct err *fs_append(struct str path, struct str line);
/* Opens or creates a file of at least size bytes, which processes share by locks on its bytes. Use fs_pread() and
 * fs_pwrite(). Programs that we start inherit the fd. */
MUST_USE struct err *fs_open_shared(struct str path, size_t size, int *ret_fd);

/* A file being written in pieces: open, write, then commit; abandon() (or the cleanup attribute)
 * removes the temporary file. The first failure sticks and is returned by commit. */
struct fs_out {
	int fd, dir;       /* -1: not open; dir: the folder for the file */
	char *tmp, *path;  /* malloc'ed; tmp, a name in dir, is NULL while the file has none */
	const char *name;  /* the last component of path */
	uint64_t offset;   /* bytes written */
	struct err *first; /* sticky */
	bool loose;        /* commit does not sync */
};

MUST_USE struct err *fs_out_open(struct fs_out *o, struct str path, unsigned mode);
void fs_out_write(struct fs_out *o, const void *p, size_t n);
void fs_out_zeros(struct fs_out *o, uint64_t to);   /* up to the offset `to` */
void fs_out_cut(struct fs_out *o, uint64_t offset); /* truncates; writing continues there */
/* Takes the first failure out before the commit, to end the work at once. */
MUST_USE struct err *fs_out_error(struct fs_out *o);
MUST_USE struct err *fs_out_commit(struct fs_out *o);
void fs_out_abandon(struct fs_out *o);

/* ---- folders and names ---- */
MUST_USE struct err *fs_mkdirs(struct str path); /* also its parents; fine if it exists */
/* The same for a folder that results are put into. fs_outputs_end(), the last step of a main that fails, removes those of
 * the folders made here that are still empty. */
MUST_USE struct err *fs_make_output(struct str dir);
void fs_outputs_end(void);
MUST_USE struct err *fs_rename(struct str from, struct str to);     /* and fsyncs the folder */
MUST_USE struct err *fs_exchange(struct str one, struct str other); /* each gets the other's name */
MUST_USE struct err *fs_symlink(struct str target, struct str path); /* replaces atomically */
MUST_USE struct err *fs_link(struct str from, struct str to);        /* a second name (hard link) */
/* Sets the owner of a file or link; false, with errno, if we may not. */
bool fs_try_chown(struct str path, unsigned uid, unsigned gid);
MUST_USE struct err *fs_remove(struct str path); /* file, link, empty folder; fine when absent */
MUST_USE struct err *fs_remove_empty(struct str dir); /* fine when absent, full, or no folder */
/* Removes a whole tree without following links or entering another file system, which is an error; fine if absent. Use it
 * only for trees that we created. */
MUST_USE struct err *fs_remove_tree(struct str path);
/* The space that trees take on the disk. */
struct fs_use {
	uint64_t bytes; /* as du(1) counts: blocks; a file with several names once */
	uint64_t
		unread; /* folders that could not be looked into, or lie too deep: bytes is too small */
	int64_t newest;   /* latest time of a change, in seconds since 1970 */
	struct map *seen; /* files with several names that were counted; NULL = count each name */
};
/* Adds a tree, without following links or entering another file system; nothing that is missing is an error. E_CANCELLED
 * after a signal. */
MUST_USE struct err *fs_measure(struct str path, struct fs_use *io);
/* Removes a tree that others look for by its name, and adds what that freed: its first step gives it another name,
 * beside the old one, so a killed run leaves nothing that looks whole; the second removes `beside`, if that is not "", which
 * belongs to it. It needs no space on the disk. A second call, with this name or with fs_gone_name(), removes what was
 * left of the first. E_CANCELLED after a signal. */
MUST_USE struct err *fs_retire(struct str path, struct str beside, struct fs_use *io);
struct str fs_gone_name(struct arena *a, struct str path);
/* The name that a tree had before it was retired, of its present one; "" for other names. */
struct str fs_gone_base(struct str name);
/* Makes a hole in an open file: the range reads as zeros, the size stays. False if the file system cannot. */
bool fs_try_punch(int fd, uint64_t offset, uint64_t n);
/* Rewrites the first byte of an open file, and stats it; false if it is empty. */
bool fs_try_touch(int fd, struct stat *ret);
/* Is an open file the one that st was taken from, with the size and mtime of then? */
bool fs_is_unchanged(int fd, const struct stat *st);
/* Locks an open file (flock) until it is closed; false if somebody else holds it. True where no such locks exist. */
bool fs_try_lock(int fd);
/* FS_LOCK_SHARED: a shared lock on a file that exists; nothing is written. */
enum fs_lock { FS_LOCK_NOW, FS_LOCK_WAIT, FS_LOCK_SHARED };
/* A lock (flock) on path, held until the fd is closed. Unless it waits, E_LOCKED, naming the holder, if it is taken. */
MUST_USE struct err *fs_lock(struct str path, enum fs_lock how, int *ret_fd);
/* Marks a folder as used until this process ends, for as long as nobody has it alone, who may then remove it. E_LOCKED;
 * E_NOENT if it went meanwhile. FS_HOLD_USED: also sets the folder's time, which says when it was last used. FS_HOLD_SOURCES:
 * no time is set, since builds take a folder with another time for a changed one. Thread-safe. */
enum fs_hold { FS_HOLD_USED, FS_HOLD_SOURCES, FS_HOLD_ALONE };
/* Sets the time of its last use (atime) to now; a file that cannot be changed stays as it is. */
void fs_stamp(struct str file);
MUST_USE struct err *fs_hold(struct str dir, enum fs_hold how);
bool fs_is_held(struct str dir); /* by this process or another one, at this moment */

/* ---- many files at once: neither atomic nor synced, for results that can be regenerated ---- */
/* Copies a file, sharing its blocks if the file system can. Mode and mtime come from st, the caller's stat of `from`;
 * E_IO if `from` is another file by now; what was added to it since is left
 * out (st_ino 0 = neither). Otherwise like fs_write() with FS_LOOSE. */
MUST_USE struct err *fs_copy(struct str from, struct str path, const struct stat *st);
/* Renames, or copies to another file system. over = false: E_IO if `to` exists. */
MUST_USE struct err *fs_move(struct str from, struct str to, bool over);
MUST_USE struct err *fs_symlink_new(struct str target, struct str path); /* not atomic */
/* The temporary name, beside path, of the file that will replace it: hidden, short, and always the same for a path. */
struct str fs_temp_name(struct arena *a, struct str path);
bool fs_is_temp_name(struct str name);
MUST_USE struct err *fs_sync(struct str path); /* a file, or a folder's entries */
/* Syncs the whole file system of path, for trees that were written without a sync. */
MUST_USE struct err *fs_sync_all(struct str path);

/* ---- trees of strangers ---- */
/* Guards a folder until the guard is released: below it, a change, or a read in a folder .rocsmith*, whose path leads
 * through a link is E_PERM. *ret is NULL if there is no such folder. The innermost of several guards applies. */
struct fs_tree;
MUST_USE struct err *fs_guard(struct str dir, struct fs_tree **ret);
/* The same for what is read: below the folder, links are followed as long as they stay within, and a read that leads
 * out of it is E_PERM. Changes are not guarded. The folder itself may be a link. */
MUST_USE struct err *fs_guard_sources(struct str dir, struct fs_tree **ret);
/* Does a link lead from a path below guarded sources out of them? False if it leads nowhere. */
bool fs_leads_out(struct str path);
void fs_unguardp(struct fs_tree **t);
/* An O_PATH fd of a folder below root, resolved by openat2() with these RESOLVE_* flags. On kernels without openat2()
 * no link is followed at all. -1 with errno. */
int fs_open_inside(int root, const char *path, uint64_t resolve);

/* ---- scratch files and folders, which a dry run may create and write ---- */
/* Creates a folder with a unique name in dir, mode 0700. dir "" means $TMPDIR or /tmp, which a dry run may use, too.
 * E_PERM if others could change it; see fs_check_way(). */
MUST_USE struct err *fs_tempdir(struct arena *a, struct str dir, struct str *ret);
void fs_tempdirp(struct str *dir); /* removes it, for CLEANUP(); "" is fine */
/* Opens an unnamed file in $TMPDIR or /tmp for reading and writing. */
MUST_USE struct err *fs_tempfile(int *ret_fd);
/* Writes exactly n bytes at offset. */
MUST_USE struct err *fs_pwrite(int fd, const void *p, size_t n, uint64_t offset);

/* ---- rocsmith's own folders (XDG base directories) ---- */
enum fs_place { FS_DATA, FS_CACHE, FS_STATE, FS_CONFIG };
/* e.g. ~/.cache/rocsmith/NAME; ROCSMITH_HOME=DIR puts all four below DIR. The folder is not created. */
struct str fs_place(struct arena *a, enum fs_place place, struct str name);
/* The user's folder for things of that kind, whoever made them ($XDG_CACHE_HOME, ~/.cache), and the home folder. */
struct str fs_user_dir(struct arena *a, enum fs_place place);
struct str fs_home(struct arena *a);
/* Could somebody else change what the path leads to? E_PERM if so. From / on, every folder must belong to this user or
 * root, and nobody else may write to it, unless it has the sticky bit, as /tmp has; the end must not have that either.
 * Links are followed, and must belong to this user or root, too. The group that is the user's alone may write.
 *
 * So what the path leads to stays the same after the check, and may be used by its path: whoever could give another
 * meaning to a name on the way has to write to the folder with that name, and only this user and root can. A name that
 * does not exist is fine where nobody else can make it; in a folder like /tmp it is made now (in a dry run, E_PERM).
 * In a sandbox of one user (bwrap, unshare) root and all others look the same, and are believed alike. */
MUST_USE struct err *fs_check_way(struct str path);
/* The same for one of the four places; E_NOENT if this user has no home folder. */
MUST_USE struct err *fs_place_check(enum fs_place place);
/* E_PERM if something has this name that is no folder, or belongs to another user. */
MUST_USE struct err *fs_check_own(struct str dir);

/* ---- standard input, output and error ---- */
/* Call it first in main. Of these three, whichever the caller closed is taken, so that no file that we open gets its number, and
 * with it what is meant for the user. It still cannot be read or written. */
void fs_std_begin(void);

/* ---- modes of new files ---- */
/* Call it early in main. From here on, nothing that we or programs of ours make can be written by others, whatever the
 * user's umask, but files and folders that we make outside of the four places: for those the user's umask counts. */
void fs_umask_begin(void);
void fs_umask_end(void); /* gives a program of the user's, which we start, the user's own umask */

/* Reading below a root: the only way in which src/machine looks at files.
 *
 * Paths are relative to the root, without a leading slash ("proc/meminfo"). With root "" they are
 * those of this computer. In a sysroot links are followed as chroot(2) would, so that nothing
 * outside it is ever opened, and only ordinary files are read (no FIFO, no device).
 * Each thing looked at is told to the observer, if there is one, which may copy it (a recording);
 * what is said not to be told serves to find out whether a file matters.
 */
#pragma once

#include <sys/stat.h>

#include "base/buf.h"
#include "base/fs.h"

enum root_status { ROOT_OK, ROOT_ABSENT, ROOT_DENIED, ROOT_BAD };

struct root_seen {
	enum { SEEN_FILE, SEEN_DIR, SEEN_LINK, SEEN_NODE } what;
	struct str path;
	struct str text;       /* SEEN_FILE: what may be copied of it; SEEN_LINK: its target */
	const struct stat *st; /* SEEN_NODE */
};

typedef void root_observer(void *user, const struct root_seen *seen);

struct root {
	struct arena *a;         /* for results */
	struct str dir;          /* "" = this computer */
	root_observer *observer; /* or NULL */
	void *observer_data;
	struct str last_dir, last_real; /* a folder of the sysroot, and where it leads */
	struct str
		nodes; /* text of .nodes ("dev/kfd 0660 0 109", one a line); see machine_record() */
	struct str environ;    /* of a sysroot: its proc/self/environ, "NAME=value" ended by NUL */
	struct str user, home; /* this user's name, and folder ("home/alice"), "" = not known */
	struct str real_home;  /* where that leads */
};

/* Opens it: what there is around it, and whose it is. */
void root_open(struct root *r);
/* A variable of the process's environment, in a sysroot of its proc/self/environ. Not told: a recording gets
 * those of variable_table(), HOME and PATH from gather_around(). */
bool root_variable(struct root *r, struct str name, struct str *ret);
/* What the observer is told of any path or text: this user's folder is "/home/user" in it, of others below /home
 * "/home/other". words: and this user's name as a word is "user" ("/tmp/miopen-alice"). */
struct str root_hide(const struct root *r, struct arena *a, struct str text, bool words);

/* Writes to out what may be copied of text. */
typedef void keep_fn(struct buf *out, struct str text);

/* At most 1 MiB; a text is empty unless ROOT_OK. keep: NULL = all may be copied. */
enum root_status root_read(struct root *r, struct str path, keep_fn *keep, struct str *ret);
/* The same, but no more than the first n bytes. */
enum root_status root_head(
	struct root *r, struct str path, size_t n, keep_fn *keep, struct str *ret);
/* Not told: for files that turn out not to matter. */
enum root_status root_peek(struct root *r, struct str path, struct str *ret);
/* A trimmed one-line file without control characters; "" when there is none. */
struct str root_line(struct root *r, struct str path);
/* A number in decimal, or in hex with 0x; 0 when there is none. */
uint64_t root_number(struct root *r, struct str path);
/* Names in a folder, sorted; at most LIST_MAX of them. Not told. */
enum root_status root_list(struct root *r, struct str path, struct strs *ret);
enum root_status root_list_long(
	struct root *r, struct str path, struct strs *ret); /* of /usr/lib: eight times as many */
bool root_exists(struct root *r, struct str path);          /* a folder */
bool root_has_file(struct root *r, struct str path);        /* told as an empty file */
/* Last name of what a link points to, "" when it is no link. */
struct str root_link_name(struct root *r, struct str path);
/* Where a path leads, relative to the root; "" when nowhere. Not told. */
struct str root_real(struct root *r, struct str path);
/* Tells what was found in another way: a link to target (relative to the root), a file's text. */
void root_tell_link(struct root *r, struct str path, struct str target);
void root_tell_text(struct root *r, struct str path, struct str text);
void root_tell_dir(struct root *r, struct str path);
/* An ordinary file, to be read in places; the caller closes it. Not told. */
enum root_status root_file(struct root *r, struct str path, int *ret_fd, uint64_t *ret_size);
/* A device node: mode, owner and group, or those of .nodes. */
enum root_status root_node(struct root *r, struct str path, struct stat *ret);

/* Without control characters and at most 200 bytes: for names that will be shown. */
struct str clean_text(struct arena *a, struct str s);
struct str clean_long(struct arena *a, struct str s); /* at most 8 KiB: for lists of folders */

/* Reading below a root, and copying what was read: the only way in which src/machine looks at
 * files.
 *
 * Paths are relative to the root, without a leading slash ("proc/meminfo"). With root "" they are
 * those of this computer. In a sysroot links are followed as chroot(2) would, so that nothing
 * outside it is ever opened, and only ordinary files are read (no FIFO, no device).
 * While recording, each thing looked at is copied; `keep` says what of a text is.
 */
#pragma once

#include <sys/stat.h>

#include "base/buf.h"
#include "base/fs.h"

enum root_status { ROOT_OK, ROOT_ABSENT, ROOT_DENIED, ROOT_BAD };

struct root {
	struct arena *a;    /* for results */
	struct str dir;     /* "" = this computer */
	struct str record;  /* folder for copies, or "" */
	unsigned files;     /* files copied, or that would be in a dry run */
	struct err *failed; /* the first failure to copy; whoever made the root takes it */
	struct str last_dir, last_real; /* a folder of the sysroot, and where it leads */
	struct str nodes;               /* text of .nodes; see machine_record() */
};

/* Writes to out what may be copied of text. */
typedef void keep_fn(struct buf *out, struct str text);

/* At most 1 MiB; a text is empty unless ROOT_OK. keep: NULL = copy as it is. */
enum root_status root_read(struct root *r, struct str path, keep_fn *keep, struct str *ret);
/* The same, but no more than the first n bytes. */
enum root_status root_head(
	struct root *r, struct str path, size_t n, keep_fn *keep, struct str *ret);
/* Not copied: for files that turn out not to matter. */
enum root_status root_peek(struct root *r, struct str path, struct str *ret);
/* A trimmed one-line file without control characters; "" when there is none. */
struct str root_line(struct root *r, struct str path);
/* A number in decimal, or in hex with 0x; 0 when there is none. */
uint64_t root_number(struct root *r, struct str path);
/* Names in a folder, sorted; at most LIST_MAX of them. Not copied. */
enum root_status root_list(struct root *r, struct str path, struct strs *ret);
bool root_exists(struct root *r, struct str path);   /* a folder; is copied as an empty one */
bool root_has_file(struct root *r, struct str path); /* copied as an empty file */
/* Last name of what a link points to, "" when it is no link; the link is copied. */
struct str root_link_name(struct root *r, struct str path);
/* Where a path leads, relative to the root; "" when nowhere. Not copied. */
struct str root_real(struct root *r, struct str path);
/* Copies a link to target (relative to the root) at path. */
void root_keep_link(struct root *r, struct str path, struct str target);
/* A device node: mode, owner and group, or those of .nodes. */
enum root_status root_node(struct root *r, struct str path, struct stat *ret);

/* Without control characters and at most 200 bytes: for names that will be shown. */
struct str clean_text(struct arena *a, struct str s);

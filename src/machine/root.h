/* Reading below a root: the only way in which src/machine looks at files, and the one place where recordings are made.
 *
 * Paths are relative to the root, without a leading slash ("proc/meminfo"). A root is this computer (""), a folder that
 * mirrors a machine (a sysroot), or a machine in one file (machine_file_parse()). In the last two, links are followed as
 * chroot(2) would, so nothing outside is ever opened, and only ordinary files are read (no FIFO, no device).
 *
 * While a recording is made, whatever a reader asks for is added to it; the table in redact.c decides how much of a
 * file's text that is. A reader that learns that something does not matter takes it out again with root_forget().
 */
#pragma once

#include <sys/stat.h>

#include "base/buf.h"
#include "base/fs.h"
#include "base/vec.h"
#include "formats/bytes.h"

enum root_status { ROOT_OK, ROOT_ABSENT, ROOT_DENIED, ROOT_BAD };

/* A folder has this text in place of a file that the recorded process was not allowed to read. */
#define ROOT_DENIED_TEXT S("hidden\n")

struct root_entry { /* something in a recorded machine */
	enum { ENTRY_DIR, ENTRY_FILE, ENTRY_DENIED, ENTRY_NODE, ENTRY_LINK, ENTRY_VARIABLE } kind;
	struct str path;         /* ENTRY_VARIABLE: its name */
	struct str text;         /* of a file; a link's target; a variable's value */
	unsigned mode, uid, gid; /* ENTRY_NODE */
};

struct root_entries {
	struct root_entry *v;
	size_t n, cap;
};

struct root {
	struct arena *a;                /* for results */
	struct str dir;                 /* "" = this computer; a folder, or a machine file */
	struct root_entries *record;    /* gets what is looked at; NULL = no recording */
	struct root_entries files;      /* of a machine file, sorted */
	bool in_file;                   /* dir is one */
	struct str last_dir, last_real; /* a folder of the sysroot, and where it leads */
	struct str nodes;      /* text of a folder's .nodes ("dev/kfd 0660 0 109", one a line) */
	struct str environ;    /* of a sysroot: its proc/self/environ, "NAME=value" ended by NUL */
	unsigned uid;          /* whose machine it is; UINT32_MAX = not known */
	struct str user, home; /* this user's name, and folder ("home/alice"), "" = not known */
	struct str real_home;  /* where that leads */
};

/* Opens r->dir and finds out whose machine it is. E_NOENT when there is no such folder or file, E_SYNTAX for a file
 * that is no machine. */
MUST_USE struct err *root_open(struct root *r);
/* A variable of the process's environment, or of the sysroot's. A recording gets those in redact.c's list. */
bool root_variable(struct root *r, struct str name, struct str *ret);

/* At most 1 MiB; a text is empty unless ROOT_OK. */
enum root_status root_read(struct root *r, struct str path, struct str *ret);
/* The same, but no more than the first n bytes. */
enum root_status root_head(struct root *r, struct str path, size_t n, struct str *ret);
/* A trimmed one-line file without control characters; "" when there is none. */
struct str root_line(struct root *r, struct str path);
/* A number in decimal, or in hex with 0x; 0 when there is none. */
uint64_t root_number(struct root *r, struct str path);
/* Names in a folder, sorted; at most LIST_MAX of them. Not recorded. */
enum root_status root_list(struct root *r, struct str path, struct strs *ret);
/* The same, but up to 8 * LIST_MAX names (for /usr/lib). */
enum root_status root_list_long(struct root *r, struct str path, struct strs *ret);
bool root_exists(struct root *r, struct str path);   /* a folder */
bool root_has_file(struct root *r, struct str path); /* recorded as an empty file */
/* Last name of what a link points to, "" when it is no link. */
struct str root_link_name(struct root *r, struct str path);
/* Where a path leads, relative to the root; "" when nowhere. Not recorded. */
struct str root_real(struct root *r, struct str path);
/* The same; a recording gets the link, and the folder or file that it leads to. */
struct str root_follow(struct root *r, struct str path);
/* An ordinary file, to be read in places; *ret_fd is for the caller to close. Not recorded. */
enum root_status root_bytes(struct root *r, struct str path, int *ret_fd, struct bytes *ret);
/* A device node: mode, owner and group. */
enum root_status root_node(struct root *r, struct str path, struct stat *ret);

/* Adds a text to the recording that stands for what was found in another way. */
void root_note(struct root *r, struct str path, struct str text);
/* How long the recording is now; what came after that is taken out of it. */
size_t root_mark(const struct root *r);
void root_forget(struct root *r, size_t mark);

/* ---- redact.c: how much of a machine may be in a recording ---- */

/* False: nothing of this file. */
bool redact_text(const struct root *r, struct str path, struct str text, struct buf *out);
/* False: nothing of this variable; otherwise *value is what may be recorded. */
bool redact_variable(struct str name, struct str *value);
/* A path or text with this user's folder as "/home/user", those of others below /home as "/home/other"; words: also with
 * this user's name as "user" where it is a word ("/tmp/miopen-alice"). */
struct str root_hide(const struct root *r, struct arena *a, struct str text, bool words);

/* ---- file.c: a machine in one file; its form is described in rocsmith-doctor(1) ---- */

#define MACHINE_FILE "rocsmith-machine 1"

/* name: for the place of an error. E_SYNTAX. */
MUST_USE struct err *machine_file_parse(
	struct arena *a, struct str text, struct str name, struct root_entries *ret);
struct str machine_file_text(struct arena *a, const struct root_entries *entries);
/* By path, each once: of several for one path the one that tells most. */
void root_entries_sort(struct root_entries *list);
/* The index of the first entry whose path is not before this one. */
size_t root_entries_find(const struct root_entries *list, struct str path);

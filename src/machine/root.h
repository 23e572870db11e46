/* File access below a root: the only way in which src/machine reads files, and the one place where recordings are made.
 *
 * Paths are relative to the root, without a leading slash ("proc/meminfo"). A root is this computer (""), a folder that
 * mirrors a machine (a sysroot), or a machine in one file (machine_file_parse()). In the last two, links are followed
 * as chroot(2) would, so nothing outside is ever opened, and only ordinary files are read (no FIFO, no device).
 *
 * While a recording is made, every file that a reader opens is added to it; data/recording.yaml decides how much of
 * the file's text is recorded. A reader that finds a file irrelevant removes it again with root_forget().
 */
#pragma once

#include "base/buf.h"
#include "base/fs.h"
#include "base/vec.h"
#include "formats/bytes.h"

enum root_status { ROOT_OK, ROOT_ABSENT, ROOT_DENIED, ROOT_BAD };

/* In a recorded folder, the text of a file that the recorded process was not allowed to read. */
#define ROOT_DENIED_TEXT S("hidden\n")

struct root_entry { /* a folder, file, device node, link or variable of a recorded machine */
	enum { ENTRY_DIR, ENTRY_FILE, ENTRY_DENIED, ENTRY_NODE, ENTRY_LINK, ENTRY_VARIABLE } kind;
	struct str path;         /* ENTRY_VARIABLE: its name */
	struct str text;         /* a file's text, a link's target, a variable's value */
	unsigned mode, uid, gid; /* ENTRY_NODE */
};

struct root_entries VEC_OF(struct root_entry);

struct root {
	struct arena *a;             /* holds all results */
	struct str dir;              /* "" = this computer; a folder, or a machine file */
	struct root_entries *record; /* receives every file that is read; NULL = no recording */
	struct root_entries files;   /* the entries of a machine file, sorted */
	bool in_file;                /* dir is a machine file */
	/* cache: a folder of the sysroot, and its path without links */
	struct str last_dir, last_real;
	struct str nodes;      /* text of a folder's .nodes ("dev/kfd 0660 0 109", one a line) */
	struct str environ;    /* a sysroot's proc/self/environ: "NAME=value", each ended by NUL */
	unsigned uid;          /* the user whose machine it is; UINT32_MAX = not known */
	struct str user, home; /* this user's name and home ("home/alice"), "" = not known */
	struct str real_home;  /* `home` without links */
};

/* Opens r->dir and finds the user whose machine it is. E_NOENT if there is no such folder or file, E_SYNTAX if the file
 * is not a machine file. */
MUST_USE struct err *root_open(struct root *r);
/* Reads a variable of this process's environment, or of the sysroot's. Variables in redact.c's list are recorded. */
bool root_variable(struct root *r, struct str name, struct str *ret);

/* Reads a file of at most 1 MiB; *ret is empty unless ROOT_OK is returned. */
enum root_status root_read(struct root *r, struct str path, struct str *ret);
/* Like root_read(), but reads no more than the first n bytes. */
enum root_status root_head(struct root *r, struct str path, size_t n, struct str *ret);
/* The first line of a file, trimmed and without control characters; "" if there is none. */
struct str root_line(struct root *r, struct str path);
/* The number in a one-line file, decimal or hex with 0x; 0 if there is none. */
uint64_t root_number(struct root *r, struct str path);
/* Lists the names in a folder, sorted; at most 32,768 of them. Not recorded. */
enum root_status root_list(struct root *r, struct str path, struct strs *ret);
bool root_exists(struct root *r, struct str path); /* is there such a folder? */
/* Is there a file, or anything else but a folder? It is recorded as an empty file. */
bool root_has_file(struct root *r, struct str path);
/* The last name in a link's target; "" if path is not a link. */
struct str root_link_name(struct root *r, struct str path);
/* The path without links, relative to the root; "" if there is no such file. Not recorded. */
struct str root_real(struct root *r, struct str path);
/* Like root_real(), but records the link and the folder or file that it leads to. */
struct str root_follow(struct root *r, struct str path);
/* Opens an ordinary file for reads at any offset; the caller closes *ret_fd (unchanged in a machine file). Not
 * recorded. */
enum root_status root_bytes(struct root *r, struct str path, int *ret_fd, struct bytes *ret);
/* Reads the mode, owner and group of a device node. */
enum root_status root_node(struct root *r, struct str path, struct stat *ret);

/* Adds a file with this text to the recording: a fact that was found in another way, or a part of a file. */
void root_note(struct root *r, struct str path, struct str text);
/* root_mark() is the current length of the recording; root_forget() removes the entries that were added since. */
size_t root_mark(const struct root *r);
void root_forget(struct root *r, size_t mark);

/* ---- redact.c: how much of a machine may be in a recording ---- */

/* Adds to `out` the part of the text that may be recorded. Returns false if the file must not be recorded at all. */
bool redact_text(const struct root *r, struct str path, struct str text, struct buf *out);
/* Returns false if the variable must not be recorded; otherwise *value becomes the value that may be. */
bool redact_variable(struct arena *a, struct str name, struct str *value);
/* The path or text with this user's home replaced by "/home/user", and homes of other users below /home by
 * "/home/other". words: this user's name becomes "user" as well, where it is a whole word ("/tmp/miopen-alice"). */
struct str root_hide(const struct root *r, struct arena *a, struct str text, bool words);

/* ---- file.c: a machine in one file; its form is described in rocsmith-doctor(1) ---- */

#define MACHINE_FILE "rocsmith-machine 1"

/* Reads a machine file; `name` stands for it in error messages. E_SYNTAX. */
MUST_USE struct err *machine_file_parse(
	struct arena *a, struct str text, struct str name, struct root_entries *ret);
struct str machine_file_text(struct arena *a, const struct root_entries *entries);
/* Parses mode, owner and group of a device node: "0660 0 109". */
bool root_entry_node(struct str s, struct root_entry *e);
/* Sorts by path, and keeps one entry for each path: the one with the most information. */
void root_entries_sort(struct root_entries *list);
/* The index of the first entry whose path does not sort before `path`. */
size_t root_entries_find(const struct root_entries *list, struct str path);

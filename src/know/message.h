/* Reads the output of compilers, linkers, CMake, Python and ninja, and finds its first real error, located in the
 * user's source if possible. This is the only reader of such output: make/ uses it for single compiler runs, foreign/
 * for the whole log of another build system, of any length.
 *
 * Messages of clang and gcc look like "path:12:5: error: text", those of lld like "ld.lld: error: text". The compiler
 * may have read a copy or a translation of the user's file; the caller's functions map a place back to the original
 * (struct message_origin). Hints come from data/messages.yaml.
 */
#pragma once

#include "base/buf.h"
#include "base/proc.h"

/* One message. If it has no place, line and col are 0, and path is the program that printed it. */
struct message {
	struct str path, kind, text; /* kind: "fatal error", "error", "warning", "note" */
	unsigned line, col;
};

/* Parses one line: "path:12:5: error: text" or "program: error: text". */
bool message_parse(struct str line, struct message *m);

/* The context of an output: the user's files, the tools that printed it, and functions that map places. */
struct message_origin {
	struct arena *a;
	struct str project; /* the user's folder, absolute */
	/* The build's copy of that folder, which CMake's places are relative to; no message names it. "" = none */
	struct str cmake;
	struct str about;     /* added to each message: " (compiling 'a.cu' for gfx1100)", or "" */
	bool warnings;        /* find warnings instead of errors */
	enum errcode program; /* code of an error without a place */
	const char *tools[3]; /* sources of hints in data/messages.yaml; NULL at the end */
	const void *user;     /* passed to the functions */
	/* Maps a path in a message to the project's file, relative to the project; "" if there is none. */
	struct str (*file)(const void *user, struct str path);
	/* Replaces line and column in the file the compiler read by those in the user's file. */
	void (*map)(const void *user, struct str file, struct message *at);
	/* Adds hints about the failing file. May be NULL. */
	void (*hint)(const void *user, struct str file, struct err *e);
};

/* An error or warning with the lines that belong to it. */
struct message_block {
	struct message first; /* the error itself */
	struct message mine;  /* the nearest place in the project; path "" = none */
	struct buf notes;     /* the lines below the error that belong to it */
	unsigned kept;        /* number of lines in notes */
	bool by_include; /* mine is only known to include, at the end, the place of the error */
	bool found;
};

/* Reads one error with the lines that belong to it, up to the next error, and removes them from *text. */
void message_block(
	const struct message_origin *origin, struct str *text, struct message_block *ret);
/* Makes an error from a block: E_COMPILE if it has a place, else origin->program. */
MUST_USE struct err *message_error(const struct message_origin *origin, struct message_block *b);
/* The first real error in the log of a build; NULL if the log has no message of a known form. */
MUST_USE struct err *message_first_error(const struct message_origin *origin, struct str text);
/* If the run was killed, adds the hint that memory may have run out; returns e. */
struct err *message_hint_killed(struct err *e, const struct proc_result *r);

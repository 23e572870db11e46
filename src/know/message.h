/* Reads the output of compilers, linkers, CMake, Python and ninja, and turns it into one error: the first real one,
 * in the user's source where that can be found. This is the only reader of such output: make/ uses it for single
 * compiler runs, foreign/ for the whole log of another build system, of any length.
 *
 * Messages of clang and gcc look like "path:12:5: error: text", those of lld like "ld.lld: error: text". The compiler
 * may have read a copy or a translation of the user's file; the caller knows how to lead a place back to the
 * original (struct message_origin). Hints come from data/messages.yaml.
 */
#pragma once

#include "base/buf.h"
#include "base/err.h"
#include "base/proc.h"

/* One message. line and col are 0 if it names no place: path is then the program that printed it. */
struct message {
	struct str path, kind, text; /* kind: "fatal error", "error", "warning", "note" */
	unsigned line, col;
};

/* Which files are the user's, and what the output is about. */
struct message_origin {
	struct arena *a;
	struct str project;   /* the user's folder, absolute */
	struct str cmake;     /* the folder that CMake's places are relative to */
	struct str about;     /* added to each message: " (compiling 'a.cu' for gfx1100)", or "" */
	bool warnings;        /* look for warnings instead of errors */
	enum errcode program; /* code of an error that a program prints without a place */
	const char
		*tools[3]; /* whose rules of data/messages.yaml may give hints; NULL at the end */
	const void *user;  /* of the functions */
	/* The project's file (relative to it) that a path in a message stands for, or "". */
	struct str (*file)(const void *user, struct str path);
	/* Changes line and column of the file the compiler read into those of the user's file. */
	void (*map)(const void *user, struct str file, struct message *at);
	/* Adds hints about the failing file; or NULL. */
	void (*hint)(const void *user, struct str file, struct err *e);
};

/* An error or warning with the lines that belong to it. */
struct message_block {
	struct message first; /* the error itself */
	struct message mine;  /* the place in the project nearest to it; path "" = none */
	struct buf notes;     /* what is printed below it and belongs to it */
	unsigned kept;        /* lines in notes */
	bool found;
};

/* Reads *text up to the second error, and removes what it read. */
void message_block(
	const struct message_origin *origin, struct str *text, struct message_block *ret);
/* The error that a block stands for: E_COMPILE if it has a place, else origin->program. */
MUST_USE struct err *message_error(const struct message_origin *origin, struct message_block *b);
/* The first real error in the log of a build; NULL if no message in it is understood. */
MUST_USE struct err *message_first_error(const struct message_origin *origin, struct str text);
/* If the run was killed, adds the hint that memory may have run out; returns e. */
struct err *message_hint_killed(struct err *e, const struct proc_result *r);

/* What compilers and linkers say, line by line, and what it means: "path:12:5: error: text" of clang
 * and gcc, "ld.lld: error: text". Used for single runs of a compiler and for whole logs of builds, of any
 * length: what is kept of them is the error, and what belongs to it.
 */
#pragma once

#include "base/buf.h"
#include "base/err.h"

/* line and col are 0 where the message has no place: then path is the
 * program that said it. */
struct message {
	struct str path, kind, text; /* kind: "fatal error", "error", "warning", "note" */
	unsigned line, col;
};

/* Whose files are the user's, and what is looked for. */
struct message_places {
	bool warnings; /* instead of errors */
	const void *user;
	/* The file of the project (relative to it) that a path of a message stands for, or "". */
	struct str (*file)(const void *user, struct str path);
	/* Turns line and column of what the compiler saw of that file into those of the user's. */
	void (*map)(const void *user, struct str file, struct message *at);
};

/* The first error of a text, with what belongs to it. */
struct message_block {
	struct message first; /* the error */
	struct message mine;  /* the place in the project nearest to it; path "" = none */
	struct buf notes;     /* lines behind the error that belong to it */
	unsigned kept;        /* how many */
	bool found;
};

/* Takes lines off *text up to the second error. */
void message_block(struct arena *tmp, const struct message_places *places, struct str *text,
	struct message_block *ret);
/* Adds what is known about a message of this tool (data/messages.yaml); a header or library that is
 * missing: which SDK component has it. Changes e and returns it. */
struct err *message_hint(struct arena *tmp, struct err *e, const char *tool, struct str text);

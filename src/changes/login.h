/* Variables that all sessions of a user get, and lines of start-up files that are switched off: reversible, with marks
 * instead of a journal.
 *
 * What is set stands in two files of ours, a script in the user's .config (read by ~/.profile and what bash and zsh read
 * instead of it, through a marked block at their beginning) and environment.d/rocsmith.conf there (systemd's user
 * sessions). A line of the user's own that sets a variable is switched off where it stands, behind a mark that says for
 * which id. A mark tells the undo all that it needs, every file is replaced whole, and doing it twice is doing it
 * once; so whatever a kill leaves, the same command again, or the undo, makes it right. Taking back the last one
 * gives the old bytes.
 *
 * Files that belong to another user, dangling links, lines that set a variable in a way that is not understood: an error
 * before anything is written. A link to the user's own file is followed, and that file is changed. Sources: bash(1) and
 * zsh(1), start-up files; environment.d(5).
 */
#pragma once

#include "base/err.h"
#include "base/vec.h"

struct login_request {
	struct str id;   /* letters, digits and "-" */
	struct strs set; /* NAME=VALUE; letters, digits and _ - + . , : / = @ % ^ */
	struct strs unset;
	bool undo; /* take back what was done for the id; set and unset are not used */
};

struct login_file {                 /* one that changes */
	struct str path, old, text; /* links resolved */
	bool was, stays;            /* it is there; it will be: else it goes, or comes */
	unsigned mode;
};

struct login_files {
	struct login_file *v;
	size_t n, cap;
};

/* What would change; ret->n is 0 when nothing does. E_PERM, E_SYNTAX with the place of a line. */
MUST_USE struct err *login_plan(
	struct arena *a, const struct login_request *r, struct login_files *ret);
/* Writes it; E_IO when a file is no longer what was read. */
MUST_USE struct err *login_apply(const struct login_files *files);

/* Variables for all sessions of a user, and lines of start-up files that are switched off: reversible, by marks instead
 * of a journal.
 *
 * Variables are set in two files of ours: ~/.config/rocsmith/env.sh, which ~/.profile and the files that bash and zsh read
 * instead of it include by a marked block at their beginning, and environment.d/rocsmith.conf in the user's .config
 * (for systemd's user sessions). A line of the user's that sets a variable is switched off where it is, behind a
 * mark with the id. The mark has all that the undo needs, every file is replaced whole, and doing it twice is doing
 * it once; so after a kill, the same command or the undo makes everything right. Undoing the last id gives the old
 * bytes.
 *
 * It is an error, before anything is written, if a file belongs to another user, a link dangles, or a line sets a
 * variable in a way that is not understood. A link to a file of the user's is followed, and that file is changed.
 * Sources: bash(1) and zsh(1), start-up files; environment.d(5).
 */
#pragma once

#include "base/err.h"
#include "base/vec.h"

struct login_request {
	struct str id;   /* letters, digits and "-" */
	struct strs set; /* NAME=VALUE; letters, digits and _ - + . , : / = @ % ^ */
	struct strs unset;
	bool undo; /* take back everything done for the id; set and unset are not used */
};

struct login_file {                 /* a file that changes */
	struct str path, old, text; /* links resolved */
	bool was, stays;            /* it exists before; it exists afterwards */
	unsigned mode;
};

struct login_files {
	struct login_file *v;
	size_t n, cap;
};

/* Finds the files that would change; ret->n is 0 when none does. E_PERM, E_SYNTAX. */
MUST_USE struct err *login_plan(
	struct arena *a, const struct login_request *r, struct login_files *ret);
/* Writes the files; E_IO when one has changed since it was read. */
MUST_USE struct err *login_apply(const struct login_files *files);

/* Sets variables for all sessions of a user, and disables lines of start-up files that set others, for `rocsmith doctor
 * --fix`. Marks in the files, instead of a journal, make this reversible.
 *
 * Variables are set in two files of ours: ~/.config/rocsmith/env.sh, and environment.d/rocsmith.conf in the user's
 * .config (for systemd's user sessions). A marked block at the beginning of ~/.profile, and of the files that bash and
 * zsh read instead of it, includes env.sh. A line of the user's that sets a variable is commented out in place, after a
 * mark with the id. The mark contains all information for the undo, every file is replaced as a whole, and the change
 * is idempotent; so after a kill, the same command or the undo completes the work. Undoing the last id restores the old
 * bytes.
 *
 * It is an error, before anything is written, if a file belongs to another user, a link dangles, or a line sets a
 * variable in a way that is not understood. A link to a file of the user's is followed, and its target is changed.
 * Sources: bash(1) and zsh(1), start-up files; environment.d(5).
 */
#pragma once

#include "base/err.h"
#include "base/vec.h"

struct login_request {
	struct str id;   /* letters, digits and "-" */
	struct strs set; /* NAME=VALUE; letters, digits and _ - + . , : / = @ % ^ */
	struct strs unset;
	bool undo; /* revert all changes made for the id; set and unset are not used */
};

struct login_file {                 /* a file that changes */
	struct str path, old, text; /* path: with links resolved */
	bool was, stays;            /* the file exists before the change, and after it */
	unsigned mode;
};

struct login_files VEC_OF(struct login_file);

/* Does the request set or unset this variable? */
bool login_changes(const struct login_request *r, struct str name);
/* Finds the files that would change; ret->n is 0 if there are none. E_PERM, E_SYNTAX. */
MUST_USE struct err *login_plan(
	struct arena *a, const struct login_request *r, struct login_files *ret);
/* Writes the files; E_IO if one has changed since it was read. */
MUST_USE struct err *login_apply(const struct login_files *files);

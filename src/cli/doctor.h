/* Shared declarations of the files of `rocsmith doctor`. */
#pragma once

#include "cli/opt.h"

struct machine;

struct doctor_fix {
	const struct common *common;
	struct str id;
	bool undo; /* revert the changes made for the id */
};
/* Applies the automatic fixes of findings with this id to the user's start-up files, or reverts them. */
MUST_USE struct err *doctor_do_fix(
	struct arena *a, const struct doctor_fix *f, const struct machine *m, int *ret_status);

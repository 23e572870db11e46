/* What the files of `rocsmith doctor` share. */
#pragma once

#include "cli/opt.h"
#include "flow/next.h"

struct doctor { /* the document: rocsmith.doctor/1 */
	const struct machine *machine;
	struct next_steps next;
};
extern const struct json_field doctor_fields[];

struct doctor_fix {
	const struct common *common;
	struct str id;
	bool undo; /* take back what was done for the id */
};
/* What can be done by itself about findings with this id is done in the user's start-up files. */
MUST_USE struct err *doctor_do_fix(
	struct arena *a, const struct doctor_fix *f, const struct machine *m, int *ret_status);

void doctor_show_next(struct arena *a, const struct next_steps *s);

/* What the files of `rocsmith doctor` share. */
#pragma once

#include "build/next.h"

struct doctor { /* the document: rocsmith.doctor/1 */
	const struct machine *machine;
	struct next_steps next;
};
extern const struct json_field doctor_fields[];

void doctor_show_next(struct arena *a, const struct next_steps *s);

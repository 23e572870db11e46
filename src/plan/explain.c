/* The reasons of a plan: why each choice was made. See plan.h. */
#include "plan/plan_int.h"

void plan_explain(struct arena *a, struct plan *p, const char *subject, struct str choice,
	const char *why, ...)
{
	FORMAT(text, a, why);
	struct plan_reason r = {.subject = str_dup(a, str_from(subject)),
		.choice = str_dup(a, choice),
		.why = text};
	VEC_EACH (struct plan_reason, old, &p->reasons) {
		if (str_eq(old->subject, r.subject)) {
			*old = r;
			return;
		}
	}
	*VEC_PUSH(a, &p->reasons) = r;
}

/* What is said when a file could not be used. */
#include "machine/facts.h"

void note_unreadable(struct arena *a, struct machine *m, struct str path, enum root_status why)
{
	static const char *const reasons[] = {
		[ROOT_OK] = "is not understood",
		[ROOT_ABSENT] = "is not there",
		[ROOT_DENIED] = "may not be read",
		[ROOT_BAD] = "cannot be read or is not understood",
	};
	struct str full = str_fmt(a, "/%.*s", STR(path));
	finding_say(a, finding_add(a, &m->findings, "fact-unreadable", SEV_WARNING, full),
		"'%.*s' %s: facts from it are missing", STR(full), reasons[why]);
}

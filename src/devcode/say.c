/* Findings about the file at hand. */
#include "devcode/scan.h"

void scan_say(struct scan *s, const char *id, enum severity severity, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	finding_vsay(
		s->a, finding_add(s->a, &s->out->findings, id, severity, s->file->path), fmt, ap);
	va_end(ap);
}

void scan_damage(struct scan *s, const char *id, struct err *e)
{
	ARENA(tmp);
	struct strs chain = {0};
	for (const struct err *at = e; at; at = at->cause)
		strs_add(&tmp, &chain, str_from(at->msg));
	scan_say(s, id, SEV_ERROR, "%.*s", STR(str_join(&tmp, &chain, S(": "))));
	err_free(e);
}

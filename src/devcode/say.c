/* Adds findings about the file that is being scanned. */
#include "devcode/scan.h"
#include "formats/kpack.h"

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

void scan_say_host(struct scan *s, const struct bytes *src)
{
	ARENA(tmp);
	struct kpack_host h;
	struct err *e = kpack_host_read(&tmp, src, &h);
	if (e)
		scan_damage(s, "file-damaged", e);
	else if (!h.name.n)
		scan_say(s, "file-damaged", SEV_ERROR,
			"the mark of a library without device code cannot be read");
	else
		scan_say(s, "kpack-reference", SEV_INFO,
			"device code was split off into kpack archives: those of '%.*s' are in "
			"'%.*s', for wrappers of %zu number%s",
			STR(h.name), STR(str_join(&tmp, &h.patterns, S("', '"))), h.indexes.n,
			h.indexes.n == 1 ? "" : "s");
}

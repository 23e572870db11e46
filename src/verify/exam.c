/* How the checks speak (findings by the table), and how they read the dist-info folder. */
#include "verify/exam.h"

enum { MAX_TEXT = 64 << 20 }; /* RECORD of the largest wheels: a few MiB */

static const struct {
	const char *id;
	enum severity severity;
} table[] = {
#define X(name, text, level, meaning) [name] = {.id = text, .severity = level},
#include "../../data/findings.def"
};

struct finding *exam_say(struct exam *x, enum verify_id id, struct str member, const char *fmt, ...)
{
	struct finding *f = finding_add(x->a, &x->verdict->findings, table[id].id,
		table[id].severity, member.n ? member : x->path);
	FORMAT(text, x->a, fmt);
	f->message = text;
	return f;
}

struct str exam_path(struct exam *x, const char *name)
{
	return str_fmt(x->a, "%.*s/%s", STR(x->info), name);
}

bool exam_text(struct exam *x, const char *name, enum verify_id missing, struct str *ret)
{
	struct str path = exam_path(x, name);
	const struct zip_member *m = zip_find(&x->zip, path);
	if (!m) {
		exam_say(x, missing, path, "there is no %s in the wheel", name);
		return false;
	}
	struct err *e = zip_read(x->a, &x->zip, m, MAX_TEXT, ret);
	bool good = !e; /* what is wrong with it has been said by check_members() */
	if (e && e->code == E_LIMIT)
		exam_say(x, V_ZIP_CONTENT, path, "%s", e->msg);
	err_free(e);
	return good;
}

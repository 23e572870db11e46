/* Functions that all checks share: findings by the table of ids, and texts of the dist-info folder. */
#include "verify/exam.h"

enum { MAX_TEXT = 4 << 20, ROW = 128 /* bytes of a row of RECORD, without the name */ };

struct finding *verdict_say(struct arena *a, struct verdict *v, enum verify_id id,
	struct str member, const char *fmt, ...)
{
	struct finding *f = finding_add(a, &v->findings, finding_rows[id].id,
		finding_rows[id].severity, member.n ? member : v->path);
	va_list ap;
	va_start(ap, fmt);
	finding_vsay(a, f, fmt, ap);
	va_end(ap);
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
	size_t limit = MAX_TEXT;
	VEC_EACH (const struct zip_member, z, &x->zip.members)
		limit += 2 * z->name.n + ROW; /* RECORD has a row for each member */
	struct err *e = zip_read(x->a, &x->zip, m, limit, ret);
	bool good = !e; /* check_members() has reported damaged content */
	if (e && e->code == E_LIMIT)
		exam_say(x, V_ZIP_CONTENT, path, "%s", e->msg);
	err_free(e);
	return good;
}

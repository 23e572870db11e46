/* One wheel from file name to verdict: runs the checks in order and collects what they find. */
#include "verify/verify.h"

#include "base/fs.h"
#include "verify/look.h"

static const struct {
	const char *id;
	enum severity severity;
} table[] = {
#define X(name, text, level, meaning) [name] = {.id = text, .severity = level},
#include "know/findings.def"
};

const char *verify_finding_id(size_t i)
{
	return i < V_COUNT ? table[i].id : NULL;
}

struct finding *look_say(struct look *l, enum verify_id id, struct str member, const char *fmt, ...)
{
	struct finding *f = finding_add(
		l->a, l->list, table[id].id, table[id].severity, member.n ? member : l->path);
	va_list ap;
	va_start(ap, fmt);
	f->message = str_vfmt(l->a, fmt, ap);
	va_end(ap);
	return f;
}

static void not_readable(struct look *l, struct err *e)
{
	bool none = e->code == E_NOENT, zip = e->code == E_ZIP || e->code == E_LIMIT;
	enum verify_id id = none ? V_NOT_FOUND : zip ? V_NOT_A_ZIP : V_UNREADABLE;
	const struct err *last = e;
	while (last->cause)
		last = last->cause;
	look_say(l, id, S(""), "%s%s%s", e->msg, last != e ? ": " : "", last != e ? last->msg : "");
	err_free(e);
}

static void look_done(struct look *l)
{
	for (size_t i = 0; i < l->n; i++) {
		err_free(l->members[i].bad);
		err_free(l->members[i].odd);
		err_free(l->members[i].device_bad);
		arena_free(&l->members[i].a);
	}
	zip_close(&l->zip);
}

static void check_name(struct look *l)
{
	struct err *e = wheel_name_parse(l->a, l->path, &l->name);
	l->named = !e;
	if (e) {
		struct finding *f = look_say(l, V_NAME, S(""), "%s", e->msg);
		if (e->hints)
			finding_fix(l->a, f, "%s", e->hints->text);
		err_free(e);
		return;
	}
	/* Old tools keep upper case and dots; the specification wants them gone. */
	struct str want = wheel_normalise(l->a, l->name.dist);
	if (!str_eq(want, l->name.dist))
		look_say(l, V_NAME_FORM, S(""), "the project name should be written '%.*s'",
			STR(want));
}

static void check_ratio(struct look *l)
{
	uint64_t sum = 0, limit = l->zip.size * 200;
	for (size_t i = 0; i < l->zip.members.n; i++)
		if (!l->zip.members.v[i].unsafe)
			sum += l->zip.members.v[i].size;
	if (sum > limit && sum > (uint64_t)1 << 30)
		look_say(l, V_ZIP_RATIO, S(""), "%llu bytes unpack to %llu",
			(unsigned long long)l->zip.size, (unsigned long long)sum);
}

static struct err *checks(struct look *l)
{
	check_ratio(l);
	TRY(check_members(l));
	check_dist_info(l);
	check_record(l);
	check_tags(l);
	check_loader(l);
	return check_device(l);
}

struct err *verify_wheel(
	struct arena *a, struct str path, const struct verify_options *o, struct verdict *ret)
{
	*ret = (struct verdict){.path = path};
	CLEANUP(look_done)
	struct look l = {
		.a = a, .path = path, .o = o, .list = &ret->findings, .zip.fd = -1, .verdict = ret};
	if (fs_is_dir(path)) {
		look_say(&l, V_NO_WHEEL, S(""), "the folder holds no wheel");
		return NULL;
	}
	check_name(&l);
	struct err *e = zip_open(a, path, &ret->findings, &l.zip);
	if (e && e->code == E_CANCELLED)
		return e;
	if (e)
		not_readable(&l, e);
	else
		TRY_CTX(checks(&l), "cannot verify '%.*s'", STR(path));
	ret->pass = !ret->findings.n || findings_worst(&ret->findings) != SEV_ERROR;
	return NULL;
}

struct err *verify_paths(struct arena *a, struct str path, struct strs *ret)
{
	struct strs names;
	size_t before = ret->n;
	if (fs_is_dir(path)) {
		TRY(fs_list(a, path, &names));
		for (size_t i = 0; i < names.n; i++)
			if (str_ends(names.v[i], S(".whl")))
				strs_add(a, ret, path_join(a, path, names.v[i]));
	}
	if (ret->n == before)
		strs_add(a, ret, path);
	return NULL;
}

static void write_verdict(struct json *j, const void *verdict)
{
	json_str(j, ((const struct verdict *)verdict)->pass ? S("pass") : S("fail"));
}

static const struct json_field verdict_fields[] = {
	FIELD("path", struct verdict, path),
	FIELD_WRITE("verdict", write_verdict),
	FIELD_LIST("findings", struct verdict, findings, finding_fields),
	{.kind = FIELD_END},
};

const struct json_field verdicts_fields[] = {
	FIELD_CONST("schema", "rocsmith.verify/1"),
	FIELD_LIST("wheels", struct verdicts, wheels, verdict_fields),
	{.kind = FIELD_END},
};

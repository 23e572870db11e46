/* Examines one wheel from file name to verdict: runs the checks in order and collects their findings. */
#include "verify/verify.h"

#include "base/fs.h"
#include "verify/exam.h"

static void not_readable(struct exam *x, struct err *e)
{
	bool none = e->code == E_NOENT;
	enum verify_id id = none                 ? V_NOT_FOUND
			    : e->code == E_LIMIT ? V_COSTLY
			    : e->code == E_ZIP   ? V_NOT_A_ZIP
						 : V_UNREADABLE;
	const struct err *last = err_root(e);
	exam_say(x, id, S(""), "%s%s%s", e->msg, last != e ? ": " : "", last != e ? last->msg : "");
	err_free(e);
}

static void exam_done(struct exam *x)
{
	for (size_t i = 0; i < x->n; i++) {
		err_free(x->members[i].bad);
		err_free(x->members[i].odd);
		err_free(x->members[i].device_bad);
		arena_free(&x->members[i].a);
	}
	zip_close(&x->zip);
}

static void judge(struct verdict *v)
{
	v->pass = !v->findings.n || findings_worst(&v->findings) != SEV_ERROR;
}

struct err *verify_wheel(
	struct arena *a, struct str path, const struct verify_options *o, struct verdict *ret)
{
	*ret = (struct verdict){.path = path, .findings.most = FINDINGS_OF_A_KIND};
	CLEANUP(exam_done)
	struct exam x = {.a = a, .path = path, .o = o, .zip.fd = -1, .verdict = ret};
	if (fs_is_dir(path)) {
		exam_say(&x, V_NO_WHEEL, S(""), "the folder holds no wheel");
		return NULL;
	}
	struct err *e = wheel_name_parse(a, path, &x.name);
	x.named = !e;
	if (e) {
		struct finding *f = exam_say(&x, V_NAME, S(""), "%s", e->msg);
		if (e->hints)
			finding_fix(a, f, "%s", e->hints->text);
	}
	err_free(e);
	/* old tools keep upper case and dots, which the specification normalises */
	struct str want = x.named ? wheel_normalise(a, x.name.dist) : S("");
	if (x.named && !str_eq(want, x.name.dist))
		exam_say(&x, V_NAME_FORM, S(""), "the project name should be written '%.*s'",
			STR(want));
	e = zip_open(a, path, &ret->findings, &x.zip);
	if (e && e->code == E_CANCELLED)
		return e;
	if (e) {
		not_readable(&x, e);
	} else {
		uint64_t sum = 0;
		VEC_EACH (const struct zip_member, m, &x.zip.members)
			sum += m->unsafe ? 0 : m->size;
		if (sum > x.zip.size * 200 && sum > (uint64_t)1 << 30)
			exam_say(&x, V_ZIP_RATIO, S(""), "%llu bytes unpack to %llu",
				(unsigned long long)x.zip.size, (unsigned long long)sum);
		TRY_CTX(check_members(&x), "cannot verify '%.*s'", STR(path));
		check_dist_info(&x);
		check_record(&x);
		check_tags(&x);
		e = check_sbom(&x);
		e = e ? e : check_loader(&x);
		e = e ? e : check_device(&x);
		if (e && e->code != E_LIMIT)
			return err_wrap(e, "cannot verify '%.*s'", STR(path));
		if (e)
			not_readable(&x, e);
	}
	judge(ret);
	return NULL;
}

struct err *verify_wheels(struct arena *a, const struct strs *paths, const struct verify_options *o,
	struct verdicts *ret)
{
	for (size_t i = 0; i < paths->n; i++)
		TRY(verify_wheel(a, paths->v[i], o, VEC_PUSH(a, &ret->wheels)));
	verify_set(a, ret);
	TRY(check_kpack(a, o, ret));
	VEC_EACH (struct verdict, v, &ret->wheels) {
		judge(v);
		targets_sort(&v->served);
		if (o->run)
			TRY(verify_run(a, o, v));
		judge(v);
		findings_sort(a, &v->findings);
	}
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

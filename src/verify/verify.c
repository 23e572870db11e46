/* Examines one wheel from file name to verdict: runs the checks in order and collects their findings. */
#include "verify/verify.h"

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
		arena_free(&x->members[i].code);
	}
	zip_close(&x->zip);
}

static void judge(struct verdict *v)
{
	v->pass = !v->findings.n || findings_worst(&v->findings) != SEV_ERROR;
}

/* All that can be said about a wheel by itself, but what its libraries load. */
static struct err *examine(struct exam *x)
{
	struct arena *a = x->a;
	struct str path = x->path;
	if (fs_is_dir(path)) {
		exam_say(x, V_NO_WHEEL, S(""), "the folder holds no wheel");
		return NULL;
	}
	struct err *e = wheel_name_parse(a, path, &x->name);
	x->named = !e;
	/* a pattern that matched nothing has no name that could be wrong */
	if (e && (fs_exists(path) || str_chr(path, '*') == path.n)) {
		struct finding *f = exam_say(x, V_NAME, S(""), "%s", e->msg);
		if (e->hints)
			finding_fix(a, f, "%s", e->hints->text);
	}
	err_free(e);
	/* old tools keep upper case and dots, which the specification normalises */
	struct str want = x->named ? wheel_normalise(a, x->name.dist) : S("");
	if (x->named && !str_eq(want, x->name.dist))
		exam_say(x, V_NAME_FORM, S(""), "the project name should be written '%.*s'",
			STR(want));
	e = zip_open(a, path, &x->verdict->findings, &x->zip);
	if (e && e->code == E_CANCELLED)
		return e;
	if (e) {
		not_readable(x, e);
		return NULL;
	}
	struct wheel w = {.zip = x->zip};
	x->verdict->state = fs_exact_state(a, str_fmt(a, "/proc/self/fd/%d", x->zip.fd));
	uint64_t sum = 0;
	bool is;
	VEC_EACH (const struct zip_member, m, &x->zip.members)
		sum += m->unsafe ? 0 : m->size;
	if (sum > x->zip.size * 200 && sum > (uint64_t)1 << 30)
		exam_say(x, V_ZIP_RATIO, S(""), "%llu bytes unpack to %llu",
			(unsigned long long)x->zip.size, (unsigned long long)sum);
	TRY(check_members(x));
	check_dist_info(x);
	check_places(x);
	check_record(x);
	w.info = x->info;
	err_free(split_part_read(a, &w, &x->part, &is));
	e = check_sbom(x);
	e = e ? e : check_device(x);
	/* there may be many wheels */
	zip_close(&x->zip);
	for (size_t i = 0; i < x->n; i++)
		arena_free(&x->members[i].code);
	return e;
}

struct exams {
	struct exam *v;
	size_t n;
};

static void exams_done(struct exams *all)
{
	for (size_t i = 0; i < all->n; i++)
		exam_done(&all->v[i]);
}

static struct err *go_on(struct exam *x, struct err *e)
{
	if (e && e->code != E_LIMIT)
		return err_wrap(e, "cannot verify '%.*s'", STR(x->path));
	if (e)
		not_readable(x, e);
	return NULL;
}

/* Each wheel by itself, then what their libraries load from each other. */
static struct err *examine_all(struct arena *a, const struct strs *paths,
	const struct verify_options *o, struct verdicts *ret)
{
	const size_t n = paths->n + (o->torch.n > 0);
	CLEANUP(exams_done) struct exams all = {0};
	struct verdict aside = {.path = o->torch, .findings.most = FINDINGS_OF_A_KIND};
	uint64_t size = 0;
	all.v = arena_array(a, n + 1, sizeof(*all.v));
	for (size_t i = 0; i < paths->n; i++)
		*VEC_PUSH(a, &ret->wheels) =
			(struct verdict){.path = paths->v[i], .findings.most = FINDINGS_OF_A_KIND};
	for (size_t i = 0; i < n; i++) {
		bool extra = i == paths->n;
		all.v[i] = (struct exam){.a = a,
			.path = extra ? o->torch : paths->v[i],
			.o = o,
			.zip.fd = -1,
			.set = all.v,
			.nset = n,
			.torch = o->torch.n ? &all.v[paths->n] : NULL,
			.verdict = extra ? &aside : &ret->wheels.v[i]};
		all.n = i + 1;
		bool installed = extra && fs_is_dir(o->torch);
		TRY(installed ? torch_installed(&all.v[i]) : go_on(&all.v[i], examine(&all.v[i])));
		size += all.v[i].zip.size;
	}
	if (o->torch.n && !str_eq(aside.project, S("torch")))
		return err_hint(err_new(E_USAGE, "'%.*s' is no torch", STR(o->torch)),
			"--torch wants a torch wheel, or a folder with an installed torch");
	for (size_t i = 0; i < paths->n; i++) {
		struct exam *x = &all.v[i];
		budget_set(&x->loading, size);
		if (x->n)
			check_tags(x);
		struct err *e = check_loader(x);
		TRY(go_on(x, e ? e : check_torch(x)));
		set_check_parts(x);
	}
	return NULL;
}

struct err *verify_wheel(
	struct arena *a, struct str path, const struct verify_options *o, struct verdict *ret)
{
	struct strs paths = {.v = &path, .n = 1};
	struct verdicts all = {0};
	TRY(examine_all(a, &paths, o, &all));
	*ret = all.wheels.v[0];
	judge(ret);
	return NULL;
}

struct err *verify_wheels(struct arena *a, const struct strs *paths, const struct verify_options *o,
	struct verdicts *ret)
{
	TRY(examine_all(a, paths, o, ret));
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

const struct json_field verdict_fields[] = {
	FIELD("path", struct verdict, path),
	FIELD_WRITE("verdict", write_verdict),
	FIELD_LAST(FIELD_LIST("findings", struct verdict, findings, finding_fields)),
};

const struct json_field verdicts_fields[] = {
	FIELD_CONST("schema", "rocsmith.verify/1"),
	FIELD_LAST(FIELD_LIST("wheels", struct verdicts, wheels, verdict_fields)),
};

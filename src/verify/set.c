/* Checks several wheels together: if one requires another one that is among them, that one must meet the requirement.
 * Only device wheels of the set must be among them; other requirements may be installed from elsewhere. Device wheels
 * have AMD's names: "amd-torch-device-gfx1100" for the host wheel "torch", which offers it as the extra
 * "device-gfx1100". Source: ROCm/TheRock, docs of the wheel splitter, 2026-08. */
#include "lang/python/version.h"
#include "verify/exam.h"

/* "amd_torch_device_gfx1100" -> "amd_torch_device_"; "" for any other name. */
static struct str device_stem(struct str project)
{
	const struct str mark = S("_device_");
	size_t at = str_find(project, mark);
	return at < project.n ? str_sub(project, 0, at + mark.n) : S("");
}

bool set_is_device(const struct verdict *v)
{
	return device_stem(v->project).n;
}

static bool satisfies(struct arena *a, const struct verdict *v, struct str specifier)
{
	const struct version *have;
	bool match = true; /* malformed versions and specifiers were reported before */
	struct err *e = version_parse(a, v->version, &have);
	if (!e)
		e = version_match(have, specifier, &match);
	err_free(e);
	return match;
}

bool set_requires(struct arena *a, const struct verdict *v, const struct verdict *other)
{
	VEC_EACH (const struct requirement, r, &v->requires)
		if (!r->url.n && str_eq(wheel_normalise(a, r->name), other->project) &&
			satisfies(a, other, r->specifier))
			return true;
	return false;
}

static void check_requirement(
	struct arena *a, struct verdicts *all, struct verdict *v, const struct requirement *r)
{
	/* a requirement that depends on a Python or a system, not just on extras, may never count */
	static const char *const others[] = {
		"python_", "platform", "os_name", "implementation_", "os.name"};
	struct str name = wheel_normalise(a, r->name), stem = device_stem(name);
	struct str s = r->specifier;
	const struct verdict *other = NULL, *sibling = NULL;
	/* AMD marks the targets that only one system has */
	bool right = false, linux = str_contains(r->marker, S("sys_platform == \"linux\"")) ||
				    str_contains(r->marker, S("sys_platform == 'linux'"));
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (r->url.n || (str_contains(r->marker, str_from(others[i])) && !linux))
			return;
	VEC_EACH (const struct verdict, it, &all->wheels) {
		if (!sibling && stem.n && str_eq(device_stem(it->project), stem))
			sibling = it;
		if (right || !str_eq(it->project, name))
			continue;
		right = satisfies(a, it, s);
		other = it;
	}
	if (!right && other)
		verdict_say(a, v, V_SET_VERSION, S(""),
			"requires '%.*s%.*s', but what is given is version %.*s", STR(r->name),
			STR(r->specifier), STR(other->version));
	else if (!right && sibling)
		verdict_say(a, v, V_SET_DANGLING, S(""),
			"requires '%.*s', which is not among the device wheels given (such as "
			"'%.*s')",
			STR(r->name), STR(path_base(sibling->path)));
	if (!right)
		return;
	struct strs extras = str_split(a, r->extras, ',');
	VEC_EACH (const struct str, extra, &extras)
		if (!map_has(&other->extras, wheel_normalise(a, *extra)))
			verdict_say(a, v, V_SET_EXTRA, S(""),
				"requires '%.*s[%.*s]', but '%.*s' offers no such extra",
				STR(r->name), STR(*extra), STR(other->path));
	/* "==1.0+rocm7.2" and nothing else: an installer cannot mix two builds */
	bool pinned = str_starts(s, S("==")) && str_until(s, ",*") == s.n;
	if (pinned || !(set_is_device(v) || set_is_device(other)))
		return;
	struct finding *f = verdict_say(a, v, V_SET_UNPINNED, S(""),
		"requires '%.*s%.*s': another build of it would do, with other code for the GPU",
		STR(r->name), STR(s));
	finding_fix(a, f, "Requires-Dist: %.*s==%.*s", STR(r->name), STR(other->version));
}

/* ---- wheels that are installed together ---- */

static bool plain(const struct exam *x)
{
	return str_eq(x->part.format, S("plain"));
}

bool set_same(const struct exam *x, const struct exam *other)
{
	return x == other || (plain(x) && plain(other) && str_eq(x->part.set, other->part.set));
}

bool set_is_one_of(const struct exam *x)
{
	return plain(x) && (str_eq(x->part.role, S("device")) || str_eq(x->part.role, S("all")));
}

bool set_is_bare(const struct exam *x)
{
	return plain(x) && !set_is_one_of(x);
}

bool set_is_whole(const struct exam *x)
{
	bool bare = set_is_bare(x), whole = !plain(x);
	for (size_t i = 0; i < x->nset; i++) {
		const struct exam *other = &x->set[i];
		bool host = plain(other) && str_eq(other->part.role, S("host"));
		whole = whole || (set_same(x, other) && (bare ? set_is_one_of(other) : host));
	}
	return whole;
}

bool set_excludes(struct arena *a, const struct verdict *v, const struct verdict *other)
{
	VEC_EACH (const struct requirement, r, &v->requires)
		if (str_eq(wheel_normalise(a, r->name), other->project) &&
			!satisfies(a, other, r->specifier))
			return true;
	return false;
}

bool set_together(const struct exam *x, const struct exam *other)
{
	ARENA(tmp);
	const struct verdict *v = x->verdict, *w = other->verdict;
	struct str cp = S("cp"), abi = x->name.abi, its = other->name.abi;
	bool pythons = str_starts(abi, cp) && str_starts(its, cp) && !str_eq(abi, its);
	bool both = set_is_one_of(x) && set_is_one_of(other) && set_same(x, other);
	return v->project.n && !str_eq(v->project, w->project) && !pythons && !both &&
	       !set_excludes(&tmp, v, w) && !set_excludes(&tmp, w, v);
}

void set_check_parts(struct exam *x)
{
	bool bare = set_is_bare(x), whole = set_is_whole(x);
	bool wanted = x->o->require.n || x->o->device_code;
	if (!whole)
		exam_say(x, wanted && bare ? V_DEVICE_NONE : V_KPACK_ALONE, S(""),
			bare ? "the files with device code are in device wheels, and none was given"
			     : "the host wheel of this device wheel was not given");
	VEC_EACH (const struct target, want, &x->o->require) {
		ARENA(tmp);
		struct str gpu = target_text(&tmp, want);
		/* it is said once: of the wheel without code, or of device wheels that are alone */
		bool served = bare != whole;
		for (size_t i = 0; i < x->nset; i++)
			served = served || (set_same(x, &x->set[i]) &&
						   targets_serve(&x->set[i].verdict->served, gpu));
		if (!served)
			exam_say(x, V_DEVICE_MISSING, S(""),
				"none of the device wheels given has all code for %.*s", STR(gpu));
	}
}

/* ---- the order of versions ---- */

/* The numbers behind "rocm" in a local version: 2.9.1+rocm10.0 -> 10.0; false if there are none. */
static bool rocm_of(struct str version, uint64_t ret[3], struct str *ret_public)
{
	struct str local;
	if (!str_cut(version, '+', ret_public, &local))
		return false;
	size_t at = str_find(local, S("rocm"));
	return str_numbers(str_sub(local, at + S("rocm").n, local.n), ret, 3);
}

/* Reports that v sorts before a wheel for an older ROCm: a part of a local version with letters and digits is compared
 * as text, so "rocm10" comes before "rocm7". */
static bool says_order(struct arena *a, struct verdict *v, const struct verdict *other)
{
	uint64_t mine[3], theirs[3];
	struct str base, its;
	const struct version *x, *y;
	size_t i = 0;
	if (!str_eq(v->project, other->project) || !rocm_of(v->version, mine, &base) ||
		!rocm_of(other->version, theirs, &its) || !wheel_same_version(base, its))
		return false;
	while (i < 2 && mine[i] == theirs[i])
		i++;
	if (mine[i] <= theirs[i])
		return false;
	struct err *e = version_parse(a, v->version, &x);
	if (!e)
		e = version_parse(a, other->version, &y);
	bool wrong = !e && version_cmp(x, y) < 0;
	err_free(e);
	if (wrong)
		verdict_say(a, v, V_VERSION_ORDER, S(""),
			"installers take %.*s for older than %.*s, and so install that one",
			STR(v->version), STR(other->version));
	return wrong;
}

/* ---- device wheels ---- */

/* Is h the host wheel of a device wheel, by their names? Those of "rocm_sdk_device_gfx942" are rocm_sdk_libraries. */
static bool is_host_of(const struct verdict *h, const struct verdict *v)
{
	ARENA(tmp);
	struct str stem = device_stem(v->project), mark = S("_device_");
	stem = str_sub(stem, 0, stem.n - mark.n);
	bool amd = str_starts(stem, S("amd_"));
	return str_eq(h->project, amd ? str_sub(stem, 4, stem.n) : stem) ||
	       str_eq(h->project, str_fmt(&tmp, "%.*s_libraries", STR(stem)));
}

/* A requirement that is not met was reported before. */
static void check_host_version(struct arena *a, struct verdicts *all, struct verdict *v)
{
	const struct verdict *other = NULL;
	VEC_EACH (const struct verdict, h, &all->wheels) {
		if (!is_host_of(h, v))
			continue;
		if (wheel_same_version(h->version, v->version))
			return;
		other = h;
	}
	if (other && !set_excludes(a, v, other) && !set_excludes(a, other, v))
		verdict_say(a, v, V_SET_MIXED, S(""),
			"it is of version %.*s, and the host wheel given, '%.*s', is not: its code "
			"belongs to other libraries",
			STR(v->version), STR(path_base(other->path)));
}

bool set_names(struct arena *a, const struct verdict *v, struct str project, struct str marker)
{
	VEC_EACH (const struct requirement, r, &v->requires)
		if (str_eq(wheel_normalise(a, r->name), project) && str_contains(r->marker, marker))
			return true;
	return false;
}

/* Files that are for a family of GPUs ("gfx11", "gfx110x", "gfx12_0") have a device wheel of their own, which who
 * installs that of a GPU needs, too (pytorch#194498). */
static void check_family(struct arena *a, struct verdicts *all, struct verdict *v)
{
	struct str stem = device_stem(v->project), gpu = str_sub(v->project, stem.n, v->project.n);
	struct str extra = str_fmt(a, "device-%.*s", STR(gpu));
	VEC_EACH (const struct verdict, f, &all->wheels) {
		struct str key = str_sub(f->project, stem.n, f->project.n);
		key = str_replace(a, key, S("_"), S(""));
		while (str_ends(key, S("x")))
			key.n--;
		if (!gpu_by_name(gpu) || !str_eq(device_stem(f->project), stem) ||
			!str_starts(key, S("gfx")) || !str_starts(gpu, key) || key.n == gpu.n ||
			!wheel_same_version(f->version, v->version))
			continue;
		bool required = set_names(a, v, f->project, S(""));
		VEC_EACH (const struct verdict, h, &all->wheels)
			required = required ||
				   (is_host_of(h, v) && set_names(a, h, f->project, extra));
		if (required)
			continue;
		struct finding *fi = verdict_say(a, v, V_SET_FAMILY, S(""),
			"'%.*s' has files for its family, and neither this wheel nor the extra "
			"'%.*s' "
			"requires it",
			STR(path_base(f->path)), STR(extra));
		finding_fix(a, fi, "Requires-Dist: %.*s==%.*s",
			STR(str_replace(a, f->project, S("_"), S("-"))), STR(f->version));
	}
}

void verify_set(struct arena *a, struct verdicts *all)
{
	VEC_EACH (struct verdict, v, &all->wheels) {
		uint64_t rocm[3];
		struct str base;
		bool said = false;
		if (!v->project.n)
			continue;
		VEC_EACH (const struct requirement, r, &v->requires)
			check_requirement(a, all, v, r);
		if (set_is_device(v)) {
			check_host_version(a, all, v);
			check_family(a, all, v);
		}
		VEC_EACH (const struct verdict, other, &all->wheels)
			said = said || says_order(a, v, other);
		if (said || !rocm_of(v->version, rocm, &base) || rocm[0] < 10)
			continue;
		struct finding *f = verdict_say(a, v, V_VERSION_ORDER, S(""),
			"where a build of %.*s for ROCm 2 to 9 is offered too, installers take it "
			"for newer than %.*s",
			STR(base), STR(v->version));
		f->severity = SEV_INFO;
		finding_fix(a, f, "require it exactly, or keep it in an index of its own");
	}
}

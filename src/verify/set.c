/* Checks several wheels together: if one requires another one that is among them, that one must meet the requirement.
 * Only device wheels of the set must be among them; other requirements may be installed from elsewhere. Device wheels
 * have AMD's names: "amd-torch-device-gfx1100" for the host wheel "torch", which offers it as the extra
 * "device-gfx1100". Source: ROCm/TheRock, docs of the wheel splitter, 2026-08. */
#include "base/fs.h"
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
	bool right = false;
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (r->url.n || str_contains(r->marker, str_from(others[i])))
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
		verdict_say(a, v, V_SET_VERSION,
			"requires '%.*s%.*s', but what is given is version %.*s", STR(r->name),
			STR(r->specifier), STR(other->version));
	else if (!right && sibling)
		verdict_say(a, v, V_SET_DANGLING,
			"requires '%.*s', which is not among the device wheels given (such as "
			"'%.*s')",
			STR(r->name), STR(path_base(sibling->path)));
	if (!right)
		return;
	struct strs extras = str_split(a, r->extras, ',');
	VEC_EACH (const struct str, extra, &extras)
		if (!map_has(&other->extras, wheel_normalise(a, *extra)))
			verdict_say(a, v, V_SET_EXTRA,
				"requires '%.*s[%.*s]', but '%.*s' offers no such extra",
				STR(r->name), STR(*extra), STR(other->path));
	/* "==1.0+rocm7.2" and nothing else: an installer cannot mix two builds */
	bool pinned = str_starts(s, S("==")) && str_chr(s, ',') == s.n && str_chr(s, '*') == s.n;
	if (pinned || !(set_is_device(v) || set_is_device(other)))
		return;
	struct finding *f = verdict_say(a, v, V_SET_UNPINNED,
		"requires '%.*s%.*s': another build of it would do, with other code for the GPU",
		STR(r->name), STR(s));
	finding_fix(a, f, "Requires-Dist: %.*s==%.*s", STR(r->name), STR(other->version));
}

/* ---- the order of versions ---- */

/* The numbers behind "rocm" in a local version: 2.9.1+rocm10.0 -> 10.0; false if there are none. */
static bool rocm_of(struct str version, uint64_t ret[3], struct str *ret_public)
{
	struct str local, piece;
	if (!str_cut(version, '+', ret_public, &local))
		return false;
	size_t at = str_find(local, S("rocm"));
	local = str_sub(local, at + S("rocm").n, local.n);
	for (size_t i = 0; i < 3; i++) {
		size_t n = 0;
		(void)str_cut(local, '.', &piece, &local);
		while (n < piece.n && ascii_digit(piece.p[n]))
			n++;
		ret[i] = 0;
		if (!str_u64(str_sub(piece, 0, n), 10, &ret[i]) && !i)
			return false;
	}
	return true;
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
		verdict_say(a, v, V_VERSION_ORDER,
			"installers take %.*s for older than %.*s, and so install that one",
			STR(v->version), STR(other->version));
	return wrong;
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
		VEC_EACH (const struct verdict, other, &all->wheels)
			said = said || says_order(a, v, other);
		if (said || !rocm_of(v->version, rocm, &base) || rocm[0] < 10)
			continue;
		struct finding *f = verdict_say(a, v, V_VERSION_ORDER,
			"where a build of %.*s for ROCm 2 to 9 is offered too, installers take it "
			"for newer than %.*s",
			STR(base), STR(v->version));
		f->severity = SEV_INFO;
		finding_fix(a, f, "require it exactly, or keep it in an index of its own");
	}
}

/* Conditions of a description: version, GPUs, SDK, machine, files, features; see plan_int.h. */
#include <fnmatch.h>

#include "base/fs.h"
#include "lang/python/version.h"
#include "plan/plan_int.h"

static bool is_any(struct str text, const struct strs *patterns)
{
	ARENA(tmp);
	VEC_EACH (const struct str, p, patterns)
		if (fnmatch(str_z(&tmp, *p), str_z(&tmp, text), 0) == 0)
			return true;
	return false;
}

static bool gpus_hold(const struct when *w, const struct strs *gpus)
{
	size_t all = 0, any = 0, none = 0;
	if (!gpus->n) /* explaining without a target */
		return !w->gfx.n && !w->gfx_any.n && !w->gfx_none.n;
	VEC_EACH (const struct str, gpu, gpus) {
		struct str name = str_sub(*gpu, 0, str_chr(*gpu, ':'));
		all += is_any(name, &w->gfx);
		any += is_any(name, &w->gfx_any);
		none += is_any(name, &w->gfx_none);
	}
	return (!w->gfx.n || all == gpus->n) && (!w->gfx_any.n || any) && (!w->gfx_none.n || !none);
}

static bool sdk_holds(const struct when *w, const struct sdk_spec *sdk)
{
	ARENA(tmp);
	struct str word = str_fmt(&tmp, "%.*s:%.*s", STR(sdk->provider),
		STR(sdk->prefix.n ? sdk->prefix : sdk->suite));
	if (w->sdk.n && !is_any(word, &w->sdk))
		return false;
	VEC_EACH (const struct str, file, &w->sdk_lacks)
		if (!sdk->prefix.n || fs_exists(path_join(&tmp, sdk->prefix, *file)))
			return false;
	return true;
}

static bool files_hold(const struct when *w, struct str dir)
{
	ARENA(tmp);
	VEC_EACH (const struct str, file, &w->file)
		if (!fs_exists(path_join(&tmp, dir, *file)))
			return false;
	VEC_EACH (const struct str, file, &w->absent)
		if (fs_exists(path_join(&tmp, dir, *file)))
			return false;
	return true;
}

static bool is_chosen(const struct plan *plan, struct str word)
{
	struct str name, choice;
	if (!str_cut(word, '=', &name, &choice))
		choice = S("on");
	VEC_EACH (const struct plan_feature, f, &plan->features)
		if (str_eq(f->name, name))
			return str_eq(f->choice, choice);
	return false;
}

static bool features_hold(const struct when *w, const struct plan *plan)
{
	VEC_EACH (const struct str, name, &w->with)
		if (!is_chosen(plan, *name))
			return false;
	VEC_EACH (const struct str, name, &w->without)
		if (is_chosen(plan, *name))
			return false;
	return true;
}

/* A version that is not known is in every range. */
struct err *when_version(struct arena *a, struct str version, struct str range, bool *ret)
{
	const struct version *v;
	*ret = true;
	if (!version.n || !range.n)
		return NULL;
	TRY(version_parse(a, version, &v));
	return version_match(v, range, ret);
}

struct err *when_holds(struct arena *a, const struct when *w, const struct plan *plan, bool *ret)
{
	struct str machine = str_sub(plan->host.triplet, 0, str_chr(plan->host.triplet, '-'));
	TRY(when_version(a, plan->foreign->release, w->version, ret));
	*ret = *ret && gpus_hold(w, &plan->gpus) && sdk_holds(w, &plan->sdk) &&
	       (!w->machine.n || is_any(machine, &w->machine)) &&
	       (!w->machine_none.n || !is_any(machine, &w->machine_none)) &&
	       files_hold(w, plan->project) && features_hold(w, plan);
	return NULL;
}

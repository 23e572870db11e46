/* Evaluates the conditions of a description: version, GPUs, SDK, machine, files, features; see plan_int.h. */
#include <fnmatch.h>

#include "base/fs.h"
#include "know/predicate.h"
#include "plan/plan_int.h"

static bool is_any(struct str text, const struct strs *patterns)
{
	ARENA(tmp);
	VEC_EACH (const struct str, p, patterns)
		if (fnmatch(str_z(&tmp, *p), str_z(&tmp, text), 0) == 0)
			return true;
	return false;
}

static bool is_chosen(const struct plan *plan, struct str word)
{
	struct str name, choice;
	if (!str_cut(word, '=', &name, &choice))
		choice = S("on");
	const struct plan_feature *f = VEC_FIND(struct plan_feature, &plan->features, name, name);
	return f && str_eq(f->choice, choice);
}

struct err *when_version(struct arena *a, struct str version, struct str range, bool *ret)
{
	enum truth in_range = TRUTH_YES;
	if (range.n)
		TRY(predicate_version(a, version, range, &in_range));
	*ret = in_range != TRUTH_NO;
	return NULL;
}

/* A condition on GPUs does not hold for a plan without GPUs, which is made only for `rocsmith why`. */
struct err *when_holds(struct arena *a, const struct when *w, const struct plan *plan, bool *ret)
{
	const struct sdk_spec *sdk = &plan->sdk;
	struct str machine = str_sub(plan->host.triplet, 0, str_chr(plan->host.triplet, '-'));
	struct str word = str_fmt(
		a, "%.*s:%.*s", STR(sdk->provider), STR(sdk->prefix.n ? sdk->prefix : sdk->suite));
	bool holds;
	TRY(when_version(a, plan->foreign->release, w->version, &holds));
	holds = holds && predicate_gpus(&plan->gpus, &w->gfx, true) == TRUTH_YES &&
		predicate_gpus(&plan->gpus, &w->gfx_any, false) == TRUTH_YES &&
		(!w->gfx_none.n || predicate_gpus(&plan->gpus, &w->gfx_none, false) == TRUTH_NO) &&
		(!w->sdk.n || is_any(word, &w->sdk)) &&
		(!w->machine.n || is_any(machine, &w->machine)) &&
		!is_any(machine, &w->machine_none);
	VEC_EACH (const struct str, file, &w->sdk_lacks)
		holds = holds && sdk->prefix.n && !fs_exists(path_join(a, sdk->prefix, *file));
	VEC_EACH (const struct str, file, &w->file)
		holds = holds && fs_exists(path_join(a, plan->project, *file));
	VEC_EACH (const struct str, file, &w->absent)
		holds = holds && !fs_exists(path_join(a, plan->project, *file));
	VEC_EACH (const struct str, name, &w->with)
		holds = holds && is_chosen(plan, *name);
	VEC_EACH (const struct str, name, &w->without)
		holds = holds && !is_chosen(plan, *name);
	*ret = holds;
	return NULL;
}

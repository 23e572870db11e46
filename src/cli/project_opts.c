/* From the shared options to a plan; see project_opts.h. */
#include "cli/project_opts.h"

#include "base/fs.h"

static bool is_plan_file(struct str target)
{
	return str_ends(target, S(".json")) && !fs_is_dir(target);
}

static struct err *read_plan(struct arena *a, const struct project_opts *o, struct plan *ret)
{
	const struct {
		const char *name;
		bool given;
	} answered[] = {{.name = "gpu", .given = o->gpus.n > 0},
		{.name = "sdk", .given = o->sdk.n > 0},
		{.name = "python", .given = o->python.n > 0},
		{.name = "config", .given = o->config.n > 0}};
	for (size_t i = 0; i < sizeof(answered) / sizeof(answered[0]); i++)
		if (answered[i].given)
			return err_hint(
				err_new(E_USAGE, "the plan '%.*s' has settled '--%s' already",
					STR(o->target), answered[i].name),
				"make another plan, or edit this one");
	return plan_read(a, o->target, ret);
}

struct err *project_plan(struct arena *a, const struct project_opts *o, struct plan *ret)
{
	struct str target = o->target.n ? o->target : S(".");
	if (is_plan_file(target))
		return read_plan(a, o, ret);
	struct plan_request r = {.dir = target,
		.config = o->config,
		.gpus = o->gpus,
		.sdk = o->sdk,
		.mirror = o->mirror,
		.python = o->python,
		.any_gpu = o->any_gpu,
		.sysroot = o->sysroot};
	return plan_make(a, &r, ret);
}

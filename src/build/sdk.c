/* The first stage: an SDK that is there and can do what the plan asks for. */
#include "base/fs.h"
#include "build/build_int.h"

static struct err *open_or_install(struct build *b)
{
	const struct sdk_spec *spec = &b->q->plan->sdk;
	struct err *e = sdk_open(b->a, spec, &b->ret->sdk);
	if (!e || e->code != E_SDK || b->q->no_install)
		return e; /* with a hint that names the command */
	err_free(e);
	return sdk_install(b->a, spec, &b->ret->sdk);
}

/* The version of the SDK's Python headers, when the build needs them. */
static struct err *find_python(struct build *b)
{
	const struct plan *p = b->q->plan;
	struct str dir = path_join(b->a, b->ret->sdk.root, S("usr/include"));
	struct strs names = {0};
	if (!p->needs_python || p->host.python_include.n)
		return NULL;
	if (b->ret->sdk.root.n)
		TRY(fs_list(b->a, dir, &names));
	VEC_EACH (struct str, n, &names) {
		struct str header = str_fmt(b->a, "%.*s/%.*s/Python.h", STR(dir), STR(*n));
		if (str_starts(*n, S("python3.")) && fs_exists(header))
			b->make.sdk_python = str_sub(*n, 6, n->n);
	}
	if (b->make.sdk_python.n)
		return NULL;
	return err_hint(err_new(E_SDK, "neither this machine nor the SDK '%.*s' has Python.h",
				STR(b->ret->sdk.name)),
		"install python3-dev on this machine");
}

static struct err *check_targets(struct arena *a, const struct sdk *sdk, const struct strs *gpus)
{
	struct sdk_targets targets = {0}, all = {0};
	struct strs good = {0};
	TRY_CTX(sdk_probe(a, sdk, gpus, &targets), "cannot find out what '%.*s' compiles",
		STR(sdk->name));
	VEC_EACH (const struct sdk_target, bad, &targets.list) {
		if (bad->compiles)
			continue;
		struct err *e = err_wrap(err_new(E_GFX, "%.*s", STR(str_trim(bad->why))),
			"the SDK '%.*s' cannot compile for '%.*s'", STR(sdk->name), STR(bad->name));
		err_free(sdk_probe(a, sdk, NULL, &all));
		VEC_EACH (const struct sdk_target, t, &all.list)
			if (t->compiles)
				strs_add(a, &good, t->name);
		if (!good.n)
			return e;
		return err_hint(e, "it can compile for: %.*s", STR(str_join(a, &good, S(" "))));
	}
	return NULL;
}

struct err *build_open_sdk(struct build *b)
{
	TRY(open_or_install(b));
	TRY(find_python(b));
	return check_targets(b->a, &b->ret->sdk, &b->q->plan->gpus);
}

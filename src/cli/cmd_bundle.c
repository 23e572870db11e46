/* rocsmith bundle: makes a fat wheel, which includes the ROCm libraries that it needs. */
#include "cli/opt.h"
#include "know/know.h"
#include "sdk/sdk.h"
#include "term/table.h"
#include "wheel/fat.h"

struct bundle_args {
	struct common common;
	struct fat_request q;
	struct str budget;
};
#define ARGS struct bundle_args

const struct opt cmd_bundle_opts[] = {
	{OPT_ARGUMENT("WHEEL", OPT_POS, q.wheel.from, "the wheel"), .flags = OPT_REQUIRED},
	{OPT_VALUE("sdk", OPT_STR, q.sdk, "SDK", "installed SDK, or folder with ROCm's libraries")},
	{OPT_GPUS(q.gpus, "targets whose code stays: gfx1201,gfx90a or native")},
	{OPT_OUTPUT(q.wheel.to, "OUT", "folder for the new wheel, or its name (default: .)")},
	{OPT_VALUE("with", OPT_WORDS, q.with, "LIB,...",
		"libraries that are loaded by name: libx.so.1")},
	{OPT_VALUE("allow", OPT_WORDS, q.allow, "LIB,...",
		"libraries (or patterns) that every machine will have")},
	{OPT_VALUE("local-version", OPT_STR, q.wheel.local, "V",
		"set another local version: rocm7.2 for 1.0+rocm7.2; \"\": none")},
	{OPT_VALUE("budget", OPT_STR, budget, "SIZE",
		"fail if the wheel would be larger: 900M, 2GiB")},
	{OPT_FLAG("exact", q.keep.exact, "no variants, no generic targets")},
	{OPT_FLAG("force", q.wheel.force, "replace an existing wheel")},
	OPT_LAST,
};

static void print(struct arena *a, const struct bundle_args *o, const struct fat_report *r)
{
	struct table t = table_new(a, "LIBRARY|>SDK|>HERE|NEEDED BY");
	VEC_EACH (const struct fat_library, lib, &r->libraries) {
		bool guess = o->common.dry_run && lib->after < lib->before;
		TABLE_ROW(&t, path_base(lib->name), human_bytes(a, lib->before),
			str_fmt(a, "%s%.*s", guess ? "~" : "", STR(human_bytes(a, lib->after))),
			lib->needed_by.n ? path_base(lib->needed_by) : S("--with"));
	}
	table_print(&t);
	VEC_EACH (const struct fat_side, s, &r->side)
		out_fmt("%.*s: %.*s, %.*s\n", STR(s->name),
			STR(human_count(a, (size_t)s->files, "file")),
			STR(human_bytes(a, s->bytes)));
	out_lines("removed: ", &r->dropped);
	if (r->slim.files.n)
		out_fmt("%.*s\n", STR(cut_list_describe(a, cut_list_text(a, &r->slim))));
	out_fmt("%.*s: %s%.*s unpacked (%.*s for all GPUs)", STR(r->output),
		o->common.dry_run ? "would be about " : "", STR(human_bytes(a, r->slim.after)),
		STR(human_bytes(a, r->slim.before)));
	if (r->size)
		out_fmt(", %.*s", STR(human_bytes(a, r->size)));
	out_fmt("\n");
	if (r->floor.n)
		out_fmt("lowest true tag: %.*s\n", STR(r->floor));
}

/* Names the command that installs what a Debian SDK lacks: another component, or another suite. */
static struct err *hint_install(
	struct arena *a, struct err *e, const struct sdk *sdk, const struct fat_report *r)
{
	struct strs parts = {0};
	struct str suite = sdk->suite, version;
	bool here = true;
	VEC_EACH (const struct fat_outside, x, &r->outside) {
		const struct know_library *row = know_provider(x->name);
		if (!row || !*row->name)
			continue;
		strs_put(a, &parts, str_from(row->name));
		here = here && strs_has(&sdk->requested, str_from(row->name));
		if (str_eq(path_library(x->name, &version), S("libamdhip64")))
			suite = sdk_debian_suite(version);
	}
	if (!suite.n || !parts.n || (here && str_eq(suite, sdk->suite)))
		return e;
	return err_hint(e,
		"'rocsmith sdk install debian --suite %.*s --components %.*s' installs them",
		STR(suite), STR(str_join(a, &parts, S(","))));
}

struct err *cmd_bundle(struct arena *a, void *args)
{
	struct bundle_args *o = args;
	struct targets gpus;
	struct sdk sdk = {0};
	struct fat_report r;
	if (!o->q.sdk.n || !o->q.gpus.n)
		return err_new(E_USAGE, "'bundle' needs --sdk and --gpu");
	if (o->budget.n && (!str_amount(o->budget, str_sizes, &o->q.budget) || !o->q.budget))
		return err_hint(err_new(E_USAGE, "'%.*s' is not a size", STR(o->budget)),
			"write a size as 500000000, 500M or 2GiB");
	TRY(opt_targets(a, S(""), &o->q.gpus, &gpus));
	if (!fs_is_dir(o->q.sdk)) {
		struct err *e = sdk_open_name(a, o->q.sdk, &sdk);
		if (e)
			return err_hint(e, "--sdk also takes a folder with ROCm's libraries");
		/* it may have been installed without kernels for these GPUs */
		VEC_EACH (const struct target, t, &gpus)
			if (sdk.gpus.n && !strs_has(&sdk.gpus, t->name))
				return err_hint(err_new(E_SDK, "SDK '%.*s' has no kernels for %.*s",
							STR(o->q.sdk), STR(t->name)),
					"rocsmith sdk install %.*s --suite %.*s --gpu %.*s",
					STR(sdk.provider), STR(sdk.suite), STR(t->name));
		o->q.sdk = sdk.root;
	}
	o->q.keep.v = gpus.v;
	o->q.keep.n = gpus.n;
	o->q.wheel.to = o->q.wheel.to.n ? o->q.wheel.to : S(".");
	o->q.wheel.jobs = o->common.jobs;
	struct err *e = wheel_fatten(a, &o->q, &r);
	if (e)
		return e->code == E_SDK ? hint_install(a, e, &sdk, &r) : e;
	VEC_EACH (const struct fat_outside, x, &r.outside)
		say_warning("the machine or another package has to provide '%.*s', which '%.*s' "
			    "needs",
			STR(x->name), STR(x->needed_by));
	VEC_EACH (const struct wheel_lack, x, &r.lacks)
		say_warning(
			"this machine cannot load '%.*s': it needs %.*s, and '%.*s' ends with %.*s",
			STR(x->name), STR(x->version), STR(x->library),
			STR(x->newest.n ? x->newest : S("none of that kind")));
	if (r.lacks.n)
		say_hint(
			"a system needs at least what 'lowest true tag' says; an SDK made for this "
			"system asks for less");
	if (!show_made(&o->common, fat_fields, &r))
		print(a, o, &r);
	return NULL;
}

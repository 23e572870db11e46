/* rocsmith hipify: its options, and which of its answers is wanted. */
#include "cli/cmd_hipify.h"

#include "base/fs.h"

static const struct opt hipify_opts[] = {
	{OPT_VALUE("mode", OPT_ENUM, struct hipify_args, o.mode, "MODE",
		 "which translation (default: by what DIR is)"),
		.flags = OPT_FROM_ONE, .choices = hipify_modes + 1},
	{OPT_VALUE("torch", OPT_PATH, struct hipify_args, o.torch, "PATH",
		 "whose hipify: a checkout, a package or a wheel"),
		.env = "ROCSMITH_TORCH"},
	{OPT_FLAG("in-place", struct hipify_args, o.in_place, "translate into DIR itself")},
	{OPT_VALUE("output", OPT_PATH, struct hipify_args, o.out, "OUT",
		 "folder for the translated tree"),
		.sname = 'o', .env = "ROCSMITH_OUTPUT"},
	{OPT_FLAG("diff", struct hipify_args, diff, "print what would change")},
	{OPT_FLAG("check", struct hipify_args, check, "exit status 1 when something would change")},
	{OPT_VALUE("explain", OPT_PATH, struct hipify_args, explain, "FILE[:LINE]",
		"which rule changes what in this file or line")},
	{OPT_FLAG("verify", struct hipify_args, verify, "compare with that torch's own Python")},
	{OPT_FLAG("status", struct hipify_args, status, "what became of the files made earlier")},
	{OPT_FLAG("restore", struct hipify_args, restore, "undo what was done in DIR")},
	{OPT_FLAG("force", struct hipify_args, force, "with --restore: also files edited since")},
	{OPT_FLAG("lint", struct hipify_args, lint, "find what assumes waves of 32 lanes")},
	{OPT_FLAG("lint-map", struct hipify_args, lint_map, "look for faults in the tables")},
	{OPT_VALUE("include-dir", OPT_LIST, struct hipify_args, o.include_dirs, "DIR",
		 "folder of headers (mode extension)"),
		.sname = 'I'},
	{OPT_VALUE("map", OPT_PATH, struct hipify_args, o.map, "FILE", "further pairs of names")},
	{OPT_VALUE("ignore", OPT_LIST, struct hipify_args, o.ignore, "PATTERN",
		"leave out files, as the original's ignores")},
	{OPT_VALUE("exclude", OPT_LIST, struct hipify_args, o.exclude, "NAME",
		 "leave out this folder or file"),
		.flags = OPT_COMMA},
	{OPT_VALUE("extra-extension", OPT_LIST, struct hipify_args, o.extra_extensions, "EXT",
		"files that count as sources, too: .inl")},
	{OPT_VALUE("launches", OPT_ENUM, struct hipify_args, o.launches, "HOW",
		 "kernel launches: auto, rewrite or keep"),
		.flags = OPT_FROM_ONE, .choices = hipify_launches + 1},
	{OPT_FLAG("out-of-place-only", struct hipify_args, o.out_of_place_only,
		"as build_amd.py has it")},
	{OPT_VALUE("extra-include-dir", OPT_LIST, struct hipify_args, o.extra_include, "DIR",
		"as build_amd.py has it")},
	{OPT_VALUE("engine", OPT_ENUM, struct hipify_args, o.engine, "ENGINE",
		 "rocsmith, or torch: its own Python"),
		.choices = hipify_engines},
	{OPT_VALUE("rocm", OPT_STR, struct hipify_args, o.rocm, "VERSION",
		"leave names that this ROCm does not have yet")},
	{OPT_ARGUMENT("DIR", OPT_POS, struct hipify_args, o.dir, "folder or file to translate")},
	{OPT_ARGUMENT(
		"SOURCE", OPT_POSES, struct hipify_args, o.sources, "only these files of DIR")},
	{.kind = OPT_END},
};

/* ---- what goes together ---- */

enum wish_kind { WISH_SHOW, WISH_VERIFY, WISH_LOOK, WISH_TARGET };

struct wish {
	const char *name;
	bool given;
	enum wish_kind kind;
};

/* x stands before y in the list of wishes, which is sorted by kind. */
static bool exclude_each_other(const struct wish *x, const struct wish *y)
{
	if (!x->given || !y->given)
		return false;
	if (x->kind == y->kind)
		return x->kind != WISH_LOOK;
	return y->kind != WISH_TARGET || x->kind == WISH_SHOW;
}

static struct err *check_wishes(const struct hipify_args *h)
{
	const struct wish all[] = {
		{"explain", h->explain.n > 0, WISH_SHOW},
		{"status", h->status, WISH_SHOW},
		{"restore", h->restore, WISH_SHOW},
		{"lint", h->lint, WISH_SHOW},
		{"lint-map", h->lint_map, WISH_SHOW},
		{"verify", h->verify, WISH_VERIFY},
		{"diff", h->diff, WISH_LOOK},
		{"check", h->check, WISH_LOOK},
		{"in-place", h->o.in_place, WISH_TARGET},
		{"output", h->o.out.n > 0, WISH_TARGET},
	};
	const size_t n = sizeof(all) / sizeof(all[0]);
	for (size_t i = 0; i < n * n; i++) {
		const struct wish *x = &all[i / n], *y = &all[i % n];
		if (x < y && exclude_each_other(x, y))
			return err_new(
				E_USAGE, "'--%s' and '--%s' exclude each other", x->name, y->name);
	}
	if (h->force && !h->restore)
		return err_new(E_USAGE, "'--force' belongs to '--restore'");
	return NULL;
}

static struct err *run(struct arena *a, void *p, int *ret_status)
{
	struct hipify_args *h = p;
	struct hipify_job job;
	TRY(check_wishes(h));
	if (h->o.rocm.n && !hipify_is_rocm(h->o.rocm))
		return err_new(E_USAGE, "'--rocm' takes a version such as 6.4.3, not '%.*s'",
			STR(h->o.rocm));
	if (h->explain.n)
		return hipify_explain(a, h);
	if (h->lint_map)
		return hipify_lint_map(a, h, ret_status);
	if (!h->o.dir.n)
		return err_hint(err_new(E_USAGE, "no folder or file to translate is given"),
			"usage: rocsmith hipify DIR, or rocsmith hipify DIR -o OUT");
	if (!fs_exists(h->o.dir))
		return err_new(E_NOENT, "no folder or file '%.*s'", STR(h->o.dir));
	if (h->lint)
		return hipify_lint(a, h, ret_status);
	if (h->status)
		return hipify_show_state(a, h, ret_status);
	if (h->restore)
		return hipify_restore_dir(a, h, ret_status);
	TRY(hipify_resolve(a, h, h->o.dir, &job));
	return h->verify ? hipify_verify(&job, ret_status) : hipify_translate(&job, ret_status);
}

const struct command cmd_hipify = {
	.name = "hipify",
	.summary = "translate CUDA sources to HIP",
	.opts = hipify_opts,
	.size = sizeof(struct hipify_args),
	.needs = NEED_WRITE,
	.run = run,
};

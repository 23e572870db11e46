/* rocsmith hipify: its options, and which of its answers is wanted. */
#include "cli/cmd_hipify.h"

#include "base/fs.h"

#define OFF(m) offsetof(struct hipify_args, m)
#define FLAG(name, member, text)                                                                   \
	{                                                                                          \
		.lname = (name), .kind = OPT_BOOL, .off = OFF(member), .help = (text)              \
	}
#define LIST(name, member, word, text)                                                             \
	{                                                                                          \
		.lname = (name), .kind = OPT_LIST, .off = OFF(member), .arg = (word),              \
		.help = (text)                                                                     \
	}
#define PATH(name, member, word, text)                                                             \
	{                                                                                          \
		.lname = (name), .kind = OPT_PATH, .off = OFF(member), .arg = (word),              \
		.help = (text)                                                                     \
	}

static const struct opt hipify_opts[] = {
	{.lname = "mode",
		.kind = OPT_ENUM,
		.flags = OPT_FROM_ONE,
		.off = OFF(o.mode),
		.arg = "MODE",
		.help = "which translation (default: by what DIR is)",
		.choices = hipify_modes},
	{.lname = "torch",
		.kind = OPT_PATH,
		.off = OFF(o.torch),
		.env = "ROCSMITH_TORCH",
		.arg = "PATH",
		.help = "whose hipify: a checkout, a package or a wheel"},
	FLAG("in-place", o.in_place, "translate into DIR itself"),
	{.lname = "output",
		.sname = 'o',
		.kind = OPT_PATH,
		.off = OFF(o.out),
		.env = "ROCSMITH_OUTPUT",
		.arg = "OUT",
		.help = "folder for the translated tree"},
	FLAG("diff", diff, "print what would change"),
	FLAG("check", check, "exit status 1 when something would change"),
	PATH("explain", explain, "FILE[:LINE]", "which rule changes what in this file or line"),
	FLAG("verify", verify, "compare with that torch's own Python"),
	FLAG("status", status, "what became of the files made earlier"),
	FLAG("restore", restore, "take back what was done in DIR"),
	FLAG("force", force, "with --restore: also files edited since"),
	FLAG("lint-map", lint_map, "look for faults in the tables"),
	{.lname = "include-dir",
		.sname = 'I',
		.kind = OPT_LIST,
		.off = OFF(o.include_dirs),
		.arg = "DIR",
		.help = "folder of headers (mode extension)"},
	PATH("map", o.map, "FILE", "further pairs of names"),
	LIST("ignore", o.ignore, "PATTERN", "leave out files, as the original's ignores"),
	{.lname = "exclude",
		.kind = OPT_LIST,
		.off = OFF(o.exclude),
		.flags = OPT_COMMA,
		.arg = "NAME",
		.help = "leave out this folder or file"},
	LIST("extra-extension", o.extra_extensions, "EXT",
		"files that count as sources, too: .inl"),
	{.lname = "launches",
		.kind = OPT_ENUM,
		.flags = OPT_FROM_ONE,
		.off = OFF(o.launches),
		.arg = "HOW",
		.help = "kernel launches: auto, rewrite or keep",
		.choices = hipify_launches},
	FLAG("out-of-place-only", o.out_of_place_only, "as build_amd.py has it"),
	LIST("extra-include-dir", o.extra_include, "DIR", "as build_amd.py has it"),
	{.lname = "engine",
		.kind = OPT_ENUM,
		.off = OFF(o.engine),
		.arg = "ENGINE",
		.help = "rocsmith, or torch: its own Python",
		.choices = hipify_engines},
	{.lname = "rocm",
		.kind = OPT_STR,
		.off = OFF(o.rocm),
		.arg = "VERSION",
		.help = "leave names that this ROCm does not have yet"},
	{.lname = "DIR", .kind = OPT_POS, .off = OFF(o.dir), .help = "folder or file to translate"},
	{.lname = "SOURCE",
		.kind = OPT_POSES,
		.off = OFF(o.sources),
		.help = "only these files of DIR"},
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
		return err_new(E_USAGE, "'--rocm' wants a version such as 6.4.3, not '%.*s'",
			STR(h->o.rocm));
	if (h->explain.n)
		return hipify_explain(a, h);
	if (h->lint_map)
		return hipify_lint(a, h, ret_status);
	if (!h->o.dir.n)
		return err_hint(err_new(E_USAGE, "no folder or file to translate is given"),
			"usage: rocsmith hipify DIR, or rocsmith hipify DIR -o OUT");
	if (!fs_exists(h->o.dir))
		return err_new(E_NOENT, "no folder or file '%.*s'", STR(h->o.dir));
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

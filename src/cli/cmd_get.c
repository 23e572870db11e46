/* rocsmith get: the smallest published wheels for this machine's GPUs, as a plan, a lock file, a folder of files, or
 * installed. */
#include <stdlib.h>

#include "base/fs.h"
#include "cli/opt.h"
#include "flow/get.h"
#include "target/target.h"
#include "term/out.h"
#include "term/table.h"

struct get_args {
	struct common common;
	struct get_request q;
	struct str names, sysroot;
};
#define ARGS struct get_args

const struct opt cmd_get_opts[] = {
	{OPT_ARGUMENT("TARGET", OPT_POS, names, "torch, or torch,torchvision,torchaudio"),
		.flags = OPT_REQUIRED},
	{OPT_GPUS(q.gpus, "for these GPUs (default: native)")},
	{OPT_VALUE("python", OPT_STR, q.python, "PYTHON", "environment, interpreter or version"),
		.env = "ROCSMITH_PYTHON"},
	{OPT_VALUE("torch", OPT_STR, q.torch, "VERSION", "this torch: 2.14")},
	{OPT_VALUE("rocm", OPT_STR, q.rocm, "VERSION", "for this ROCm: 10.1")},
	{OPT_VALUE("index-url", OPT_STR, q.index_url, "URL",
		"package index in place of AMD's and PyTorch's")},
	{OPT_OUTPUT(q.dir, "DIR", "fetch the files into DIR, with a pylock.toml")},
	{OPT_VALUE("lock", OPT_PATH, q.lock, "FILE", "write a lock file (PEP 751): pylock.toml")},
	{OPT_VALUE("install", OPT_PATH, q.install, "ENV",
		"install into this environment, or a new one")},
	{OPT_SYSROOT(sysroot, "find GPUs in a recorded machine")},
	OPT_LAST,
};

static void print(struct arena *a, const struct get_done *d)
{
	static const struct column columns[] = {
		{COLUMN("PACKAGE", "name")},
		{COLUMN("VERSION", "version")},
		{COLUMN(">SIZE", "size"), .bytes = true, .none = "-"},
		{COLUMN("FOR", "by"), .none = "you"},
		{.title = NULL},
	};
	table_show(a, get_fields, "packages", columns, d);
	out_fmt("%.*s for %.*s and Python %.*s: %.*s", STR(str_join(a, &d->names, S(", "))),
		STR(str_join(a, &d->gpus, S(", "))), STR(d->python),
		STR(human_count(a, d->packages.n, "package")));
	if (d->size)
		out_fmt(", %.*s", STR(human_bytes(a, d->size)));
	if (d->size_all > d->size)
		out_fmt("; with the code of all GPUs %.*s", STR(human_bytes(a, d->size_all)));
	out_text(S("\n"));
	if (d->environment.n)
		out_fmt("installed in %.*s\n", STR(d->environment));
	VEC_EACH (const struct str, c, &d->commands)
		out_fmt("%s%.*s\n",
			c == d->commands.v ? "install with: " : "          or: ", STR(*c));
}

struct err *cmd_get(struct arena *a, void *args)
{
	static const char *const known[] = {"torch", "torchvision", "torchaudio", NULL};
	struct get_args *o = args;
	struct get_request *q = &o->q;
	struct get_done done;
	struct targets gpus;
	struct str lock = path_base(q->lock), env = q->install;
	q->names = str_split(a, o->names, ',');
	VEC_EACH (const struct str, name, &q->names)
		if (!str_is_one_of(*name, known))
			return err_hint(err_new(E_USAGE, "'%.*s' is nothing that 'get' can find",
						STR(*name)),
				"it finds torch, torchvision and torchaudio");
	if (!!q->lock.n + !!q->dir.n + !!q->install.n > 1)
		return err_new(E_USAGE, "--lock, -o and --install exclude each other");
	if (lock.n && !(str_starts(lock, S("pylock.")) && str_ends(lock, S(".toml")) &&
			      str_find(str_sub(lock, 7, lock.n), S(".")) + 5 >= lock.n - 7))
		return err_hint(err_new(E_USAGE, "'%.*s' is no name of a lock file", STR(lock)),
			"installers take pylock.toml, and pylock.NAME.toml without a dot in NAME");
	if (!q->gpus.n)
		strs_add(a, &q->gpus, S("native"));
	TRY(opt_targets(a, o->sysroot, &q->gpus, &gpus));
	q->gpus = (struct strs){0};
	VEC_EACH (const struct target, t, &gpus)
		strs_put(a, &q->gpus, t->name);
	if (env.n &&
		fs_real(a, path_abs(a, env), &env)) { /* so that the machine's facts describe it */
		const char *old = getenv("PATH");
		(void)setenv("PATH", str_fmt(a, "%.*s/bin:%s", STR(env), old ? old : "").p, 1);
	}
	TRY(get_run(a, q, &done));
	if (!show_made(&o->common, get_fields, &done))
		print(a, &done);
	return NULL;
}

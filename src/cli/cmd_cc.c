/* rocsmith cc: a program of an SDK among this machine's programs, through a shim folder. Most often
 * it is called by the name of such a program instead; then main() does not come here. */
#include <stdlib.h>

#include "base/fs.h"
#include "cc/cc.h"
#include "cli/opt.h"

struct args {
	struct common common;
	struct str shims;
	struct strs argv;
};

static const struct opt opts[] = {
	{OPT_VALUE("shims", OPT_PATH, struct args, shims, "DIR",
		"shim folder (default: what ROCM_PATH names)")},
	{OPT_ARGUMENT("PROGRAM", OPT_REST, struct args, argv, "program and its arguments"),
		.flags = OPT_REQUIRED},
	{.kind = OPT_END},
};

static struct err *run(struct arena *a, void *args, int *ret_status)
{
	struct args *o = args;
	struct str dir = o->shims.n ? o->shims : str_from(getenv("ROCM_PATH"));
	struct cc cc = {.dir = path_abs(a, dir), .name = o->argv.v[0]};
	struct strs rest = {.v = o->argv.v + 1, .n = o->argv.n - 1};
	if (dir.n && fs_exists(cc_file(a, cc.dir, "cc.json")))
		return cc_run(a, &cc, &rest, ret_status);
	struct err *e = dir.n ? err_new(E_USAGE, "'%.*s' is not a shim folder", STR(dir))
			      : err_new(E_USAGE, "no shim folder is named");
	return err_hint(e, "--shims DIR or ROCM_PATH names one; 'rocsmith sdk shims' makes it");
}

const struct command cmd_cc = {
	.name = "cc",
	.summary = "run a compiler of the SDK among this machine's programs",
	.opts = opts,
	.size = sizeof(struct args),
	.run = run,
};

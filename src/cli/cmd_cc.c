/* rocsmith cc: runs a program of an SDK among this machine's programs, through a shim folder. If rocsmith is called by
 * the name of such a program, as is usual, main() calls cc_run() itself. */
#include <stdlib.h>

#include "base/fs.h"
#include "cc/cc.h"
#include "cli/opt.h"

struct cc_args {
	struct common common;
	struct str shims;
	struct strs argv;
};
#define ARGS struct cc_args

const struct opt cmd_cc_opts[] = {
	{OPT_VALUE("shims", OPT_PATH, shims, "DIR", "shim folder (default: $ROCM_PATH)")},
	{OPT_ARGUMENT("PROGRAM", OPT_REST, argv, "the program and its arguments"),
		.flags = OPT_REQUIRED},
	OPT_LAST,
};

struct err *cmd_cc(struct arena *a, void *args)
{
	struct cc_args *o = args;
	struct str dir = o->shims.n ? o->shims : str_from(getenv("ROCM_PATH"));
	struct cc cc = {.dir = path_abs(a, dir), .name = o->argv.v[0]};
	struct strs rest = {.v = o->argv.v + 1, .n = o->argv.n - 1};
	fs_umask_end(); /* compilers write the user's own files */
	if (dir.n && fs_exists(cc_file(a, cc.dir, "cc.json")))
		return cc_run(a, &cc, &rest, &o->common.status);
	struct err *e = dir.n ? err_new(E_USAGE, "'%.*s' is not a shim folder", STR(dir))
			      : err_new(E_USAGE, "no shim folder is named");
	return err_hint(e, "make one with 'rocsmith sdk shims DIR', then name it with --shims DIR "
			   "or ROCM_PATH");
}

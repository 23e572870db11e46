/* rocsmith sdk run: runs a program of the SDK or, with --host, one of this machine on the SDK's libraries. */
#include "base/fs.h"
#include "base/vec.h"
#include "cli/opt.h"
#include "sdk/sdk.h"
#include "term/out.h"

struct sdk_run_args {
	struct common common;
	struct str sdk, chroot, chroot_dir;
	bool host;
	struct strs chroot_binds;
	struct strs argv;
};
#define ARGS struct sdk_run_args

const struct opt cmd_sdk_run_opts[] = {
	{OPT_SDK(sdk, "NAME", "installed SDK or folder of a ROCm tree")},
	{OPT_FLAG("host", host, "run a program of this machine on the SDK's libraries")},
	{OPT_VALUE("chroot", OPT_STR, chroot, "DIR", "for our own use"), .flags = OPT_HIDDEN},
	{OPT_VALUE("chroot-dir", OPT_STR, chroot_dir, "DIR", "for our own use"),
		.flags = OPT_HIDDEN},
	{OPT_VALUE("chroot-bind", OPT_LIST, chroot_binds, "BIND", "for our own use"),
		.flags = OPT_HIDDEN},
	{OPT_ARGUMENT("PROGRAM", OPT_REST, argv, "the program and its arguments, after --"),
		.flags = OPT_REQUIRED},
	OPT_LAST,
};

struct err *cmd_sdk_run(struct arena *a, void *args)
{
	struct sdk_run_args *o = args;
	struct sdk sdk;
	struct proc p = {.argv = o->argv, .inherit = true};
	struct proc_result r;
	struct sdk_binds binds = {0};
	if (o->chroot.n)
		return sdk_enter(a, o->chroot, &o->chroot_binds, o->chroot_dir, &o->argv);
	TRY(sdk_open_name(a, o->sdk, &sdk));
	if (o->host) {
		TRY(sdk_wrap_host(a, &sdk, &p));
	} else {
		/* The SDK hides folders such as /usr and /etc; if the current folder is in one, the program starts in "/". */
		p.cwd = path_abs(a, S("."));
		TRY(sdk_all_binds(a, &sdk, &binds));
		bool visible = sdk.runner == SDK_DIRECT;
		VEC_EACH (const struct sdk_bind, b, &binds)
			visible |= path_is_below(p.cwd, b->path);
		if (!visible) {
			say_verbose("the SDK's programs do not see '%.*s': starting in '/'",
				STR(p.cwd));
			p.cwd = S("/");
		}
		*VEC_PUSH(a, &binds) = (struct sdk_bind){.path = S("/"), .at = S("/run/host")};
		TRY(sdk_wrap(a, &sdk, &binds, &p));
	}
	fs_umask_end();
	TRY(proc_run(a, &p, &r));
	o->common.status = r.status;
	return NULL;
}

/* rocsmith merge: merges several wheels, each for some GPUs, into one wheel. */
#include "base/fs.h"
#include "cli/opt.h"
#include "term/out.h"
#include "wheel/split.h"

struct merge_args {
	struct common common;
	struct merge_request q;
};
#define ARGS struct merge_args

const struct opt cmd_merge_opts[] = {
	{OPT_ARGUMENT(
		 "WHEEL", OPT_POSES, q.from, "a host wheel and its device wheels, or whole wheels"),
		.flags = OPT_REQUIRED},
	{OPT_OUTPUT(q.to, "OUT", "folder for the wheel, or its path"), .flags = OPT_REQUIRED},
	{OPT_FLAG("force", q.force, "overwrite OUT")},
	OPT_LAST,
};

struct err *cmd_merge(struct arena *a, void *args)
{
	struct merge_args *o = args;
	struct merge_done done;
	o->q.jobs = o->common.jobs;
	VEC_EACH (const struct str, from, &o->q.from)
		if (fs_is_dir(*from))
			return err_hint(err_new(E_USAGE, "'%.*s' is a folder", STR(*from)),
				"name the wheels in it: %.*s/*.whl", STR(*from));
	TRY(wheel_merge(a, &o->q, &done));
	if (!show_made(&o->common, merge_fields, &done))
		out_fmt("%.*s\n", STR(done.output));
	if (done.missing.n)
		say_warning(
			"%zu wrapper numbers have no device code (the first is %.*s): the wheel of "
			"a GPU is missing, or archives and libraries count differently",
			done.missing.n, STR(done.missing.v[0]));
	say_status(o->common.dry_run ? S("Would merge") : S("Merged"),
		"%.*s, %.*s with device code", STR(human_count(a, done.members, "file")),
		STR(human_count(a, done.merged, "file")));
	return NULL;
}

/* rocsmith index: makes a package index of folders with wheels. */
#include "cli/opt.h"
#include "release/release.h"
#include "term/out.h"

struct index_args {
	struct common common;
	struct release_index index;
};
#define ARGS struct index_args

const struct opt cmd_index_opts[] = {
	{OPT_ARGUMENT("DIR", OPT_POSES, index.paths, "folders with wheels, or wheels"),
		.flags = OPT_REQUIRED},
	{OPT_OUTPUT(index.site, "SITE", "the folder of the index"), .flags = OPT_REQUIRED},
	{OPT_VALUE("yank", OPT_LIST, index.yank, "FILE=REASON",
		"withdraw a wheel: only exact versions get it")},
	{OPT_FLAG(
		"complete", index.complete, "refuse an index that lacks what its wheels require")},
	OPT_LAST,
};

struct err *cmd_index(struct arena *a, void *args)
{
	struct index_args *o = args;
	struct release_index *x = &o->index;
	TRY(release_index(a, x));
	o->common.status = x->refused;
	if (show_json(&o->common, release_index_fields, x))
		return NULL;
	VEC_EACH (const struct finding, f, &x->findings)
		if (f->severity != SEV_INFO)
			out_finding(a, f, S(""));
	if (x->lacks.n && !o->index.complete)
		say_hint("the index lacks what its wheels require (%.*s): pip needs another one "
			 "beside it",
			STR(str_join(a, &x->lacks, S(", "))));
	if (x->refused)
		out_fmt("%.*s: refused\n", STR(x->site));
	else if (!o->common.quiet || o->common.dry_run)
		out_fmt("%.*s: %.*s of %.*s\n", STR(x->site),
			STR(human_count(a, x->wheels.n, "wheel")),
			STR(human_count(a, x->projects.n, "project")));
	return NULL;
}

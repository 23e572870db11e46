/* rocsmith split: splits a wheel for many GPUs into a host wheel and one for each GPU. */
#include "cli/opt.h"
#include "term/table.h"
#include "wheel/split.h"

struct split_args {
	struct common common;
	struct split_request q;
	unsigned format, variants;
};
#define ARGS struct split_args

static const char *const formats[] = {"kpack", "plain", NULL};
static const char *const drafts[] = {"draft-0.1.1", NULL};
const struct opt cmd_split_opts[] = {
	{OPT_ARGUMENT("WHEEL", OPT_POS, q.from, "the wheel to split"), .flags = OPT_REQUIRED},
	{OPT_OUTPUT(q.to, "DIR", "folder for the wheels"), .flags = OPT_REQUIRED},
	{OPT_VALUE("format", OPT_ENUM, format, "FORMAT", "kpack, or plain for ROCm before 7.13"),
		.choices = formats},
	{OPT_VALUE("variants", OPT_ENUM, variants, "DRAFT",
		 "also write a variant wheel, by that draft of PEP 825"),
		.flags = OPT_FROM_ONE, .choices = drafts},
	{OPT_FLAG("force", q.force, "overwrite existing wheels")},
	OPT_LAST,
};

struct err *cmd_split(struct arena *a, void *args)
{
	static const struct column columns[] = {
		{COLUMN("GPU", "key"), .none = "host"},
		{COLUMN(">FILES", "members")},
		{COLUMN(">SIZE", "size"), .bytes = true, .none = "-"},
		{COLUMN("WHEEL", "path")},
		{.title = NULL},
	};
	struct split_args *o = args;
	struct split_done done;
	o->q.plain = o->format;
	o->q.variants = o->variants;
	o->q.jobs = o->common.jobs;
	TRY(wheel_split(a, &o->q, &done));
	VEC_EACH (const struct str, name, &done.left)
		say_warning("'%.*s' keeps device code that cannot be taken out", STR(*name));
	if (!show_json(&o->common, split_fields, &done))
		table_show(a, split_fields, "wheels", columns, &done);
	return NULL;
}

/* rocsmith split: splits a wheel for many GPUs into a host wheel and one for each GPU. */
#include "cli/opt.h"
#include "term/out.h"
#include "term/table.h"
#include "wheel/split.h"

struct split_args {
	struct common common;
	struct split_request q;
	unsigned variants;
};
#define ARGS struct split_args

static const char *const formats[] = {"kpack", "plain", NULL};
static const char *const drafts[] = {"draft-0.2.0", NULL};
const struct opt cmd_split_opts[] = {
	{OPT_ARGUMENT("WHEEL", OPT_POS, q.from, "the wheel to split"), .flags = OPT_REQUIRED},
	{OPT_OUTPUT(q.to, "DIR", "folder for the wheels"), .flags = OPT_REQUIRED},
	{OPT_VALUE("format", OPT_ENUM, q.format, "FORMAT",
		 "kpack or plain (default: what its runtime reads)"),
		.flags = OPT_FROM_ONE, .choices = formats},
	{OPT_VALUE("prefix", OPT_STR, q.prefix, "NAME",
		"names of device wheels (default: amd-PROJECT-device)")},
	{OPT_VALUE("overlay-root", OPT_STR, q.overlay, "DIR",
		"split the files below DIR only; archives go there")},
	{OPT_VALUE("device-requires", OPT_LIST, q.requires, "REQ",
		"let device wheels require REQ; @GFXARCH@ is the GPU")},
	{OPT_VALUE("variants", OPT_ENUM, variants, "DRAFT",
		 "also write a variant wheel, by that draft of PEP 825 and 850"),
		.flags = OPT_FROM_ONE, .choices = drafts},
	{OPT_FLAG("force", q.force, "overwrite existing wheels")},
	OPT_LAST,
};

/* Says the reason for the format, and what it costs. */
static void say_plan(const struct split_done *done)
{
	ARENA(tmp);
	const uint64_t large = 3000000000;
	bool plain = str_eq(done->format, S("plain"));
	uint64_t size = 0;
	VEC_EACH (const struct split_wheel, w, &done->wheels)
		size += w->size;
	if (done->chosen)
		say_status(S("Format"), "%.*s: %.*s", STR(done->format), STR(done->why));
	if (!done->reads)
		say_warning("the archives will not be read: %.*s", STR(done->why));
	if (plain && size >= large)
		say_warning("plain wheels of about %.*s will be written: each device wheel has all "
			    "of the host's code in its libraries",
			STR(human_bytes(&tmp, size)));
}

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
	struct strs warnings = {0};
	o->q.variants = o->variants;
	o->q.planned = say_plan;
	o->q.jobs = o->common.jobs;
	TRY(wheel_split(a, &o->q, &done));
	VEC_EACH (const struct str, name, &done.left)
		strs_fmt(a, &warnings, "'%.*s' keeps device code that cannot be taken out",
			STR(*name));
	say_warnings(&warnings);
	if (!show_made(&o->common, split_fields, &done))
		table_show(a, split_fields, "wheels", columns, &done);
	return NULL;
}

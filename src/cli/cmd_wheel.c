/* rocsmith wheel pack, unpack, retag, repro: packs, unpacks, renames and compares wheels. */
#include "cli/opt.h"
#include "term/out.h"
#include "wheel/archive.h"

struct wheel_args {
	struct common common;
	struct wheel_request q;
	struct strs wheels;
};
#define ARGS struct wheel_args

/* clang-format off */
#define OUTPUT(name, text)                                                                         \
	{OPT_OUTPUT(q.to, name, text)}, {OPT_FLAG("force", q.force, "replace an existing result")}
#define TAG(name, member, text) {OPT_VALUE(name, OPT_STR, member, "TAG", text)}
#define WHEEL {OPT_ARGUMENT("WHEEL", OPT_POS, q.from, "the wheel"), .flags = OPT_REQUIRED}
/* clang-format on */

const struct opt cmd_wheel_pack_opts[] = {
	{OPT_ARGUMENT("DIR", OPT_POS, q.from, "an unpacked wheel"), .flags = OPT_REQUIRED},
	OUTPUT("OUT", "folder for the wheel, or its name (default: .)"),
	OPT_LAST,
};
const struct opt cmd_wheel_unpack_opts[] = {
	WHEEL,
	OUTPUT("DIR", "folder in which NAME-VERSION is made (default: .)"),
	OPT_LAST,
};
const struct opt cmd_wheel_retag_opts[] = {
	WHEEL,
	OUTPUT("OUT", "folder for the new wheel, or its name (default: .)"),
	{OPT_VALUE("build", OPT_STR, q.build, "N", "another build number; \"\": none")},
	{OPT_VALUE("local-version", OPT_STR, q.local, "V",
		"another local version: rocm7.2 for 1.0+rocm7.2; \"\": none")},
	TAG("python-tag", q.python, "another Python tag: cp312, or py2.py3"),
	TAG("abi-tag", q.abi, "another ABI tag: abi3"),
	TAG("platform-tag", q.platform, "another platform tag: manylinux_2_28_x86_64"),
	OPT_LAST,
};
const struct opt cmd_wheel_repro_opts[] = {
	{OPT_ARGUMENT("WHEEL", OPT_POSES, wheels, "one to pack again, or several to compare"),
		.flags = OPT_REQUIRED},
	OPT_LAST,
};

static const struct json_field done_fields[] = {
	FIELD_CONST("schema", "rocsmith.wheel/1"),
	FIELD_LAST(FIELDS(struct wheel_done, source, path, members, size)),
};

typedef struct err *wheel_do(
	struct arena *a, const struct wheel_request *q, struct wheel_done *ret);

static struct err *make(
	struct arena *a, struct wheel_args *o, wheel_do *how, const char *const verbs[2])
{
	struct wheel_done done;
	o->q.to = o->q.to.n ? o->q.to : S(".");
	o->q.jobs = o->common.jobs;
	TRY(wheel_epoch(&o->q.epoch));
	TRY(how(a, &o->q, &done));
	if (!show_made(&o->common, done_fields, &done))
		out_fmt("%.*s\n", STR(done.path));
	say_status(str_from(verbs[o->common.dry_run]), "%.*s, %.*s",
		STR(human_count(a, done.members, "file")), STR(human_bytes(a, done.size)));
	return NULL;
}

struct err *cmd_wheel_pack(struct arena *a, void *args)
{
	return make(a, args, wheel_pack, (const char *const[]){"Packed", "Would pack"});
}

struct err *cmd_wheel_unpack(struct arena *a, void *args)
{
	return make(a, args, wheel_unpack, (const char *const[]){"Unpacked", "Would unpack"});
}

struct err *cmd_wheel_retag(struct arena *a, void *args)
{
	const struct wheel_request *q = &((struct wheel_args *)args)->q;
	if (!q->build.p && !q->local.p && !q->python.p && !q->abi.p && !q->platform.p)
		return err_hint(err_new(E_USAGE, "no option names a change"),
			"'rocsmith wheel retag -h' lists what can");
	return make(a, args, wheel_retag, (const char *const[]){"Retagged", "Would retag"});
}

/* ---- repro ---- */

struct repro_answer {
	VEC(struct wheel_comparison) wheels;
};

static const struct json_field change_fields[] = FIELDS_ONLY(struct wheel_change, name, differs);
static const struct json_field comparison_fields[] = {
	FIELD("path", struct wheel_comparison, path),
	FIELD_OPTIONAL("other", struct wheel_comparison, other),
	FIELDS(struct wheel_comparison, same, differs),
	FIELD_LAST(FIELD_LIST("members", struct wheel_comparison, members, change_fields)),
};
static const struct json_field answer_fields[] = {
	FIELD_CONST("schema", "rocsmith.wheel-repro/1"),
	FIELD_LAST(FIELD_LIST("wheels", struct repro_answer, wheels, comparison_fields)),
};

struct err *cmd_wheel_repro(struct arena *a, void *args)
{
	struct wheel_args *o = args;
	struct repro_answer all = {0};
	enum { SHOWN = 50 };
	const char *epoch = getenv("SOURCE_DATE_EPOCH");
	o->q.jobs = o->common.jobs;
	o->q.from = o->wheels.v[0];
	TRY(wheel_epoch(&o->q.epoch));
	o->q.epoch = epoch && *epoch ? o->q.epoch : -1;
	for (size_t i = o->wheels.n > 1 ? 1 : 0; i < o->wheels.n; i++) {
		struct wheel_comparison *c = VEC_PUSH(a, &all.wheels);
		o->q.to = i ? o->wheels.v[i] : S("");
		TRY(wheel_compare(a, &o->q, c));
		o->common.status |= !c->same;
		if (o->common.json)
			continue;
		size_t n = out_verbosity() > 0 || c->members.n < SHOWN ? c->members.n : SHOWN;
		for (size_t k = 0; k < n; k++)
			out_fmt("  %.*s: %.*s\n", STR(c->members.v[k].name),
				STR(str_join(a, &c->members.v[k].differs, S(", "))));
		if (n < c->members.n)
			out_fmt("  and %zu more (-v shows all)\n", c->members.n - n);
		if (c->differs.n)
			out_fmt("  the archive: %.*s\n", STR(str_join(a, &c->differs, S(", "))));
		out_fmt("%.*s, %.*s: %.*s\n", STR(c->path),
			STR(c->other.n ? c->other : S("packed again")),
			STR(c->same ? styled_out(a, STYLE_GREEN, S("the same"))
				    : styled_out(a, STYLE_RED, S("different"))));
	}
	(void)show_json(&o->common, answer_fields, &all);
	return NULL;
}

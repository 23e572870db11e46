/* rocsmith gpu: prints the targets of the GPUs of this machine (or a recorded one), for scripts. */
#include "cli/opt.h"
#include "know/rule.h"
#include "term/out.h"

struct gpu_args {
	struct common common;
	struct str sysroot;
	struct strs targets; /* the answer */
};
#define ARGS struct gpu_args

const struct opt cmd_gpu_opts[] = {
	{OPT_SYSROOT(sysroot, "of this recorded machine: a folder or machine file")},
	OPT_LAST,
};

static const struct json_field gpu_fields[] = {
	FIELD_CONST("schema", "rocsmith.gpu/1"),
	FIELDS(struct gpu_args, targets),
	{.kind = FIELD_END},
};

struct err *cmd_gpu(struct arena *a, void *args)
{
	struct gpu_args *o = args;
	strs_add(a, &o->targets, S("native"));
	struct err *e = machine_native(a, o->sysroot, &o->targets);
	if (e && e->code != E_NO_GPU)
		return e;
	if (e) {
		o->targets.n = 0;
		o->common.status = 1;
		say_warning("no AMD GPU was found%s%s", e->cause ? ": " : "",
			e->cause ? e->cause->msg : "");
		err_free(e);
	}
	if (show_json(&o->common, gpu_fields, o))
		return NULL;
	out_lines("", &o->targets);
	return NULL;
}

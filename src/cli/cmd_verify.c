/* rocsmith verify: checks wheels for everything that can be proved without a GPU. */
#include "cli/opt.h"
#include "sdk/sdk.h"
#include "term/out.h"
#include "verify/verify.h"

struct verify_args {
	struct common common;
	struct verify_options o;
	struct strs require, wheels;
	struct str policy;
	bool sarif;
};
#define ARGS struct verify_args

const struct opt cmd_verify_opts[] = {
	{OPT_VALUE("require", OPT_WORDS, require, "GPU",
		"every file with device code must serve these")},
	{OPT_FLAG("device-code", o.device_code, "fail a wheel without device code")},
	{OPT_VALUE("allow", OPT_WORDS, o.allow, "SONAME",
		"library (or pattern) that may come from outside")},
	{OPT_VALUE("sdk", OPT_STR, o.sdk, "NAME",
		"installed SDK or ROCm tree whose libraries it may use")},
	{OPT_VALUE("torch", OPT_PATH, o.torch, "PLACE",
		"torch that it will run with: a wheel, or where it lies")},
	{OPT_VALUE("policy", OPT_STR, policy, "TAG",
		"fail what needs newer libraries: manylinux_2_28")},
	{OPT_FLAG("run", o.run, "also run wheels that pass on emulated GPUs, by rocjitsu")},
	{OPT_VALUE("launcher", OPT_PATH, o.launcher, "FILE",
		 "emulator for --run (default: rocjitsu in PATH)"),
		.env = "ROCSMITH_LAUNCHER"},
	{OPT_FLAG("sarif", sarif, "print a SARIF 2.1.0 log, for code scanning")},
	{OPT_ARGUMENT("WHEEL", OPT_POSES, wheels, "wheels, or folders with wheels"),
		.flags = OPT_REQUIRED},
	OPT_LAST,
};

struct err *cmd_verify(struct arena *a, void *p)
{
	struct verify_args *args = p;
	struct verify_options *o = &args->o;
	struct sdk sdk;
	struct strs paths = {0};
	struct verdicts all = {0};
	if (args->sarif && args->common.json)
		return err_new(E_USAGE, "--json and --sarif exclude each other");
	o->jobs = args->common.jobs;
	if (o->sdk.n) {
		TRY(sdk_open_name(a, o->sdk, &sdk));
		o->sdk = sdk.name;
		sdk_library_dirs(a, &sdk, &o->sdk_dirs);
	}
	if (args->policy.n)
		TRY(verify_policy(a, args->policy, &o->policy));
	TRY(opt_targets(a, S(""), &args->require, &o->require));
	for (size_t i = 0; i < args->wheels.n; i++)
		TRY(verify_paths(a, args->wheels.v[i], &paths));
	TRY(verify_wheels(a, &paths, o, &all));
	VEC_EACH (const struct verdict, v, &all.wheels) {
		size_t count[] = {0, 0, 0};
		args->common.status |= !v->pass;
		if (args->common.json || args->sarif)
			continue;
		VEC_EACH (const struct finding, f, &v->findings) {
			count[f->severity]++;
			if (f->severity != SEV_INFO || out_verbosity() >= 0)
				out_finding(a, f, v->path);
		}
		if (out_verbosity() > 0 && v->platform.n)
			out_fmt("%.*s: the lowest platform tag that is true is %.*s\n",
				STR(v->path), STR(v->platform));
		out_fmt("%.*s: %.*s (%.*s, %.*s)%s%.*s\n", STR(v->path),
			STR(v->pass ? styled_out(a, STYLE_GREEN, S("pass"))
				    : styled_out(a, STYLE_RED, S("fail"))),
			STR(human_count(a, count[SEV_ERROR], "error")),
			STR(human_count(a, count[SEV_WARNING], "warning")),
			v->served.n ? ", device code for " : "",
			STR(str_join(a, &v->served, S(", "))));
	}
	if (args->sarif)
		out_text(verdicts_sarif(a, &all));
	else
		(void)show_json(&args->common, verdicts_fields, &all);
	return NULL;
}

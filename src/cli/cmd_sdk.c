/* rocsmith sdk list, info, env, shims, verify and remove. */
#include "base/buf.h"
#include "base/fs.h"
#include "base/vec.h"
#include "cc/compile.h"
#include "cli/opt.h"
#include "know/know.h"
#include "sdk/sdk.h"
#include "sdk/shims.h"
#include "target/target.h"
#include "term/out.h"
#include "term/table.h"

struct sdk_args {
	struct common common;
	struct str name;
	struct strs gpus;
	struct str sdk, log_dir;
	unsigned memory; /* MiB */
	unsigned share;
	bool cuda;
};
#define ARGS struct sdk_args

/* clang-format off */
#define NAME {OPT_ARGUMENT("NAME", OPT_POS, name, "installed SDK or folder of a ROCm tree")}
/* clang-format on */

const struct opt cmd_sdk_env_opts[] = {NAME, OPT_LAST};
const struct opt cmd_sdk_verify_opts[] = {NAME, OPT_LAST};
const struct opt cmd_sdk_list_opts[] = {OPT_LAST};

/* ---- list ---- */
struct installed_sdks {
	VEC(struct sdk) list;
	struct strs components; /* all components that can be installed */
};

static const struct json_field installed_fields[] = {
	FIELDS(struct sdk, name, provider, suite),
	FIELD("components", struct sdk, requested),
	FIELDS(struct sdk, gpus, index_date, bytes, downloads),
	{.kind = FIELD_END},
};

static const struct json_field list_fields[] = {
	FIELD_CONST("schema", "rocsmith.sdk-list/1"),
	FIELD_LIST("installed", struct installed_sdks, list, installed_fields),
	FIELD("components", struct installed_sdks, components),
	{.kind = FIELD_END},
};

struct err *cmd_sdk_list(struct arena *a, void *args)
{
	struct sdk_args *o = args;
	static const struct column columns[] = {
		{COLUMN("SDK", "name")},
		{COLUMN("components", "components"), .between = ","},
		{COLUMN("kept kernels of", "gpus"), .between = ",", .none = "all"},
		{COLUMN("index of", "index_date")},
		{COLUMN(">size", "bytes"), .bytes = true},
		{COLUMN(">downloads", "downloads"), .bytes = true},
		{.title = NULL},
	};
	struct installed_sdks all = {.components = know_component_names(a)};
	struct strs names;
	TRY(sdk_names(a, &names));
	fs_forbid_writes(); /* a look at an SDK is no use of it, which sets its time */
	VEC_EACH (const struct str, name, &names) {
		struct sdk sdk;
		CLEANUP(err_freep) struct err *e = sdk_open_name(a, *name, &sdk);
		if (!e)
			e = sdk_count_downloads(a, &sdk);
		if (e) /* a broken SDK does not hide the others */
			say_warning(
				"the SDK '%.*s' cannot be used: %s", STR(*name), err_root(e)->msg);
		else
			*VEC_PUSH(a, &all.list) = sdk;
	}
	if (show_json(&o->common, list_fields, &all))
		return NULL;
	if (!table_show(a, list_fields, "installed", columns, &all))
		out_text(S("no SDK is installed\n"));
	out_text(S("\ncomponents that can be installed:\n"));
	VEC_EACH (const struct str, c, &all.components)
		out_fmt("  %-18.*s %s\n", STR(*c), know_component(*c)->about);
	return NULL;
}

/* ---- info ---- */
static void info_line(const char *what, struct str value)
{
	if (value.n)
		out_fmt("%-14s %.*s\n", what, STR(value));
}

struct err *cmd_sdk_info(struct arena *a, void *args)
{
	struct sdk_args *o = args;
	struct sdk sdk;
	struct sdk_targets targets = {0};
	TRY(sdk_open_name(a, o->name, &sdk));
	TRY(sdk_count_downloads(a, &sdk));
	if (sdk.runner != SDK_NORUN)
		TRY(sdk_probe(a, &sdk, o->gpus.n ? &o->gpus : NULL, &targets));
	if (o->common.json) {
		out_text(sdk_json(a, &sdk, &targets, NULL));
		return NULL;
	}
	info_line("name", sdk.name);
	info_line("provider", sdk.provider);
	info_line("suite", sdk.suite);
	info_line("components", str_join(a, &sdk.requested, S(", ")));
	if (sdk.gpus.n)
		info_line("kept kernels of", str_join(a, &sdk.gpus, S(", ")));
	info_line("index of", sdk.index_date);
	for (size_t i = 0; i < sdk.notes.n; i++)
		info_line("note", sdk.notes.v[i]);
	if (sdk.bytes)
		info_line("size", str_fmt(a, "%.*s in %.*s", STR(human_bytes(a, sdk.bytes)),
					  STR(human_count(a, sdk.packages, "package"))));
	if (sdk.downloads)
		info_line("downloads", human_bytes(a, sdk.downloads));
	info_line("root", sdk.root);
	info_line("clang", sdk.clang);
	info_line("device libs", sdk.device_libs);
	info_line("include", sdk.include);
	info_line("libraries", str_join(a, &sdk.lib_dirs, S(":")));
	info_line("flags", str_join(a, &sdk.clang_flags, S(" ")));
	out_text(S("\nversions\n"));
	VEC_EACH (const struct sdk_component, c, &sdk.components)
		out_fmt("  %-22.*s %.*s\n", STR(c->name), STR(c->version));
	out_text(S("\ntargets\n"));
	VEC_EACH (const struct sdk_target, t, &targets.list)
		out_fmt("  %-22.*s %.*s\n", STR(t->name),
			STR(t->compiles ? S("compiles") : t->why));
	return NULL;
}

const struct opt cmd_sdk_info_opts[] = {
	NAME,
	{OPT_VALUE("gpu", OPT_WORDS, gpus, "LIST", "targets to probe, instead of all")},
	OPT_LAST,
};

/* ---- env ---- */
struct sdk_variable {
	struct str key, value;
};

struct sdk_variables {
	struct str name;
	VEC(struct sdk_variable) env;
};

static const struct json_field variable_fields[] = FIELDS_ONLY(struct sdk_variable, key, value);

static const struct json_field env_fields[] = {
	FIELD_CONST("schema", "rocsmith.sdk-env/1"),
	FIELD("name", struct sdk_variables, name),
	FIELD_MAP("env", struct sdk_variables, env, variable_fields),
	{.kind = FIELD_END},
};

/* Prints export lines for sh. Values are in double quotes, so that $PATH can be appended. */
static void print_environment(
	struct arena *a, const struct common *o, const struct sdk *sdk, const struct strs *vars)
{
	struct sdk_variables all = {.name = sdk->name};
	VEC_EACH (const struct str, var, vars) {
		struct sdk_variable *v = VEC_PUSH(a, &all.env);
		str_cut(*var, '=', &v->key, &v->value);
	}
	if (show_json(o, env_fields, &all))
		return;
	VEC_EACH (const struct sdk_variable, v, &all.env) {
		BUF(out, a);
		for (size_t i = 0; i < v->value.n; i++) {
			if (str_chr(S("\"\\$`"), v->value.p[i]) < 4)
				buf_char(&out, '\\');
			buf_char(&out, v->value.p[i]);
		}
		out_fmt("export %.*s=\"%.*s%s\"\n", STR(v->key), STR(buf_str(&out)),
			str_eq(v->key, S("PATH")) ? ":$PATH" : "");
	}
}

struct err *cmd_sdk_env(struct arena *a, void *args)
{
	struct sdk_args *o = args;
	struct sdk sdk;
	struct strs vars = {0};
	TRY(sdk_open_name(a, o->name, &sdk));
	sdk_environment(a, &sdk, &vars);
	print_environment(a, &o->common, &sdk, &vars);
	return NULL;
}

/* ---- shims ---- */
struct err *cmd_sdk_shims(struct arena *a, void *args)
{
	struct sdk_args *o = args;
	struct sdk sdk;
	struct targets targets = {0};
	struct strs vars = {0};
	TRY(opt_targets(a, S(""), &o->gpus, &targets));
	TRY(sdk_open_name(a, o->sdk, &sdk));
	struct shim_options options = {.gpus = &o->gpus,
		.memory = (uint64_t)o->memory << 20,
		.share = o->share,
		.jobs = o->common.jobs,
		.cuda = o->cuda};
	if (o->log_dir.n)
		options.log_dir = path_abs(a, o->log_dir);
	if (o->common.dry_run) {
		say_status(
			S("Would"), "make '%.*s' for the SDK '%.*s'", STR(o->name), STR(sdk.name));
		return NULL;
	}
	TRY(sdk_shims(a, &sdk, o->name, &options, &vars));
	print_environment(a, &o->common, &sdk, &vars);
	return NULL;
}

const struct opt cmd_sdk_shims_opts[] = {
	{OPT_ARGUMENT("DIR", OPT_POS, name, "folder to make or bring up to date"),
		.flags = OPT_REQUIRED},
	{OPT_SDK(sdk, "NAME", "installed SDK or folder of a ROCm tree")},
	{OPT_GPUS(gpus, "GPUs that rocm_agent_enumerator prints")},
	{OPT_VALUE("memory", OPT_UINT, memory, "MIB",
		"memory for all compilers together (default: no limit)")},
	OPT_SHARE(share),
	{OPT_FLAG("cuda", cuda, "add what looks like a CUDA toolkit: DIR/cuda")},
	{OPT_VALUE("log", OPT_PATH, log_dir, "DIR", "folder for a log of all compiler runs")},
	OPT_LAST,
};

/* ---- verify ---- */
struct check {
	struct strs sdks;
	struct str verdict;
	size_t tried; /* libraries and programs */
	struct findings findings;
};

static const struct json_field check_fields[] = {
	FIELD_CONST("schema", "rocsmith.sdk-verify/1"),
	FIELDS(struct check, sdks, verdict, tried),
	FIELD_LIST("findings", struct check, findings, finding_fields),
	{.kind = FIELD_END},
};

struct err *cmd_sdk_verify(struct arena *a, void *args)
{
	struct sdk_args *o = args;
	struct check c = {0};
	if (o->name.n)
		strs_add(a, &c.sdks, o->name);
	else
		TRY(sdk_names(a, &c.sdks));
	if (!c.sdks.n) {
		struct err *e = err_new(E_SDK, "no SDK is installed");
		return err_hint(e, "rocsmith sdk install debian --suite sid --components compiler");
	}
	VEC_EACH (const struct str, name, &c.sdks) {
		size_t before = c.findings.n;
		TRY(sdk_check(a, *name, &c.findings));
		if (c.findings.n == before) /* damaged ones would fail for no other reason */
			TRY(sdk_try(a, *name, &c.tried, &c.findings));
	}
	bool pass = !c.findings.n;
	o->common.status = !pass;
	c.verdict = pass ? S("pass") : S("fail");
	if (show_json(&o->common, check_fields, &c))
		return NULL;
	VEC_EACH (struct finding, f, &c.findings)
		out_fmt("%s: %.*s\n", severity_name(f->severity), STR(f->message));
	if (pass)
		out_fmt("%.*s: all files are as installed, %zu libraries and programs start\n",
			STR(str_join(a, &c.sdks, S(", "))), c.tried);
	else if (c.findings.v[0].fix.n)
		say_hint("'%.*s' repairs what is damaged", STR(c.findings.v[0].fix.v[0]));
	return NULL;
}

/* ---- remove ---- */
struct removal {
	struct str name;
	bool removed;
};

static const struct json_field removal_fields[] = {
	FIELD_CONST("schema", "rocsmith.sdk-remove/1"),
	FIELDS(struct removal, name, removed),
	{.kind = FIELD_END},
};

struct err *cmd_sdk_remove(struct arena *a, void *args)
{
	struct sdk_args *o = args;
	struct removal r = {.name = o->name, .removed = !o->common.dry_run};
	struct sdk sdk;
	if (r.removed)
		TRY(sdk_remove(a, o->name));
	else
		TRY(sdk_open_name(a, o->name, &sdk));
	if (!show_json(&o->common, removal_fields, &r))
		say_status(r.removed ? S("Removed") : S("Would"), "%s%.*s",
			r.removed ? "" : "remove ", STR(o->name));
	return NULL;
}

const struct opt cmd_sdk_remove_opts[] = {
	{OPT_ARGUMENT("NAME", OPT_POS, name, "installed SDK"), .flags = OPT_REQUIRED},
	OPT_LAST,
};

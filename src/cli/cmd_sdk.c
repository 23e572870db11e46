/* rocsmith sdk list, info, env, verify, remove: what is installed and how it is. */
#include "base/buf.h"
#include "base/vec.h"
#include "cli/opt.h"
#include "cli/sdk_show.h"
#include "know/know.h"
#include "target/target.h"
#include "term/out.h"
#include "term/table.h"

struct args {
	struct common common;
	struct str name;
	struct strs gpus;
};

static const struct opt name_opts[] = {
	{.lname = "NAME",
		.kind = OPT_POS,
		.off = offsetof(struct args, name),
		.help = "installed SDK or folder of a ROCm tree"},
	{.kind = OPT_END},
};
static const struct opt no_opts[] = {{.kind = OPT_END}};

/* ---- list ---- */
static void list_json(struct arena *a, const struct strs *names, const struct sdk *sdks)
{
	BUF(out, a);
	struct json j = {.out = &out, .indent = 2};
	struct strs known = know_component_names(a);
	json_open(&j, '{');
	json_put(&j, "schema", S("rocsmith.sdk-list/1"));
	json_key(&j, "installed");
	json_open(&j, '[');
	for (size_t i = 0; i < names->n; i++) {
		json_open(&j, '{');
		json_put(&j, "name", sdks[i].name);
		json_put(&j, "provider", sdks[i].provider);
		json_put(&j, "suite", sdks[i].suite);
		json_put_strs(&j, "components", &sdks[i].requested);
		json_put(&j, "index_date", sdks[i].index_date);
		json_put_u64(&j, "bytes", sdks[i].bytes);
		json_close(&j);
	}
	json_close(&j);
	json_put_strs(&j, "components", &known);
	json_close(&j);
	buf_char(&out, '\n');
	out_text(buf_str(&out));
}

static void list_text(struct arena *a, const struct strs *names, const struct sdk *sdks)
{
	static const char *const heads[] = {"SDK", "components", "index of", ">size", NULL};
	struct table t = table_new(a, heads);
	for (size_t i = 0; i < names->n; i++)
		table_row(&t, (struct str[]){sdks[i].name, str_join(a, &sdks[i].requested, S(",")),
				      sdks[i].index_date, human_bytes(a, sdks[i].bytes)});
	if (names->n)
		table_print(&t);
	else
		out_text(S("no SDK is installed\n"));
	struct strs known = know_component_names(a);
	out_text(S("\ncomponents that can be installed:\n"));
	for (size_t i = 0; i < known.n; i++)
		out_fmt("  %-18.*s %s\n", STR(known.v[i]), know_component(known.v[i])->about);
}

static void tell_broken(struct str name, const struct err *e)
{
	while (e->cause)
		e = e->cause;
	say_warning("the SDK '%.*s' cannot be used: %s", STR(name), e->msg);
}

static struct err *run_list(struct arena *a, void *args, int *ret_status)
{
	struct args *o = args;
	struct strs names;
	(void)ret_status;
	TRY(sdk_names(a, &names));
	struct sdk *sdks = arena_array(a, names.n + 1, sizeof(*sdks));
	struct strs good = {0};
	for (size_t i = 0; i < names.n; i++) {
		struct err *e = sdk_open_name(a, names.v[i], &sdks[good.n]);
		if (e) /* one that is broken does not hide the others */
			tell_broken(names.v[i], e);
		else
			strs_add(a, &good, names.v[i]);
		err_free(e);
	}
	if (o->common.json)
		list_json(a, &good, sdks);
	else
		list_text(a, &good, sdks);
	return NULL;
}

/* ---- info ---- */
static void info_line(const char *what, struct str value)
{
	if (value.n)
		out_fmt("%-14s %.*s\n", what, STR(value));
}

static void info_text(struct arena *a, const struct sdk *sdk, const struct sdk_targets *t)
{
	info_line("name", sdk->name);
	info_line("provider", sdk->provider);
	info_line("suite", sdk->suite);
	info_line("components", str_join(a, &sdk->requested, S(", ")));
	info_line("index of", sdk->index_date);
	for (size_t i = 0; i < sdk->notes.n; i++)
		info_line("note", sdk->notes.v[i]);
	if (sdk->bytes)
		info_line(
			"size", str_fmt(a, "%.*s in %llu packages", STR(human_bytes(a, sdk->bytes)),
					(unsigned long long)sdk->packages));
	info_line("root", sdk->root);
	info_line("clang", sdk->clang);
	info_line("device libs", sdk->device_libs);
	info_line("include", sdk->include);
	info_line("libraries", str_join(a, &sdk->lib_dirs, S(":")));
	info_line("flags", str_join(a, &sdk->clang_flags, S(" ")));
	out_text(S("\nversions\n"));
	VEC_EACH (const struct sdk_component, c, &sdk->components)
		out_fmt("  %-22.*s %.*s\n", STR(c->name), STR(c->version));
	out_text(S("\ntargets\n"));
	for (size_t i = 0; i < t->names.n; i++)
		out_fmt("  %-22.*s %.*s\n", STR(t->names.v[i]),
			STR(t->ok[i] ? S("compiles") : t->why[i]));
}

static struct strs all_targets(struct arena *a)
{
	struct strs out = {0};
	for (size_t i = 0; i < gpu_count; i++)
		if (!gpu_table[i].removed)
			strs_add(a, &out, str_from(gpu_table[i].name));
	return out;
}

static struct err *run_info(struct arena *a, void *args, int *ret_status)
{
	struct args *o = args;
	struct sdk sdk;
	(void)ret_status;
	TRY(sdk_open_name(a, o->name, &sdk));
	struct sdk_targets t = {.names = o->gpus.n ? o->gpus : all_targets(a)};
	t.ok = arena_array(a, t.names.n, sizeof(*t.ok));
	t.why = arena_array(a, t.names.n, sizeof(*t.why));
	if (sdk.runner != SDK_NORUN)
		TRY(sdk_probe(a, &sdk, &t.names, t.ok, t.why));
	else
		t.names.n = 0;
	if (o->common.json)
		show_sdk_json(a, &sdk, &t, NULL);
	else
		info_text(a, &sdk, &t);
	return NULL;
}

static const struct opt info_opts[] = {
	{.lname = "NAME",
		.kind = OPT_POS,
		.off = offsetof(struct args, name),
		.help = "installed SDK or folder of a ROCm tree"},
	{.lname = "gpu",
		.kind = OPT_LIST,
		.flags = OPT_COMMA,
		.off = offsetof(struct args, gpus),
		.arg = "LIST",
		.help = "targets to probe, instead of all"},
	{.kind = OPT_END},
};

/* ---- env ---- */
/* For sh: in double quotes, so that PATH can be continued. */
static void export_line(struct arena *a, struct str var)
{
	struct str key, value;
	BUF(out, a);
	str_cut(var, '=', &key, &value);
	for (size_t i = 0; i < value.n; i++) {
		if (str_chr(S("\"\\$`"), value.p[i]) < 4)
			buf_char(&out, '\\');
		buf_char(&out, value.p[i]);
	}
	if (str_eq(key, S("PATH")))
		buf_add(&out, S(":$PATH"));
	out_fmt("export %.*s=\"%.*s\"\n", STR(key), STR(buf_str(&out)));
}

static struct err *run_env(struct arena *a, void *args, int *ret_status)
{
	struct args *o = args;
	struct sdk sdk;
	struct strs vars = {0};
	(void)ret_status;
	TRY(sdk_open_name(a, o->name, &sdk));
	TRY(sdk_environment(a, &sdk, &vars));
	if (!o->common.json) {
		for (size_t i = 0; i < vars.n; i++)
			export_line(a, vars.v[i]);
		return NULL;
	}
	BUF(out, a);
	struct json j = {.out = &out, .indent = 2};
	json_open(&j, '{');
	json_put(&j, "schema", S("rocsmith.sdk-env/1"));
	json_put(&j, "name", sdk.name);
	json_key(&j, "env");
	json_open(&j, '{');
	for (size_t i = 0; i < vars.n; i++) {
		struct str key, value;
		str_cut(vars.v[i], '=', &key, &value);
		json_key_str(&j, key);
		json_str(&j, value);
	}
	json_close(&j);
	json_close(&j);
	buf_char(&out, '\n');
	out_text(buf_str(&out));
	return NULL;
}

/* ---- verify ---- */
static void verify_json(struct arena *a, const struct strs *names, const struct findings *list)
{
	BUF(out, a);
	struct json j = {.out = &out, .indent = 2};
	json_open(&j, '{');
	json_put(&j, "schema", S("rocsmith.sdk-verify/1"));
	json_put_strs(&j, "sdks", names);
	json_put(&j, "verdict", list->n ? S("fail") : S("pass"));
	json_key(&j, "findings");
	findings_json(&j, list);
	json_close(&j);
	buf_char(&out, '\n');
	out_text(buf_str(&out));
}

static struct err *run_verify(struct arena *a, void *args, int *ret_status)
{
	struct args *o = args;
	struct strs names = {0};
	struct findings list = {0};
	if (o->name.n)
		strs_add(a, &names, o->name);
	else
		TRY(sdk_names(a, &names));
	if (!names.n) {
		struct err *e = err_new(E_SDK, "no SDK is installed");
		return err_hint(e, "rocsmith sdk install debian --suite sid --components compiler");
	}
	for (size_t i = 0; i < names.n; i++)
		TRY(sdk_check(a, names.v[i], &list));
	*ret_status = list.n ? 1 : 0;
	if (o->common.json) {
		verify_json(a, &names, &list);
		return NULL;
	}
	VEC_EACH (struct finding, f, &list)
		out_fmt("%s: %.*s\n", severity_name(f->severity), STR(f->message));
	if (list.n)
		say_hint("'rocsmith sdk install' repairs what is damaged");
	else
		out_fmt("%.*s: all files are as installed\n", STR(str_join(a, &names, S(", "))));
	return NULL;
}

/* ---- remove ---- */
static void removed(struct arena *a, const struct args *o, struct str name)
{
	if (!o->common.json) {
		say_status(o->common.dry_run ? S("Would") : S("Removed"), "%s%.*s",
			o->common.dry_run ? "remove " : "", STR(name));
		return;
	}
	BUF(out, a);
	struct json j = {.out = &out, .indent = 2};
	json_open(&j, '{');
	json_put(&j, "schema", S("rocsmith.sdk-remove/1"));
	json_put(&j, "name", name);
	json_put_bool(&j, "removed", !o->common.dry_run);
	json_close(&j);
	buf_char(&out, '\n');
	out_text(buf_str(&out));
}

static struct err *run_remove(struct arena *a, void *args, int *ret_status)
{
	struct args *o = args;
	struct sdk sdk;
	(void)ret_status;
	if (o->common.dry_run)
		TRY(sdk_open_name(a, o->name, &sdk));
	else
		TRY(sdk_remove(a, o->name));
	removed(a, o, o->name);
	return NULL;
}

static const struct opt remove_opts[] = {
	{.lname = "NAME",
		.kind = OPT_POS,
		.flags = OPT_REQUIRED,
		.off = offsetof(struct args, name),
		.help = "installed SDK"},
	{.kind = OPT_END},
};

const struct command cmd_sdk_list = {
	.name = "sdk list",
	.summary = "list installed SDKs and installable components",
	.opts = no_opts,
	.size = sizeof(struct args),
	.run = run_list,
};
const struct command cmd_sdk_info = {
	.name = "sdk info",
	.summary = "show an SDK's versions, paths and GPU targets",
	.opts = info_opts,
	.size = sizeof(struct args),
	.run = run_info,
};
const struct command cmd_sdk_env = {
	.name = "sdk env",
	.summary = "print the environment for builds with an SDK",
	.opts = name_opts,
	.size = sizeof(struct args),
	.run = run_env,
};
const struct command cmd_sdk_verify = {
	.name = "sdk verify",
	.summary = "compare an SDK's files with what was installed",
	.opts = name_opts,
	.size = sizeof(struct args),
	.run = run_verify,
};
const struct command cmd_sdk_remove = {
	.name = "sdk remove",
	.summary = "remove an installed SDK",
	.opts = remove_opts,
	.size = sizeof(struct args),
	.needs = NEED_WRITE,
	.run = run_remove,
};

/* Writes and reads a plan as JSON by the same tables. The order of keys is fixed, so that saved plans can be compared.
 * Reading is strict, and checks the plan against this machine and this project. */
#include "archive/apt.h"
#include "base/fs.h"
#include "plan/plan_int.h"

#define PLAN_SCHEMA "rocsmith.plan/1"

static const char *const languages[] = {
	[PLAN_HIP] = "hip", [PLAN_CXX] = "c++", [PLAN_C] = "c", NULL};

/* clang-format off */
static const struct json_field project_fields[] = {
	FIELD("dir", struct plan, project),
	FIELDS(struct plan, name, version, summary, license),
	{.kind = FIELD_END},
};

static const struct json_field python_fields[] = {
	FIELD("tag", struct plan, python_tag),
	FIELD("abi", struct plan, abi_tag),
	FIELD("requires", struct plan, requires_python),
	FIELD("dependencies", struct plan, requires),
	FIELD("headers", struct plan, needs_python),
	FIELD_OPTIONAL("header_folders", struct plan, python_headers),
	FIELD_OPTIONAL("build_requires", struct plan, build_requires),
	FIELD("dir", struct plan, python_dir),
	FIELD("files", struct plan, python_files),
	{.kind = FIELD_END},
};

static const struct json_field sdk_fields[] = {
	FIELDS_IN(struct plan, sdk, provider, suite, prefix, mirror),
	FIELD_OPTIONAL("keyring", struct plan, sdk.keyring),
	FIELD("components", struct plan, sdk.components),
	{.kind = FIELD_END},
};

static const struct json_field hipify_fields[] = {
	FIELD_ENUM("mode", struct plan, hipify.mode, hipify_modes),
	FIELDS_IN(struct plan, hipify, torch, sources, include_dirs, ignore, exclude),
	FIELD("extensions", struct plan, hipify.extra_extensions),
	FIELDS_IN(struct plan, hipify, map, map_text),
	FIELD_ENUM("launches", struct plan, hipify.launches, hipify_launches),
	FIELD("rocm", struct plan, hipify.rocm),
	{.kind = FIELD_END},
};

static const struct json_field host_fields[] = {
	FIELD("native", struct plan, host_native),
	FIELD_OPTIONAL("policy", struct plan, policy),
	FIELD_OPTIONAL("policy_sysroot", struct plan, policy_sysroot),
	FIELDS_IN(struct plan, host, libc, include_dir, gcc_dir, triplet, python, python_version,
		python_include, python_tag, python_abi, ext_suffix),
	{.kind = FIELD_END},
};

static const struct json_field source_fields[] = {
	FIELDS(struct plan_source, path, output),
	FIELD_ENUM("language", struct plan_source, lang, languages),
	{.kind = FIELD_END},
};

static const struct json_field module_fields[] = {
	FIELDS(struct plan_module, name, file, loader, loader_file),
	FIELD_OPTIONAL("program", struct plan_module, program),
	FIELD("sources", struct plan_module, sources),
	{.kind = FIELD_END},
};

const struct json_field plan_forecast_fields[] = {
	FIELDS(struct forecast, dir, disk, disk_free, sdk_dir),
	FIELD("sdk_disk", struct forecast, sdk),
	FIELD("sdk_disk_free", struct forecast, sdk_free),
	FIELDS(struct forecast, one_disk, memory, memory_free, cpu, seconds, cores, jobs, history),
	{.kind = FIELD_END},
};

static const struct json_field file_fields[] =
	FIELDS_ONLY(struct plan_file, path, text);

static const struct json_field foreign_fields[] = {
	FIELD_ENUM("system", struct plan_foreign, system, source_systems),
	FIELDS(struct plan_foreign, file, backend, release),
	FIELD_STRUCT("source", struct plan_foreign, source, source_tree_fields),
	FIELDS(struct plan_foreign, backend_path, requires, with, without, options, env,
		precompile),
	FIELD_LIST("files", struct plan_foreign, files, file_fields),
	FIELD_STRUCT("cost", struct plan_foreign, cost, plan_cost_fields),
	FIELDS(struct plan_foreign, configure, cmake, device, torch, torch_as_rocm, advice),
	FIELD_OPTIONAL("gpu_off", struct plan_foreign, gpu_off),
	FIELD_OPTIONAL("own_hip", struct plan_foreign, own_hip),
	FIELD_OPTIONAL("allow", struct plan_foreign, allow),
	{.kind = FIELD_END},
};

const struct json_field plan_feature_fields[] =
	FIELDS_ONLY(struct plan_feature, name, about, choice, why, source, asked);

const struct json_field plan_reason_fields[] =
	FIELDS_ONLY(struct plan_reason, subject, choice, why);

const struct json_field plan_fields[] = {
	FIELD_CONST("schema", PLAN_SCHEMA),
	FIELD_PART("project", project_fields),
	FIELDS(struct plan, gpus, headers),
	FIELD("external_headers", struct plan, external),
	FIELDS(struct plan, includes, libraries, defines, flags),
	FIELD_OPTIONAL("no_kernels", struct plan, no_kernels),
	FIELD_PART("python", python_fields),
	FIELD_PART("sdk", sdk_fields),
	FIELD_PART("hipify", hipify_fields),
	FIELD_PART("host", host_fields),
	{.key = "build", .kind = FIELD_OBJECT, .off = offsetof(struct plan, foreign),
		.fields = foreign_fields, .pointer = true, .written = true},
	FIELD_LIST("sources", struct plan, sources, source_fields),
	FIELD_LIST("modules", struct plan, modules, module_fields),
	FIELD_LIST("features", struct plan, features, plan_feature_fields),
	FIELD_LIST("reasons", struct plan, reasons, plan_reason_fields),
	{.key = "findings", .kind = FIELD_ITEMS, .off = offsetof(struct plan, findings),
		.size = sizeof(struct finding), .fields = finding_fields, .written = true},
	{.key = "forecast", .kind = FIELD_OBJECT, .off = offsetof(struct plan, forecast),
		.fields = plan_forecast_fields, .pointer = true, .written = true},
	{.kind = FIELD_END},
};
/* clang-format on */

/* ---- reading ---- */

static PRINTF(2, 3) struct err *wrong(struct str path, const char *fmt, ...)
{
	ARENA(tmp);
	FORMAT(text, &tmp, fmt);
	return err_at(err_new(E_PLAN, "%.*s", STR(text)), (struct loc){.path = path});
}

static struct err *check_parts(const struct node *root, struct str path)
{
	static const char *const maps[] = {"project", "python", "sdk", "host", NULL};
	struct str schema = node_text(root, S("schema"), S(""));
	if (root->kind != NODE_MAP || !schema.n)
		return wrong(path, "'%.*s' is not a plan", STR(path));
	if (!str_eq(schema, S(PLAN_SCHEMA)))
		return err_hint(wrong(path, "the plan's schema is '%.*s', this rocsmith reads '%s'",
					STR(schema), PLAN_SCHEMA),
			"make the plan again with this rocsmith");
	for (size_t i = 0; maps[i]; i++) {
		const struct node *n = node_get(root, str_from(maps[i]));
		if (!n || n->kind != NODE_MAP)
			return wrong(path, "the plan has no object '%s'", maps[i]);
	}
	return NULL;
}

/* Reads the section `build`. A plan with this section has neither sources nor modules. */
static struct err *read_foreign(
	struct arena *a, struct plan *p, const struct node *map, struct str path)
{
	struct plan_foreign *f = p->foreign = NEW(a, struct plan_foreign);
	TRY(json_fields_read(a, map, foreign_fields, f));
	if (f->system == SOURCE_OWN)
		return wrong(path, "'build: system' does not take 'own'");
	VEC_EACH (const struct str, wheel, &f->with)
		if (!fs_is_file(*wheel))
			return wrong(path, "the wheel '%.*s' of this plan is gone", STR(*wheel));
	VEC_EACH (const struct plan_file, file, &f->files)
		if (!file->path.n || !path_is_inside(file->path))
			return wrong(path, "'%.*s' of 'build: files' is outside of the project",
				STR(file->path));
	if (f->system == SOURCE_PYTHON && !f->backend.n)
		return wrong(path, "the plan names no back end");
	return NULL;
}

/* Checks the sources and modules of our own build. */
static struct err *check_modules(
	struct arena *a, struct plan *p, const struct node *list, struct str path)
{
	MAP(sources, a);
	NODE_EACH (n, list)
		if (!node_text(n, S("language"), S("")).n)
			return wrong(path, "the source '%.*s' has no 'language'",
				STR(node_text(n, S("path"), S(""))));
	if (!p->sources.n)
		return wrong(path, "the plan has no sources");
	VEC_EACH (struct plan_source, s, &p->sources) {
		if (!s->path.n || !path_is_inside(s->path) || !s->output.n ||
			!path_is_inside(s->output))
			return wrong(
				path, "the source '%.*s' is outside of the project", STR(s->path));
		map_put(&sources, s->path, s);
	}
	if (!p->modules.n)
		return wrong(path, "the plan has no modules");
	VEC_EACH (const struct plan_module, m, &p->modules) {
		if (!m->name.n || !m->file.n || !path_is_inside(m->file) ||
			(m->loader && !path_is_inside(m->loader_file)))
			return wrong(path, "the module '%.*s' has no usable 'file'", STR(m->name));
		if (!m->sources.n)
			return wrong(path, "the module '%.*s' has no sources", STR(m->name));
		VEC_EACH (const struct str, s, &m->sources)
			if (!map_get(&sources, *s))
				return wrong(path,
					"the module '%.*s' names '%.*s', which is not one of the "
					"'sources'",
					STR(m->name), STR(*s));
	}
	return NULL;
}

/* ---- checks against this machine and project ---- */

/* A plan may come from a stranger, so its files must lie inside the project and the wheel. */
static struct err *check_inside(const struct plan *p, struct str path)
{
	static const struct strs none;
	const struct {
		const char *name;
		const struct strs *list;
	} lists[] = {{"headers", &p->headers}, {"includes", &p->includes},
		{"python: files", &p->python_files}, {"hipify: sources", &p->hipify.sources},
		{"build: backend_path", p->foreign ? &p->foreign->backend_path : &none}};
	enum { MAY_BE_OUTSIDE = 2 };
	ARENA(tmp);
	struct str source;
	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
		VEC_EACH (const struct str, s, lists[i].list)
			if (!s->n || !(path_is_inside(*s) ||
					     (i < MAY_BE_OUTSIDE && plan_may_include(&tmp, *s))))
				return wrong(path, "'%.*s' of '%s' is outside of the project",
					STR(*s), lists[i].name);
	VEC_EACH (const struct str, s, &p->python_headers)
		if (!plan_is_header_folder(*s, &source))
			return wrong(path, "'%.*s' of 'python: headers' has no package's headers",
				STR(*s));
	if (p->policy_sysroot.n && !plan_may_include(&tmp, p->policy_sysroot))
		return wrong(path, "'%.*s', 'host: policy_sysroot', holds a home, or is hidden",
			STR(p->policy_sysroot));
	if (p->python_dir.n && !path_is_inside(p->python_dir))
		return wrong(path, "'%.*s', 'python: dir', is outside of the project",
			STR(p->python_dir));
	return NULL;
}

static struct err *check_machine(const struct plan_wish *wish, const struct host *now, bool asked)
{
	const struct plan *p = &wish->plan;
	const struct host *then = &p->host;
	bool python = asked && p->needs_python && then->python_include.n;
	const struct {
		const char *what;
		struct str then, now;
		bool matters;
	} facts[] = {
		{"C library", then->libc, now->libc, p->host_native},
		{"machine type", then->triplet, now->triplet, p->host_native},
		{"C++ headers", then->gcc_dir, now->gcc_dir, p->host_native},
		{"Python version", then->python_version, now->python_version, python},
		{"Python headers", then->python_include, now->python_include, python},
	};
	for (size_t i = 0; i < sizeof(facts) / sizeof(facts[0]); i++)
		if (facts[i].matters && !str_eq(facts[i].then, facts[i].now))
			return err_hint(
				wrong(wish->file,
					"this machine is not the one of the plan: its %s is "
					"'%.*s', planned was '%.*s'",
					facts[i].what, STR(facts[i].now), STR(facts[i].then)),
				"make the plan again: rocsmith plan '%.*s'", STR(p->project));
	return NULL;
}

struct err *plan_meet_python(struct arena *a, const struct plan_wish *wish)
{
	struct host now;
	if (!wish->file.n)
		return NULL;
	TRY(host_read(a, wish->plan.host.python, &now));
	return check_machine(wish, &now, true);
}

struct err *plan_read(struct arena *a, struct str path, struct plan_wish *ret)
{
	struct host now;
	struct targets targets;
	const struct node *root;
	struct plan *plan = &ret->plan;
	*ret = (struct plan_wish){0};
	TRY(json_read(a, path, &root));
	TRY(check_parts(root, path));
	TRY(json_fields_read(a, root, plan_fields, plan));
	ret->file = path;
	if (plan->sdk.mirror.n)
		TRY(apt_check_mirror(plan->sdk.mirror));
	const struct node *foreign = node_get(root, S("build"));
	if (!foreign && plan->hipify.mode == HIPIFY_TORCH)
		return wrong(path, "'hipify: mode' is standalone or extension, not 'torch'");
	TRY(foreign ? read_foreign(a, plan, foreign, path)
		    : check_modules(a, plan, node_member(root, S("sources")), path));
	if (!plan->gpus.n)
		return wrong(path, "the plan names no GPU target");
	struct err *e = plan_targets(a, &plan->gpus, &targets);
	if (e)
		return err_at(e, (struct loc){.path = path});
	plan->gpus = (struct strs){0};
	VEC_EACH (struct target, t, &targets)
		strs_add(a, &plan->gpus, target_text(a, t));
	TRY(check_inside(plan, path));
	if (!plan->project.n || plan->project.p[0] != '/')
		return wrong(path, "'project: dir' must be an absolute folder");
	if (!plan->name.n || (!plan->version.n && !plan->foreign))
		return wrong(path, "the plan has no project name or version");
	if (!fs_is_dir(plan->project))
		return err_hint(wrong(path, "the project folder '%.*s' of this plan is gone",
					STR(plan->project)),
			"make the plan again where the project is now");
	VEC_EACH (const struct plan_source, s, &plan->sources)
		if (!fs_exists(path_join(a, plan->project, s->path)))
			return err_hint(
				wrong(path, "the source '%.*s' of this plan is gone from '%.*s'",
					STR(s->path), STR(plan->project)),
				"make the plan again: rocsmith plan '%.*s'", STR(plan->project));
	TRY(host_look(a, &now));
	TRY(check_machine(ret, &now, false));
	/* a prefix is not opened, because that would run its compiler */
	if (foreign && !plan->sdk.prefix.n &&
		(plan->foreign->cost.memory || str_contains(plan->version, S(SDK_ROCM))))
		suffix_meet(a, ret);
	return features_meet_environment(plan);
}

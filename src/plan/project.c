/* Reads rocsmith.yaml into a struct project; see plan_int.h. The tables are the grammar of all keys except those marked
 * FIELD_LATER, which need more than a table and are read where they are used. */
#include "plan/plan_int.h"

#include "base/fs.h"
#include "base/glob.h"
#include "lang/python/version.h"

#define WHEN_FIELDS(T)                                                                             \
	FIELDS_IN(T, when, version, gfx, gfx_any, gfx_none, sdk, sdk_lacks, machine, machine_none, \
		file, absent, with, without)

const struct json_field plan_cost_fields[] = FIELDS_ONLY(struct plan_cost, host_seconds,
	device_seconds, chain_seconds, host_pace, device_pace, disk, device_disk, sdk_disk, memory);

static const struct json_field need_fields[] = {
	WHEN_FIELDS(struct need),
	FIELDS(struct need, components, env, requires, options, libc, write, text, configure, cmake,
		why),
	{.kind = FIELD_END},
};

static const struct json_field choice_fields[] =
	FIELDS_ONLY(struct feature_choice, is, env, components, precompile);

static const struct json_field rule_fields[] = {
	FIELDS(struct feature_rule, choose, refuse, why, source),
	WHEN_FIELDS(struct feature_rule),
	{.kind = FIELD_END},
};

static const struct json_field feature_fields[] = {
	FIELDS(struct project_feature, name, about, versions, env, like),
	FIELD_LIST("choices", struct project_feature, choices, choice_fields),
	FIELD_LIST("rules", struct project_feature, rules, rule_fields),
	{.kind = FIELD_END},
};

static const struct json_field release_fields[] =
	FIELDS_ONLY(struct release, version, python, torch);

static const struct json_field origin_fields[] =
	FIELDS_ONLY(struct origin, version, word, upstream, git, ref);

static const struct json_field place_fields[] = FIELDS_ONLY(struct version_place, file, behind);

static const struct json_field project_fields[] = {
	FIELDS(struct project, name, version, summary, license),
	FIELD_LATER("sources"),
	FIELD_LATER("exclude"),
	FIELDS(struct project, includes, libraries, defines, flags),
	FIELD("gpu", struct project, gpus),
	FIELD_LATER("sdk"),
	FIELD_LATER("python"),
	FIELD_LATER("hipify"),
	FIELD_LATER("build"),
	FIELDS(struct project, marks, after, device, kernels),
	FIELD_STRUCT("cost", struct project, cost, plan_cost_fields),
	FIELD_LIST("version_from", struct project, version_from, place_fields),
	FIELD_LIST("origins", struct project, origins, origin_fields),
	FIELD_LIST("releases", struct project, releases, release_fields),
	FIELD_LIST("needs", struct project, needs, need_fields),
	FIELD_LIST("features", struct project, features, feature_fields),
	{.kind = FIELD_END},
};

static const struct json_field build_fields[] = {
	FIELD("system", struct project, build_system),
	FIELD("requires", struct project, build_requires),
	FIELD("options", struct project, build_options),
	FIELD("env", struct project, build_env),
	FIELD("allow", struct project, build_allow),
	{.kind = FIELD_END},
};

static const struct json_field sdk_fields[] = {
	FIELD("use", struct project, sdk),
	FIELD("components", struct project, components),
	{.kind = FIELD_END},
};

static const struct json_field python_fields[] = {
	FIELDS(struct project, abi3, into, package),
	FIELD("dir", struct project, data_dir),
	FIELD_LATER("files"),
	FIELD("requires", struct project, requires_python),
	FIELD("dependencies", struct project, requires),
	{.kind = FIELD_END},
};

static const char *const hipify_keys[] = {"mode", "torch", "sources", "include_dirs", "ignore",
	"exclude", "map", "extensions", "launches", "rocm", NULL};

struct err *project_error(
	const struct project *p, struct str key, enum errcode code, const char *fmt, ...)
{
	ARENA(tmp);
	FORMAT(text, &tmp, fmt);
	const struct node *n = node_get(p->root, key);
	if (n)
		return node_error(n, code, "%.*s", STR(text));
	struct err *e = err_new(code, "%.*s", STR(text));
	return p->file.n ? err_at(e, (struct loc){.path = p->file}) : e;
}

void plan_explain(struct arena *a, struct plan *p, const char *subject, struct str choice,
	const char *why, ...)
{
	FORMAT(text, a, why);
	struct plan_reason r = {.subject = str_dup(a, str_from(subject)),
		.choice = str_dup(a, choice),
		.why = text};
	struct plan_reason *old = VEC_FIND(struct plan_reason, &p->reasons, subject, r.subject);
	*(old ? old : VEC_PUSH(a, &p->reasons)) = r;
}

struct err *plan_files(
	struct arena *a, struct plan *p, struct str dir, struct str pattern, struct strs *ret)
{
	enum { MOST_NAMED = 20 };
	size_t named = 0;
	struct strs all;
	*ret = (struct strs){0};
	TRY(glob_files(a, dir, pattern, &all));
	VEC_EACH (const struct str, file, &all) {
		struct str path = path_join(a, dir, *file), real;
		if (!fs_leads_out(path)) {
			strs_add(a, ret, *file);
			continue;
		}
		if (++named > MOST_NAMED)
			continue;
		struct str subject = str_fmt(a, "source %.*s", STR(path_rel(a, path, p->project)));
		if (fs_real(a, path, &real))
			plan_explain(a, p, subject.p, S("left out"),
				"it leads out of the project, to '%.*s'", STR(real));
	}
	return NULL;
}

/* A name by PEP 508 has letters and digits, with . _ - between them. */
bool project_name_valid(struct str s)
{
	return s.n <= 128 && str_made_of(s, "._-") && ascii_alnum(s.p[0]) &&
	       ascii_alnum(s.p[s.n - 1]);
}

/* The folder's name, with '-' in place of each character that a project's name may not have. */
static struct str name_from(struct arena *a, struct str folder)
{
	BUF(b, a);
	for (size_t i = 0; i < folder.n && b.n < 128; i++) {
		char c = folder.p[i];
		bool ok = ascii_alnum(c) || (b.n && (c == '.' || c == '_' || c == '-'));
		if (ok || b.n)
			buf_char(&b, ok ? c : '-');
	}
	while (b.n && !ascii_alnum(b.p[b.n - 1]))
		b.n--;
	return b.n ? str_dup(a, buf_str(&b)) : S("project");
}

/* The variable of a feature is short for the choices on and off. */
static void spell_out(struct arena *a, struct project_feature *f)
{
	static const char *const switched[] = {"on", "off"};
	for (size_t i = f->choices.n ? 2 : 0; i < 2; i++)
		VEC_PUSH(a, &f->choices)->is = str_from(switched[i]);
	VEC_EACH (struct feature_choice, c, &f->choices)
		strs_fmt(a, &c->env, "%.*s=%d", STR(f->env), str_eq(c->is, S("on")));
}

static struct err *load(struct arena *a, struct project *p, struct str text)
{
	static const struct {
		struct str key;
		const struct json_field *fields;
	} sections[] = {{S_INIT("sdk"), sdk_fields}, {S_INIT("python"), python_fields},
		{S_INIT("build"), build_fields}, {S_INIT("hipify"), NULL}};
	TRY(text.p ? yaml_parse(a, text, p->file, &p->root) : yaml_read(a, p->file, &p->root));
	if (p->root->kind == NODE_NULL)
		return NULL;
	if (p->root->kind != NODE_MAP)
		return err_hint(node_error(p->root, E_PROJECT, "a map of keys is expected here"),
			"the minimum is: name: %.*s", STR(path_base(p->dir)));
	TRY(json_fields_read(a, p->root, project_fields, p));
	VEC_EACH (struct project_feature, f, &p->features)
		if (f->env.n)
			spell_out(a, f);
	p->sdk = node_text(p->root, S("sdk"), S("")); /* a name may stand for the section */
	for (size_t i = 0; i < sizeof(sections) / sizeof(sections[0]); i++) {
		const struct node *n = node_get(p->root, sections[i].key);
		bool name = n && i == 0 && n->kind != NODE_LIST && n->kind != NODE_MAP;
		if (!n || n->kind == NODE_NULL || name)
			continue;
		if (n->kind != NODE_MAP)
			return node_error(
				n, E_PROJECT, "'%.*s' must be a map of keys", STR(sections[i].key));
		TRY(sections[i].fields ? json_fields_read(a, n, sections[i].fields, p)
				       : node_check_keys(n, hipify_keys));
	}
	return hipify_options_read(a, node_get(p->root, S("hipify")), p->dir, p->file, &p->hipify);
}

struct err *project_read(struct arena *a, const struct description *d, struct project *ret)
{
	CLEANUP(fs_unguardp) struct fs_tree *guard = NULL;
	struct str dir = d->dir;
	*ret = (struct project){.dir = path_abs(a, dir), .known = d->known, .tree = d->tree};
	if (!fs_exists(ret->dir))
		return err_new(E_NOENT, "no such project folder '%.*s'", STR(dir));
	if (!fs_is_dir(ret->dir))
		return err_hint(err_new(E_PROJECT, "'%.*s' is not a project folder", STR(dir)),
			"name the folder that holds rocsmith.yaml, or a plan that ends in .json");
	TRY(fs_guard_sources(ret->dir, &guard));
	ret->file = d->config.n ? d->config : path_join(a, dir, S("rocsmith.yaml"));
	if (d->config.n || fs_exists(ret->file))
		TRY(load(a, ret, d->text));
	else
		ret->file = S("");
	if (ret->name.n && !project_name_valid(ret->name))
		return err_hint(project_error(ret, S("name"), E_PROJECT,
					"'%.*s' cannot name a Python project", STR(ret->name)),
			"use letters, digits and - _ . between them");
	if (ret->version.n) {
		const struct version *v;
		struct err *e = version_parse(a, ret->version, &v);
		if (e) {
			err_free(e);
			return err_hint(project_error(ret, S("version"), E_PROJECT,
						"'%.*s' is not a version", STR(ret->version)),
				"write it like 1.0, 2.1.0rc1 or 0.3.dev2");
		}
		ret->version = version_text(a, v);
	}
	if (ret->kernels.n && !str_eq(ret->kernels, S("none")))
		return project_error(ret, S("kernels"), E_PROJECT, "'kernels' takes 'none' alone");
	if (!ret->name.n)
		ret->name = name_from(a, d->tree.package.n ? d->tree.package : path_base(ret->dir));
	return NULL;
}

struct err *project_list(
	struct arena *a, const struct node *map, const char *key, const struct node **ret)
{
	const struct node *n = node_get(map, str_from(key));
	*ret = n && n->kind != NODE_NULL ? n : NULL;
	if (!*ret || n->kind == NODE_LIST)
		return NULL;
	if (n->kind == NODE_MAP)
		return node_error(n, E_PROJECT, "'%s' must be a list of files or patterns", key);
	struct node *list = NEW(a, struct node);
	*list = *n;
	list->kind = NODE_LIST;
	list->v = NEW(a, struct node);
	*list->v = *n;
	list->n = 1;
	*ret = list;
	return NULL;
}

struct err *plan_hipify_read(struct arena *a, struct str dir, struct hipify_options *ret)
{
	struct project p;
	*ret = (struct hipify_options){0};
	if (!fs_exists(path_join(a, dir, S("rocsmith.yaml"))))
		return NULL;
	TRY(project_read(a, &(struct description){.dir = dir}, &p));
	*ret = p.hipify;
	return NULL;
}

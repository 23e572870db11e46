/* Reads rocsmith.yaml into a struct project; see project.h. The table `keys` is the whole grammar
 * of the flat part; `python:` and `sdk:` may be maps. */
#include "plan/project.h"

#include "base/fs.h"
#include "base/version.h"

struct key {
	const char *name, *map; /* map: the map that holds it, or NULL */
	bool list;
	size_t off;
};

#define TEXT(k, m, member)                                                                         \
	{                                                                                          \
		.name = (k), .map = (m), .off = offsetof(struct project, member)                   \
	}
#define LIST(k, m, member)                                                                         \
	{                                                                                          \
		.name = (k), .map = (m), .list = true, .off = offsetof(struct project, member)     \
	}

static const struct key keys[] = {
	TEXT("name", NULL, name),
	TEXT("version", NULL, version),
	TEXT("summary", NULL, summary),
	TEXT("license", NULL, license),
	LIST("includes", NULL, includes),
	LIST("libraries", NULL, libraries),
	LIST("defines", NULL, defines),
	LIST("flags", NULL, flags),
	LIST("gpu", NULL, gpus),
	TEXT("use", "sdk", sdk),
	LIST("components", "sdk", components),
	TEXT("abi3", "python", abi3),
	TEXT("into", "python", into),
	TEXT("package", "python", package),
	TEXT("dir", "python", data_dir),
	TEXT("requires", "python", requires_python),
	LIST("dependencies", "python", requires),
};

static const char *const top_keys[] = {"name", "version", "summary", "license", "sources",
	"exclude", "includes", "libraries", "defines", "flags", "gpu", "sdk", "python", "hipify",
	NULL};
static const char *const sdk_keys[] = {"use", "components", NULL};
static const char *const python_keys[] = {
	"abi3", "into", "package", "dir", "files", "requires", "dependencies", NULL};
static const char *const hipify_keys[] = {"mode", "torch", "sources", "include_dirs", "ignore",
	"exclude", "map", "extensions", "launches", "rocm", NULL};

struct err *project_error(
	const struct project *p, struct str key, enum errcode code, const char *fmt, ...)
{
	ARENA(tmp);
	va_list ap;
	va_start(ap, fmt);
	struct str text = str_vfmt(&tmp, fmt, ap);
	va_end(ap);
	const struct node *n = node_get(p->root, key);
	if (n)
		return node_error(n, code, "%.*s", STR(text));
	struct err *e = err_new(code, "%.*s", STR(text));
	return p->file.n ? err_at(e, (struct loc){.path = p->file}) : e;
}

static struct err *read_key(struct arena *a, struct project *p, const struct key *k)
{
	const struct node *map = p->root;
	if (k->map)
		map = node_get(p->root, str_from(k->map));
	if (!map || map->kind != NODE_MAP)
		return NULL;
	char *at = (char *)p + k->off;
	if (k->list)
		return node_want_strs(a, map, str_from(k->name), (struct strs *)(void *)at);
	return node_want_text(map, str_from(k->name), (struct str *)(void *)at);
}

static bool name_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

/* PEP 508: letters, digits, and inside also . _ - */
static bool name_valid(struct str s)
{
	for (size_t i = 0; i < s.n; i++) {
		bool inner = s.p[i] == '.' || s.p[i] == '_' || s.p[i] == '-';
		if (!name_char(s.p[i]) && !(inner && i && i + 1 < s.n))
			return false;
	}
	return s.n > 0 && s.n <= 128;
}

/* A folder's name, with what a project may not be called replaced. */
static struct str name_from(struct arena *a, struct str folder)
{
	BUF(b, a);
	for (size_t i = 0; i < folder.n && b.n < 128; i++) {
		char c = folder.p[i];
		bool ok = name_char(c) || (b.n && (c == '.' || c == '_' || c == '-'));
		if (ok || b.n)
			buf_char(&b, ok ? c : '-');
	}
	while (b.n && !name_char(b.p[b.n - 1]))
		b.n--;
	return b.n ? str_dup(a, buf_str(&b)) : S("project");
}

static struct err *check_version(struct arena *a, struct project *p)
{
	const struct version *v;
	struct err *e = version_parse(a, p->version, &v);
	if (!e) {
		p->version = version_text(a, v);
		return NULL;
	}
	err_free(e);
	return err_hint(project_error(p, S("version"), E_PROJECT, "'%.*s' is not a version",
				STR(p->version)),
		"write it like 1.0, 2.1.0rc1 or 0.3.dev2");
}

static struct err *check_maps(const struct project *p)
{
	static const struct {
		const char *name;
		const char *const *keys;
	} maps[] = {{.name = "sdk", .keys = sdk_keys}, {.name = "python", .keys = python_keys},
		{.name = "hipify", .keys = hipify_keys}};
	for (size_t i = 0; i < sizeof(maps) / sizeof(maps[0]); i++) {
		const struct node *n = node_get(p->root, str_from(maps[i].name));
		if (!n || n->kind == NODE_NULL)
			continue;
		if (n->kind == NODE_MAP)
			TRY(node_check_keys(n, maps[i].keys));
		else if (n->kind == NODE_LIST || i >= 1)
			return node_error(n, E_PROJECT, "'%s' must be a map of keys", maps[i].name);
	}
	return NULL;
}

static struct err *load(struct arena *a, struct project *p)
{
	TRY(yaml_read(a, p->file, &p->root));
	if (p->root->kind == NODE_NULL)
		return NULL;
	if (p->root->kind != NODE_MAP)
		return err_hint(node_error(p->root, E_PROJECT, "a map of keys is wanted here"),
			"the least is: name: %.*s", STR(path_base(p->dir)));
	TRY(node_check_keys(p->root, top_keys));
	TRY(check_maps(p));
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		TRY(read_key(a, p, &keys[i]));
	const struct node *sdk = node_get(p->root, S("sdk"));
	if (sdk && sdk->kind != NODE_MAP)
		p->sdk = sdk->text;
	return hipify_options_read(a, node_get(p->root, S("hipify")), p->dir, p->file, &p->hipify);
}

struct err *project_read(struct arena *a, struct str dir, struct str config, struct project *ret)
{
	*ret = (struct project){.dir = path_abs(a, dir)};
	if (!fs_exists(ret->dir))
		return err_new(E_NOENT, "no such project folder '%.*s'", STR(dir));
	if (!fs_is_dir(ret->dir))
		return err_hint(err_new(E_PROJECT, "'%.*s' is not a project folder", STR(dir)),
			"name the folder that holds rocsmith.yaml, or a plan that ends in .json");
	ret->file = config.n ? config : path_join(a, dir, S("rocsmith.yaml"));
	if (config.n || fs_exists(ret->file))
		TRY(load(a, ret));
	else
		ret->file = S("");
	if (ret->name.n && !name_valid(ret->name))
		return err_hint(project_error(ret, S("name"), E_PROJECT,
					"'%.*s' cannot name a Python project", STR(ret->name)),
			"use letters, digits and - _ . between them");
	if (ret->version.n)
		TRY(check_version(a, ret));
	if (!ret->name.n)
		ret->name = name_from(a, path_base(ret->dir));
	return NULL;
}

const struct node *project_list(const struct project *p, struct str key)
{
	const struct node *n = node_get(p->root, key);
	return n && n->kind != NODE_NULL ? n : NULL;
}

struct err *plan_hipify_read(struct arena *a, struct str dir, struct hipify_options *ret)
{
	struct project p;
	*ret = (struct hipify_options){0};
	if (!fs_exists(path_join(a, dir, S("rocsmith.yaml"))))
		return NULL;
	TRY(project_read(a, dir, S(""), &p));
	*ret = p.hipify;
	return NULL;
}

/* Reads a saved plan, strictly, and checks that it still fits this machine and this project. */
#include "base/fs.h"
#include "plan/plan_int.h"

#include "formats/node.h"

static struct err *wrong(struct str path, const char *fmt, ...) PRINTF(2, 3);

static struct err *wrong(struct str path, const char *fmt, ...)
{
	ARENA(tmp);
	va_list ap;
	va_start(ap, fmt);
	struct str text = str_vfmt(&tmp, fmt, ap);
	va_end(ap);
	return err_at(err_new(E_PLAN, "%.*s", STR(text)), (struct loc){.path = path});
}

/* The keys that a section may have, from the table. */
static struct err *check_section(
	struct arena *a, const struct node *map, const char *section, const char *const *more)
{
	size_t n = 0;
	const char **known = arena_array(a, 64, sizeof(*known));
	for (const struct plan_field *f = plan_fields; f->key; f++)
		if (str_eq(str_from(f->section), str_from(section)))
			known[n++] = f->key;
	for (; more && *more; more++)
		known[n++] = *more;
	return node_check_keys(map, known);
}

static struct err *check_keys(struct arena *a, const struct node *root, struct str path)
{
	static const char *const sections[] = {"project", "python", "sdk", "host", "hipify", NULL};
	static const char *const top[] = {"schema", "sources", "modules", "reasons", "findings",
		"project", "python", "sdk", "host", "hipify", NULL};
	TRY(check_section(a, root, NULL, top));
	for (size_t i = 0; sections[i]; i++) {
		const struct node *n = node_get(root, str_from(sections[i]));
		if (!n && i == 4)
			continue; /* a plan of an older rocsmith */
		if (!n || n->kind != NODE_MAP)
			return wrong(path, "the plan has no object '%s'", sections[i]);
		TRY(check_section(a, n, sections[i], NULL));
	}
	return NULL;
}

static struct err *read_word(const struct node *map, const struct plan_field *f, unsigned *ret)
{
	struct str word = S("");
	TRY(node_want_text(map, str_from(f->key), &word));
	*ret = 0;
	while (f->words[*ret] && !str_eq(word, str_from(f->words[*ret])))
		++*ret;
	if (word.n && !f->words[*ret])
		return wrong(node_get(map, str_from(f->key))->at.path,
			"'%s: %s' does not take '%.*s'", f->section, f->key, STR(word));
	*ret = word.n ? *ret + 1 : 0;
	return NULL;
}

static struct err *read_field(
	struct arena *a, const struct node *root, const struct plan_field *f, struct plan *p)
{
	const struct node *map = f->section ? node_get(root, str_from(f->section)) : root;
	char *at = (char *)p + f->off;
	if (f->kind == PLAN_TEXT)
		return node_want_text(map, str_from(f->key), (struct str *)(void *)at);
	if (f->kind == PLAN_LIST)
		return node_want_strs(a, map, str_from(f->key), (struct strs *)(void *)at);
	if (f->kind == PLAN_BOOL)
		return node_want_bool(map, str_from(f->key), (bool *)at);
	return read_word(map, f, (unsigned *)(void *)at);
}

static const struct node *want_list(const struct node *root, const char *key)
{
	const struct node *n = node_get(root, str_from(key));
	return n && n->kind == NODE_LIST ? n : NULL;
}

static struct err *read_source(const struct node *n, struct str path, struct plan_source *s)
{
	static const char *const known[] = {"path", "output", "language", NULL};
	struct str lang = S("");
	if (n->kind != NODE_MAP)
		return wrong(path, "each of 'sources' must be an object");
	TRY(node_check_keys(n, known));
	TRY(node_want_text(n, S("path"), &s->path));
	TRY(node_want_text(n, S("output"), &s->output));
	TRY(node_want_text(n, S("language"), &lang));
	if (!s->path.n || !path_is_inside(s->path) || !s->output.n || !path_is_inside(s->output))
		return wrong(path, "the source '%.*s' is outside of the project", STR(s->path));
	for (unsigned i = 0; plan_lang_names[i]; i++) {
		if (str_eq(lang, str_from(plan_lang_names[i]))) {
			s->lang = (enum plan_lang)i;
			return NULL;
		}
	}
	return wrong(path, "unknown language '%.*s' of the source '%.*s'", STR(lang), STR(s->path));
}

static struct err *read_sources(
	struct arena *a, const struct node *root, struct str path, struct plan *p)
{
	const struct node *list = want_list(root, "sources");
	if (!list || !list->n)
		return wrong(path, "the plan has no sources");
	NODE_EACH (n, list)
		TRY(read_source(n, path, VEC_PUSH(a, &p->sources)));
	return NULL;
}

static struct err *read_module_source(struct arena *a, const struct plan *p, struct plan_module *m,
	struct str source, struct str path)
{
	for (size_t i = 0; i < p->sources.n; i++) {
		if (str_eq(p->sources.v[i].path, source)) {
			*VEC_PUSH(a, &m->sources) = i;
			return NULL;
		}
	}
	return wrong(path, "the module '%.*s' names '%.*s', which is not one of the 'sources'",
		STR(m->name), STR(source));
}

static struct err *read_module(
	struct arena *a, const struct node *n, struct str path, struct plan *p)
{
	static const char *const known[] = {
		"name", "file", "loader", "loader_file", "sources", NULL};
	struct plan_module *m = VEC_PUSH(a, &p->modules);
	struct strs sources = {0};
	if (n->kind != NODE_MAP)
		return wrong(path, "each of 'modules' must be an object");
	TRY(node_check_keys(n, known));
	TRY(node_want_text(n, S("name"), &m->name));
	TRY(node_want_text(n, S("file"), &m->file));
	TRY(node_want_bool(n, S("loader"), &m->loader));
	TRY(node_want_text(n, S("loader_file"), &m->loader_file));
	TRY(node_want_strs(a, n, S("sources"), &sources));
	if (!m->name.n || !m->file.n || !path_is_inside(m->file) ||
		(m->loader && !path_is_inside(m->loader_file)))
		return wrong(path, "the module '%.*s' has no usable 'file'", STR(m->name));
	if (!sources.n)
		return wrong(path, "the module '%.*s' has no sources", STR(m->name));
	VEC_EACH (struct str, s, &sources)
		TRY(read_module_source(a, p, m, *s, path));
	return NULL;
}

static struct err *read_modules(
	struct arena *a, const struct node *root, struct str path, struct plan *p)
{
	const struct node *list = want_list(root, "modules");
	if (!list || !list->n)
		return wrong(path, "the plan has no modules");
	NODE_EACH (n, list)
		TRY(read_module(a, n, path, p));
	return NULL;
}

static struct err *read_reasons(struct arena *a, const struct node *root, struct plan *p)
{
	static const char *const known[] = {"subject", "choice", "why", NULL};
	const struct node *list = want_list(root, "reasons");
	if (!list)
		return NULL;
	NODE_EACH (n, list) {
		struct plan_reason *r = VEC_PUSH(a, &p->reasons);
		TRY(node_check_keys(n, known));
		TRY(node_want_text(n, S("subject"), &r->subject));
		TRY(node_want_text(n, S("choice"), &r->choice));
		TRY(node_want_text(n, S("why"), &r->why));
	}
	return NULL;
}

/* ---- does it still fit? ---- */

static struct err *check_gpus(struct arena *a, struct plan *p, struct str path)
{
	struct targets targets;
	if (!p->gpus.n)
		return wrong(path, "the plan names no GPU target");
	struct err *e = plan_targets(a, &p->gpus, &targets);
	if (e)
		return err_at(e, (struct loc){.path = path});
	p->gpus = (struct strs){0};
	VEC_EACH (struct target, t, &targets)
		strs_add(a, &p->gpus, target_text(a, t));
	return NULL;
}

static struct err *check_hipify(const struct plan *p, struct str path)
{
	return p->hipify.mode != HIPIFY_TORCH
		       ? NULL
		       : wrong(path, "'hipify: mode' is standalone or extension, not 'torch'");
}

/* A plan may come from anywhere: no file of it may lie outside of the project or the wheel. */
static struct err *check_inside(const struct plan *p, struct str path)
{
	const struct strs *const lists[] = {
		&p->headers, &p->includes, &p->python_files, &p->hipify.sources};
	static const char *const names[] = {
		"headers", "includes", "python: files", "hipify: sources"};
	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
		VEC_EACH (const struct str, s, lists[i])
			if (!s->n || !path_is_inside(*s))
				return wrong(path, "'%.*s' of '%s' is outside of the project",
					STR(*s), names[i]);
	if (p->python_dir.n && !path_is_inside(p->python_dir))
		return wrong(path, "'%.*s', 'python: dir', is outside of the project",
			STR(p->python_dir));
	return NULL;
}

static struct err *check_project(struct arena *a, const struct plan *p, struct str path)
{
	if (!p->project.n || p->project.p[0] != '/')
		return wrong(path, "'project: dir' must be an absolute folder");
	if (!p->name.n || !p->version.n)
		return wrong(path, "the plan has no project name or version");
	if (!fs_is_dir(p->project))
		return err_hint(wrong(path, "the project folder '%.*s' of this plan is gone",
					STR(p->project)),
			"make the plan again where the project is now");
	VEC_EACH (const struct plan_source, s, &p->sources)
		if (!fs_exists(path_join(a, p->project, s->path)))
			return err_hint(
				wrong(path, "the source '%.*s' of this plan is gone from '%.*s'",
					STR(s->path), STR(p->project)),
				"make the plan again: rocsmith plan '%.*s'", STR(p->project));
	return NULL;
}

static struct err *check_machine(struct arena *a, const struct plan *p, struct str path)
{
	struct host now;
	TRY(host_read(a, p->host.python, &now));
	const struct {
		const char *what;
		struct str then, now;
		bool matters;
	} facts[] = {
		{"C library", p->host.libc, now.libc, p->host_native},
		{"machine type", p->host.triplet, now.triplet, p->host_native},
		{"C++ headers", p->host.gcc_dir, now.gcc_dir, p->host_native},
		{"Python version", p->host.python_version, now.python_version,
			p->needs_python && p->host.python_include.n},
		{"Python headers", p->host.python_include, now.python_include,
			p->needs_python && p->host.python_include.n},
	};
	for (size_t i = 0; i < sizeof(facts) / sizeof(facts[0]); i++)
		if (facts[i].matters && !str_eq(facts[i].then, facts[i].now))
			return err_hint(
				wrong(path,
					"this machine is not the one of the plan: its %s is "
					"'%.*s', planned was '%.*s'",
					facts[i].what, STR(facts[i].now), STR(facts[i].then)),
				"make the plan again: rocsmith plan '%.*s'", STR(p->project));
	return NULL;
}

static struct err *check_schema(const struct node *root, struct str path)
{
	struct str schema = node_text(root, S("schema"), S(""));
	if (root->kind != NODE_MAP || !schema.n)
		return wrong(path, "'%.*s' is not a plan", STR(path));
	if (!str_eq(schema, S(PLAN_SCHEMA)))
		return err_hint(wrong(path, "the plan's schema is '%.*s', this rocsmith reads '%s'",
					STR(schema), PLAN_SCHEMA),
			"make the plan again with this rocsmith");
	return NULL;
}

struct err *plan_read(struct arena *a, struct str path, struct plan *ret)
{
	*ret = (struct plan){0};
	const struct node *root;
	TRY(json_read(a, path, &root));
	TRY(check_schema(root, path));
	TRY(check_keys(a, root, path));
	for (const struct plan_field *f = plan_fields; f->key; f++)
		TRY(read_field(a, root, f, ret));
	TRY(read_sources(a, root, path, ret));
	TRY(read_modules(a, root, path, ret));
	TRY(read_reasons(a, root, ret));
	TRY(check_gpus(a, ret, path));
	TRY(check_inside(ret, path));
	TRY(check_hipify(ret, path));
	TRY(check_project(a, ret, path));
	return check_machine(a, ret, path);
}

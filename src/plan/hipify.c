/* The section `hipify` of rocsmith.yaml: how the project's CUDA sources are translated. Its plain
 * keys are rows of the table in project.c; here is what needs a look: words of a fixed set, files
 * that must be there, and pairs of names that may stand in the description itself.
 */
#include "base/fs.h"
#include "base/suggest.h"
#include "formats/json_write.h"
#include "plan/glob.h"
#include "plan/project.h"

static const char *const modes[] = {"standalone", "torch", "extension", NULL};
static const char *const launches[] = {"auto", "rewrite", "keep", NULL};

static struct err *check_word(
	struct arena *a, const struct node *map, const char *key, const char *const *words)
{
	const struct node *n = node_get(map, str_from(key));
	struct strs names = {0};
	if (!n || n->kind == NODE_NULL)
		return NULL;
	for (; *words; words++) {
		if (str_eq(n->text, str_from(*words)))
			return NULL;
		strs_add(a, &names, str_from(*words));
	}
	struct str near = suggest(n->text, &names);
	struct err *e = node_error(n, E_PROJECT, "'%s' does not take '%.*s'; it takes %.*s", key,
		STR(n->text), STR(str_join(a, &names, S(", "))));
	return near.n ? err_hint(e, "did you mean '%.*s'?", STR(near)) : e;
}

static struct err *check_rocm(const struct node *n)
{
	bool digits = n->text.n > 0;
	for (size_t i = 0; i < n->text.n; i++)
		digits &= (n->text.p[i] >= '0' && n->text.p[i] <= '9') || n->text.p[i] == '.';
	return digits ? NULL
		      : node_error(n, E_PROJECT, "'rocm' wants a version such as 6.4.3, not '%.*s'",
				STR(n->text));
}

/* ---- sources ---- */

static struct err *one_source(struct arena *a, struct project *p, const struct node *n)
{
	struct strs hits;
	if (n->kind == NODE_LIST || n->kind == NODE_MAP || !n->text.n)
		return node_error(n, E_PROJECT, "a file name or a pattern is wanted here");
	if (!path_is_inside(n->text))
		return node_error(n, E_PROJECT, "'%.*s' is outside of the project", STR(n->text));
	TRY(glob_files(a, p->dir, n->text, &hits));
	if (!hits.n)
		return node_error(
			n, E_PROJECT, "no source '%.*s' in '%.*s'", STR(n->text), STR(p->dir));
	VEC_EACH (const struct str, h, &hits)
		if (!strs_has(&p->hipify.sources, *h))
			strs_add(a, &p->hipify.sources, *h);
	return NULL;
}

static struct err *read_sources(struct arena *a, struct project *p, const struct node *map)
{
	const struct node *list = node_get(map, S("sources"));
	if (!list || list->kind == NODE_NULL)
		return NULL;
	if (list->kind != NODE_LIST)
		return one_source(a, p, list);
	NODE_EACH (n, list)
		TRY(one_source(a, p, n));
	return NULL;
}

/* ---- pairs ---- */

/* The pairs as JSON, each on the line that it has in the description, so that a reader of the text
 * can name the user's own line. */
static struct err *inline_pairs(struct arena *a, struct project *p, const struct node *map)
{
	BUF(b, a);
	struct json j = {.out = &b};
	unsigned line = 1;
	buf_add(&b, S("{\"custom_map\": {"));
	NODE_EACH (n, map) {
		if (n->kind == NODE_LIST || n->kind == NODE_MAP || n->kind == NODE_NULL)
			return node_error(n, E_PROJECT, "'%.*s' wants the HIP name as its value",
				STR(n->key));
		if (n != map->v)
			buf_char(&b, ',');
		for (; line < n->key_at.line; line++)
			buf_char(&b, '\n');
		j = (struct json){.out = &b};
		json_str(&j, n->key);
		buf_add(&b, S(": "));
		j = (struct json){.out = &b};
		json_str(&j, n->text);
	}
	buf_add(&b, S("}}\n"));
	p->hipify.map = p->file;
	p->hipify.map_text = str_dup(a, buf_str(&b));
	return NULL;
}

static struct err *read_map(struct arena *a, struct project *p, const struct node *section)
{
	const struct node *n = node_get(section, S("map"));
	if (!n || n->kind == NODE_NULL)
		return NULL;
	if (n->kind == NODE_MAP)
		return inline_pairs(a, p, n);
	if (n->kind == NODE_LIST)
		return err_hint(node_error(n, E_PROJECT, "'map' must be a file or a map of pairs"),
			"write map: {cudaFoo: hipFoo}");
	p->hipify.map = path_join(a, p->dir, n->text);
	if (!fs_exists(p->hipify.map))
		return node_error(
			n, E_PROJECT, "no such file '%.*s' in '%.*s'", STR(n->text), STR(p->dir));
	return NULL;
}

/* ---- the section ---- */

/* What belongs to another mode would be ignored in silence. */
static struct err *check_mode(struct project *p, const struct node *map)
{
	static const char *const of_torch[] = {
		"torch", "include_dirs", "ignore", "map", "extensions", "launches", NULL};
	if (str_eq(p->hipify.mode, S("standalone")))
		for (size_t i = 0; of_torch[i]; i++)
			if (node_get(map, str_from(of_torch[i])))
				return node_error(node_get(map, str_from(of_torch[i])), E_PROJECT,
					"'%s' means nothing in the mode 'standalone'", of_torch[i]);
	return NULL;
}

struct err *project_hipify(struct arena *a, struct project *p)
{
	const struct node *map = node_get(p->root, S("hipify"));
	if (!map || map->kind != NODE_MAP)
		return NULL;
	TRY(check_word(a, map, "mode", modes));
	TRY(check_word(a, map, "launches", launches));
	if (p->hipify.rocm.n)
		TRY(check_rocm(node_get(map, S("rocm"))));
	TRY(check_mode(p, map));
	TRY(read_sources(a, p, map));
	TRY(read_map(a, p, map));
	if (p->hipify.torch.n)
		p->hipify.torch = path_clean(a, path_join(a, p->dir, p->hipify.torch));
	return NULL;
}

struct err *plan_hipify_read(struct arena *a, struct str dir, struct plan_hipify *ret)
{
	struct project p;
	*ret = (struct plan_hipify){0};
	if (!fs_exists(path_join(a, dir, S("rocsmith.yaml"))))
		return NULL;
	TRY(project_read(a, dir, S(""), &p));
	*ret = p.hipify;
	return NULL;
}

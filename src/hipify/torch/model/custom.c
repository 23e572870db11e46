/* A user's own pairs; see torch_tables_add() in tables.h.
 *
 * They win over everything: they replace what the tables say of a key in each map that has it, and
 * a key that is new goes to the maps that all files use.
 */
#include "base/vec.h"
#include "formats/node.h"
#include "hipify/torch/model/tables.h"

/* Finds the lines of keys that come one after another: JSON values do not know theirs. */
struct finder {
	struct str text;
	size_t at;
	unsigned line;
	bool lost; /* a key is written with escapes: no more lines are told */
};

/* Where `"key" :` stands at or behind `at`; text.n = nowhere. */
static size_t find_key(struct arena *a, struct str text, size_t at, struct str key)
{
	struct str quoted = str_fmt(a, "\"%.*s\"", STR(key));
	while (at < text.n) {
		at += str_find(str_sub(text, at, text.n), quoted);
		size_t end = at + quoted.n;
		while (end < text.n && (text.p[end] == ' ' || text.p[end] == '\n'))
			end++;
		if (end < text.n && text.p[end] == ':')
			return at;
		at += at < text.n;
	}
	return text.n;
}

static unsigned line_of(struct arena *a, struct finder *f, struct str key)
{
	size_t found = f->lost ? f->text.n : find_key(a, f->text, f->at, key);
	if (found == f->text.n) {
		f->lost = true;
		return 0;
	}
	for (; f->at < found; f->at++)
		f->line += f->text.p[f->at] == '\n';
	return f->line;
}

static struct err *pairs_of(
	struct arena *a, const struct node *map, struct finder *f, struct torch_map *ret)
{
	NODE_EACH (n, map) {
		if (n->kind != NODE_STRING)
			return node_error(
				n, E_TORCH, "the translation of '%.*s' is not a text", STR(n->key));
		if (!n->key.n)
			return node_error(n, E_TORCH, "a pair of an empty name");
		*VEC_PUSH(a, ret) = (struct torch_entry){
			.from = n->key,
			.to = n->text,
			.table = S("custom"),
			.file = map->at.path,
			.line = n->key_at.line ? n->key_at.line : line_of(a, f, n->key),
		};
	}
	return NULL;
}

static struct err *read_pairs(
	struct arena *a, struct str path, struct str text, struct torch_map *ret)
{
	const struct node *root = NULL;
	struct finder f = {.text = text, .line = 1};
	struct str name = str_dup(a, path);
	bool json = str_ends(path, S(".json"));
	TRY(json ? json_parse(a, text, name, &root) : yaml_parse(a, text, name, &root));
	const struct node *map = node_get(root, S("custom_map"));
	if (!map || map->kind != NODE_MAP)
		return err_hint(node_error(map ? map : root, E_TORCH,
					"there is no map 'custom_map' of names"),
			"the form is {\"custom_map\": {\"cudaFoo\": \"hipFoo\"}}, or the same as "
			"YAML");
	return pairs_of(a, map, &f, ret);
}

/* Replaces what the map has of these keys; new ones are added when all is set. */
static void merge(struct arena *a, struct torch_map *map, const struct torch_map *more, bool all)
{
	MAP(at, a);
	for (size_t i = 0; i < map->n; i++)
		map_put(&at, map->v[i].from, (void *)(uintptr_t)(i + 1));
	for (size_t i = 0; i < more->n; i++) {
		uintptr_t place = (uintptr_t)map_get(&at, more->v[i].from);
		if (place)
			map->v[place - 1] = more->v[i];
		else if (all)
			*VEC_PUSH(a, map) = more->v[i];
	}
}

struct err *torch_tables_add(
	struct arena *a, struct str path, struct str text, struct torch_tables *ret)
{
	struct torch_map pairs = {0};
	TRY(read_pairs(a, path, text, &pairs));
	merge(a, &ret->names, &pairs, true);
	merge(a, &ret->special, &pairs, false);
	merge(a, &ret->caffe2, &pairs, ret->generation == TORCH_V1);
	return NULL;
}

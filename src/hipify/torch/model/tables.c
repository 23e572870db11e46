/* The name tables of a torch; see tables.h.
 *
 * The maps are built as hipify_python.py builds them at import, from the tables in the order of
 * CUDA_TO_HIP_MAPPINGS. As in a Python dict, a key has the position of its first pair and the value of
 * its last one. Up to 2.10 a value is a tuple (text, kind, API...), and the API names decide which of
 * three maps it goes to.
 */
#include "hipify/torch/model/tables.h"

#include "formats/node.h"
#include "lang/python/literal.h"

enum { MAX_TABLES = 64 };

struct builder {
	struct arena *a;
	const struct torch_source *source;
	struct py_module module, constants;
	struct str pytorch, caffe2, special; /* values of API_PYTORCH, API_CAFFE2, API_SPECIAL */
};

/* Adds or replaces an entry; returns its index in the map. */
static size_t put(struct arena *a, struct torch_map *map, struct torch_entry e)
{
	size_t place = (uintptr_t)map_get(&map->at, e.from);
	map->at.a = a;
	if (!place) {
		*VEC_PUSH(a, map) = e;
		map_put(&map->at, e.from, (void *)(uintptr_t)map->n);
		return map->n - 1;
	}
	map->v[place - 1] = e;
	return place - 1;
}

/* ---- one table ---- */

static struct err *want_string(const struct builder *b, const struct py_value *v, const char *what)
{
	if (v->kind == PY_STRING)
		return NULL;
	if (v->kind == PY_NAME)
		return py_error(&b->module, v->line, v->col,
			"%s is '%.*s', whose value is not known", what, STR(v->text));
	return py_error(&b->module, v->line, v->col, "%s is not a string but %s", what,
		py_kind_name(v->kind));
}

/* A dict of name pairs that is read into a map. */
struct python_table {
	struct str name;
	const struct py_value *dict;
	bool tuples;                    /* values are (text, kind, API...), else text */
	const struct py_value **values; /* parallel to the entries of the map */
};

/* Reads the pairs as a dict keeps them: each key at its first position, with its last value. */
static struct err *read_table(struct builder *b, struct python_table *t, struct torch_map *ret)
{
	t->values = arena_array(b->a, t->dict->n, sizeof(*t->values));
	for (size_t i = 0; i < t->dict->n; i++) {
		const struct py_value *key = &t->dict->v[i].v[0], *value = &t->dict->v[i].v[1];
		const struct py_value *text = t->tuples ? value->v : value;
		TRY(want_string(b, key, "the key"));
		if (!key->text.n)
			return py_error(&b->module, key->line, key->col, "the key is empty");
		if (t->tuples && (value->kind != PY_TUPLE || !value->n))
			return py_error(&b->module, value->line, value->col,
				"a tuple of text and kinds expected, not %s",
				py_kind_name(value->kind));
		TRY(want_string(b, text, "the translation"));
		size_t place = put(b->a, ret,
			(struct torch_entry){
				.from = key->text,
				.to = text->text,
				.table = t->name,
				.file = b->source->mappings.path,
				.line = key->line,
			});
		t->values[place] = value;
	}
	return NULL;
}

/* Reads a table whose values are plain strings; only a required one must exist. */
static struct err *read_plain(
	struct builder *b, struct str name, bool required, struct torch_map *ret)
{
	struct python_table t = {.name = name};
	TRY(py_get(b->a, &b->module, name, &t.dict));
	if (!t.dict && !required)
		return NULL;
	if (!t.dict || t.dict->kind != PY_DICT)
		return py_error(&b->module, t.dict ? t.dict->line : 1, t.dict ? t.dict->col : 1,
			"there is no table '%.*s'", STR(name));
	return read_table(b, &t, ret);
}

/* ---- the maps ---- */

static bool has_api(const struct py_value *tuple, struct str number)
{
	for (size_t i = 1; i < tuple->n; i++)
		if (tuple->v[i].kind == PY_NUMBER && str_eq(tuple->v[i].text, number))
			return true;
	return false;
}

struct table_names VEC_OF(size_t); /* the tokens that name the tables */

static struct err *add_table(struct builder *b, size_t token, struct torch_tables *ret)
{
	struct torch_map map = {0};
	struct py_value dict = {0};
	bool v1 = b->source->generation == TORCH_V1;
	struct python_table t = {
		.name = b->module.tokens.v[token].text, .dict = &dict, .tuples = v1};
	TRY(py_value_at(b->a, &b->module, token, &dict));
	if (dict.kind != PY_DICT) {
		const struct py_token *at = &b->module.tokens.v[token];
		return py_error(&b->module, at->line, at->col, "'%.*s' is no table but %s",
			STR(t.name), py_kind_name(dict.kind));
	}
	TRY(read_table(b, &t, &map));
	for (size_t i = 0; i < map.n; i++) {
		struct torch_entry e = map.v[i];
		if (!v1) {
			put(b->a, &ret->names, e);
			continue;
		}
		/* The API names in the pair's tuple select some of the three maps. */
		const struct py_value *tuple = t.values[i];
		for (size_t k = 1; k < tuple->n; k++)
			if (tuple->v[k].kind == PY_NAME)
				return py_error(&b->module, tuple->v[k].line, tuple->v[k].col,
					"'%.*s' is not in constants.py", STR(tuple->v[k].text));
		bool special = has_api(tuple, b->special), caffe2 = has_api(tuple, b->caffe2);
		uintptr_t at = (uintptr_t)map_get(&ret->names.at, e.from);
		bool known = at && ret->names.v[at - 1].to.n;
		if (!caffe2)
			put(b->a, special && known ? &ret->special : &ret->names, e);
		if (!special && !has_api(tuple, b->pytorch))
			put(b->a, &ret->caffe2, e);
	}
	return NULL;
}

/* Finds the names in `CUDA_TO_HIP_MAPPINGS = [A, B, ...]`, as token numbers. */
static struct err *table_tokens(const struct builder *b, struct table_names *ret)
{
	const struct py_module *m = &b->module;
	const struct py_statement *s = py_setter(m, false, S("CUDA_TO_HIP_MAPPINGS"), SIZE_MAX);
	if (!s)
		return py_error(m, 1, 1, "there is no CUDA_TO_HIP_MAPPINGS");
	size_t i = s->value;
	bool list = s->place == PY_PLAIN && py_is(m, i++, S("["));
	while (list && i < s->to && m->tokens.v[i].kind == PY_TOKEN_NAME) {
		*VEC_PUSH(b->a, ret) = i++;
		if (!py_is(m, i, S(",")))
			break;
		i++;
	}
	list = list && ret->n <= MAX_TABLES;
	if (list && py_is(m, i, S("]")) && ++i == s->to)
		return NULL;
	const struct py_token *t = &m->tokens.v[i < s->to ? i : s->to - 1];
	return py_error(m, t->line, t->col, "CUDA_TO_HIP_MAPPINGS is not a plain list of names");
}

/* Rejects statements other than the list of tables that mention a table: they could change it after
 * its literal, and that would go unnoticed. */
static struct err *check_untouched(const struct builder *b, const struct table_names *tables)
{
	const struct py_module *m = &b->module;
	MAP(names, b->a);
	map_put(&names, S("CUDA_TO_HIP_MAPPINGS"), &names);
	map_put(&names, S("MATH_TRANSPILATIONS"), &names);
	map_put(&names, S("CAFFE2_PATH_MAPPINGS"), &names);
	VEC_EACH (const size_t, t, tables)
		map_put(&names, m->tokens.v[*t].text, &names);
	VEC_EACH (const struct py_statement, s, &m->statements) {
		bool import = py_is(m, s->from, S("import")) || py_is(m, s->from, S("from"));
		if (s->place == PY_INSIDE_DEF || import ||
			str_eq(s->target, S("CUDA_TO_HIP_MAPPINGS")))
			continue;
		for (size_t i = s->target.n ? s->value : s->from; i < s->to; i++) {
			const struct py_token *t = &m->tokens.v[i];
			if (t->kind == PY_TOKEN_NAME && map_get(&names, t->text))
				return py_error(m, t->line, t->col,
					"code that may change the table '%.*s'", STR(t->text));
		}
	}
	return NULL;
}

/* ---- the modules ---- */

static struct err *read_constants(struct builder *b)
{
	static const char *const names[] = {"API_PYTORCH", "API_CAFFE2", "API_SPECIAL"};
	struct str *const numbers[] = {&b->pytorch, &b->caffe2, &b->special};
	const struct torch_file *f = &b->source->constants;
	if (!f->text.p)
		return err_new(E_TORCH, "there is no '%.*s'", STR(f->path));
	TRY(py_read(b->a, f->text, f->path, &b->constants));
	b->module.outer = &b->constants;
	for (size_t i = 0; i < 3; i++) {
		const struct py_value *v = NULL;
		TRY(py_get(b->a, &b->constants, str_from(names[i]), &v));
		if (!v || v->kind != PY_NUMBER)
			return err_new(E_TORCH, "'%.*s' does not say what number %s is",
				STR(b->constants.name), names[i]);
		*numbers[i] = v->text;
	}
	return NULL;
}

static struct err *read_all(struct builder *b, struct torch_tables *ret)
{
	const struct torch_file *f = &b->source->mappings;
	struct table_names tables = {0};
	TRY(py_read(b->a, f->text, f->path, &b->module));
	if (b->source->generation == TORCH_V1)
		TRY(read_constants(b));
	TRY(table_tokens(b, &tables));
	TRY(check_untouched(b, &tables));
	VEC_EACH (size_t, t, &tables)
		TRY(add_table(b, *t, ret));
	if (b->source->generation == TORCH_V2)
		TRY(read_plain(b, S("CAFFE2_PATH_MAPPINGS"), false, &ret->paths));
	return read_plain(b, S("MATH_TRANSPILATIONS"), true, &ret->math);
}

struct err *torch_tables_read(
	struct arena *a, const struct torch_source *s, struct torch_tables *ret)
{
	struct builder b = {.a = a, .source = s};
	*ret = (struct torch_tables){.generation = s->generation};
	struct err *e = read_all(&b, ret);
	if (e)
		err_hint(e, "--engine torch lets that torch's own Python do it");
	return e;
}

/* ---- the user's own pairs ---- */

/* Finds the lines of successive keys: nodes read from JSON have no line numbers. */
struct finder {
	struct str text;
	size_t at; /* the end of the text once a key was not found, since it is written with escapes */
	unsigned line;
};

/* The line of the next `"key" :`; 0 if there is none. */
static unsigned line_of(struct arena *a, struct finder *f, struct str key)
{
	struct str text = f->text, quoted = str_fmt(a, "\"%.*s\"", STR(key));
	for (bool found = false; !found && f->at < text.n;) {
		size_t at = f->at + str_find(str_sub(text, f->at, text.n), quoted);
		size_t end = at + quoted.n;
		end += str_span(str_sub(text, end, text.n), " \n");
		found = end < text.n && text.p[end] == ':';
		at += !found && at < text.n;
		f->line += str_count(str_sub(text, f->at, at), '\n');
		f->at = at;
	}
	return f->at < text.n ? f->line : 0;
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
	NODE_EACH (n, map) {
		if (n->kind != NODE_STRING)
			return node_error(
				n, E_TORCH, "the translation of '%.*s' is not a text", STR(n->key));
		if (!n->key.n)
			return node_error(n, E_TORCH, "a pair with an empty name");
		*VEC_PUSH(a, ret) = (struct torch_entry){
			.from = n->key,
			.to = n->text,
			.table = S("custom"),
			.file = map->at.path,
			.line = n->key_at.line ? n->key_at.line : line_of(a, &f, n->key),
		};
	}
	return NULL;
}

/* Replaces the map's entries for these keys; adds keys that the map lacks only if `all` is set. */
static void merge(struct arena *a, struct torch_map *map, const struct torch_map *more, bool all)
{
	VEC_EACH (const struct torch_entry, e, more)
		if (all || map_get(&map->at, e->from))
			put(a, map, *e);
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

/* Reads JSON into nodes with jansson; see node.h. Its reference-counted values are copied into the arena at once.
 * Duplicate keys, NUL in text and bad UTF-8 are errors, as in YAML. */
#include <jansson.h>

#include "base/fs.h"
#include "base/vec.h"
#include "formats/node.h"

static struct err *copy_value(struct arena *a, json_t *j, unsigned depth, struct node *n)
{
	switch (json_typeof(j)) {
	case JSON_OBJECT:
	case JSON_ARRAY:
		n->kind = json_is_object(j) ? NODE_MAP : NODE_LIST;
		if (depth == NODE_DEPTH)
			return node_error(n, E_SYNTAX, "nested more than 64 levels deep");
		for (size_t i = 0; i < json_array_size(j); i++) {
			struct node *item = VEC_PUSH(a, n);
			item->at = n->at;
			TRY(copy_value(a, json_array_get(j, i), depth + 1, item));
		}
		for (void *it = json_object_iter(j); it; it = json_object_iter_next(j, it)) {
			struct node *item = VEC_PUSH(a, n);
			item->at = item->key_at = n->at;
			item->key = str_dup(a, str_from(json_object_iter_key(it)));
			TRY(copy_value(a, json_object_iter_value(it), depth + 1, item));
		}
		break;
	case JSON_STRING:
		n->kind = NODE_STRING;
		n->text = str_dup(
			a, (struct str){.p = json_string_value(j), .n = json_string_length(j)});
		break;
	case JSON_INTEGER:
		n->kind = NODE_NUMBER;
		n->text = str_fmt(a, "%" JSON_INTEGER_FORMAT, json_integer_value(j));
		break;
	case JSON_REAL:
		n->kind = NODE_NUMBER;
		n->text = str_fmt(a, "%.17g", json_real_value(j));
		break;
	case JSON_TRUE:
	case JSON_FALSE:
		n->kind = NODE_BOOL;
		n->text = json_is_true(j) ? S("true") : S("false");
		break;
	case JSON_NULL: /* the node is NODE_NULL already */
		break;
	}
	return NULL;
}

struct err *json_parse(struct arena *a, struct str text, struct str name, const struct node **ret)
{
	if (text.n > NODE_SIZE)
		return err_new(E_LIMIT, "'%.*s' is larger than 16 MiB", STR(name));
	/* an upper bound of the number of values: jansson allocates all of them before we see one */
	size_t values = 1;
	bool quoted = false;
	for (size_t i = 0; i < text.n; i++) {
		char c = text.p[i];
		i += quoted && c == '\\';
		quoted ^= c == '"';
		values += !quoted && (c == ',' || c == '[' || c == '{');
	}
	if (values > NODE_COUNT)
		return err_new(E_LIMIT, "'%.*s' has more than %d values", STR(name), NODE_COUNT);
	struct loc at = {.path = str_dup(a, name)};
	json_error_t error;
	json_auto_t *j = json_loadb(
		text.n ? text.p : "", text.n, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &error);
	if (!j) {
		at.line = error.line > 0 ? (unsigned)error.line : 1;
		at.col = error.column > 0 ? (unsigned)error.column : 1;
		return err_at(err_new(E_SYNTAX, "%s", error.text), at);
	}
	struct node *root = NEW(a, struct node);
	root->at = at;
	TRY(copy_value(a, j, 0, root));
	*ret = root;
	return NULL;
}

struct err *json_read(struct arena *a, struct str path, const struct node **ret)
{
	struct str text;
	TRY(fs_read(a, path, NODE_SIZE, &text));
	return json_parse(a, text, path, ret);
}

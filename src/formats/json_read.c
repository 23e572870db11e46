/* Reads JSON into nodes with jansson; see node.h. Its reference-counted values are copied into the arena at once.
 * Duplicate keys, NUL in text and bad UTF-8 are errors, as in YAML. */
#include <jansson.h>

#include "base/buf.h"
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

/* The offset of the ',' or bracket behind the value at `at`; all that is within strings and brackets belongs to it. */
static size_t value_end(struct str t, size_t at)
{
	size_t depth = 0;
	bool quoted = false;
	for (; at < t.n; at++) {
		char c = t.p[at];
		if (quoted) {
			at += c == '\\';
			quoted = c != '"';
			continue;
		}
		quoted = c == '"';
		if (!depth && (c == ',' || c == ']' || c == '}'))
			return at;
		depth += c == '[' || c == '{';
		depth -= c == ']' || c == '}';
	}
	return t.n;
}

struct err *json_list_open(
	struct arena *a, struct str text, struct json_list *io, const struct node **ret)
{
	struct str quoted = str_fmt(a, "\"%.*s\"", STR(io->key)), key, value;
	size_t at = str_chr(text, '{') + 1, end;
	io->rest = S("");
	for (; at < text.n; at = end + 1) {
		end = value_end(text, at);
		bool is_pair = str_cut(str_sub(text, at, end), ':', &key, &value);
		if (!is_pair || !str_eq(str_trim(key), quoted) ||
			!str_starts(str_trim(value), S("[")))
			continue;
		size_t from = (size_t)(str_trim(value).p - text.p) + 1, to = end;
		while (to > from && text.p[to - 1] != ']')
			to--;
		if (to == from)
			break; /* it has no end, which json_parse() tells */
		io->rest = str_sub(text, from, to - 1);
		BUF(head, a);
		buf_add(&head, str_sub(text, 0, from));
		buf_add(&head, str_sub(text, to - 1, text.n));
		text = buf_str(&head);
		break;
	}
	io->more = str_trim(io->rest).n > 0;
	return json_parse(a, text, io->name, ret);
}

struct err *json_list_next(struct arena *a, struct json_list *io, const struct node **ret)
{
	size_t end = value_end(io->rest, 0);
	struct str element = str_sub(io->rest, 0, end);
	*ret = NULL;
	if (!io->more)
		return NULL;
	io->more = end < io->rest.n;
	if (io->more && io->rest.p[end] != ',')
		element = io->rest; /* a bracket that closes nothing: no value */
	io->rest = str_sub(io->rest, end + 1, io->rest.n);
	return json_parse(a, element, io->name, ret);
}

struct err *json_read(struct arena *a, struct str path, const struct node **ret)
{
	struct str text;
	TRY(fs_read(a, path, NODE_SIZE, &text));
	return json_parse(a, text, path, ret);
}

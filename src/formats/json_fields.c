/* Writes and reads objects by tables; see json_fields.h. */
#include "formats/json_fields.h"

#include <limits.h>

#include "base/vec.h"
#include "formats/node.h"

struct json_items json_items_at(const void *at)
{
	struct json_items list;
	memcpy(&list, at, sizeof(list));
	return list;
}

static const void *part(const struct json_field *f, const void *object)
{
	const char *at = (const char *)object + f->off;
	return f->pointer ? *(const void *const *)(const void *)at : at;
}

static bool is_empty(const struct json_field *f, const void *at)
{
	switch ((enum field_kind)f->kind) {
	case FIELD_TEXT:
		return !((const struct str *)at)->n;
	case FIELD_NAME:
		return !*(const char *const *)at;
	case FIELD_UINT:
		return !*(const unsigned *)at;
	case FIELD_I64:
		return *(const int64_t *)at < 0;
	case FIELD_STRS:
		return !((const struct strs *)at)->n;
	case FIELD_ITEMS:
		return !json_items_at(at).n;
	default:
		return false;
	}
}

static void write_value(struct json *j, const struct json_field *f, const void *at)
{
	ARENA(tmp);
	struct json_items list;
	switch ((enum field_kind)f->kind) {
	case FIELD_TEXT:
		json_str(j, *(const struct str *)at);
		break;
	case FIELD_NAME:
		json_str(j, str_from(*(const char *const *)at));
		break;
	case FIELD_STRS:
		json_strs(j, at);
		break;
	case FIELD_NAMES:
		json_names(j, *(const char *const *const *)at);
		break;
	case FIELD_BOOL:
		json_bool(j, *(const bool *)at);
		break;
	case FIELD_UINT:
		json_u64(j, *(const unsigned *)at);
		break;
	case FIELD_U64:
		json_u64(j, *(const uint64_t *)at);
		break;
	case FIELD_I64:
		json_i64(j, *(const int64_t *)at);
		break;
	case FIELD_F64:
		json_f64(j, *(const double *)at);
		break;
	case FIELD_WORD:
		json_str(j, str_from(f->words[*(const unsigned *)at]));
		break;
	case FIELD_HEX:
		json_str(j, str_fmt(&tmp, "0x%0*x", (int)f->size, *(const unsigned *)at));
		break;
	case FIELD_FIXED:
		json_str(j, str_from(f->words[0]));
		break;
	case FIELD_OBJECT:
		json_struct(j, f->fields, at);
		break;
	case FIELD_ITEMS:
		list = json_items_at(at);
		json_open(j, '[');
		for (size_t i = 0; i < list.n; i++)
			json_struct(j, f->fields, list.v + i * f->size);
		json_close(j);
		break;
	case FIELD_PAIRS:
		list = json_items_at(at);
		json_open(j, '{');
		for (const char *item = list.v; list.n--; item += f->size) {
			json_key_str(j, *(const struct str *)part(&f->fields[0], item));
			write_value(j, &f->fields[1], part(&f->fields[1], item));
		}
		json_close(j);
		break;
	case FIELD_ARRAY:
		json_open(j, '[');
		for (const char *row = *(const char *const *)at;
			row && *(const char *const *)(const void *)row; row += f->size)
			json_struct(j, f->fields, row);
		json_close(j);
		break;
	case FIELD_CUSTOM:
		f->write(j, at);
		break;
	case FIELD_PARSED:
		json_node(j, at);
		break;
	case FIELD_MEMBERS:
	case FIELD_END:
		break;
	}
}

static void write_members(struct json *j, const struct json_field *fields, const void *object)
{
	for (const struct json_field *f = fields; f->kind != FIELD_END; f++) {
		const void *at = part(f, object);
		if (!at || (f->optional && is_empty(f, at)))
			continue;
		if (f->kind == FIELD_MEMBERS) {
			write_members(j, f->fields, at);
			continue;
		}
		json_key(j, f->key);
		write_value(j, f, at);
	}
}

void json_struct(struct json *j, const struct json_field *fields, const void *object)
{
	json_open(j, '{');
	write_members(j, fields, object);
	json_close(j);
}

struct str json_document(
	struct arena *a, unsigned indent, const struct json_field *fields, const void *object)
{
	BUF(b, a);
	struct json j = {.out = &b, .indent = indent};
	json_struct(&j, fields, object);
	buf_char(&b, '\n');
	return buf_str(&b);
}

const struct json_field *json_field_find(
	const struct json_field *fields, struct str key, const void *object, const void **ret_at)
{
	struct str first, rest;
	bool inner = str_cut(key, '.', &first, &rest);
	for (const struct json_field *f = fields; f->kind != FIELD_END; f++) {
		const void *at = part(f, object);
		if (f->kind == FIELD_MEMBERS && at) {
			const struct json_field *found =
				json_field_find(f->fields, key, at, ret_at);
			if (found)
				return found;
		}
		if (f->kind == FIELD_MEMBERS || !at || !str_eq(str_from(f->key), first))
			continue;
		if (inner)
			return json_field_find(f->fields, rest, at, ret_at);
		*ret_at = at;
		return f;
	}
	return NULL;
}

/* ---- reading ---- */

/* *ret: the index of the member's text in the list. */
static struct err *read_word(
	const struct node *map, const struct node *n, const char *const *words, unsigned *ret)
{
	ARENA(tmp);
	struct strs names = {0};
	struct str word = {0};
	TRY(node_want_text(map, n->key, &word));
	for (*ret = 0; words[*ret]; ++*ret) {
		if (str_eq(word, str_from(words[*ret])))
			return NULL;
		strs_add(&tmp, &names, str_from(words[*ret]));
	}
	struct err *e = node_error(n, E_SYNTAX, "'%.*s%s%.*s' does not take '%.*s'", STR(map->key),
		map->key.n ? ": " : "", STR(n->key), STR(word));
	return err_near(e, word, &names);
}

static struct err *read_value(
	struct arena *a, const struct node *map, const struct json_field *f, void *at)
{
	struct str key = str_from(f->key);
	const struct node *n = node_get(map, key);
	struct json_items list;
	struct str text = {0};
	uint64_t number = 0;
	if (!n || n->kind == NODE_NULL || f->written)
		return NULL;
	switch ((enum field_kind)f->kind) {
	case FIELD_TEXT:
		return node_want_text(map, key, at);
	case FIELD_NAME:
		TRY(node_want_text(map, key, &text));
		*(const char **)at = str_z(a, text);
		return NULL;
	case FIELD_STRS:
		return node_want_strs(a, map, key, at);
	case FIELD_BOOL:
		return node_want_bool(map, key, at);
	case FIELD_UINT:
		TRY(node_want_u64(map, key, &number));
		*(unsigned *)at = (unsigned)number;
		return number <= UINT_MAX ? NULL
					  : node_error(n, E_SYNTAX, "'%s' must be at most %u",
						    f->key, UINT_MAX);
	case FIELD_U64:
		return node_want_u64(map, key, at);
	case FIELD_F64:
		*(double *)at = node_value(n, 0);
		return n->kind == NODE_NUMBER
			       ? NULL
			       : node_error(n, E_SYNTAX, "'%s' must be a number", f->key);
	case FIELD_WORD:
		return read_word(map, n, f->words, at);
	case FIELD_OBJECT:
		return json_fields_read(a, n, f->fields, at);
	case FIELD_ITEMS:
		if (n->kind != NODE_LIST)
			return node_error(n, E_SYNTAX, "'%s' must be a list", f->key);
		list = json_items_at(at);
		NODE_EACH (it, n) {
			list.v = vec_room(a, list.v, list.n, &list.cap, f->size);
			struct err *e =
				json_fields_read(a, it, f->fields, list.v + list.n++ * f->size);
			if (e && !e->line && !e->detail) /* values of JSON have no lines */
				err_detail(e, str_fmt(a, "in number %zu of '%s'", list.n, f->key));
			TRY(e);
		}
		memcpy(at, &list, sizeof(list));
		return NULL;
	default:
		return NULL;
	}
}

struct err *json_fields_read(
	struct arena *a, const struct node *map, const struct json_field *fields, void *object)
{
	size_t n = 0;
	if (map->kind != NODE_MAP)
		return map->key.n ? node_error(map, E_SYNTAX, "'%.*s' must be an object",
					    STR(map->key))
				  : node_error(map, E_SYNTAX, "this must be an object");
	while (fields[n].kind != FIELD_END)
		n++;
	const char **known = arena_array(a, n + 1, sizeof(*known));
	for (size_t i = 0; i < n; i++)
		known[i] = fields[i].key;
	if (!fields[n].optional)
		TRY(node_check_keys(map, known));
	for (const struct json_field *f = fields; f->kind != FIELD_END; f++)
		TRY(read_value(a, map, f, (char *)object + f->off));
	return NULL;
}

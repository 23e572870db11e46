/* Accessors of a parsed document; see node.h. Absent and null mean the same to a reader: `name:` with nothing behind
 * it leaves the default. */
#include "formats/node.h"

#include <stdlib.h>

#include "base/vec.h"

static const char *const kind_names[] = {
	[NODE_NULL] = "nothing",
	[NODE_BOOL] = "true or false",
	[NODE_NUMBER] = "a number",
	[NODE_STRING] = "text",
	[NODE_LIST] = "a list",
	[NODE_MAP] = "a map",
};

const struct node *node_get(const struct node *map, struct str key)
{
	return map && map->kind == NODE_MAP ? VEC_FIND(const struct node, map, key, key) : NULL;
}

const struct node *node_member(const struct node *map, struct str key)
{
	static const struct node none = {.kind = NODE_MAP};
	const struct node *n = node_get(map, key);
	return n ? n : &none;
}

static bool is_scalar(const struct node *n)
{
	return n && n->kind != NODE_NULL && n->kind != NODE_LIST && n->kind != NODE_MAP;
}

/* The member if it is there and not null. */
static const struct node *present(const struct node *map, struct str key)
{
	const struct node *n = node_get(map, key);
	return n && n->kind != NODE_NULL ? n : NULL;
}

struct str node_text(const struct node *map, struct str key, struct str fallback)
{
	const struct node *n = present(map, key);
	return is_scalar(n) ? n->text : fallback;
}

bool node_bool(const struct node *map, struct str key, bool fallback)
{
	const struct node *n = present(map, key);
	return n && n->kind == NODE_BOOL ? str_eq(n->text, S("true")) : fallback;
}

uint64_t node_u64(const struct node *map, struct str key, uint64_t fallback)
{
	const struct node *n = present(map, key);
	uint64_t v;
	return n && n->kind == NODE_NUMBER && str_u64(n->text, 10, &v) ? v : fallback;
}

double node_value(const struct node *n, double fallback)
{
	ARENA(tmp);
	return n && n->kind == NODE_NUMBER ? strtod(str_z(&tmp, n->text), NULL) : fallback;
}

double node_number(const struct node *map, struct str key, double fallback)
{
	return node_value(node_get(map, key), fallback);
}

struct err *node_error(const struct node *n, enum errcode code, const char *fmt, ...)
{
	ARENA(tmp);
	FORMAT(text, &tmp, fmt);
	return err_at(err_new(code, "%.*s", STR(text)), n->at);
}

static struct err *wrong_kind(const struct node *n, const char *want)
{
	if (!n->key.n)
		return node_error(n, E_SYNTAX, "expected %s, found %s", want, kind_names[n->kind]);
	return node_error(
		n, E_SYNTAX, "'%.*s' must be %s, not %s", STR(n->key), want, kind_names[n->kind]);
}

struct err *node_want_text(const struct node *map, struct str key, struct str *ret)
{
	const struct node *n = present(map, key);
	if (n && !is_scalar(n))
		return wrong_kind(n, "text");
	if (n)
		*ret = n->text;
	return NULL;
}

struct err *node_want_bool(const struct node *map, struct str key, bool *ret)
{
	const struct node *n = present(map, key);
	if (n && n->kind != NODE_BOOL)
		return wrong_kind(n, "true or false");
	if (n)
		*ret = str_eq(n->text, S("true"));
	return NULL;
}

struct err *node_want_u64(const struct node *map, struct str key, uint64_t *ret)
{
	const struct node *n = present(map, key);
	if (!n)
		return NULL;
	if (n->kind != NODE_NUMBER)
		return wrong_kind(n, "a whole number");
	if (!str_u64(n->text, 10, ret))
		return node_error(n, E_SYNTAX, "'%.*s' must be a whole number, not '%.*s'",
			STR(key), STR(n->text));
	return NULL;
}

struct err *node_strs(struct arena *a, const struct node *n, struct strs *ret)
{
	struct strs list = {0};
	if (!n || n->kind == NODE_NULL)
		return NULL;
	if (n->kind == NODE_MAP)
		return wrong_kind(n, "a list of texts");
	if (is_scalar(n))
		strs_add(a, &list, n->text);
	NODE_EACH (it, n) {
		if (!is_scalar(it))
			return wrong_kind(it, "text");
		strs_add(a, &list, it->text);
	}
	*ret = list;
	return NULL;
}

struct err *node_want_strs(
	struct arena *a, const struct node *map, struct str key, struct strs *ret)
{
	return node_strs(a, node_get(map, key), ret);
}

struct err *node_check_keys(const struct node *map, const char *const *known)
{
	ARENA(tmp);
	struct strs list = {0};
	strs_add_words(&tmp, &list, known);
	NODE_EACH (it, map) {
		if (map->kind != NODE_MAP || strs_has(&list, it->key))
			continue;
		struct err *e = err_new(E_SYNTAX, "unknown key '%.*s'", STR(it->key));
		struct str near = suggest(it->key, &list), all = str_join(&tmp, &list, S(", "));
		err_at(e, it->key_at);
		return near.n ? err_hint(e, "did you mean '%.*s'?", STR(near))
			      : err_hint(e, "known keys: %.*s", STR(all));
	}
	return NULL;
}

/* Documents: YAML, JSON and TOML files as one kind of tree, with the place of every value.
 *
 * The accessors below give errors that point into the user's file. libyaml reads YAML (aliases are refused, tags run
 * nothing), jansson JSON, and our own reader TOML 1.0. Scalars keep their text; `kind` says how they were written
 * (TOML dates are strings). Limits: 16 MiB, 250,000 values, 64 levels. */
#pragma once

#include "base/err.h"

enum { NODE_DEPTH = 64, NODE_SIZE = 16 << 20, NODE_COUNT = 250000 };

enum node_kind { NODE_NULL, NODE_BOOL, NODE_NUMBER, NODE_STRING, NODE_LIST, NODE_MAP };

struct node {
	enum node_kind kind;
	struct str text; /* text of a scalar; "true" or "false" for NODE_BOOL in each language */
	struct str key;  /* key of a member of a map */
	struct node *v;  /* members of a list or map, in file order */
	size_t n, cap;
	struct loc at, key_at; /* JSON values have only their path (line 0) */
};

/* Parse a whole document. `name` appears in messages. E_SYNTAX with line and column, E_LIMIT. */
MUST_USE struct err *yaml_parse(
	struct arena *a, struct str text, struct str name, const struct node **ret);
MUST_USE struct err *json_parse(
	struct arena *a, struct str text, struct str name, const struct node **ret);
MUST_USE struct err *toml_parse(
	struct arena *a, struct str text, struct str name, const struct node **ret);
/* Read and parse. */
MUST_USE struct err *yaml_read(struct arena *a, struct str path, const struct node **ret);
MUST_USE struct err *json_read(struct arena *a, struct str path, const struct node **ret);
MUST_USE struct err *toml_read(struct arena *a, struct str path, const struct node **ret);

/* A member of the outermost map that is a list of any length, such as the tests of a run: its elements are parsed one by one,
 * each within the limits of a document. */
struct json_list {
	struct str name, key; /* the document's, for messages; the member's, without escapes */
	struct str rest;      /* returned: a view of the text */
	bool more;
};
/* Parses the document, with the list empty. If it has no such list, io is one without elements. */
MUST_USE struct err *json_list_open(
	struct arena *a, struct str text, struct json_list *io, const struct node **ret);
/* The next element; NULL at the end. */
MUST_USE struct err *json_list_next(struct arena *a, struct json_list *io, const struct node **ret);

#define NODE_EACH(it, list)                                                                        \
	for (const struct node *it = (list)->v, *it##_end = (list)->n ? it + (list)->n : it;       \
		it < it##_end; it++)

/* The member, or NULL if there is none, or if map is NULL or not a map. */
const struct node *node_get(const struct node *map, struct str key);
/* The member, a map or list, to iterate over; an empty map if there is none. */
const struct node *node_member(const struct node *map, struct str key);
/* Text of a scalar member, or the fallback if there is none. */
struct str node_text(const struct node *map, struct str key, struct str fallback);
bool node_bool(const struct node *map, struct str key, bool fallback);
uint64_t node_u64(const struct node *map, struct str key, uint64_t fallback);
double node_number(const struct node *map, struct str key, double fallback);
/* The number that a node is, without a search by its key; the fallback for any other node, and NULL. */
double node_value(const struct node *n, double fallback);
/* Checked forms: an absent member leaves *ret alone; a wrong kind is E_SYNTAX at its place. */
MUST_USE struct err *node_want_text(const struct node *map, struct str key, struct str *ret);
MUST_USE struct err *node_want_bool(const struct node *map, struct str key, bool *ret);
MUST_USE struct err *node_want_u64(const struct node *map, struct str key, uint64_t *ret);
/* A list of scalars; a single scalar counts as a list of one. */
MUST_USE struct err *node_want_strs(
	struct arena *a, const struct node *map, struct str key, struct strs *ret);
/* The list that a node is; an absent one leaves *ret alone, too. */
MUST_USE struct err *node_strs(struct arena *a, const struct node *n, struct strs *ret);
/* E_SYNTAX, with did-you-mean, unless every key of map is in the NULL-terminated list. */
MUST_USE struct err *node_check_keys(const struct node *map, const char *const *known);
/* An error that points at n. */
MUST_USE struct err *node_error(const struct node *n, enum errcode code, const char *fmt, ...)
	PRINTF(3, 4);

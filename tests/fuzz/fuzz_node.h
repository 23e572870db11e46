/* A tree of nodes from untrusted bytes: a tree or one located error. It is looked at through every
 * accessor, so that a wrong pointer in it is noticed. */
#pragma once

#include <stdlib.h>

#include "formats/node.h"

typedef struct err *parse_fn(
	struct arena *a, struct str text, struct str name, const struct node **ret);

static inline void look_at(struct arena *a, const struct node *n, unsigned depth)
{
	static const char *const known[] = {"name", "version", "sources", NULL};
	struct strs list = {0};
	struct str text = S("");
	uint64_t number = 0;
	bool yes = false;
	if (depth > 64 || n->at.line == 0)
		abort();
	err_free(node_check_keys(n, known));
	NODE_EACH (it, n) {
		if (n->kind == NODE_MAP && (it->key_at.line == 0 || !node_get(n, it->key)))
			abort();
		err_free(node_want_strs(a, n, it->key, &list));
		err_free(node_want_text(n, it->key, &text));
		err_free(node_want_u64(n, it->key, &number));
		err_free(node_want_bool(n, it->key, &yes));
		(void)node_number(n, it->key, 0);
		look_at(a, it, depth + 1);
	}
}

static inline void check_document(parse_fn *parse, const uint8_t *data, size_t size)
{
	ARENA(a);
	const struct node *n = NULL;
	struct str text = {.p = (const char *)data, .n = size};
	CLEANUP(err_freep) struct err *e = parse(&a, text, S("fuzz"), &n);
	if (e ? (e->code != E_SYNTAX && e->code != E_LIMIT) || !e->line || !e->col : !n)
		abort();
	if (!e && n->kind != NODE_NULL)
		look_at(&a, n, 0);
}

/* Trees of nodes as JSON, to compare with what other readers make of the same text. */
#pragma once

#include "base/buf.h"
#include "formats/json_fields.h"
#include "formats/node.h"

/* numbers: as they stand in the tree; else (TOML has dates, and its own numbers) as texts. */
static inline void write_node(struct buf *b, const struct node *n, bool numbers)
{
	struct json j = {.out = b};
	const char *brackets = n->kind == NODE_MAP ? "{}" : "[]";
	if (n->kind == NODE_NULL)
		buf_add(b, S("null"));
	else if (n->kind == NODE_BOOL || (n->kind == NODE_NUMBER && numbers))
		buf_add(b, n->text);
	else if (n->kind != NODE_MAP && n->kind != NODE_LIST)
		json_str(&j, n->text);
	if (n->kind != NODE_MAP && n->kind != NODE_LIST)
		return;
	buf_char(b, brackets[0]);
	NODE_EACH (item, n) {
		struct json key = {.out = b};
		if (item != n->v)
			buf_char(b, ',');
		if (n->kind == NODE_MAP) {
			json_str(&key, item->key);
			buf_char(b, ':');
		}
		write_node(b, item, numbers);
	}
	buf_char(b, brackets[1]);
}

/* JSON documents from bytes, and back: what was read is written by our writer and must read as the
 * same tree. */
#include <stdlib.h>

#include "formats/json_fields.h"
#include "formats/node.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void write_node(struct json *j, const struct node *n)
{
	switch (n->kind) {
	case NODE_MAP:
	case NODE_LIST:
		json_open(j, n->kind == NODE_MAP ? '{' : '[');
		NODE_EACH (it, n) {
			if (n->kind == NODE_MAP)
				json_key_str(j, it->key);
			write_node(j, it);
		}
		json_close(j);
		break;
	case NODE_BOOL:
		json_bool(j, str_eq(n->text, S("true")));
		break;
	case NODE_NULL:
		json_nothing(j);
		break;
	case NODE_NUMBER: /* may be a real number, which has no exact way back */
	case NODE_STRING:
		json_str(j, n->text);
		break;
	}
}

static void compare(const struct node *a, const struct node *b)
{
	if (a->n != b->n || (a->kind != b->kind && a->kind != NODE_NUMBER) ||
		!str_eq(a->text, b->text) || !str_eq(a->key, b->key))
		abort();
	for (size_t i = 0; i < a->n; i++)
		compare(&a->v[i], &b->v[i]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	ARENA(a);
	const struct node *n = NULL, *again = NULL;
	struct str text = {.p = (const char *)data, .n = size};
	CLEANUP(err_freep) struct err *e = json_parse(&a, text, S("fuzz.json"), &n);
	if (e)
		return 0;
	for (unsigned indent = 0; indent <= 2; indent += 2) {
		BUF(b, &a);
		struct json j = {.out = &b, .indent = indent};
		write_node(&j, n);
		CLEANUP(err_freep)
		struct err *f = json_parse(&a, buf_str(&b), S("again.json"), &again);
		if (f)
			abort();
		compare(n, again);
	}
	return 0;
}

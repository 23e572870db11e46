/* Texts that releases are made of: the first byte chooses the parser. A METADATA with other versions still reads as
 * METADATA, of as many headers; pages of what was read are JSON. */
#include <stdlib.h>

#include "base/hash.h"
#include "formats/node.h"
#include "release/release.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void statement(struct arena *a, struct str text)
{
	struct release_wheel w = {.file = S("x-1-py3-none-any.whl"), .sha256 = S("aa")};
	const struct node *doc;
	struct str out;
	struct err *e = release_statement(a, &w, text, &out);
	if (!e && text.n)
		e = json_parse(a, out, S("statement"), &doc);
	if (e && e->code == E_SYNTAX && text.n == 0)
		abort();
	err_free(e);
}

static void metadata(struct arena *a, struct str text)
{
	struct wheel_rename r = {S("1.0rc1"), S("1.0")};
	struct wheel_request q = {.renames = {.v = &r, .n = 1}};
	struct dist_headers h, again;
	struct err *e = dist_headers_parse(a, text, &h);
	if (e) {
		err_free(e);
		return;
	}
	struct str now = wheel_new_metadata(a, &q, text, &h, S(""));
	if (dist_headers_parse(a, now, &again) || again.n != h.n || !str_eq(again.body, h.body))
		abort();
}

static void describe(struct arena *a, struct str text)
{
	struct release_set set = {0};
	struct release_wheel *w = VEC_PUSH(a, &set);
	struct findings f = {0};
	const struct node *doc;
	*w = (struct release_wheel){.file = S("x-1-py3-none-any.whl"),
		.path = S("x"),
		.sha256 = S("aa"),
		.metadata = text};
	struct err *e = release_describe(a, w);
	err_free(e);
	if (e)
		return;
	release_check(a, &set, NULL, &f);
	(void)release_lacks(a, &set);
	release_sort(a, &set, true);
	(void)release_people(a, &set);
	(void)release_page(a, &set, w->project, S(""));
	if (json_parse(a, release_json(a, &set, w->project, S("")), S("page"), &doc))
		abort();
}

static void base64(struct arena *a, struct str text)
{
	struct str out;
	if (base64_read(a, text, &out) && out.n > text.n)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static void (*const parsers[])(struct arena * a, struct str text) = {
		statement, metadata, describe, base64};
	ARENA(a);
	if (size)
		parsers[data[0] % 4](
			&a, str_dup(&a, (struct str){.p = (const char *)data + 1, .n = size - 1}));
	return 0;
}

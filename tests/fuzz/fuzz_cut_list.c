/* What slim says that it took out, beside a file that came from anywhere: an error, or a list that is written and read again as the
 * same; its head alone is a document, too. Commands of it are never believed. */
#include <stdlib.h>

#include "base/buf.h"
#include "formats/node.h"
#include "target/cut_list.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool good)
{
	if (!good)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	ARENA(a);
	BUF(head, &a);
	struct slim_report r, again;
	const struct node *doc;
	struct str text = {.p = (const char *)data, .n = size};
	struct err *e = cut_list_read(&a, text, S("list"), &r);
	(void)cut_list_describe(&a, text);
	if (!e) {
		check(!r.restore.n && !r.unlisted);
		struct str written = cut_list_text(&a, &r);
		e = cut_list_read(&a, written, S("list"), &again);
		check(!e && str_eq(written, cut_list_text(&a, &again)));
		cut_list_head(&head, written);
		e = json_parse(&a, buf_str(&head), S("head"), &doc);
		check(!e);
	}
	err_free(e);
	return 0;
}

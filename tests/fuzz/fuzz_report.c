/* A build.json of anywhere: an error, or a page in which nothing runs, and figures that can be read. */
#include <stdlib.h>

#include "report/report.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool good)
{
	if (!good)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	ARENA(a);
	struct report r;
	const struct node *doc;
	struct str text = {.p = (const char *)data, .n = size};
	struct err *e = json_parse(&a, text, S("build.json"), &doc);
	e = e ? e : report_read(&a, doc, &r);
	if (!e) {
		struct str page = str_lower(&a, report_html(&a, &r));
		check(!str_contains(page, S("<script")) && str_ends(str_trim(page), S("</html>")));
		e = json_parse(&a, json_document(&a, 2, report_fields, &r), S("report"), &doc);
		check(!e);
	}
	err_free(e);
	return 0;
}

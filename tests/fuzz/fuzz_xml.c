/* XML from anybody, as events: they nest, and each text, escaped and read again, is the same text. Lists of S3 and the XML of
 * pytest are read by nothing else. */
#include <stdlib.h>

#include "formats/xml.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool good)
{
	if (!good)
		abort();
}

static void check_escape(struct str text)
{
	ARENA(a);
	struct xml_event e;
	BUF(b, &a);
	buf_add(&b, S("<a b=\""));
	xml_escape(&b, text);
	buf_add(&b, S("\"/>"));
	CLEANUP(xml_end) struct xml x = xml_begin(buf_str(&b), S("again.xml"));
	check(!xml_next(&x, &e) && e.kind == XML_OPEN && str_eq(xml_attribute(&e, "b"), text));
	check(!xml_next(&x, &e) && e.kind == XML_CLOSE);
	check(!xml_next(&x, &e) && e.kind == XML_END);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	ARENA(a);
	struct strs open = {0};
	struct xml_event e;
	bool raw = str_contains((struct str){.p = (const char *)data, .n = size}, S("<![CDATA["));
	CLEANUP(xml_end)
	struct xml x = xml_begin((struct str){.p = (const char *)data, .n = size}, S("fuzz.xml"));
	do {
		CLEANUP(err_freep) struct err *wrong = xml_next(&x, &e);
		if (wrong) {
			check(wrong->code == E_SYNTAX || wrong->code == E_LIMIT);
			return 0;
		}
		if (e.kind == XML_OPEN)
			strs_add(&a, &open, str_dup(&a, e.name));
		VEC_EACH (const struct xml_attribute, one, &e.attributes)
			check_escape(one->value);
		if (e.kind == XML_CLOSE)
			check(open.n && str_eq(open.v[--open.n], e.name));
		check(e.kind != XML_TEXT || open.n);
		if (e.kind == XML_TEXT && !raw)
			check_escape(e.text);
	} while (e.kind != XML_END);
	check(!open.n);
	return 0;
}

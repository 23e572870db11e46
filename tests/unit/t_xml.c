/* XML as events: what is well-formed, what is refused, and what is written. */
#include "test.h"

#include "formats/xml.h"

/* The events of a text as a line: "<a x='1'>", "</a>", "text". */
static struct err *events(struct arena *a, struct str text, struct str *ret)
{
	BUF(out, a);
	struct xml_event e;
	CLEANUP(xml_end) struct xml x = xml_begin(text, S("x.xml"));
	do {
		TRY(xml_next(&x, &e));
		if (e.kind == XML_OPEN || e.kind == XML_CLOSE)
			buf_fmt(&out, "%s%.*s", e.kind == XML_OPEN ? "<" : "</", STR(e.name));
		VEC_EACH (const struct xml_attribute, one, &e.attributes)
			buf_fmt(&out, " %.*s='%.*s'", STR(one->name), STR(one->value));
		if (e.kind == XML_TEXT)
			buf_add(&out, e.text);
		else if (e.kind != XML_END)
			buf_char(&out, '>');
	} while (e.kind != XML_END);
	*ret = buf_str(&out);
	return NULL;
}

static void elements_attributes_and_text_are_events(void **state)
{
	(void)state;
	ARENA(a);
	static const struct {
		const char *text, *events;
	} good[] = {
		{"<a/>", "<a></a>"},
		{"\xef\xbb\xbf<?xml version='1.0'?>\n<!-- <b> -->\n<a >\n</a >\n<!-- -->\n",
			"<a></a>"},
		{"<a x='1' y = \"2'\"><b/></a>", "<a x='1' y='2''><b></b></a>"},
		{"<a>&lt;&#65;&#x42;&amp;&apos;&quot;&gt; \xc3\xa9</a>",
			"<a><AB&'\"> \xc3\xa9</a>"},
		{"<a><![CDATA[<x>&y;]]></a>", "<a><x>&y;</a>"},
		{"<n:a-1._ x:y='&#10;'/>", "<n:a-1._ x:y='\n'></n:a-1._>"},
		{"<a>x<b>y</b>z</a>", "<a>x<b>y</b>z</a>"},
		{"<a>]]</a>", "<a>]]</a>"},
		{"<a><?php <b ?></a>", "<a></a>"},
	};
	for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++) {
		struct str got = {0};
		assert_ok(events(&a, str_from(good[i].text), &got));
		assert_str(got, good[i].events);
	}
}

static void what_is_not_well_formed_is_refused_with_its_line(void **state)
{
	(void)state;
	ARENA(a);
	static const struct {
		const char *text, *says;
	} wrong[] = {
		{"", "too early"},
		{"<a>", "too early"},
		{"<a", "does not end"},
		{"<a></b>", "began last"},
		{"</a>", "began last"},
		{"<a/><b/>", "behind its end"},
		{"<a/>x", "outside of its elements"},
		{"x<a/>", "outside of its elements"},
		{"<a x/>", "no value"},
		{"<a x=1/>", "not in quotes"},
		{"<a x='1/>", "does not end"},
		{"<a x='<'/>", "does not end"},
		{"<a x='1' x='2'/>", "twice"},
		{"<a x='1'y='2'/>", "does not end"},
		{"<1/>", "a name is missing"},
		{"< a/>", "a name is missing"},
		{"<a>&b;</a>", "entity"},
		{"<a>&lt</a>", "entity"},
		{"<a>&#0;</a>", "number"},
		{"<a>&#xd800;</a>", "number"},
		{"<a>&#x110000;</a>", "number"},
		{"<a>&#99999999999;</a>", "number"},
		{"<a>&#;</a>", "number"},
		{"<a>\x01</a>", "cannot have"},
		{"<a>\xff</a>", "cannot have"},
		{"<a>\xef\xbf\xbf</a>", "cannot have"},
		{"<a><!-- </a>", "within a comment"},
		{"<!DOCTYPE a><a/>", "document type"},
		{"<!DOCTYPE a [<!ENTITY x 'y'>]><a>&x;</a>", "document type"},
		{"<a><!DOCTYPE a></a>", "document type"},
		{"<![CDATA[x]]><a/>", "document type"},
	};
	struct str got;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		assert_err_says(events(&a, str_from(wrong[i].text), &got), E_SYNTAX, wrong[i].says);
	assert_err(events(&a, (struct str){.p = "<a>\0</a>", .n = 8}, &got), E_SYNTAX);
	CLEANUP(err_freep) struct err *e = events(&a, S("<a>\n\n&b;</a>"), &got);
	assert_int_equal(e->line, 3);
}

static struct str repeated(struct arena *a, const char *before, const char *part, size_t n)
{
	BUF(b, a);
	buf_add(&b, str_from(before));
	while (n--)
		buf_add(&b, str_from(part));
	return buf_str(&b);
}

static void depth_attributes_and_names_have_limits(void **state)
{
	(void)state;
	ARENA(a);
	struct str got;
	assert_err(events(&a, repeated(&a, "", "<a>", 10000), &got), E_LIMIT);
	BUF(b, &a);
	buf_add(&b, S("<a"));
	for (int i = 0; i < 1000; i++)
		buf_fmt(&b, " x%d='1'", i);
	assert_err(events(&a, buf_str(&b), &got), E_LIMIT);
	assert_err_says(events(&a, repeated(&a, "<", "a", 10000), &got), E_SYNTAX, "too long");
	/* the work is linear, and one event does not remember the others */
	struct str long_one = repeated(&a, "<a>", "<b c='d'>e</b>", HUGE_SIZE(200000));
	long_one = str_fmt(&a, "%.*s</a>", STR(long_one));
	assert_ok(events(&a, long_one, &got));
}

static void what_is_escaped_is_read_again(void **state)
{
	(void)state;
	ARENA(a);
	BUF(b, &a);
	struct str got;
	buf_add(&b, S("<a x=\""));
	xml_escape(&b, S("<>&\"' \n\t\r\xc3\xa9 ok"));
	buf_add(&b, S("\"/>"));
	assert_ok(events(&a, buf_str(&b), &got));
	assert_str(got, "<a x='<>&\"' \n\t\r\xc3\xa9 ok'></a>");
	struct buf bad = {.a = &a};
	xml_escape(&bad, (struct str){.p = "\0\x1b\xff\xef\xbf\xbe", .n = 6});
	assert_str(buf_str(&bad), "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(elements_attributes_and_text_are_events),
		cmocka_unit_test(what_is_not_well_formed_is_refused_with_its_line),
		cmocka_unit_test(depth_attributes_and_names_have_limits),
		cmocka_unit_test(what_is_escaped_is_read_again),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* The JSON writer and the lists of findings: formats/json_fields.h, finding.h. What is written is
 * read again by jansson, which shares no code with the writer. */
#include "test.h"

#include <math.h>

#include "formats/finding.h"
#include "formats/node.h"

static void values_nest_with_commas(void **state)
{
	(void)state;
	ARENA(a);
	BUF(b, &a);
	struct json j = {.out = &b};
	struct strs list = {0};
	strs_add(&a, &list, S("x"));
	strs_add(&a, &list, S("y"));
	json_open(&j, '{');
	json_key(&j, "s");
	json_str(&j, S("t"));
	json_key(&j, "u");
	json_u64(&j, UINT64_MAX);
	json_key(&j, "i");
	json_i64(&j, INT64_MIN);
	json_key(&j, "b");
	json_bool(&j, true);
	json_key(&j, "n");
	json_nothing(&j);
	json_key(&j, "l");
	json_strs(&j, &list);
	json_key(&j, "e");
	json_open(&j, '[');
	json_close(&j);
	json_key_str(&j, S("o"));
	json_open(&j, '{');
	json_close(&j);
	json_close(&j);
	assert_str(buf_str(&b),
		"{\"s\":\"t\",\"u\":18446744073709551615,\"i\":-9223372036854775808,\"b\":true,"
		"\"n\":null,\"l\":[\"x\",\"y\"],\"e\":[],\"o\":{}}");
}

/* A parsed document has up to 64 levels, and may be written into another one. */
static void a_whole_document_nests_in_another(void **state)
{
	(void)state;
	ARENA(a);
	BUF(deep, &a);
	BUF(b, &a);
	const struct node *doc;
	for (unsigned i = 0; i < NODE_DEPTH; i++)
		buf_add(&deep, i % 2 ? S("[") : S("{\"a\":"));
	buf_add(&deep, S("1"));
	for (unsigned i = NODE_DEPTH; i-- > 0;)
		buf_char(&deep, i % 2 ? ']' : '}');
	assert_ok(json_parse(&a, buf_str(&deep), S("deep"), &doc));
	struct json j = {.out = &b};
	json_open(&j, '[');
	json_open(&j, '[');
	json_node(&j, doc);
	json_close(&j);
	json_close(&j);
	assert_str(buf_str(&b), str_fmt(&a, "[[%.*s]]", STR(buf_str(&deep))).p);
}

static void indented_output_has_lines(void **state)
{
	(void)state;
	ARENA(a);
	BUF(b, &a);
	struct json j = {.out = &b, .indent = 2};
	json_open(&j, '[');
	json_u64(&j, 1);
	json_open(&j, '{');
	json_key(&j, "k");
	json_str(&j, S("v"));
	json_close(&j);
	json_open(&j, '[');
	json_close(&j);
	json_close(&j);
	assert_str(buf_str(&b), "[\n  1,\n  {\n    \"k\": \"v\"\n  },\n  []\n]");
}

static const struct {
	double d;
	const char *text;
} numbers[] = {
	{.d = 0, .text = "0"},
	{.d = 1, .text = "1"},
	{.d = 100, .text = "100"},
	{.d = -2.5, .text = "-2.5"},
	{.d = 0.1, .text = "0.1"},
	{.d = 1.0 / 3, .text = "0.333333"},
	{.d = 1e-9, .text = "0"},
	{.d = 1e15, .text = "1000000000000000"},
	{.d = NAN, .text = "0"},
	{.d = -INFINITY, .text = "0"},
};

static void numbers_are_short_and_finite(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++) {
		ARENA(a);
		BUF(b, &a);
		struct json j = {.out = &b};
		json_f64(&j, numbers[i].d);
		assert_str(buf_str(&b), numbers[i].text);
	}
}

static struct str read_back(struct arena *a, struct str s)
{
	BUF(b, a);
	struct json j = {.out = &b};
	const struct node *n = NULL;
	json_str(&j, s);
	assert_ok(json_parse(a, buf_str(&b), S("t"), &n));
	return n->text;
}

static void any_text_survives(void **state)
{
	(void)state;
	ARENA(a);
	for (int c = 1; c < 128; c++) {
		struct str s = str_fmt(&a, "<%c>", c);
		assert_true(str_eq(read_back(&a, s), s));
	}
	static const char *const good[] = {"\xc3\xa4", "\xe2\x82\xac", "\xf0\x9f\x98\x80",
		"\xed\x9f\xbf", "\xee\x80\x80", "\xf4\x8f\xbf\xbf", "\xe0\xa0\x80", "\\u0041"};
	for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++)
		assert_str(read_back(&a, str_from(good[i])), good[i]);
}

#define BAD "\xef\xbf\xbd"

static const struct {
	const char *text, *back;
} broken[] = {
	{.text = "\xff", .back = BAD},
	{.text = "a\x80z", .back = "a" BAD "z"},
	{.text = "\xc3", .back = BAD},
	{.text = "\xc0\x80", .back = BAD BAD},                 /* overlong */
	{.text = "\xe0\x80\x80", .back = BAD BAD BAD},         /* overlong */
	{.text = "\xed\xa0\x80", .back = BAD BAD BAD},         /* a surrogate */
	{.text = "\xf4\x90\x80\x80", .back = BAD BAD BAD BAD}, /* above U+10FFFF */
	{.text = "\xf0\x9f\x98", .back = BAD BAD BAD},         /* cut off */
	{.text = "\xe2\x82\xc3\xa4", .back = BAD BAD "\xc3\xa4"},
	{.text = "\xf5\x80", .back = BAD BAD},
};

static void bad_utf8_is_replaced_byte_by_byte(void **state)
{
	(void)state;
	ARENA(a);
	for (size_t i = 0; i < sizeof(broken) / sizeof(*broken); i++)
		assert_str(read_back(&a, str_from(broken[i].text)), broken[i].back);
}

static void any_bytes_give_valid_json(void **state)
{
	(void)state;
	ARENA(a);
	uint32_t seed = 3;
	for (int round = 0; round < 2000; round++) {
		char bytes[12];
		for (size_t i = 0; i < sizeof(bytes); i++) {
			seed = seed * 1664525 + 1013904223;
			bytes[i] = (char)(seed >> 24);
			if (!bytes[i])
				bytes[i] = 'x'; /* our reader refuses NUL */
		}
		(void)read_back(&a, (struct str){.p = bytes, .n = sizeof(bytes)});
	}
}

static void findings_are_collected_and_written(void **state)
{
	(void)state;
	ARENA(a);
	struct findings list = {0};
	assert_int_equal(findings_worst(&list), SEV_INFO);
	struct finding *f = finding_add(&a, &list, "first-id", SEV_WARNING, S("a/b"));
	finding_say(&a, f, "%d of %s", 3, "them");
	finding_fix(&a, f, "do %s", "this");
	finding_fix(&a, f, "then that");
	f = finding_add(&a, &list, "second", SEV_INFO, S(""));
	finding_say(&a, f, "m");
	assert_int_equal(findings_worst(&list), SEV_WARNING);
	BUF(b, &a);
	struct json j = {.out = &b};
	json_open(&j, '[');
	VEC_EACH (struct finding, it, &list)
		json_struct(&j, finding_fields, it);
	json_close(&j);
	assert_str(buf_str(&b),
		"[{\"id\":\"first-id\",\"severity\":\"warning\",\"message\":\"3 of them\","
		"\"path\":\"a/b\",\"fix\":[\"do this\",\"then that\"]},"
		"{\"id\":\"second\",\"severity\":\"info\",\"message\":\"m\",\"path\":\"\",\"fix\":["
		"]}]");
	f = finding_add(&a, &list, "third", SEV_ERROR, S(""));
	assert_string_equal(f->id, "third");
	assert_int_equal(findings_worst(&list), SEV_ERROR);
	assert_string_equal(severity_name(SEV_ERROR), "error");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_nest_with_commas),
		cmocka_unit_test(a_whole_document_nests_in_another),
		cmocka_unit_test(indented_output_has_lines),
		cmocka_unit_test(numbers_are_short_and_finite),
		cmocka_unit_test(any_text_survives),
		cmocka_unit_test(bad_utf8_is_replaced_byte_by_byte),
		cmocka_unit_test(any_bytes_give_valid_json),
		cmocka_unit_test(findings_are_collected_and_written),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

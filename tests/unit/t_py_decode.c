/* Files are read as Python's text mode reads them. What is refused, and where, was asked of
 * bytes.decode("utf-8") of Python 3.11. */
#include "test.h"

#include "hipify/torch/text/text.h"
#include "lang/python/text.h"

static struct str decoded(struct arena *a, struct str bytes)
{
	struct str text = {0};
	assert_ok(py_decode(a, bytes, &text));
	return text;
}

static void clean_text_is_given_back_itself(void **state)
{
	(void)state;
	static const char *const clean[] = {"", "\n", "a\nb", "\357\273\277a\n", "\xc2\x80\xdf\xbf",
		"\xe0\xa0\x80\xed\x9f\xbf\xee\x80\x80\xef\xbf\xbf",
		"\xf0\x90\x80\x80\xf4\x8f\xbf\xbf", "0123456789abcdef\xc3\xa9 0123456789"};
	ARENA(a);
	for (size_t i = 0; i < sizeof(clean) / sizeof(*clean); i++)
		assert_ptr_equal(decoded(&a, str_from(clean[i])).p, clean[i]);
	assert_int_equal(decoded(&a, S("a\0b")).n, 3);
}

static void all_line_ends_become_newlines(void **state)
{
	(void)state;
	static const char *const cases[][2] = {
		{"a\r\nb\r\n", "a\nb\n"},
		{"a\rb", "a\nb"},
		{"\r", "\n"},
		{"\r\r\n\n\r", "\n\n\n\n"},
		{"\r\n", "\n"},
		{"a\n\rb\r", "a\n\nb\n"},
		{"\xc3\xa9\r\n\xc3\xa9", "\xc3\xa9\n\xc3\xa9"},
	};
	ARENA(a);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		assert_str(decoded(&a, str_from(cases[i][0])), cases[i][1]);
}

static void what_is_not_utf8_is_refused_with_its_place(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		unsigned line;
		const char *says;
	} cases[] = {
		{"\xff", 1, "byte 0xff at offset 0 "},
		{"a\n\r\n\rb\x80", 4, "byte 0x80 at offset 6 "},
		{"0123456789abcdef\n\xc0\x80", 2, "byte 0xc0 at offset 17 "},
		{"\xc1\xbf", 1, "0xc1 at offset 0 "},
		{"\xe0\x9f\xbf", 1, "0xe0 at offset 0 "},
		{"\xed\xa0\x80", 1, "0xed at offset 0 "},
		{"\xf0\x8f\xbf\xbf", 1, "0xf0 at offset 0 "},
		{"\xf4\x90\x80\x80", 1, "0xf4 at offset 0 "},
		{"\xf5\x80\x80\x80", 1, "0xf5 at offset 0 "},
		{"\xc3", 1, "0xc3 at offset 0 "},
		{"a\xe2\x82", 1, "0xe2 at offset 1 "},
		{"\xf0\x9f\x98", 1, "0xf0 at offset 0 "},
		{"\xc3\xa9\xc3(", 1, "0xc3 at offset 2 "},
		{"\xe2(\xa1", 1, "0xe2 at offset 0 "},
		{"\xe2\x82(", 1, "0xe2 at offset 0 "},
	};
	ARENA(a);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct str text;
		struct err *e = py_decode(&a, str_from(cases[i].text), &text);
		assert_non_null(e);
		assert_int_equal(e->line, cases[i].line);
		assert_err_says(e, E_HIPIFY, cases[i].says);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(clean_text_is_given_back_itself),
		cmocka_unit_test(all_line_ends_become_newlines),
		cmocka_unit_test(what_is_not_utf8_is_refused_with_its_place),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* \w as Python has it: facts about single characters, the whole of the table by its sum, steps over
 * UTF-8 in both directions. */
#include "test.h"

#include "base/buf.h"
#include "lang/python/word.h"

static bool is_word(uint32_t c)
{
	ARENA(a);
	BUF(b, &a);
	buf_utf8(&b, c);
	return py_word_at(buf_str(&b), 0);
}

static void letters_and_digits_of_all_scripts_are_words(void **state)
{
	(void)state;
	static const uint32_t yes[] = {'a', 'Z', '0', '9', '_', 0xaa, 0xb2, 0xb5, 0xbc, 0xe9, 0x3b1,
		0x660, 0x2460, 0x4e00, 0xac00, 0xff21, 0x1d400, 0x20000, 0x3134a};
	static const uint32_t no[] = {0, ' ', '@', '[', '`', '{', '/', ':', 0x7f, 0x80, 0xa0, 0xd7,
		0x301, 0x200b, 0x203f, 0x2028, 0xfeff, 0xfffd, 0xe000, 0x1f600, 0x3134b, 0x10ffff,
		0x110000};
	for (size_t i = 0; i < sizeof(yes) / sizeof(*yes); i++)
		assert_true(is_word(yes[i]));
	for (size_t i = 0; i < sizeof(no) / sizeof(*no); i++)
		assert_false(is_word(no[i]));
	assert_false(py_alnum('_'));
	assert_true(py_alnum('x') && py_alnum(0xb2));
}

/* python3.11 -c 'print(sum(chr(c).isalnum() for c in range(0x110000)),
 * sum(c for c in range(0x110000) if chr(c).isalnum()))' */
static void the_table_is_that_of_python(void **state)
{
	(void)state;
	uint64_t n = 0, sum = 0;
	for (uint32_t c = 0; c < 0x110000; c++)
		if (py_alnum(c)) {
			n++;
			sum += c;
		}
	assert_int_equal(n, 133547);
	assert_int_equal(sum, 14002814217);
}

static void steps_forth_and_back_agree(void **state)
{
	(void)state;
	static const uint32_t chars[] = {
		0, 'a', 0x7f, 0x80, 0x7ff, 0x800, 0xd7ff, 0xe000, 0xffff, 0x10000, 0x10ffff, '_'};
	size_t n = sizeof(chars) / sizeof(*chars);
	ARENA(a);
	BUF(b, &a);
	for (size_t i = 0; i < n; i++)
		buf_utf8(&b, chars[i]);
	struct str s = buf_str(&b);
	size_t at = 0;
	for (size_t i = 0; i < n; i++)
		assert_int_equal(utf8_next(s, &at), chars[i]);
	assert_int_equal(at, s.n);
	for (size_t i = n; i-- > 0;)
		assert_int_equal(utf8_prev(s, &at), chars[i]);
	assert_int_equal(at, 0);
}

static void stray_bytes_are_no_words_and_stay_in_the_text(void **state)
{
	(void)state;
	static const char *const bad[] = {"\x80", "\xc3", "\xe2\x82", "\xf0\x9f\x98", "\xff",
		"\x80\x80\x80\x80\x80", "\xc3\xc3", "\xe9z"};
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct str s = str_from(bad[i]);
		size_t at = 0, steps = 0;
		while (at < s.n) {
			utf8_next(s, &at);
			steps++;
		}
		assert_int_equal(at, s.n);
		while (at) {
			utf8_prev(s, &at);
			steps--;
		}
		assert_int_equal(steps, 0);
		assert_false(py_word_at(s, 0));
	}
}

static void neighbours_must_exist(void **state)
{
	(void)state;
	struct str s = S("a \xc3\xa9-");
	assert_false(py_word_starts(s, 0));
	assert_false(py_word_starts(s, 1));
	assert_true(py_word_starts(s, 2));
	assert_false(py_word_starts(s, 4));
	assert_true(py_word_starts(s, 5));
	assert_false(py_word_ends(s, 0));
	assert_true(py_word_ends(s, 1));
	assert_false(py_word_ends(s, 2));
	assert_true(py_word_ends(s, 4));
	assert_false(py_word_ends(s, 5));
	assert_true(py_word_at(s, 2) && py_word_before(s, 4));
	assert_false(py_word_at(s, 5) || py_word_before(s, 0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(letters_and_digits_of_all_scripts_are_words),
		cmocka_unit_test(the_table_is_that_of_python),
		cmocka_unit_test(steps_forth_and_back_agree),
		cmocka_unit_test(stray_bytes_are_no_words_and_stay_in_the_text),
		cmocka_unit_test(neighbours_must_exist),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

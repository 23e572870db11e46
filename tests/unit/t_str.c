/* String views, the builder, arrays: base/str.h, buf.h, vec.h. */
#include "test.h"

#include "base/buf.h"
#include "base/vec.h"

static void views_are_compared_by_bytes(void **state)
{
	(void)state;
	assert_true(str_eq(S(""), (struct str){0}));
	assert_false(str_eq(S("a"), S("b")));
	assert_false(str_eq(S("a"), S("ab")));
	assert_true(str_cmp(S("a"), S("b")) < 0);
	assert_true(str_cmp(S("ab"), S("a")) > 0);
	assert_true(str_cmp(S("a"), S("\xff")) < 0);
	assert_int_equal(str_cmp(S(""), (struct str){0}), 0);
	assert_true(str_eq(str_from(NULL), S("")));
}

static void pieces_are_clamped(void **state)
{
	(void)state;
	assert_str(str_sub(S("hello"), 1, 3), "el");
	assert_str(str_sub(S("hello"), 3, 99), "lo");
	assert_str(str_sub(S("hello"), 9, 99), "");
	assert_str(str_sub(S("hello"), 3, 1), "");
}

static void prefixes_and_suffixes_are_found(void **state)
{
	(void)state;
	assert_true(str_starts(S("gfx1100"), S("gfx")));
	assert_false(str_starts(S("gf"), S("gfx")));
	assert_true(str_starts(S("gfx"), S("")));
	assert_true(str_ends(S("a.whl"), S(".whl")));
	assert_false(str_ends(S("whl"), S(".whl")));
	assert_true(str_contains(S("abc"), S("bc")));
	assert_true(str_contains(S("abc"), S("")));
	assert_true(str_contains(S(""), S("")));
	assert_false(str_contains(S("abc"), S("cb")));
	assert_false(str_contains(S(""), S("x")));
	static const char *const words[] = {"gfx", "hip", NULL};
	assert_true(str_starts_one_of(S("hipcc"), words));
	assert_true(str_ends_one_of(S("libhip"), words));
	assert_true(str_contains_one_of(S("libhipcc"), words));
	assert_false(str_contains_one_of(S("cuda"), words));
	assert_false(str_contains_one_of(S("gfx"), words + 2));
}

static void searching_gives_the_length_when_nothing_is_there(void **state)
{
	(void)state;
	assert_int_equal(str_chr(S("a=b=c"), '='), 1);
	assert_int_equal(str_rchr(S("a=b=c"), '='), 3);
	assert_int_equal(str_chr(S("abc"), '='), 3);
	assert_int_equal(str_rchr(S(""), '='), 0);
	assert_int_equal(str_find(S("abcabc"), S("ca")), 2);
	assert_int_equal(str_find(S("abc"), S("x")), 3);
	assert_int_equal(str_find((struct str){0}, S("x")), 0);
	assert_int_equal(str_count(S("a=b=c="), '='), 3);
	assert_int_equal(str_count(S("abc"), '='), 0);
	assert_int_equal(str_count((struct str){0}, '='), 0);
	assert_int_equal(str_span(S("12.3rc1"), ASCII_DIGITS "."), 4);
	assert_int_equal(str_span(S("12"), ASCII_DIGITS), 2);
	assert_int_equal(str_span(S("1\0"), ASCII_DIGITS), 1);
	assert_int_equal(str_span((struct str){0}, ASCII_DIGITS), 0);
	assert_int_equal(str_until(S("a*b?"), "?*"), 1);
	assert_int_equal(str_until(S("a\0b?"), "?*"), 3);
	assert_int_equal(str_until(S("ab"), "?*"), 2);
}

static void cutting_splits_at_the_first_separator(void **state)
{
	(void)state;
	struct str key, val;
	assert_true(str_cut(S("a=b=c"), '=', &key, &val));
	assert_str(key, "a");
	assert_str(val, "b=c");
	assert_false(str_cut(S("abc"), '=', &key, &val));
	assert_str(key, "abc");
	assert_str(val, "");
	assert_true(str_cut(S("="), '=', &key, &val));
	assert_str(key, "");
}

static void lines_come_one_by_one(void **state)
{
	(void)state;
	struct str rest = S("a\n\nb"), line;
	assert_true(str_next(&rest, '\n', &line));
	assert_str(line, "a");
	assert_true(str_next(&rest, '\n', &line));
	assert_str(line, "");
	assert_true(str_next(&rest, '\n', &line));
	assert_str(line, "b");
	assert_false(str_next(&rest, '\n', &line));
}

static void white_space_is_trimmed(void **state)
{
	(void)state;
	assert_str(str_trim(S(" \t a b\r\n\v\f ")), "a b");
	assert_str(str_trim(S(" \t ")), "");
	assert_str(str_trim(S("")), "");
}

static const struct {
	struct str text;
	unsigned base;
	bool good;
	uint64_t value;
} numbers[] = {
	{.text = S_INIT("0"), .base = 10, .good = true, .value = 0},
	{.text = S_INIT("0042"), .base = 10, .good = true, .value = 42},
	{.text = S_INIT("18446744073709551615"), .base = 10, .good = true, .value = UINT64_MAX},
	{.text = S_INIT("18446744073709551616"), .base = 10},
	{.text = S_INIT("99999999999999999999"), .base = 10},
	{.text = S_INIT("fF"), .base = 16, .good = true, .value = 255},
	{.text = S_INIT("ffffffffffffffff"), .base = 16, .good = true, .value = UINT64_MAX},
	{.text = S_INIT("10000000000000000"), .base = 16},
	{.text = S_INIT("0x10"), .base = 16},
	{.text = S_INIT("a"), .base = 10},
	{.text = S_INIT("-1"), .base = 10},
	{.text = S_INIT("+1"), .base = 10},
	{.text = S_INIT(" 1"), .base = 10},
	{.text = S_INIT(""), .base = 10},
};

static void numbers_are_whole_and_bounded(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++) {
		uint64_t n = 7;
		bool good = str_u64(numbers[i].text, numbers[i].base, &n);
		if (good != numbers[i].good)
			print_error("'%.*s'\n", STR(numbers[i].text));
		assert_int_equal(good, numbers[i].good);
		assert_true(n == (good ? numbers[i].value : 7));
	}
}

static void amounts_have_a_number_and_a_unit(void **state)
{
	(void)state;
	static const struct str_unit ages[] = {{"h", 3600}, {"d", 86400}, {0}};
	static const struct str good[] = {S_INIT("500000000"), S_INIT("500000000b"), S_INIT("500M"),
		S_INIT("500mb"), S_INIT("500000KB")};
	static const struct str bad[] = {S_INIT(""), S_INIT("M"), S_INIT("-1M"), S_INIT("2.5G"),
		S_INIT("1 G"), S_INIT("1Gi"), S_INIT("18446744073709551615K"),
		S_INIT("99999999999T"), S_INIT("1d")};
	uint64_t n = 0;
	for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++)
		assert_true(str_amount(good[i], str_sizes, &n) && n == 500000000);
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		assert_false(str_amount(bad[i], str_sizes, &n));
	assert_true(str_amount(S("2GiB"), str_sizes, &n) && n == UINT64_C(2) << 30);
	assert_false(str_amount(S("500"), str_sizes + 1, &n));
	assert_true(str_amount(S("14D"), ages, &n) && n == 14 * 86400);
	assert_false(str_amount(S("14"), ages, &n));
}

static void texts_are_told_by_their_characters(void **state)
{
	(void)state;
	assert_true(str_is_plain(S("a \xc3\xa4"), ""));
	assert_false(str_is_plain(S("a b"), "; "));
	assert_false(str_is_plain(S("a\nb"), ""));
	assert_false(str_is_plain(S("a\0b"), ""));
	assert_false(str_is_plain(S("a\x7f"), ""));
	assert_true(str_is_plain(S(""), "a"));
	assert_true(str_is_hex(S("0123456789abcdef")));
	assert_false(str_is_hex(S("A")));
	assert_false(str_is_hex(S("0g")));
	assert_false(str_is_hex(S("0\0")));
}

static void copies_end_in_nul(void **state)
{
	(void)state;
	ARENA(a);
	struct str d = str_dup(&a, str_sub(S("hello"), 0, 2));
	assert_str(d, "he");
	assert_int_equal(d.p[2], 0);
	assert_string_equal(str_z(&a, (struct str){0}), "");
	assert_str(str_fmt(&a, "%s-%d", "x", 3), "x-3");
	assert_str(str_lower(&a, S("GfX1100:XNACK+")), "gfx1100:xnack+");
}

static void a_word_for_a_shell_is_quoted_when_it_must_be(void **state)
{
	(void)state;
	ARENA(a);
	assert_str(
		str_shell(&a, S("/opt/rocm-7.1:a_b,c=1+2@x%y^z")), "/opt/rocm-7.1:a_b,c=1+2@x%y^z");
	assert_str(str_shell(&a, S("")), "''");
	assert_str(str_shell(&a, S("a b;$c")), "'a b;$c'");
	assert_str(str_shell(&a, S("it's")), "'it'\\''s'");
	assert_str(str_shell(&a, S("~")), "'~'");
	assert_str(str_shell(&a, S("\xc3\xa9")), "'\xc3\xa9'");
	assert_str(str_shell(&a, S("a b\n'\\\x1b")), "$'a b\\012\\047\\134\\033'");
	assert_str(str_shell(&a, S("\xff\x7f")), "$'\\377\\177'");
}

static void lists_join_split_and_sort(void **state)
{
	(void)state;
	ARENA(a);
	struct strs list = str_split(&a, S(" b , a,,\tc ,"), ',');
	assert_int_equal(list.n, 3);
	assert_str(str_join(&a, &list, S("+")), "b+a+c");
	strs_sort(&list);
	assert_str(str_join(&a, &list, S("")), "abc");
	assert_true(strs_has(&list, S("c")));
	assert_false(strs_has(&list, S("cc")));
	struct strs none = {0};
	strs_sort(&none);
	assert_str(str_join(&a, &none, S(",")), "");
	strs_add_words(&a, &none, NULL);
	assert_int_equal(none.n, 0);
	strs_add_words(&a, &list, (const char *const[]){"c", "", NULL});
	assert_str(str_join(&a, &list, S(",")), "a,b,c,c,");
	assert_int_equal(str_split(&a, S(""), ',').n, 0);
}

static void a_word_is_put_into_a_list_once(void **state)
{
	(void)state;
	ARENA(a);
	struct strs list = {0};
	assert_true(strs_put(&a, &list, S("hip")));
	assert_true(strs_put(&a, &list, S("")));
	assert_false(strs_put(&a, &list, S("hip")));
	assert_true(strs_put(&a, &list, S("hi")));
	assert_str(str_join(&a, &list, S(",")), "hip,,hi");
}

static void builder_grows_and_stays_terminated(void **state)
{
	(void)state;
	ARENA(a);
	BUF(b, &a);
	assert_str(buf_str(&b), "");
	for (int i = 0; i < 1000; i++)
		buf_fmt(&b, "%03d,", i);
	struct str all = buf_str(&b);
	assert_int_equal(all.n, 4000);
	assert_int_equal(all.p[all.n], 0);
	assert_str(str_sub(all, 3996, 4000), "999,");
	buf_char(&b, '!');
	buf_add(&b, (struct str){0});
	memcpy(buf_space(&b, 3), "end", 3);
	assert_true(str_ends(buf_str(&b), S("999,!end")));
}

static void builders_that_share_an_arena_do_not_mix(void **state)
{
	(void)state;
	ARENA(a);
	BUF(x, &a);
	BUF(y, &a);
	for (int i = 0; i < 500; i++) {
		buf_char(&x, 'x');
		buf_char(&y, 'y');
	}
	assert_int_equal(buf_str(&x).n, 500);
	assert_int_equal(str_chr(buf_str(&x), 'y'), 500);
	assert_int_equal(str_chr(buf_str(&y), 'x'), 500);
}

static void a_builder_may_add_its_own_text(void **state)
{
	(void)state;
	ARENA(a);
	BUF(b, &a);
	buf_add(&b, S("abcdefgh"));
	for (int i = 0; i < 6; i++) {
		(void)arena_alloc(&a, 1); /* the next growth has to move */
		buf_add(&b, buf_str(&b));
	}
	assert_int_equal(buf_str(&b).n, 8u << 6);
	assert_true(str_ends(buf_str(&b), S("abcdefghabcdefgh")));
}

static void arrays_grow_with_zeroed_slots(void **state)
{
	(void)state;
	ARENA(a);
	VEC(uint64_t) v = {0};
	for (uint64_t i = 0; i < 1000; i++) {
		uint64_t *slot = VEC_PUSH(&a, &v);
		assert_true(*slot == 0);
		*slot = i;
	}
	uint64_t sum = 0;
	VEC_EACH (uint64_t, it, &v)
		sum += *it;
	assert_true(sum == 499500);
	VEC(int) empty = {0};
	VEC_EACH (int, it, &empty)
		fail();
}

static void elements_are_found_by_a_text_of_theirs(void **state)
{
	(void)state;
	ARENA(a);
	struct part {
		int n;
		struct str name;
	};
	VEC(struct part) parts = {0};
	assert_null(VEC_FIND(struct part, &parts, name, S("")));
	*VEC_PUSH(&a, &parts) = (struct part){1, S("hip")};
	*VEC_PUSH(&a, &parts) = (struct part){2, S("hipcc")};
	*VEC_PUSH(&a, &parts) = (struct part){3, S("hip")};
	assert_int_equal(VEC_FIND(struct part, &parts, name, S("hip"))->n, 1);
	assert_ptr_equal(VEC_FIND(const struct part, &parts, name, S("hipcc")), &parts.v[1]);
	assert_null(VEC_FIND(struct part, &parts, name, S("hi")));
	parts.n = 1;
	assert_null(VEC_FIND(struct part, &parts, name, S("hipcc")));
}

static void texts_are_cut_between_characters(void **state)
{
	(void)state;
	/* a, two bytes, three, four, one that is no UTF-8, b */
	const struct str s = S("a\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80\xff"
			       "b");
	static const size_t ends[] = {0, 1, 1, 3, 3, 3, 6, 6, 6, 6, 10, 11, 12, 12};
	static const size_t of_characters[] = {0, 1, 3, 6, 10, 11, 12, 12};
	for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++)
		assert_int_equal(utf8_fit(s, i, 99), ends[i]);
	for (size_t i = 0; i < sizeof(of_characters) / sizeof(*of_characters); i++)
		assert_int_equal(utf8_fit(s, 99, i), of_characters[i]);
	assert_int_equal(utf8_fit(S(""), 5, 5), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(views_are_compared_by_bytes),
		cmocka_unit_test(pieces_are_clamped),
		cmocka_unit_test(prefixes_and_suffixes_are_found),
		cmocka_unit_test(searching_gives_the_length_when_nothing_is_there),
		cmocka_unit_test(cutting_splits_at_the_first_separator),
		cmocka_unit_test(lines_come_one_by_one),
		cmocka_unit_test(white_space_is_trimmed),
		cmocka_unit_test(numbers_are_whole_and_bounded),
		cmocka_unit_test(amounts_have_a_number_and_a_unit),
		cmocka_unit_test(texts_are_told_by_their_characters),
		cmocka_unit_test(copies_end_in_nul),
		cmocka_unit_test(a_word_for_a_shell_is_quoted_when_it_must_be),
		cmocka_unit_test(lists_join_split_and_sort),
		cmocka_unit_test(a_word_is_put_into_a_list_once),
		cmocka_unit_test(builder_grows_and_stays_terminated),
		cmocka_unit_test(builders_that_share_an_arena_do_not_mix),
		cmocka_unit_test(a_builder_may_add_its_own_text),
		cmocka_unit_test(texts_are_cut_between_characters),
		cmocka_unit_test(arrays_grow_with_zeroed_slots),
		cmocka_unit_test(elements_are_found_by_a_text_of_theirs),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* MessagePack, against the examples of its specification and against python's msgpack layout of an
 * AMD metadata note. */
#include "unit/test.h"

#include "formats/msgpack.h"

#define BYTES(lit) ((struct str){.p = (lit), .n = sizeof(lit) - 1})

static void reads_every_kind(void **state)
{
	(void)state;
	static const struct {
		const char *bytes;
		size_t n;
		enum msgpack_kind kind;
		int64_t number;
		const char *text;
	} cases[] = {
#define CASE(lit, k, num, txt)                                                                     \
	{.bytes = (lit), .n = sizeof(lit) - 1, .kind = (k), .number = (num), .text = (txt)}
		CASE("\xc0", MSGPACK_NIL, 0, ""),
		CASE("\xc2", MSGPACK_BOOL, 0, ""),
		CASE("\xc3", MSGPACK_BOOL, 1, ""),
		CASE("\x7f", MSGPACK_UINT, 127, ""),
		CASE("\xff", MSGPACK_INT, -1, ""),
		CASE("\xe0", MSGPACK_INT, -32, ""),
		CASE("\xcc\xff", MSGPACK_UINT, 255, ""),
		CASE("\xcd\x12\x34", MSGPACK_UINT, 0x1234, ""),
		CASE("\xce\x12\x34\x56\x78", MSGPACK_UINT, 0x12345678, ""),
		CASE("\xcf\x01\x02\x03\x04\x05\x06\x07\x08", MSGPACK_UINT, 0x102030405060708, ""),
		CASE("\xd0\x80", MSGPACK_INT, -128, ""),
		CASE("\xd1\xff\x00", MSGPACK_INT, -256, ""),
		CASE("\xd2\xff\xff\xff\xfe", MSGPACK_INT, -2, ""),
		CASE("\xd3\xff\xff\xff\xff\xff\xff\xff\xfd", MSGPACK_INT, -3, ""),
		CASE("\xca\x3f\x80\x00\x00", MSGPACK_FLOAT, 0x3f800000, ""),
		CASE("\xcb\x3f\xf0\x00\x00\x00\x00\x00\x00", MSGPACK_FLOAT, 0x3ff0000000000000, ""),
		CASE("\xa3"
		     "abc",
			MSGPACK_STR, 3, "abc"),
		CASE("\xd9\x02hi", MSGPACK_STR, 2, "hi"),
		CASE("\xda\x00\x02hi", MSGPACK_STR, 2, "hi"),
		CASE("\xdb\x00\x00\x00\x02hi", MSGPACK_STR, 2, "hi"),
		CASE("\xc4\x02hi", MSGPACK_BIN, 2, "hi"),
		CASE("\xc5\x00\x02hi", MSGPACK_BIN, 2, "hi"),
		CASE("\xc6\x00\x00\x00\x02hi", MSGPACK_BIN, 2, "hi"),
		CASE("\xd5\x01hi", MSGPACK_EXT, 1, "hi"),
		CASE("\xc7\x02\x01hi", MSGPACK_EXT, 2, "hi"),
		CASE("\x93", MSGPACK_ARRAY, 3, ""),
		CASE("\xdc\x01\x00", MSGPACK_ARRAY, 256, ""),
		CASE("\xdd\x00\x01\x00\x00", MSGPACK_ARRAY, 65536, ""),
		CASE("\x82", MSGPACK_MAP, 2, ""),
		CASE("\xde\x01\x00", MSGPACK_MAP, 256, ""),
		CASE("\xdf\x00\x01\x00\x00", MSGPACK_MAP, 65536, ""),
#undef CASE
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct str rest = {.p = cases[i].bytes, .n = cases[i].n};
		struct msgpack_value v;
		assert_true(msgpack_next(&rest, &v));
		assert_int_equal(v.kind, cases[i].kind);
		if (v.kind != MSGPACK_EXT)
			assert_true((int64_t)v.number == cases[i].number);
		assert_str(v.text, cases[i].text);
		assert_int_equal(rest.n, 0);
		for (size_t n = 0; n < cases[i].n; n++) { /* every cut is noticed */
			rest = (struct str){.p = cases[i].bytes, .n = n};
			assert_false(msgpack_next(&rest, &v));
		}
	}
}

static void refuses_the_unused_byte(void **state)
{
	(void)state;
	struct str rest = BYTES("\xc1");
	struct msgpack_value v;
	assert_false(msgpack_next(&rest, &v));
	rest = S("");
	assert_false(msgpack_next(&rest, &v));
	assert_false(msgpack_find(&rest, 1, S("z")));
}

static void skips_what_is_inside(void **state)
{
	(void)state;
	/* the key {"a": [1, {"b": nil}], "c": "x"} with the value 0, then "z" with 7 */
	struct str rest = BYTES("\x82\xa1"
				"a\x92\x01\x81\xa1"
				"b\xc0\xa1"
				"c\xa1x\x00\xa1"
				"z\x07");
	struct msgpack_value v;
	assert_true(msgpack_find(&rest, 2, S("z")));
	assert_true(msgpack_next(&rest, &v));
	assert_int_equal(v.number, 7);
	rest = BYTES("\xdd\xff\xff\xff\xff\x01\x02"); /* four billion values in two bytes */
	assert_false(msgpack_find(&rest, 2, S("z")));
}

static void deep_nesting_takes_no_stack(void **state)
{
	(void)state;
	ARENA(a);
	enum { DEPTH = 1 << 20 };
	char *p = arena_alloc(&a, DEPTH + 4);
	memset(p, '\x91', DEPTH); /* a key around a 0, and its value 0 */
	memcpy(p + DEPTH + 2, "\xa1z", 2);
	struct str rest = {.p = p, .n = DEPTH + 4};
	assert_true(msgpack_find(&rest, 2, S("z")));
	assert_int_equal(rest.n, 0);
}

static void finds_a_key(void **state)
{
	(void)state;
	struct str map = BYTES("\xa1"
			       "a\x92\x01\x02\x05\x06\xa1"
			       "c\x2a");
	struct msgpack_value v;
	struct str rest = map;
	assert_true(msgpack_find(&rest, 3, S("c")));
	assert_true(msgpack_next(&rest, &v));
	assert_int_equal(v.number, 42);
	rest = map;
	assert_false(msgpack_find(&rest, 2, S("c")));
	rest = map;
	assert_false(msgpack_find(&rest, 9, S("d")));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_every_kind),
		cmocka_unit_test(refuses_the_unused_byte),
		cmocka_unit_test(skips_what_is_inside),
		cmocka_unit_test(deep_nesting_takes_no_stack),
		cmocka_unit_test(finds_a_key),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

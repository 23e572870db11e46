/* Records: what is packed is read back, and damage anywhere makes all that follows nothing. */
#include "test.h"

#include "formats/le.h"

static struct unpack from(struct str s)
{
	return (struct unpack){.s = s};
}

static void what_is_packed_reads_back(void **state)
{
	(void)state;
	ARENA(a);
	BUF(b, &a);
	buf_le(&b, 0x1122334455667788, 8);
	buf_le(&b, 0xfedc, 2);
	buf_le(&b, 1, 1);
	buf_le(&b, 7, 1);
	pack_text(&b, S("text"));
	pack_text(&b, S(""));
	pack_text(&b, S("with\0nul"));
	buf_le(&b, 2, 4);
	buf_add(&b, S("rest"));
	for (size_t n = 0; n <= b.n; n++) { /* cut anywhere */
		struct unpack u = from(str_sub(buf_str(&b), 0, n));
		bool whole = n == b.n;
		assert_true(unpack_u64(&u, 8) == (n >= 8 ? 0x1122334455667788 : 0));
		assert_int_equal(unpack_u64(&u, 2), n >= 10 ? 0xfedc : 0);
		assert_int_equal(unpack_bool(&u), n >= 11);
		assert_int_equal(unpack_kind(&u, 7), n >= 12 ? 7 : 0);
		assert_str(unpack_text(&u), n >= 21 ? "text" : "");
		assert_str(unpack_text(&u), "");
		assert_int_equal(unpack_bytes(&u).n, n >= 39 ? 8 : 0);
		assert_int_equal(unpack_count(&u, 2), whole ? 2 : 0);
		const char *rest = unpack_raw(&u, 4);
		assert_int_equal(u.bad, !whole);
		assert_true(whole ? !memcmp(rest, "rest", 4) : !rest);
		assert_int_equal(unpack_u64(&u, 1), 0); /* behind the end */
		assert_true(u.bad);
	}
}

/* Damage stays damage: what could be read behind it is not. */
static void what_is_damaged_is_bad_for_good(void **state)
{
	(void)state;
	enum kind { TEXT, BYTES, COUNT, KIND, RAW };
	static const struct {
		enum kind kind;
		struct str s;
		bool bad;
	} cases[] = {
		{TEXT, S_INIT("\1\0\0\0x\0more"), false},
		{TEXT, S_INIT("\1\0\0\0xymore"), true},     /* no NUL where it ends */
		{TEXT, S_INIT("\3\0\0\0x\0y\0more"), true}, /* one inside */
		{TEXT, S_INIT("\1\0\0\0x"), true},
		{TEXT, S_INIT("\377\377\377\377x\0more"), true},
		{BYTES, S_INIT("\3\0\0\0x\0y\0more"), false},
		{BYTES, S_INIT("\3\0\0\0x\0ymore"), true},
		{BYTES, S_INIT("\4\0\0\0abcd"), true},
		{COUNT, S_INIT("\2\0\0\0abcdef"), false}, /* of 3 bytes each */
		{COUNT, S_INIT("\2\0\0\0abcde"), true},
		{COUNT, S_INIT("\0\0\0\0more"), false},
		{KIND, S_INIT("\3more"), false}, /* up to 3 */
		{KIND, S_INIT("\4more"), true},
		{RAW, S_INIT("abcdmore"), false},
		{RAW, S_INIT("abc"), true}, /* 4 bytes */
		{RAW, S_INIT("abcd"), false},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct unpack u = from(cases[i].s);
		switch (cases[i].kind) {
		case TEXT:
			assert_str(unpack_text(&u), cases[i].bad ? "" : "x");
			break;
		case BYTES:
			assert_int_equal(unpack_bytes(&u).n, cases[i].bad ? 0 : 3);
			break;
		case COUNT:
			assert_true(unpack_count(&u, 3) == 0 || !cases[i].bad);
			break;
		case KIND:
			assert_int_equal(unpack_kind(&u, 3), cases[i].bad ? 0 : 3);
			break;
		case RAW:
			assert_int_equal(unpack_raw(&u, 4) == NULL, cases[i].bad);
			break;
		}
		if (u.bad != cases[i].bad)
			fail_msg("case %zu", i);
		assert_true(!u.bad || (unpack_u64(&u, 1) == 0 && u.bad));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_packed_reads_back),
		cmocka_unit_test(what_is_damaged_is_bad_for_good),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

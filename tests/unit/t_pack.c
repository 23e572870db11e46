/* Records: what is packed is read back, and damage anywhere makes all that follows nothing. */
#include "test.h"

#include "formats/le.h"

/* Values that are read; what was there before does not matter. */
static uint64_t number(struct record *r)
{
	uint64_t v = 99;
	record_u64(r, &v);
	return v;
}

static struct str text(struct record *r)
{
	struct str s = S("before");
	record_text(r, &s);
	return s;
}

static struct str bytes(struct record *r)
{
	struct str s = S("before");
	record_bytes(r, &s);
	return s;
}

static unsigned kind_up_to(struct record *r, unsigned last)
{
	enum { NONE, HIGH = 99 } kind = HIGH;
	record_kind(r, &kind, last);
	return kind;
}

static size_t count(struct record *r, size_t least)
{
	struct strs list = {.n = 99};
	record_list(r, &list, sizeof(*list.v), least);
	return list.n;
}

static void what_is_packed_reads_back(void **state)
{
	(void)state;
	ARENA(a);
	BUF(b, &a);
	struct record w = {.out = &b};
	uint64_t eight = 0x1122334455667788;
	unsigned four = 0xfedc, kind = 7;
	bool yes = true;
	struct str one = S("text"), none = S(""), nul = S("with\0nul"), end = S("rest");
	struct strs two = {.n = 2};
	record_u64(&w, &eight);
	record_u32(&w, &four);
	record_bool(&w, &yes);
	record_kind(&w, &kind, 7);
	record_text(&w, &one);
	record_text(&w, &none);
	record_bytes(&w, &nul);
	record_list(&w, &two, sizeof(*two.v), 2);
	record_raw(&w, (void *)(uintptr_t)end.p, end.n);
	assert_true(!w.bad && eight == 0x1122334455667788 && four == 0xfedc && yes && kind == 7);
	for (size_t n = 0; n <= b.n; n++) { /* cut anywhere */
		struct record u = {.a = &a, .in = str_sub(buf_str(&b), 0, n)};
		bool whole = n == b.n;
		char rest[4] = "";
		assert_true(number(&u) == (n >= 8 ? 0x1122334455667788 : 0));
		record_u32(&u, &four);
		assert_int_equal(four, n >= 12 ? 0xfedc : 0);
		record_bool(&u, &yes);
		assert_int_equal(yes, n >= 13);
		assert_int_equal(kind_up_to(&u, 7), n >= 14 ? 7 : 0);
		assert_str(text(&u), n >= 23 ? "text" : "");
		assert_str(text(&u), "");
		assert_int_equal(bytes(&u).n, n >= 41 ? 8 : 0);
		assert_int_equal(count(&u, 2), whole ? 2 : 0);
		record_raw(&u, rest, 4);
		assert_int_equal(u.bad, !whole);
		assert_int_equal(memcmp(rest, whole ? "rest" : "\0\0\0", 4), 0);
		assert_int_equal(number(&u), 0); /* behind the end */
		assert_true(u.bad);
	}
}

/* Damage stays damage: what could be read behind it is not. */
static void what_is_damaged_is_bad_for_good(void **state)
{
	(void)state;
	ARENA(a);
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
		struct record u = {.a = &a, .in = cases[i].s};
		char raw[4] = "";
		bool yes = true;
		switch (cases[i].kind) {
		case TEXT:
			assert_str(text(&u), cases[i].bad ? "" : "x");
			break;
		case BYTES:
			assert_int_equal(bytes(&u).n, cases[i].bad ? 0 : 3);
			break;
		case COUNT:
			assert_true(count(&u, 3) == 0 || !cases[i].bad);
			break;
		case KIND:
			assert_int_equal(kind_up_to(&u, 3), cases[i].bad ? 0 : 3);
			break;
		case RAW:
			record_raw(&u, raw, 4);
			assert_int_equal(raw[0], cases[i].bad ? 0 : 'a');
			break;
		}
		if (u.bad != cases[i].bad)
			fail_msg("case %zu", i);
		bool bad = u.bad;
		record_bool(&u, &yes);
		assert_true(!bad || (!yes && u.bad));
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

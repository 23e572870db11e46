/* Names in the import tables of images that are made here; oracle/fat_wheel.py has llvm-readobj read such ones. */
#include "fixture_said.h"
#include "test.h"

#include "formats/le.h"
#include "formats/pe.h"

enum { RAW = 0x200, RVA = 0x1000, LFANEW = 0x40, OPT = LFANEW + 24, SECTION = OPT + 240 };

/* Names that are imported, and those that are when first used; each NULL-terminated. */
static char *image(struct arena *a, const char *const *now, const char *const *later, size_t *ret_n)
{
	BUF(b, a);
	buf_space(&b, RAW);
	size_t count[2] = {0, 0};
	while (now[count[0]])
		count[0]++;
	while (later[count[1]])
		count[1]++;
	size_t delay = (count[0] + 1) * 20, names = delay + (count[1] + 1) * 32;
	buf_space(&b, names);
	for (unsigned t = 0; t < 2; t++)
		for (size_t i = 0; i < count[t]; i++) {
			size_t at = RAW + (t ? delay + i * 32 + 4 : i * 20 + 12);
			put_le(b.p + at, RVA + b.n - RAW, 4);
			buf_add(&b, str_from((t ? later : now)[i]));
			buf_char(&b, 0);
		}
	memcpy(b.p, "MZ", 2);
	put_le(b.p + 60, LFANEW, 4);
	memcpy(b.p + LFANEW, "PE\0\0\x64\x86\1", 7);
	put_le(b.p + LFANEW + 20, 240, 2);
	put_le(b.p + OPT, 0x20b, 2);
	put_le(b.p + OPT + 108, 16, 4);
	put_le(b.p + OPT + 112 + 8, RVA, 4);
	put_le(b.p + OPT + 112 + 8 * 13, count[1] ? RVA + delay : 0, 4);
	put_le(b.p + SECTION + 8, b.n - RAW, 4);
	put_le(b.p + SECTION + 12, RVA, 4);
	put_le(b.p + SECTION + 16, b.n - RAW, 4);
	put_le(b.p + SECTION + 20, RAW, 4);
	*ret_n = b.n;
	return b.p;
}

static struct err *read(struct arena *a, const char *p, size_t n, struct strs *ret)
{
	struct bytes src = bytes_mem((struct str){p, n});
	return pe_imports(a, &src, ret);
}

static const char *const some[] = {"amdhip64_7.dll", "KERNEL32.dll", NULL};
static const char *const more[] = {"rocblas.dll", NULL};
static const char *const none[] = {NULL};

static void both_tables_are_read(void **state)
{
	ARENA(a);
	struct strs names;
	size_t n;
	(void)state;
	char *p = image(&a, some, more, &n);
	assert_ok(read(&a, p, n, &names));
	assert_str(str_join(&a, &names, S(" ")), "amdhip64_7.dll KERNEL32.dll rocblas.dll");
	p = image(&a, none, none, &n);
	assert_ok(read(&a, p, n, &names));
	assert_int_equal(names.n, 0);
	put_le(p + OPT + 108, 1, 4); /* no table at all */
	assert_ok(read(&a, p, n, &names));
}

static void damage_is_an_error(void **state)
{
	ARENA(a);
	struct strs names;
	size_t n;
	(void)state;
	char *p = image(&a, some, more, &n);
	assert_err(read(&a, p, n - 3, &names), E_FORMAT); /* the last name does not end */
	assert_err(read(&a, p, 50, &names), E_FORMAT);
	assert_err(read(&a, p, SECTION + 3, &names), E_FORMAT);
	put_le(p + RAW + 12, 0x7fffffff, 4);
	assert_err(read(&a, p, n, &names), E_FORMAT);
	p = image(&a, some, more, &n);
	put_le(p + OPT + 112 + 8, 0x7fffffff, 4);
	assert_err(read(&a, p, n, &names), E_FORMAT);
	p = image(&a, some, more, &n);
	put_le(p + OPT, 0x10b, 2); /* of 32 bits */
	assert_err_says(read(&a, p, n, &names), E_FORMAT, "no 64-bit");
	p = image(&a, some, more, &n);
	put_le(p + LFANEW + 6, 97, 2);
	assert_err(read(&a, p, n, &names), E_FORMAT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(both_tables_are_read),
		cmocka_unit_test(damage_is_an_error),
		cmocka_unit_test(all_is_said_as_recorded),
	};
	said_begin("pe_imports");
	return cmocka_run_group_tests(tests, NULL, NULL);
}

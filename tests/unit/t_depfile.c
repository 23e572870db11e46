/* Dependency files of compilers: formats/depfile.h. */
#include "test.h"

#include "formats/depfile.h"

static struct str deps(struct arena *a, const char *text)
{
	struct strs list;
	depfile_parse(a, str_from(text), &list);
	return str_join(a, &list, S("|"));
}

static void prerequisites_are_listed_once(void **state)
{
	(void)state;
	ARENA(a);
	assert_str(deps(&a, "a.o: a.cu b.h \\\n  c.h b.h\n"), "a.cu|b.h|c.h");
	assert_str(deps(&a, "a.o: a.cu \\\r\n  c.h\r\n"), "a.cu|c.h");
	assert_str(deps(&a, "a.o b.o : x.h\n\nc.o: y.h"), "x.h|y.h");
	assert_str(deps(&a, "a.o: /abs/x.h ../y.h"), "/abs/x.h|../y.h");
	assert_str(deps(&a, "a.o:\\\n a.cu"), "a.cu");
}

/* What clang writes for the names `a b`, `a#b`, `a$b`, `a\b`, `a\ b`. */
static void escapes_are_undone(void **state)
{
	(void)state;
	ARENA(a);
	assert_str(deps(&a, "o: a\\ b"), "a b");
	assert_str(deps(&a, "o: a\\#b"), "a#b");
	assert_str(deps(&a, "o: a$$b"), "a$b");
	assert_str(deps(&a, "o: a\\b"), "a\\b");
	assert_str(deps(&a, "o: a\\\\\\ b"), "a\\ b");
	assert_str(deps(&a, "o: a\\\\ b"), "a\\|b");
	assert_str(deps(&a, "o: C:\\x\\y.h"), "C:\\x\\y.h");
}

static void bytes_that_are_no_rule_give_nothing(void **state)
{
	(void)state;
	ARENA(a);
	assert_str(deps(&a, ""), "");
	assert_str(deps(&a, "\n\n\n"), "");
	assert_str(deps(&a, "no colon here"), "");
	assert_str(deps(&a, "a.o:"), "");
	assert_str(deps(&a, "\\"), "");
	assert_str(deps(&a, "a.o: \\"), "\\");
	assert_str(deps(&a, "a.o: x\\\n"), "x");
	assert_str(deps(&a, "a.o: x\\\ry"), "x\\|y"); /* no line end: it once hung here */
	assert_str(deps(&a, "a.o: x\\\\\ny"), "x\\|y");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(prerequisites_are_listed_once),
		cmocka_unit_test(escapes_are_undone),
		cmocka_unit_test(bytes_that_are_no_rule_give_nothing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Error chains: base/err.h, errs.def. */
#include "test.h"

#include <errno.h>

static void codes_have_unique_ids_in_order(void **state)
{
	(void)state;
	for (unsigned i = 1; i < E_COUNT; i++) {
		enum errcode code = (enum errcode)i;
		assert_int_equal(strlen(err_id(code)), 5);
		if (i > 1)
			assert_true(strcmp(err_id((enum errcode)(i - 1)), err_id(code)) < 0);
	}
}

static void exit_statuses_are_the_documented_ones(void **state)
{
	(void)state;
	for (unsigned i = 1; i < E_COUNT; i++) {
		int s = err_status((enum errcode)i);
		assert_true((s >= 1 && s <= 5) || s == 70 || s == 130);
	}
	assert_int_equal(err_status(E_NONE), 0);
}

static struct err *deep(void)
{
	return err_new(E_SYNTAX, "bad '%s'", "x");
}

static struct err *middle(void)
{
	TRY_CTX(deep(), "cannot read '%s'", "file");
	return NULL;
}

static struct err *outer(void)
{
	TRY(middle());
	return err_new(E_INTERNAL, "not reached");
}

static void causes_chain_and_keep_the_code(void **state)
{
	(void)state;
	CLEANUP(err_freep) struct err *e = outer();
	assert_int_equal(e->code, E_SYNTAX);
	assert_string_equal(e->msg, "cannot read 'file'");
	assert_string_equal(e->cause->msg, "bad 'x'");
	assert_null(e->cause->cause);
}

static const struct {
	int no;
	enum errcode code;
} errnos[] = {
	{.no = ENOSPC, .code = E_NOSPACE},
	{.no = EDQUOT, .code = E_NOSPACE},
	{.no = EACCES, .code = E_PERM},
	{.no = EPERM, .code = E_PERM},
	{.no = EROFS, .code = E_PERM},
	{.no = ENOENT, .code = E_NOENT},
	{.no = ENOTDIR, .code = E_NOENT},
	{.no = EIO, .code = E_IO},
};

static void errno_chooses_the_code(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(errnos) / sizeof(*errnos); i++) {
		errno = errnos[i].no;
		CLEANUP(err_freep) struct err *e = err_errno("cannot do '%d'", 3);
		assert_int_equal(e->code, errnos[i].code);
		assert_string_equal(e->msg, "cannot do '3'");
		assert_string_equal(e->cause->msg, strerror(errnos[i].no));
	}
}

static void hints_keep_their_order(void **state)
{
	(void)state;
	CLEANUP(err_freep) struct err *e = err_new(E_USAGE, "x");
	assert_ptr_equal(err_hint(e, "first %d", 1), e);
	err_hint(e, "second");
	assert_string_equal(e->hints->text, "first 1");
	assert_string_equal(e->hints->next->text, "second");
	assert_null(e->hints->next->next);
}

static void places_and_details_are_copied(void **state)
{
	(void)state;
	char path[] = "a.yaml!";
	CLEANUP(err_freep) struct err *e = err_new(E_SYNTAX, "x");
	err_at(e, (struct loc){.path = {.p = path, .n = 6}, .line = 3, .col = 7});
	path[0] = 'X';
	assert_string_equal(e->path, "a.yaml");
	assert_int_equal(e->line, 3);
	assert_int_equal(e->col, 7);
	err_at(e, (struct loc){.path = S("b"), .line = 1});
	assert_string_equal(e->path, "b");
	err_detail(e, S("one"));
	err_detail(e, S("two"));
	assert_string_equal(e->detail, "two");
	err_detail(e, (struct str){.p = "a\0b", .n = 3});
	assert_string_equal(e->detail, "a b");
}

static void second_failures_are_joined(void **state)
{
	(void)state;
	struct err *a = err_new(E_IO, "a");
	assert_ptr_equal(err_join(a, NULL), a);
	assert_ptr_equal(err_join(NULL, a), a);
	assert_null(err_join(NULL, NULL));
	a = err_join(a, err_new(E_IO, "b"));
	a = err_join(a, err_new(E_IO, "c"));
	assert_string_equal(a->also->msg, "b");
	assert_string_equal(a->also->also->msg, "c");
	err_free(a);
	err_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(codes_have_unique_ids_in_order),
		cmocka_unit_test(exit_statuses_are_the_documented_ones),
		cmocka_unit_test(causes_chain_and_keep_the_code),
		cmocka_unit_test(errno_chooses_the_code),
		cmocka_unit_test(hints_keep_their_order),
		cmocka_unit_test(places_and_details_are_copied),
		cmocka_unit_test(second_failures_are_joined),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

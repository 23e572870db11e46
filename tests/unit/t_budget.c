/* What a stranger's file may cost: formats/bytes.h, and findings that are too many or too long. The whole
 * program is measured on files that are meant to cost much by tests/oracle/budget.py. */
#include "test.h"

#include "fixture_elf.h"
#include "formats/bundle.h"
#include "formats/finding.h"

static void what_is_spent_is_gone_and_memory_comes_back(void **state)
{
	(void)state;
	struct budget b = {.work = 10, .memory = 10};
	assert_ok(budget_work(&b, 4));
	assert_err(budget_work(&b, 7), E_LIMIT);
	assert_ok(budget_work(&b, 6));
	assert_err(budget_work(&b, 1), E_LIMIT);
	assert_ok(budget_memory(&b, 10));
	assert_err(budget_memory(&b, 1), E_LIMIT);
	budget_return(&b, 10);
	assert_ok(budget_memory(&b, 10));
	assert_ok(budget_work(NULL, UINT64_MAX));
	assert_ok(budget_memory(NULL, UINT64_MAX));
	budget_return(NULL, 1);
}

static void large_files_may_cost_more_to_an_end(void **state)
{
	(void)state;
	struct budget none, small, large, most;
	budget_set(&none, 0);
	budget_set(&small, 10000000);
	budget_set(&large, 10000001);
	budget_set(&most, UINT64_MAX);
	assert_true(none.work == small.work && none.memory == small.memory);
	assert_true(large.work == small.work + 256 && large.memory == small.memory + 32);
	assert_true(most.work == small.work + (UINT64_C(1) << 40));
}

/* Whatever way a source is read. */
static void reading_is_at_the_cost_of_the_source(void **state)
{
	(void)state;
	ARENA(a);
	char bytes[100];
	struct str text;
	struct budget b = {.work = 1000, .memory = 150};
	struct bytes src = bytes_mem(str_from("0123456789"));
	src.budget = &b;
	assert_ok(bytes_read(&src, bytes, 10, 0));
	assert_true(b.work < 1000);
	struct bytes part = bytes_sub(&src, 2, 4);
	assert_ok(bytes_slice(&a, &part, 0, 4, &text));
	assert_true(b.memory == 146);
	b.work = 3;
	assert_err(bytes_read(&part, bytes, 4, 0), E_LIMIT);
}

static struct err *piece(void *user, const void *p, size_t n, uint64_t at, bool *stop)
{
	(void)p, (void)at, (void)stop;
	*(uint64_t *)user += n;
	return NULL;
}

static void unpacking_is_work_and_its_window_memory(void **state)
{
	(void)state;
	enum { SIZE = 1 << 20 };
	ARENA(a);
	struct fx_entry e[] = {{.id = "hipv4-amdgcn-amd-amdhsa--gfx90a",
		.bytes = {.p = arena_alloc(&a, SIZE), .n = SIZE}}};
	for (unsigned zstd = 0; zstd < 2; zstd++) {
		struct str image = fx_ccob(&a, fx_bundle(&a, e, 1, 4096), 3, zstd);
		struct budget b = {.work = 4 * SIZE, .memory = 2 * SIZE};
		struct bytes src = bytes_mem(image);
		struct bundle bundle;
		uint64_t got = 0;
		src.budget = &b;
		assert_ok(bundle_open(&a, &src, 0, image.n, &bundle));
		assert_ok(bundle_decode(&src, &bundle, piece, &got));
		assert_int_equal(got, bundle.size);
		assert_true(b.work < 3 * SIZE && b.memory == 2 * SIZE);
		b.memory = SIZE;
		if (zstd)
			assert_err(bundle_decode(&src, &bundle, piece, &got), E_LIMIT);
		b.memory = 2 * SIZE;
		b.work = SIZE;
		assert_err(bundle_decode(&src, &bundle, piece, &got), E_LIMIT);
	}
}

static void findings_of_a_kind_are_counted_at_last(void **state)
{
	(void)state;
	ARENA(a);
	struct findings list = {.most = 3};
	for (unsigned i = 0; i < 10; i++) {
		struct finding *f = finding_add(&a, &list, "rpath-empty",
			i == 7 ? SEV_ERROR : SEV_WARNING, str_fmt(&a, "%u", i));
		finding_say(&a, f, "number %u", i);
		finding_fix(&a, f, "remove %u", i);
		if (i == 4)
			finding_say(
				&a, finding_add(&a, &list, "rpath-rocm", SEV_INFO, S("x")), "y");
	}
	assert_int_equal(list.n, 5);
	assert_str(list.v[2].message, "number 2");
	assert_int_equal(list.v[2].fix.n, 1);
	assert_string_equal(list.v[3].id, "more-findings");
	assert_str(list.v[3].path, "3");
	assert_str(list.v[3].message, "7 more of the findings 'rpath-empty' are not shown");
	assert_int_equal(list.v[3].severity, SEV_ERROR);
	assert_int_equal(list.v[3].fix.n, 0);
	assert_string_equal(list.v[4].id, "rpath-rocm");
	struct findings all = {0};
	for (unsigned i = 0; i < 100; i++)
		finding_say(&a, finding_add(&a, &all, "rpath-rocm", SEV_INFO, S("x")), "y");
	assert_int_equal(all.n, 100);
}

static void long_texts_are_cut_between_characters(void **state)
{
	(void)state;
	ARENA(a);
	BUF(b, &a);
	struct findings list = {0};
	for (unsigned i = 0; i < 500; i++)
		buf_add(&b, S("\xc3\xa4"));
	for (unsigned i = 0; i < 3; i++) {
		struct str text = buf_str(&b);
		struct finding *f = finding_add(&a, &list, "rpath-rocm", SEV_INFO, text);
		finding_say(&a, f, "%s%.*s", i == 2 ? "" : "x", STR(text));
		finding_fix(&a, f, "%.*s%.*s", STR(text), STR(text));
		assert_int_equal(utf8_end(f->message), f->message.n);
		assert_int_equal(utf8_end(f->fix.v[0]), f->fix.v[0].n);
		assert_true(f->fix.v[0].n <= 1003 && str_ends(f->fix.v[0], S("\xc3\xa4...")));
		assert_int_equal(str_ends(f->message, S("...")), i < 2 || text.n > 1000);
		assert_int_equal(str_ends(f->path, S("...")), text.n > 1000);
		buf_add(&b, S("\xc3\xa4"));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_spent_is_gone_and_memory_comes_back),
		cmocka_unit_test(large_files_may_cost_more_to_an_end),
		cmocka_unit_test(reading_is_at_the_cost_of_the_source),
		cmocka_unit_test(unpacking_is_work_and_its_window_memory),
		cmocka_unit_test(findings_of_a_kind_are_counted_at_last),
		cmocka_unit_test(long_texts_are_cut_between_characters),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

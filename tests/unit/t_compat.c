/* The table of published wheels: its rows fit together, and a GPU finds its own. */
#include "know/compat.h"
#include "lang/python/version.h"
#include "target/target.h"
#include "test.h"

static const struct version *parsed(struct arena *a, const char *text)
{
	const struct version *v;
	assert_ok(version_parse(a, str_from(text), &v));
	return v;
}

static void rows_are_sorted_and_stand_on_evidence(void **state)
{
	(void)state;
	ARENA(a);
	for (size_t i = 0; i < compat_wheel_count; i++) {
		const struct compat_wheel *w = &compat_wheel_table()[i];
		bool fits;
		assert_true(w->evidence && *w->evidence && w->targets && *w->targets);
		assert_true((w->index != NULL) != (w->amd != NULL));
		assert_true(!w->uv || w->index);
		assert_true((w->measured != NULL) == (w->download || w->disk));
		assert_true(str_starts(str_from(w->install[0]), S("torch==")) ||
			    str_starts(str_from(w->install[0]), S("torch[device-{gpu}]==")));
		assert_int_equal(strlen(w->released), 7);
		assert_ok(version_match(parsed(&a, "3.12"), str_from(w->python), &fits));
		for (const char *const *t = w->targets; *t; t++)
			assert_non_null(gpu_by_name(str_from(*t)));
		for (const char *const *t = w->no_blas; t && *t; t++)
			assert_true(compat_serves(w->targets, str_from(*t), COMPAT_EXACT));
		if (!i)
			continue;
		const struct compat_wheel *before = w - 1;
		int torch = version_cmp(parsed(&a, before->torch), parsed(&a, w->torch));
		int rocm = version_cmp(parsed(&a, before->rocm), parsed(&a, w->rocm));
		assert_true(torch > 0 || (torch == 0 && rocm > 0));
	}
	for (size_t i = 0; i < compat_target_count; i++) {
		const struct compat_target *t = &compat_target_table()[i];
		assert_true(t->text && t->evidence && *t->evidence && (!t->as == !t->value));
		assert_non_null(gpu_by_name(str_from(t->target)));
		assert_true(!t->as || gpu_by_name(str_from(t->as)));
		assert_true(!i || strcmp(t[-1].target, t->target) < 0);
	}
}

/* A wheel of PyTorch's index pins by a prefix; AMD's local versions sort wrongly, so it pins exactly. */
static void requirements_pin_as_the_index_needs_it(void **state)
{
	(void)state;
	for (size_t i = 0; i < compat_wheel_count; i++)
		for (const char *const *r = compat_wheel_table()[i].install; *r; r++)
			assert_true(str_contains(str_from(*r), S("+rocm")) ==
				    (compat_wheel_table()[i].amd != NULL));
}

struct wanted {
	const char *target, *python;
	enum compat_how how;
	bool amd, unsure;
	const char *torch, *rocm; /* NULL: none */
};

static void a_gpu_finds_the_newest_wheel_that_fits(void **state)
{
	(void)state;
	static const struct wanted cases[] = {
		{"gfx1201", "3.12", COMPAT_EXACT, false, false, "2.14", "7.2"},
		{"gfx1201", "3.12", COMPAT_EXACT, true, false, "2.14", "10.1"},
		{"gfx1201", "3.12", COMPAT_EXACT, false, true, "2.14", "7.14"},
		{"gfx1201", "", COMPAT_EXACT, false, false, "2.14", "7.2"},
		{"gfx1201", "3.9", COMPAT_EXACT, false, false, "2.8", "6.4"},
		{"gfx1201", "3.8", COMPAT_EXACT, false, false, NULL, NULL},
		{"gfx1100", "3.8", COMPAT_EXACT, false, true, "2.4", "6.1"},
		{"gfx1151", "3.9", COMPAT_EXACT, false, false, NULL, NULL},
		{"gfx1150", "3.13", COMPAT_EXACT, true, false, "2.13", "10.0"},
		{"gfx1201", "3.15", COMPAT_EXACT, false, false, "2.14", "7.2"},
		{"gfx1201", "3.15", COMPAT_EXACT, true, false, NULL, NULL},
		{"gfx90a", "3.12", COMPAT_EXACT, true, false, "2.14", "10.1"},
		{"gfx1031", "3.12", COMPAT_EXACT, false, false, NULL, NULL},
		{"gfx1031", "3.12", COMPAT_OVERRIDE, false, false, "2.14", "7.2"},
		{"gfx1010", "3.12", COMPAT_OVERRIDE, false, false, NULL, NULL},
		{"gfx1201", "3.12", COMPAT_OVERRIDE, false, false, NULL, NULL},
		{"gfx1201", "3.12", COMPAT_GENERIC, false, false, NULL, NULL},
		{"gfx1201", "no version", COMPAT_EXACT, false, false, NULL, NULL},
		{"gfx9999", "", COMPAT_EXACT, false, false, NULL, NULL},
		{"", "", COMPAT_OVERRIDE, false, false, NULL, NULL},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct wanted *c = &cases[i];
		const struct compat_query q = {.target = str_from(c->target),
			.python = str_from(c->python),
			.how = c->how,
			.amd = c->amd,
			.unsure = c->unsure};
		const struct compat_wheel *w = compat_find(&q);
		if (!w != !c->torch ||
			(w && (strcmp(w->torch, c->torch) || strcmp(w->rocm, c->rocm))))
			fail_msg("case %zu: %s %s", i, w ? w->torch : "-", w ? w->rocm : "-");
	}
}

/* MI50: torch has its code in all wheels, rocBLAS in those before ROCm 6.4; a card beside it narrows the choice. */
static void rocblas_and_a_card_beside_it_count(void **state)
{
	(void)state;
	struct str other = S("gfx1201");
	const struct strs also = {&other, 1, 1};
	struct compat_query q = {.target = S("gfx906"), .python = S("3.12")};
	assert_string_equal(compat_find(&q)->rocm, "7.2");
	q.blas = true;
	assert_string_equal(compat_find(&q)->rocm, "6.3");
	q = (struct compat_query){.target = S("gfx908"), .amd = true, .also = &also};
	assert_string_equal(compat_find(&q)->rocm, "7.14");
	other = S("gfx900");
	assert_null(compat_find(&q));
	q = (struct compat_query){.target = S("gfx908"), .torch = S("2.12"), .rocm = S("7.2.1")};
	assert_string_equal(compat_find(&q)->torch, "2.12");
	assert_string_equal(compat_find(&q)->rocm, "7.2");
	q.torch = S("2.1"); /* 2.12 is no 2.1 */
	assert_null(compat_find(&q));
}

static void a_list_serves_by_name_or_by_a_generic_target(void **state)
{
	(void)state;
	static const char *const list[] = {"gfx11-generic", "gfx90a:xnack-", "gfx1030", NULL};
	assert_true(compat_serves(list, S("gfx1103"), COMPAT_GENERIC));
	assert_false(compat_serves(list, S("gfx1103"), COMPAT_EXACT));
	assert_true(compat_serves(list, S("gfx90a"), COMPAT_EXACT));
	assert_true(compat_serves(list, S("gfx1030"), COMPAT_EXACT));
	assert_false(compat_serves(list, S("gfx1030"), COMPAT_GENERIC));
	assert_true(compat_serves(list, S("gfx1035"), COMPAT_OVERRIDE));
	assert_false(compat_serves(list, S("gfx1033"), COMPAT_OVERRIDE));
	assert_false(compat_serves(NULL, S("gfx1030"), COMPAT_EXACT));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_are_sorted_and_stand_on_evidence),
		cmocka_unit_test(requirements_pin_as_the_index_needs_it),
		cmocka_unit_test(a_gpu_finds_the_newest_wheel_that_fits),
		cmocka_unit_test(rocblas_and_a_card_beside_it_count),
		cmocka_unit_test(a_list_serves_by_name_or_by_a_generic_target),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

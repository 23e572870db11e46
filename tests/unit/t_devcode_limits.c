/* What a file may cost when it is scanned for device code, how much is said of it, and what its
 * headers may claim: each at its boundary. */
#include "unit/fixture_elf.h"

#include "devcode/devcode.h"

#define ID(target) "hipv4-amdgcn-amd-amdhsa--" target

/* n objects of one target, each with these bytes. */
static struct str bundle_of(struct arena *a, size_t n, struct str bytes)
{
	struct fx_entry *v = arena_array(a, n, sizeof(*v));
	for (size_t i = 0; i < n; i++)
		v[i] = (struct fx_entry){.id = ID("gfx1100"), .bytes = bytes};
	return fx_bundle(a, v, n, 16);
}

static struct devcode scan(struct arena *a, struct str bytes, unsigned flags)
{
	struct bytes src = bytes_mem(bytes);
	struct devcode d = {0};
	assert_ok(devcode_scan_src(a, &src, S("x.so"), flags, &d));
	return d;
}

static void so_many_findings_of_a_kind_are_told(void **state)
{
	(void)state;
	for (size_t n = FINDINGS_OF_A_KIND; n <= FINDINGS_OF_A_KIND + 3; n++) {
		ARENA(a);
		struct devcode d = scan(&a, bundle_of(&a, n, S("no ELF file")), 0);
		size_t more = n - FINDINGS_OF_A_KIND;
		assert_int_equal(d.files.v[0].objects.n, n);
		assert_int_equal(d.findings.n, FINDINGS_OF_A_KIND + (more > 0));
		assert_string_equal(d.findings.v[0].id, "object-unreadable");
		if (!more)
			continue;
		const struct finding *last = &d.findings.v[FINDINGS_OF_A_KIND];
		assert_string_equal(last->id, "more-findings");
		assert_str(last->message,
			str_fmt(&a, "%zu more of the findings 'object-unreadable' are not shown",
				more)
				.p);
	}
}

static void damaged_files_of_a_folder_too(void **state)
{
	(void)state;
	static const char *const ends[] = {"so", "whl"};
	for (size_t k = 0; k < 2; k++) {
		ARENA(a);
		struct str dir = test_dir(&a);
		struct devcode d;
		for (unsigned i = 0; i < FINDINGS_OF_A_KIND + 7; i++)
			test_put(str_fmt(&a, "%.*s/%02u.%s", STR(dir), i, ends[k]),
				"\177ELF\2\1\1 whose header, of 64 bytes, says nothing that "
				"could be true");
		assert_ok(devcode_scan(&a, dir, 0, &d));
		assert_int_equal(d.findings.n, FINDINGS_OF_A_KIND + 1);
		assert_str(d.findings.v[0].path, str_fmt(&a, "00.%s", ends[k]).p);
		assert_str(d.findings.v[FINDINGS_OF_A_KIND].message,
			"7 more of the findings 'file-damaged' are not shown");
		test_dir_remove(dir);
	}
}

/* ---- the budget ---- */

/* Whether all objects of the bytes are kept with so much work and memory. */
static bool enough(struct str bytes, size_t n, uint64_t work, uint64_t memory)
{
	ARENA(a);
	struct budget budget = {.work = work, .memory = memory};
	struct bytes src = bytes_mem(bytes);
	struct devcode d = {0};
	src.budget = &budget;
	struct err *e = devcode_scan_src(&a, &src, S("x.so"), 0, &d);
	bool good = !e && !d.findings.n;
	assert_true(!e || e->code == E_LIMIT);
	err_free(e);
	assert_true(!good || d.files.v[0].objects.n == n);
	return good;
}

/* The least that is enough for n empty objects. */
static uint64_t least(size_t n, bool work)
{
	ARENA(a);
	struct str bytes = bundle_of(&a, n, S(""));
	uint64_t low = 0, high = 1 << 30, most = 1 << 30; /* not enough; enough */
	assert_true(enough(bytes, n, most, most));
	while (high - low > 1) {
		uint64_t middle = low + (high - low) / 2;
		if (enough(bytes, n, work ? middle : most, work ? most : middle))
			high = middle;
		else
			low = middle;
	}
	return high;
}

static void an_object_is_paid_for(void **state)
{
	(void)state;
	assert_int_equal(least(2, false) - least(1, false), 3000);
	assert_int_equal(least(2, true) - least(1, true), 2000 + 24 + strlen(ID("gfx1100")));
}

static void targets_have_a_limit(void **state)
{
	(void)state;
	for (size_t n = DEVCODE_TARGETS - 1; n <= DEVCODE_TARGETS + 1; n++) {
		ARENA(a);
		struct fx_entry v[DEVCODE_TARGETS + 1];
		for (size_t i = 0; i < n; i++)
			v[i].id = str_fmt(&a, ID("gfx%zu"), 1000 + i).p, v[i].bytes = S("");
		struct devcode d = scan(&a, fx_bundle(&a, v, n, 16), 0);
		assert_int_equal(d.targets.n, n < DEVCODE_TARGETS ? n : DEVCODE_TARGETS);
		assert_int_equal(d.findings.n, n > DEVCODE_TARGETS);
	}
}

/* ---- sizes that lie ---- */

static void debug_sections_are_at_most_the_whole_object(void **state)
{
	(void)state;
	ARENA(a);
	struct str o = fx_code_object(&a, (struct fx_object){.kernels = 1, .sections = true});
	enum { SHOFF = 40, SIZE = 32, INFO = 2, REST = 6 };
	char *size = (char *)(uintptr_t)o.p + le64(o.p + SHOFF) + INFO * 64 + SIZE;
	const struct {
		uint64_t size, counted;
	} cases[] = {{0, 0}, {1, 1}, {o.n - 1, o.n - 1}, {o.n, o.n}, {o.n + 1, 0}, {UINT64_MAX, 0}};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		put_le(size, cases[i].size, 8);
		struct devcode d = scan(&a, o, DEVCODE_DEBUG);
		assert_int_equal(d.files.v[0].objects.v[0].debug, cases[i].counted + REST);
		assert_int_equal(scan(&a, o, DEVCODE_KERNELS).files.v[0].objects.v[0].debug, -1);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(so_many_findings_of_a_kind_are_told),
		cmocka_unit_test(damaged_files_of_a_folder_too),
		cmocka_unit_test(an_object_is_paid_for),
		cmocka_unit_test(targets_have_a_limit),
		cmocka_unit_test(debug_sections_are_at_most_the_whole_object),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* The table of processors and what is read with it. Flags are those that LLVM 22.1.8 writes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/vec.h"
#include "target/target.h"

#define COUNT(v) (sizeof(v) / sizeof(*(v)))
#define assert_str(have, want) assert_string_equal(str_z(&a, (have)), (want))

static struct arena a;

static struct err *parse_list(const char *text, struct targets *ret)
{
	struct strs words = {0};
	strs_add(&a, &words, str_from(text));
	return targets_parse(&a, &words, ret);
}

static struct target parsed(const char *text)
{
	struct targets list;
	struct err *e = parse_list(text, &list);
	if (e)
		fail_msg("%s: %s", text, e->msg);
	assert_int_equal(list.n, 1);
	return list.v[0];
}

static void table_is_sorted_and_consistent(void **state)
{
	(void)state;
	for (size_t i = 0; i < gpu_count; i++) {
		const struct gpu *g = &gpu_table()[i];
		if (i)
			assert_true(strcmp(gpu_table()[i - 1].name, g->name) < 0);
		assert_ptr_equal(gpu_by_name(str_from(g->name)), g);
		assert_ptr_equal(gpu_by_mach(g->mach), g);
		if (!g->generic)
			continue;
		const struct gpu *generic = gpu_by_name(str_from(g->generic));
		assert_non_null(generic);
		assert_true(generic->is_generic);
		assert_int_equal(generic->wave32, g->wave32);
	}
	assert_int_equal(gpu_count, 64);
	assert_null(gpu_by_name(S("gfx")));
	assert_null(gpu_by_name(S("")));
	assert_null(gpu_by_mach(0x7f));
}

static void flags_decode(void **state)
{
	(void)state;
	static const struct {
		uint32_t flags;
		unsigned abi;
		const char *text;
	} cases[] = {
		{.flags = 0x41, .abi = 2, .text = "gfx1100"},
		{.flags = 0x549, .abi = 4, .text = "gfx1250"},
		/* as the LLVM of Triton 3.9.0 writes them: gfx1250 without xnack's bits */
		{.flags = 0x449, .abi = 4, .text = "gfx1250"},
		{.flags = 0x45a, .abi = 4, .text = "gfx1251"},
		{.flags = 0x57, .abi = 4, .text = "gfx1154"},
		{.flags = 0x5d, .abi = 4, .text = "gfx1170"},
		{.flags = 0x5e, .abi = 4, .text = "gfx1171"},
		{.flags = 0x5c, .abi = 4, .text = "gfx1172"},
		{.flags = 0x50, .abi = 4, .text = "gfx1310"},
		{.flags = 0x1000062, .abi = 4, .text = "gfx11-7-generic"},
		{.flags = 0x100045b, .abi = 4, .text = "gfx12-5-generic"},
		{.flags = 0x1000063, .abi = 4, .text = "gfx13-generic"},
		{.flags = 0x53f, .abi = 2, .text = "gfx90a"},
		{.flags = 0x54c, .abi = 4, .text = "gfx942"},
		{.flags = 0xe4c, .abi = 3, .text = "gfx942:sramecc+:xnack-"},
		{.flags = 0xa3f, .abi = 2, .text = "gfx90a:sramecc-:xnack-"},
		{.flags = 0x73f, .abi = 2, .text = "gfx90a:xnack+"},
		{.flags = 0x1000054, .abi = 4, .text = "gfx11-generic"},
		{.flags = 0x100055f, .abi = 4, .text = "gfx9-4-generic"},
		{.flags = 0x3000151, .abi = 4, .text = "gfx9-generic"},
		{.flags = 0x540, .abi = 2, .text = "gfx940"},
		{.flags = 0x7f, .abi = 2, .text = "mach-0x7f"},
		{.flags = 0, .abi = 2, .text = "mach-0x00"},
		{.flags = 0x30, .abi = 1, .text = "gfx908:sramecc-:xnack-"},
		{.flags = 0x330, .abi = 1, .text = "gfx908:sramecc+:xnack+"},
		{.flags = 0x36, .abi = 1, .text = "gfx1030"},
		{.flags = 0x37f, .abi = 1, .text = "mach-0x7f:sramecc+:xnack+"},
		{.flags = 0x7f, .abi = 0, .text = "mach-0x7f"},
	};
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct target t = target_from_flags(&a, cases[i].flags, cases[i].abi);
		assert_str(target_text(&a, &t), cases[i].text);
	}
}

static void kfd_versions_decode(void **state)
{
	(void)state;
	static const struct {
		uint32_t version;
		const char *name;
	} cases[] = {
		{.version = 70000, .name = "gfx700"},
		{.version = 80003, .name = "gfx803"},
		{.version = 90000, .name = "gfx900"},
		{.version = 90006, .name = "gfx906"},
		{.version = 90010, .name = "gfx90a"},
		{.version = 90012, .name = "gfx90c"},
		{.version = 90402, .name = "gfx942"},
		{.version = 90500, .name = "gfx950"},
		{.version = 100100, .name = "gfx1010"},
		{.version = 100302, .name = "gfx1032"},
		{.version = 110000, .name = "gfx1100"},
		{.version = 110501, .name = "gfx1151"},
		{.version = 110702, .name = "gfx1172"},
		{.version = 120001, .name = "gfx1201"},
		{.version = 120500, .name = "gfx1250"},
		{.version = 130100, .name = "gfx1310"},
		{.version = 130102, .name = "gfx1312"}, /* nobody knows it yet */
		{.version = 0, .name = ""},
	};
	for (size_t i = 0; i < COUNT(cases); i++)
		assert_str(target_from_kfd(&a, cases[i].version), cases[i].name);
}

static void ids_print_canonically(void **state)
{
	(void)state;
	static const struct {
		const char *text, *id;
	} cases[] = {
		{.text = "gfx1100", .id = "gfx1100"},
		{.text = " gfx1201 ", .id = "gfx1201"},
		{.text = "gfx90a:xnack-", .id = "gfx90a:xnack-"},
		{.text = "gfx90a:xnack-:sramecc+", .id = "gfx90a:sramecc+:xnack-"},
		{.text = "gfx11-generic", .id = "gfx11-generic"},
		{.text = "gfx9-generic:xnack+", .id = "gfx9-generic:xnack+"},
		{.text = "gfx940", .id = "gfx940"},
	};
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct target t = parsed(cases[i].text);
		assert_str(target_text(&a, &t), cases[i].id);
	}
	assert_int_equal(parsed("gfx1100").xnack, FEATURE_UNSUPPORTED);
	assert_int_equal(parsed("gfx90a").xnack, FEATURE_ANY);
	assert_true(parsed("gfx940").gpu->removed);
}

static const char FORM[] = "names are like gfx1201, gfx90a:xnack-, gfx11-generic or 'RX 9070 XT'";
static const char BOTH[] =
	"gfx90a can have :sramecc+ or :sramecc-, :xnack+ or :xnack-, each at most once";

static void wrong_ids_are_refused_with_a_hint(void **state)
{
	(void)state;
	static const struct {
		const char *text, *hint;
	} cases[] = {
		{.text = "gfx1102x", .hint = "did you mean 'gfx1102'?"},
		{.text = "gfx1210", .hint = "did you mean 'gfx1201'?"},
		{.text = "gfx120", .hint = "that family is gfx1200,gfx1201"},
		{.text = "gfx120X-igpu", .hint = FORM},
		{.text = "gfx94", .hint = "that family is gfx942"},
		{.text = "gfx10",
			.hint = "that family is gfx1010,gfx1011,gfx1012,gfx1030,gfx1031,"
				"gfx1032,gfx1033,gfx1034,gfx1035,gfx1036"},
		{.text = "gfxx", .hint = FORM},
		{.text = "GFX1100", .hint = "did you mean 'gfx1100'?"},
		{.text = "gfx11-genric", .hint = "did you mean 'gfx11-generic'?"},
		{.text = "sm_90", .hint = FORM},
		{.text = "", .hint = "give names such as gfx1201,gfx90a, or 'all'"},
		{.text = "gfx1100:xnack-",
			.hint = "gfx1100 has no features to choose: write 'gfx1100'"},
		{.text = "gfx90a:xnack", .hint = BOTH},
		{.text = "gfx90a:xnack+:xnack-", .hint = BOTH},
		{.text = "gfx90a:wave+", .hint = BOTH},
		{.text = "gfx90a:", .hint = BOTH},
		{.text = "gfx90a::xnack+", .hint = BOTH},
		{.text = "gfx900:sramecc+",
			.hint = "gfx900 can have :xnack+ or :xnack-, each at most once"},
	};
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct targets list;
		CLEANUP(err_freep) struct err *e = parse_list(cases[i].text, &list);
		if (!e)
			fail_msg("'%s' was accepted", cases[i].text);
		assert_int_equal(e->code, E_GFX);
		struct err_hint *h = e->hints;
		while (h && h->next)
			h = h->next;
		assert_non_null(h);
		assert_string_equal(h->text, cases[i].hint);
	}
}

static void products_stand_for_their_targets(void **state)
{
	(void)state;
	static const struct {
		const char *text, *id;
	} cases[] = {
		{.text = "RX 9070 XT", .id = "gfx1201"},
		{.text = "rx9070xt", .id = "gfx1201"},
		{.text = "9070", .id = "gfx1201"},
		{.text = "AMD Radeon(TM) RX 9070 XT", .id = "gfx1201"},
		{.text = "AMD Radeon AI PRO R9700", .id = "gfx1201"},
		{.text = "MI300X", .id = "gfx942"},
		{.text = "AMD Instinct MI300X", .id = "gfx942"},
		{.text = "mi300x:xnack-", .id = "gfx942:xnack-"},
		{.text = "780M", .id = "gfx1103"},
		{.text = "AMD Radeon 780M Graphics", .id = "gfx1103"},
		{.text = "7900xtx", .id = "gfx1100"},
		{.text = "RX 7900 XT", .id = "gfx1100"},
		{.text = "Radeon PRO W7900", .id = "gfx1100"},
		{.text = "Radeon VII", .id = "gfx906"},
		{.text = "Steam Deck", .id = "gfx1033"},
	};
	static const char *const none[] = {"RX 9999", "RX", "AMD", "Radeon", "900", "MI300",
		"70 XT", "XT", "Vega", "MI300X:wave+", "MI300X:"};
	struct targets list;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct target t = parsed(cases[i].text);
		assert_str(target_text(&a, &t), cases[i].id);
	}
	for (size_t i = 0; i < COUNT(none); i++) {
		CLEANUP(err_freep) struct err *e = parse_list(none[i], &list);
		if (!e || e->code != E_GFX)
			fail_msg("'%s' was accepted", none[i]);
	}
}

/* What doctor shows is what --gpu takes, and no name stands for two targets. */
static void every_product_of_the_table_is_taken(void **state)
{
	(void)state;
	for (size_t i = 0; i < gpu_count; i++) {
		struct str shown = gpu_products(&a, &gpu_table()[i]);
		for (const char *const *p = gpu_table()[i].products; p && *p; p++) {
			assert_string_equal(parsed(*p).gpu->name, gpu_table()[i].name);
			assert_true(str_contains(shown, str_from(*p)));
		}
		assert_true(gpu_table()[i].products || gpu_table()[i].about ||
			    gpu_table()[i].is_generic || !gpu_table()[i].current);
	}
}

static void reading_is_lenient(void **state)
{
	(void)state;
	static const char *const odd[] = {"gfx1350-strict", "gfx2000:xnack+", "gfx90a:foo+",
		"gfx1100:xnack+", "", ":", "gfx90a:", "amdgcnspirv"};
	for (size_t i = 0; i < COUNT(odd); i++) {
		struct target t = target_read(str_from(odd[i]));
		assert_null(t.gpu);
		assert_str(target_text(&a, &t), odd[i]);
	}
	struct target t = target_read(S("gfx942:sramecc+:xnack-"));
	assert_string_equal(t.gpu->name, "gfx942");
	assert_int_equal(t.sramecc, FEATURE_ON);
	assert_int_equal(t.xnack, FEATURE_OFF);
}

static void coverage(void **state)
{
	(void)state;
	static const struct {
		const char *have, *want;
		bool covers;
	} cases[] = {
		{.have = "gfx1100", .want = "gfx1100", .covers = true},
		{.have = "gfx1100", .want = "gfx1101"},
		{.have = "gfx11-generic", .want = "gfx1103", .covers = true},
		{.have = "gfx11-generic", .want = "gfx1151", .covers = true},
		{.have = "gfx11-generic", .want = "gfx1201"},
		{.have = "gfx11-generic", .want = "gfx1154", .covers = true},
		{.have = "gfx11-generic", .want = "gfx1170"},
		{.have = "gfx11-7-generic", .want = "gfx1170", .covers = true},
		{.have = "gfx12-5-generic", .want = "gfx1250", .covers = true},
		{.have = "gfx12-generic", .want = "gfx1250"},
		{.have = "gfx13-generic", .want = "gfx1310", .covers = true},
		{.have = "gfx1100", .want = "gfx11-generic"},
		{.have = "gfx11-generic", .want = "gfx11-generic", .covers = true},
		{.have = "gfx9-generic", .want = "gfx906:sramecc+", .covers = true},
		{.have = "gfx9-generic", .want = "gfx90a"},
		{.have = "gfx9-generic", .want = "gfx908"},
		{.have = "gfx9-4-generic", .want = "gfx950", .covers = true},
		{.have = "gfx9-generic:xnack-", .want = "gfx900:xnack+"},
		{.have = "gfx90a", .want = "gfx90a:xnack+", .covers = true},
		{.have = "gfx90a:xnack+", .want = "gfx90a", .covers = true},
		{.have = "gfx90a:xnack-", .want = "gfx90a:xnack+"},
		{.have = "gfx90a:sramecc+:xnack-", .want = "gfx90a:sramecc+", .covers = true},
		{.have = "gfx90a:sramecc-", .want = "gfx90a:sramecc+:xnack-"},
		{.have = "gfx1250-strict", .want = "gfx1250-strict", .covers = true},
		{.have = "gfx1250-strict", .want = "gfx1250"},
	};
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct target have = target_read(str_from(cases[i].have));
		struct target want = target_read(str_from(cases[i].want));
		if (target_covers(&have, &want) != cases[i].covers)
			fail_msg("%s on %s", cases[i].have, cases[i].want);
	}
}

static void lists_parse(void **state)
{
	(void)state;
	struct targets list;
	assert_null(parse_list("gfx1100, gfx90a:xnack-,,gfx1100,gfx90a", &list));
	assert_int_equal(list.n, 3);
	assert_str(target_text(&a, &list.v[1]), "gfx90a:xnack-");
	assert_null(parse_list("all,gfx1100", &list));
	assert_int_equal(list.n, 26);
	for (size_t i = 0; i < list.n; i++)
		assert_true(list.v[i].gpu->current && !list.v[i].gpu->is_generic);
	CLEANUP(err_freep) struct err *bad = parse_list("gfx1100,gfx1111111", &list);
	assert_int_equal(bad->code, E_GFX);
	CLEANUP(err_freep) struct err *none = parse_list(" , ", &list);
	assert_int_equal(none->code, E_GFX);
}

static void families_of_therock_are_lists(void **state)
{
	(void)state;
	static const struct {
		const char *family, *want;
	} cases[] = {
		{"gfx120X-all", "gfx1200,gfx1201"},
		{"gfx120x", "gfx1200,gfx1201"},
		{"gfx110X-dgpu", "gfx1100,gfx1101,gfx1102"},
		{"gfx110X-igpu,gfx1100", "gfx1103,gfx1100"},
		{"gfx94X-dcgpu", "gfx942"},
		{"gfx950-dcgpu", "gfx950"},
		{"gfx90c-igpu", "gfx90c"},
		{"gfx125X-dcgpu", "gfx1250"},
		{"dcgpu-all", "gfx1250,gfx908,gfx90a,gfx942,gfx950"},
		{"gfx1250-strict", "gfx1250-strict"},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct targets list;
		struct strs names = {0};
		assert_null(parse_list(cases[i].family, &list));
		VEC_EACH (const struct target, t, &list)
			strs_add(&a, &names, target_text(&a, t));
		assert_str(str_join(&a, &names, S(",")), cases[i].want);
	}
}

static void equality_looks_at_features(void **state)
{
	(void)state;
	struct targets list;
	assert_null(parse_list("gfx90a,gfx90a:xnack-,gfx90a", &list));
	assert_int_equal(list.n, 2);
	struct target named = parsed("gfx1250"), flags = target_from_flags(&a, 0x549, 4);
	assert_ptr_equal(named.gpu, flags.gpu);
	assert_int_equal(named.xnack, flags.xnack);
	assert_int_equal(named.sramecc, flags.sramecc);
}

static int done(void **state)
{
	(void)state;
	arena_free(&a);
	return 0;
}

static void lists_are_in_the_order_of_generations(void **state)
{
	(void)state;
	static const char *const sorted[] = {"gfx700", "gfx9-4-generic", "gfx9-generic", "gfx900",
		"gfx90a", "gfx90a:xnack+", "gfx942", "gfx1030", "gfx11-generic", "gfx1100",
		"gfx1201", "", "a", "a.so", "g", "gfx", "mach-0x7f", "x"};
	struct strs list = {0};
	for (size_t i = COUNT(sorted); i-- > 0;)
		strs_add(&a, &list, str_from(sorted[i]));
	targets_sort(&list);
	for (size_t i = 0; i < COUNT(sorted); i++)
		assert_str(list.v[i], sorted[i]);
	targets_sort(&(struct strs){0});
}

static void boards_are_told_by_revision_and_memory(void **state)
{
	(void)state;
	static const char ids[] =
		"# List of AMDGPU IDs\n1.0.0\n744C,\tC8,\tAMD Radeon RX 7900 XTX\n"
		"67df,\te7,\tAMD Radeon RX 580 Series\n7590,\tc0,\tAMD Radeon RX 9060 XT\n"
		"ABCD,\t00,\tAMD Radeon of tomorrow\nbroken\n,,\n";
	const uint64_t gib = 1ull << 30;
	static const struct {
		unsigned device;
		const char *revision;
		unsigned gib;
		bool ids;
		const char *name;
	} cases[] = {
		{0x744c, "0xce", 16, false, "Radeon RX 7900 GRE"},
		{0x744c, "0xcc", 20, true, "Radeon RX 7900 XT"},
		{0x744c, "0xc8", 24, true, "Radeon RX 7900 XTX"},
		{0x744c, "", 20, true, "Radeon RX 7900 XT"},
		{0x744c, "", 0, false, "Radeon RX 7900 XTX, RX 7900 XT or RX 7900 GRE"},
		{0x7590, "0xc0", 8, true, "Radeon RX 9060 XT 8 GB"},
		{0x7590, "0xc0", 16, false, "Radeon RX 9060 XT 16 GB"},
		{0x7590, "0xc0", 0, true, "Radeon RX 9060 XT"},
		{0x7590, "0xc7", 8, true, "Radeon RX 9060"},
		{0x66a1, "0x02", 16, false, "Instinct MI50"},
		{0x66a1, "0x02", 32, false, "Instinct MI60 or MI50 32 GB"},
		{0x74a5, "0x00", 256, false, "Instinct MI325X"},
		{0x67df, "0xe7", 8, true, "Radeon RX 580"},
		{0xabcd, "0x00", 1, true, "Radeon of tomorrow"},
		{0xabcd, "0x00", 1, false, ""},
		{0xabcd, "", 1, true, ""},
	};
	for (size_t i = 0; i < COUNT(cases); i++)
		/* some of the memory is the firmware's */
		assert_str(board_name(&a, cases[i].device, str_from(cases[i].revision),
				   cases[i].gib ? cases[i].gib * gib - (80u << 20) : 0,
				   cases[i].ids ? str_from(ids) : S("")),
			cases[i].name);
	for (size_t i = 0; i < board_count; i++)
		for (const char *const *n = board_table()[i].names; *n; n++)
			assert_true(strchr(*n, '/') && strchr(*n, ' ') > strchr(*n, '/'));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(boards_are_told_by_revision_and_memory),
		cmocka_unit_test(lists_are_in_the_order_of_generations),
		cmocka_unit_test(table_is_sorted_and_consistent),
		cmocka_unit_test(flags_decode),
		cmocka_unit_test(kfd_versions_decode),
		cmocka_unit_test(ids_print_canonically),
		cmocka_unit_test(wrong_ids_are_refused_with_a_hint),
		cmocka_unit_test(products_stand_for_their_targets),
		cmocka_unit_test(every_product_of_the_table_is_taken),
		cmocka_unit_test(reading_is_lenient),
		cmocka_unit_test(coverage),
		cmocka_unit_test(lists_parse),
		cmocka_unit_test(families_of_therock_are_lists),
		cmocka_unit_test(equality_looks_at_features),
	};
	return cmocka_run_group_tests(tests, NULL, done);
}

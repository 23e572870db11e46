/* Many small scans, all of whose results are in tests/data/said/devcode_kinds.txt: labels against flags, kernels and
 * objects against each other, side files of all kinds, DLLs, and searches at every offset. */
#include "unit/fixture_devcode.h"
#include "unit/fixture_elf.h"

#include "formats/msgpack.h"

#define ID(target) "hipv4-amdgcn-amd-amdhsa--" target

enum { GFX90A = 0x53f, GFX942 = 0x54c, GFX950 = 0x54f, GFX1100 = 0x41, GFX1101 = 0x46 };

static struct devcode scan(struct arena *a, struct str bytes, unsigned flags)
{
	struct bytes src = bytes_mem(bytes);
	struct devcode d = {0};
	assert_ok(devcode_scan_src(a, &src, S("x"), flags, &d));
	devcode_finish(a, &d);
	said_devcode(S(""), &d);
	return d;
}

static struct str object(struct arena *a, unsigned flags, unsigned kernels, const char *prefix)
{
	return fx_code_object(
		a, (struct fx_object){.flags = flags, .kernels = kernels, .prefix = prefix});
}

/* A row for each label, a column for each of the flags' features: x for "mislabelled". */
static void labels_against_flags(void **state)
{
	(void)state;
	static const char *const labels[] = {"gfx90a", "gfx90a:xnack+", "gfx90a:xnack-",
		"gfx90a:sramecc+", "gfx90a:sramecc-:xnack+", "gfx90a:sramecc+:xnack-", "gfx942"};
	for (unsigned abi = 0; abi < 5; abi++) { /* code object versions 2 to 6 */
		for (size_t i = 0; i < sizeof(labels) / sizeof(*labels); i++) {
			buf_fmt(said(), "v%u %-24s", abi + 2, labels[i]);
			for (unsigned features = 0; features < 16; features++) {
				ARENA(a);
				struct str o = fx_code_object(
					&a, (struct fx_object){.abi = abi ? abi : 255,
						    .flags = 0x3f | features << 8});
				struct str id = str_fmt(&a, ID("%s"), labels[i]);
				const struct fx_entry v = {.id = id.p, .bytes = o};
				struct bytes src = bytes_mem(fx_bundle(&a, &v, 1, 64));
				struct devcode d = {0};
				assert_ok(devcode_scan_src(&a, &src, S("x"), 0, &d));
				buf_char(said(), d.findings.n ? 'x' : '.');
			}
			buf_char(said(), '\n');
		}
	}
}

/* ---- resources ---- */

static void put_number(struct buf *b, const char *key, uint64_t n)
{
	msgpack_put_str(b, str_from(key));
	msgpack_put_uint(b, n);
}

/* A kernel map, whose numbers all differ. */
static void put_kernel(struct buf *b, uint64_t vgprs, uint64_t sgprs, unsigned wave)
{
	msgpack_put_map(b, 10);
	msgpack_put_str(b, S(".name"));
	msgpack_put_str(b, S("k"));
	put_number(b, ".vgpr_count", vgprs);
	put_number(b, ".agpr_count", 11);
	put_number(b, ".sgpr_count", sgprs);
	put_number(b, ".group_segment_fixed_size", 12);
	put_number(b, ".private_segment_fixed_size", 13);
	put_number(b, ".vgpr_spill_count", 14);
	put_number(b, ".sgpr_spill_count", 15);
	put_number(b, ".wavefront_size", wave);
	put_number(b, ".max_flat_workgroup_size", 16);
}

static struct str noted(struct arena *a, unsigned flags, struct str metadata, unsigned kernels)
{
	BUF(b, a);
	fx_le(&b, 7, 4);
	fx_le(&b, metadata.n, 4);
	fx_le(&b, 32, 4);
	buf_add(&b, (struct str){.p = "AMDGPU\0", .n = 8});
	buf_add(&b, metadata);
	return fx_code_object(
		a, (struct fx_object){.flags = flags, .kernels = kernels, .note = buf_str(&b)});
}

static void waves_by_registers(void **state)
{
	(void)state;
	static const unsigned gpus[] = {
		GFX90A, GFX942, GFX1100, 0x36 /* gfx1030 */, 0x2f /* gfx906 */, 0x4e /* gfx1201 */};
	static const unsigned vgprs[] = {0, 1, 16, 24, 25, 32, 33, 64, 65, 96, 97, 128, 129, 168,
		169, 192, 193, 256, 257, 512, 513};
	enum { N = sizeof(vgprs) / sizeof(*vgprs) };
	for (size_t i = 0; i < sizeof(gpus) / sizeof(*gpus); i++) {
		for (unsigned wave = 32; wave <= 64; wave += 32) {
			ARENA(a);
			BUF(b, &a);
			msgpack_put_map(&b, 1);
			msgpack_put_str(&b, S("amdhsa.kernels"));
			msgpack_put_array(&b, 2 * N);
			for (size_t k = 0; k < N; k++)
				put_kernel(&b, vgprs[k], 40, wave);
			for (size_t k = 0; k < N; k++)
				put_kernel(&b, 8, 80 + k, wave);
			struct str o = noted(&a, gpus[i], buf_str(&b), 2 * N);
			struct devcode d = scan(&a, o, DEVCODE_RESOURCES | DEVCODE_KERNELS);
			assert_int_equal(d.files.v[0].objects.v[0].resources.n, 2 * N);
		}
	}
}

/* Of a whole scan 4000 are listed. */
static void so_many_kernels_are_listed(void **state)
{
	(void)state;
	for (unsigned n = 3999; n <= 4001; n++) {
		ARENA(a);
		BUF(b, &a);
		struct devcode d = {0};
		msgpack_put_map(&b, 1);
		msgpack_put_str(&b, S("amdhsa.kernels"));
		msgpack_put_array(&b, n);
		for (unsigned k = 0; k < n; k++) {
			msgpack_put_map(&b, 1);
			put_number(&b, ".vgpr_count", k);
		}
		struct bytes src = bytes_mem(noted(&a, GFX90A, buf_str(&b), 1));
		assert_ok(devcode_scan_src(
			&a, &src, S("x"), DEVCODE_RESOURCES | DEVCODE_KERNELS, &d));
		assert_int_equal(d.files.v[0].objects.v[0].resources.n, n < 4000 ? n : 4000);
		assert_int_equal(d.resources, n < 4000 ? n : 4000);
	}
}

/* ---- objects against each other ---- */

static void kernels_by_their_names(void **state)
{
	(void)state;
	ARENA(a);
	const struct fx_entry v[] = {
		{.id = ID("gfx90a:xnack+"), .bytes = object(&a, GFX90A, 4, "k")},
		{.id = ID("gfx90a:xnack-"), .bytes = object(&a, GFX90A, 5, "k")},
		{.id = ID("gfx942"), .bytes = object(&a, GFX942, 2, "k")},
		{.id = ID("gfx950"), .bytes = object(&a, GFX950, 3, "m")},
		{.id = ID("gfx1100"), .bytes = object(&a, GFX1100, 2, "k")},
		{.id = ID("gfx1101"), .bytes = object(&a, GFX1101, 3, "k")},
		{.id = ID("gfx777"), .bytes = object(&a, GFX1101, 3, "other")}};
	const unsigned flags = DEVCODE_KERNELS | DEVCODE_NAMES;
	for (size_t n = 1; n <= 7; n++)
		scan(&a, fx_bundle(&a, v, n, 64), flags);
	/* Each bundle by itself; the file's sums are of all. */
	BUF(b, &a);
	buf_add(&b, fx_bundle(&a, v + 1, 2, 4096));
	fx_pad(&b, (b.n + 4095) / 4096 * 4096);
	buf_add(&b, fx_bundle(&a, v + 2, 2, 4096));
	scan(&a, buf_str(&b), flags);
	/* Names are cut only for showing. */
	BUF(name, &a);
	for (unsigned i = 0; i < 300; i++)
		buf_char(&name, 'n');
	const struct fx_entry l[] = {
		{.id = ID("gfx942"), .bytes = object(&a, GFX942, 2, buf_str(&name).p)},
		{.id = ID("gfx90a"), .bytes = object(&a, GFX90A, 1, buf_str(&name).p)}};
	scan(&a, fx_bundle(&a, l, 2, 64), flags);
}

static void objects_that_are_the_same(void **state)
{
	(void)state;
	ARENA(a);
	struct str one = object(&a, GFX1100, 1, "k"), two = object(&a, GFX942, 2, "k");
	const struct fx_entry v[] = {{.id = ID("gfx1100"), .bytes = one},
		{.id = ID("gfx1101"), .bytes = one}, {.id = ID("gfx942"), .bytes = two},
		{.id = ID("gfx950"), .bytes = two}, {.id = ID("gfx1102"), .bytes = S("")},
		{.id = ID("gfx1103"), .bytes = S("")}};
	BUF(b, &a);
	for (unsigned i = 0; i < 2; i++) {
		fx_pad(&b, (b.n + 4095) / 4096 * 4096);
		buf_add(&b, fx_bundle(&a, v, 6, 4096));
	}
	scan(&a, fx_bundle(&a, v, 6, 64), DEVCODE_HASH);
	scan(&a, buf_str(&b), DEVCODE_HASH);
	scan(&a, fx_bundle(&a, v, 6, 64), 0);
	/* other objects that the same targets share count together */
	const struct fx_entry others[] = {
		{.id = ID("gfx1100"), .bytes = two}, {.id = ID("gfx1101"), .bytes = two}};
	BUF(both, &a);
	buf_add(&both, fx_bundle(&a, v, 2, 4096));
	fx_pad(&both, (both.n + 4095) / 4096 * 4096);
	buf_add(&both, fx_bundle(&a, others, 2, 4096));
	scan(&a, buf_str(&both), DEVCODE_HASH);
	/* the same target twice is no news */
	const struct fx_entry same[] = {v[0], v[0]};
	scan(&a, fx_bundle(&a, same, 2, 64), DEVCODE_HASH);
}

/* Bundles that lack what others have: by kernels where these are counted, else by objects. */
static void bundles_without_a_target(void **state)
{
	(void)state;
	ARENA(a);
	const struct fx_entry v[] = {{.id = ID("gfx942"), .bytes = object(&a, GFX942, 2, "k")},
		{.id = ID("gfx1100"), .bytes = object(&a, GFX1100, 1, "k")},
		{.id = ID("gfx90a"), .bytes = object(&a, GFX90A, 0, "k")}};
	BUF(b, &a);
	for (unsigned i = 0; i < 9; i++) {
		fx_pad(&b, (b.n + 4095) / 4096 * 4096);
		buf_add(&b, fx_bundle(&a, v + (i == 1), i == 1 || i > 2 ? 2 : 3, 4096));
		if (i == 1 || i == 3)
			scan(&a, buf_str(&b), DEVCODE_KERNELS);
	}
	scan(&a, buf_str(&b), 0);
	fx_pad(&b, (b.n + 4095) / 4096 * 4096);
	buf_add(&b, fx_bundle(&a, v + 2, 1, 4096)); /* one without any kernel lacks nothing */
	fx_pad(&b, (b.n + 4095) / 4096 * 4096);
	for (unsigned i = 0; i < 6; i++) { /* more than are named */
		buf_add(&b, fx_bundle(&a, v + 1, 1, 4096));
		fx_pad(&b, (b.n + 4095) / 4096 * 4096);
	}
	scan(&a, buf_str(&b), DEVCODE_KERNELS);
}

/* ---- searches ---- */

/* At multiples of 8 from where the search begins, up to the last 8 bytes. */
static void bundles_at_any_place(void **state)
{
	(void)state;
	ARENA(a);
	const struct fx_entry v = {.id = ID("gfx942"), .bytes = object(&a, GFX942, 1, "k")};
	struct str bundle = fx_bundle(&a, &v, 1, 8), packed = fx_ccob(&a, bundle, 3, true);
	static const size_t gaps[] = {
		0, 1, 7, 8, 9, 16, 65528, 65529, 65536, 131064, 131072, 131073};
	for (size_t i = 0; i < sizeof(gaps) / sizeof(*gaps); i++) {
		for (unsigned kind = 0; kind < 3; kind++) {
			ARENA(tmp);
			BUF(b, &tmp);
			memset(buf_space(&b, gaps[i]), 'C', gaps[i]);
			buf_add(&b, kind == 2 ? v.bytes : kind ? packed : bundle);
			const struct fx_host_section s = {
				.name = ".data", .flags = 3, .bytes = buf_str(&b)};
			struct bytes src =
				bytes_mem(host_elf(&tmp, (struct fx_host){.v = &s, .n = 1}));
			struct devcode d = {0};
			assert_ok(devcode_scan_src(&tmp, &src, S("x"), DEVCODE_INNER, &d));
			assert_int_equal(d.files.n, gaps[i] % 8 == 0);
			if (d.files.n)
				assert_int_equal(
					d.files.v[0].objects.v[0].place.bundle, 4096 + gaps[i]);
		}
	}
}

/* Only so many places that look like one are tried, and what only looks like one is no finding. */
static void places_that_only_look_like_bundles(void **state)
{
	(void)state;
	ARENA(a);
	const struct fx_entry v = {.id = ID("gfx942"), .bytes = object(&a, GFX942, 1, "k")};
	static const char *const heads[] = {"__CLANG_", "CCOB\1\0\1\0", "CCOB\3\0\0\0"};
	for (unsigned n = 4094; n <= 4096; n++) {
		ARENA(tmp);
		BUF(b, &tmp);
		for (unsigned i = 0; i < n; i++)
			buf_add(&b, (struct str){heads[i % 3], 8});
		buf_add(&b, fx_bundle(&tmp, &v, 1, 8));
		const struct fx_host_section s = {
			.name = ".data", .flags = 3, .bytes = buf_str(&b)};
		struct devcode d = scan(&tmp, host_elf(&tmp, (struct fx_host){.v = &s, .n = 1}), 0);
		assert_int_equal(d.files.n, n < 4096);
		assert_int_equal(d.findings.n, 0);
	}
}

/* Behind one that is damaged the search begins with the next 8 bytes, and not in bytes that were a bundle's. */
static void what_belongs_to_a_bundle_begins_no_other(void **state)
{
	(void)state;
	ARENA(a);
	const struct fx_entry v = {.id = ID("gfx942"), .bytes = S("1234567C")};
	struct str packed = fx_ccob(&a, fx_bundle(&a, &v, 1, 8), 3, true);
	for (size_t pad = 0; pad < 8; pad++) { /* the last byte, a 'C', at each place once */
		BUF(b, &a);
		struct fx_entry e = {.id = ID("gfx942"), .bytes = str_sub(S("12345678"), pad, 8)};
		e.bytes = str_fmt(&a, "%.*sC", STR(e.bytes));
		buf_add(&b, fx_bundle(&a, &e, 1, 1));
		buf_add(&b, str_sub(packed, 1, packed.n));
		const struct fx_host_section s = {.name = ".hip_fatbin", .bytes = buf_str(&b)};
		struct bytes src = bytes_mem(host_elf(&a, (struct fx_host){.v = &s, .n = 1}));
		struct devcode d = {0};
		assert_ok(devcode_scan_src(&a, &src, S("x"), 0, &d));
		assert_int_equal(d.files.v[0].bundles, 1);
	}
}

/* ---- DLLs ---- */

/* Sections of a name, flags and bytes each. */
struct part {
	const char *name;
	uint32_t flags;
	struct str bytes;
};

static struct str dll(struct arena *a, const struct part *v, size_t n)
{
	BUF(b, a);
	size_t at = 1024;
	buf_add(&b, S("MZ"));
	fx_pad(&b, 60);
	fx_le(&b, 64, 4);
	buf_add(&b, (struct str){.p = "PE\0\0", .n = 4});
	fx_le(&b, 0x8664, 2);
	fx_le(&b, n, 2);
	fx_pad(&b, b.n + 16);
	for (size_t i = 0; i < n; i++) {
		size_t from = b.n;
		buf_fmt(&b, "%s", v[i].name);
		fx_pad(&b, from + 8);
		fx_le(&b, v[i].bytes.n, 4);
		fx_le(&b, 0x1000 * (i + 1), 4);
		fx_le(&b, v[i].bytes.n, 4);
		fx_le(&b, at, 4);
		fx_pad(&b, from + 36);
		fx_le(&b, v[i].flags, 4);
		at += (v[i].bytes.n + 511) / 512 * 512;
	}
	for (size_t i = 0; i < n; i++) {
		fx_pad(&b, i ? (b.n + 511) / 512 * 512 : 1024);
		buf_add(&b, v[i].bytes);
	}
	return buf_str(&b);
}

static void sections_of_dlls(void **state)
{
	(void)state;
	ARENA(a);
	const struct fx_entry e = {.id = ID("gfx942"), .bytes = object(&a, GFX942, 1, "k")};
	struct str bundle = fx_bundle(&a, &e, 1, 64);
	const struct part fat = {".hip_fat", 0x40000040, bundle},
			  data = {".rdata", 0x40000040, bundle}, code = {".text", 0x20, bundle},
			  run = {".text", 0x20000000, bundle},
			  wrapper = {".hipFatB", 0x40000040, S("12345678")};
	const struct part sets[][3] = {{fat}, {data}, {code}, {run}, {wrapper}, {wrapper, code},
		{wrapper, run}, {wrapper, fat, code}, {fat, data, code}};
	for (size_t i = 0; i < sizeof(sets) / sizeof(*sets); i++) {
		size_t n = 0;
		while (n < 3 && sets[i][n].name)
			n++;
		scan(&a, dll(&a, sets[i], n), 0);
	}
}

/* ---- side files ---- */

static void put(struct str dir, const char *name)
{
	ARENA(a);
	struct str path = path_join(&a, dir, str_from(name));
	assert_ok(fs_mkdirs(path_dir(path)));
	assert_ok(fs_write(path, S("1"), 0644));
}

static void side_files_of_all_kinds(void **state)
{
	(void)state;
	static const char *const sets[][9] = {
		/* names of each library, and what is none */
		{"rocblas/TensileLibrary_lazy_gfx942.dat", "rocblas/TensileLibrary_x_gfx942.co",
			"rocblas/TensileManifest.txt", "rocblas/Kernels.so-000-gfx942.hsaco",
			"rocblas/Kernels.so-000-gfx1100-xnack-.hsaco", "rocblas/other.dat"},
		{"hipblaslt/TensileLiteLibrary_gfx942.dat", "hipblaslt/extop_gfx942.co",
			"hipblaslt/hipblasltExtOp_gfx942.dat",
			"x/hipsparselt/hipsparselt_gfx942.hsaco", "t/TensileLibrary_gfx942.co",
			"t/extop_gfx942.dat"},
		{"db/gfx942130.kdb", "db/gfx942.db.txt", "db/gfx942.fdb.txt", "db/gfx942.model",
			"db/a.kdb", "db/rocfft_kernel_cache.db", "lib/libdevice_gemm_gfx942.a",
			"lib/libdevice_gemm.a", "lib/libother_gfx942.a"},
		/* features, as files spell them; folders with a GPU's name */
		{"r/TensileLibrary_a_gfx90a-xnack+.hsaco",
			"r/TensileLibrary_a_gfx90a:sramecc-.hsaco",
			"r/TensileLibrary_a_gfx90a-other.hsaco", "r/gfx942/TensileLibrary_b.hsaco",
			"r/gfx90a/deep/TensileLibrary_b_gfx942.hsaco",
			"gfx942/TensileLibrary_c.dat"},
		/* only fallbacks for one of two */
		{"r/TensileLibrary_lazy_gfx942.dat", "r/TensileLibrary_lazy_gfx90a.dat",
			"r/TensileLibrary_T_gfx942.hsaco", "r/TensileLibrary_fallback_gfx90a.hsaco",
			"r/Kernels.so-000-gfx90a.hsaco"},
		/* kernels without a table, for one of two */
		{"r/TensileLibrary_lazy_gfx942.dat", "r/TensileLibrary_T_gfx942.hsaco",
			"r/TensileLibrary_T_gfx90a.hsaco", "r/TensileLibrary_T_gfx1100.co"},
		{"amd-gfx11xx/flash/a.aks2", "amd-gfx942/flash/a.aks2", "amd-gfx942/b.aks2"},
	};
	for (size_t i = 0; i < sizeof(sets) / sizeof(*sets); i++) {
		ARENA(a);
		struct str dir = test_dir(&a);
		struct devcode d;
		for (size_t k = 0; k < 9 && sets[i][k]; k++)
			put(dir, sets[i][k]);
		assert_ok(devcode_scan(&a, dir, 0, &d));
		said_devcode(dir, &d);
		test_dir_remove(dir);
	}
}

/* At most 1000 sets. There may be 512 targets; names of files tell of fewer. */
static void sets_have_limits(void **state)
{
	(void)state;
	static const char *const features[] = {"", "-xnack+", "-xnack-", "-sramecc+", "-sramecc-"};
	const struct devcode_part file = {.files = 1, .size = 2, .stored = 3};
	ARENA(a);
	struct devcode d = {0}, sets = {0};
	uint64_t files = 0, sizes = 0, stored = 0, all = 0;
	for (unsigned i = 0x600; i < 0x1300; i++) {
		for (size_t k = 0; k < 5; k++) {
			struct str path =
				str_fmt(&a, "r/TensileLibrary_gfx%x%s.dat", i, features[k]);
			if (!devcode_is_side(&(struct devcode_file){.path = path}))
				continue;
			devcode_note_side(&a, &d, path, &file, NULL);
			all++;
			size_t n = d.sets.v[0].parts.n;
			assert_true(n == all || n <= DEVCODE_TARGETS);
		}
	}
	assert_int_equal(d.sets.n, 1);
	VEC_EACH (const struct devcode_part, x, &d.sets.v[0].parts) {
		files += x->files;
		sizes += x->size;
		stored += x->stored;
	}
	assert_true(files == all && sizes == 2 * all && stored == 3 * all);
	buf_fmt(said(), "%zu parts of %llu\n", d.sets.v[0].parts.n, (unsigned long long)all);
	for (unsigned n = 1; n <= 1002; n++) {
		devcode_note_side(
			&a, &sets, str_fmt(&a, "%u/TensileLibrary_gfx942.dat", n), &file, NULL);
		assert_int_equal(sets.sets.n, n < 1000 ? n : 1000);
		assert_int_equal(sets.more_sets, n > 1000);
	}
	devcode_note_side(&a, &sets, S("1000/TensileLibrary_gfx942.dat"), &file,
		NULL); /* that one is known */
	assert_int_equal(sets.sets.v[999].parts.v[0].files, 2);
	assert_int_equal(sets.sets.v[998].parts.v[0].files, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(labels_against_flags),
		cmocka_unit_test(waves_by_registers),
		cmocka_unit_test(so_many_kernels_are_listed),
		cmocka_unit_test(kernels_by_their_names),
		cmocka_unit_test(objects_that_are_the_same),
		cmocka_unit_test(bundles_without_a_target),
		cmocka_unit_test(bundles_at_any_place),
		cmocka_unit_test(places_that_only_look_like_bundles),
		cmocka_unit_test(what_belongs_to_a_bundle_begins_no_other),
		cmocka_unit_test(sections_of_dlls),
		cmocka_unit_test(side_files_of_all_kinds),
		cmocka_unit_test(sets_have_limits),
		cmocka_unit_test(all_is_said_as_recorded),
	};
	said_begin("devcode_kinds");
	return cmocka_run_group_tests(tests, NULL, NULL);
}

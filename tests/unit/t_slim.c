/* Fewer GPUs in a file: which GPUs' code is kept, every shape of a linked file that slim/ knows, loaded as ld.so does it, and
 * each that it must refuse. */
#include "unit/fixture_slim.h"

static void what_a_gpu_runs_is_kept(void **state)
{
	(void)state;
	ARENA(a);
	static const struct {
		const char *gpus, *target;
		bool keeps, exactly;
	} rows[] = {
		{"gfx90a", "gfx90a", true, true},
		{"gfx90a", "gfx90a:xnack-", true, false},
		{"gfx90a:xnack-", "gfx90a", true, false},
		{"gfx90a:xnack-", "gfx90a:xnack+", false, false},
		{"gfx1100", "gfx11-generic", true, false},
		{"gfx11-generic", "gfx1151", true, false},
		{"gfx1100", "gfx1101", false, false},
		{"gfx1100", "gfx12-generic", false, false},
		{"gfx1100 gfx1201", "gfx1201", true, true},
		{"gfx1100", "", true, true}, /* the host's entry */
		{"gfx1100", "gfx9999", true, true},
		{"gfx1100", "amdgcnspirv", true, true},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct slim_keep k = keep(&a, rows[i].gpus);
		bool keeps = slim_keeps(&k, str_from(rows[i].target));
		k.exact = true;
		if (keeps != rows[i].keeps ||
			slim_keeps(&k, str_from(rows[i].target)) != rows[i].exactly)
			fail_msg("%s for %s", rows[i].target, rows[i].gpus);
	}
}

static void side_files_are_of_the_gpus_in_their_names(void **state)
{
	(void)state;
	ARENA(a);
	static const struct {
		const char *path, *gpus;
		bool keeps;
	} rows[] = {
		{"rocblas/library/Kernels.so-000-gfx90a-xnack+.hsaco", "gfx90a", true},
		{"rocblas/library/Kernels.so-000-gfx90a-xnack+.hsaco", "gfx1201", false},
		{"rocblas/library/TensileLibrary_Type_HH_Contraction_l_fallback.dat", "gfx1201",
			true},
		{"hipblaslt/library/gfx942/TensileManifest.txt", "gfx950", false},
		{"hipblaslt/library/hipblasltTransform.hsaco", "gfx950", true},
		{"lib/aotriton.images/amd-gfx11xx/flash/attn_fwd/f.aks2", "gfx1100", true},
		{"lib/aotriton.images/amd-gfx11xx/flash/attn_fwd/f.aks2", "gfx1201", false},
		{"lib/aotriton.images/amd-gfx115x/flash/f.aks2", "gfx1151", true},
		{"lib/aotriton.images/amd-gfx115x/flash/f.aks2", "gfx1100", false},
		{"lib/aotriton.images/amd-gfx120x/flash/f.aks2", "gfx1201", true},
		{"lib/aotriton.images/amd-gfx99xx/flash/f.aks2", "gfx1201",
			true}, /* whose is it? */
		{"miopen/db/gfx1030_36.kdb", "gfx1030", true},
		{"miopen/db/gfx90a68.HIP.fdb.txt", "gfx906", false},
		{"miopen/db/gfx942130.db.txt", "gfx942", true},
		{"miopen/db/gfx908.tn.model", "gfx90a", false},
		{"include/ck/arch_gfx942.hpp", "gfx1201", true},
		{"torch/gfx942_configs.py", "gfx1201", true},
		{"lib/libMIOpenCK_gfx942.so", "gfx1201", true},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct slim_keep k = keep(&a, rows[i].gpus);
		for (unsigned exact = 0; exact < 2; exact++) {
			k.exact = exact;
			if (slim_keeps_file(&k, str_from(rows[i].path)) != rows[i].keeps)
				fail_msg("%s for %s", rows[i].path, rows[i].gpus);
		}
	}
}

static void globs_name_files_and_folders(void **state)
{
	(void)state;
	static const struct {
		const char *glob, *path;
		bool hits;
	} rows[] = {
		{"*cuda*", "torch/lib/libtorch_cuda.so", true},
		{"*cuda*", "torch/cuda/graphs.py", true},
		{"nvidia", "nvidia/cublas/lib/libcublas.so.12", true},
		{"nvidia", "nvidia_smi.py", false},
		{"nvidia/cublas", "nvidia/cublas/lib/libcublas.so.12", true},
		{"cublas/lib", "nvidia/cublas/lib/libcublas.so.12", false},
		{"**/cublas/lib", "nvidia/cublas/lib/libcublas.so.12", true},
		{"torch/*.so", "torch/lib/a.so", false},
		{"torch/**/*.so", "torch/lib/a.so", true},
		{"*.so", "torch/lib/a.so.1", false},
		{"", "torch", false},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct str globs[] = {S("other"), str_from(rows[i].glob)};
		const struct strs without = {.v = globs, .n = 2};
		struct slim_keep k = {.without = &without};
		if (slim_leaves_out(&k, str_from(rows[i].path)) != rows[i].hits ||
			slim_keeps_file(&k, str_from(rows[i].path)) == rows[i].hits)
			fail_msg("%s and %s", rows[i].glob, rows[i].path);
	}
}

static const struct fx_fat shapes[] = {
	{.pointer = FX_RELATIVE},
	{.pointer = FX_BOTH},
	{.pointer = FX_RELR},
	{.pointer = FX_ABS64},
	{.pointer = FX_WORD},
	{.pointer = FX_WORD, .stripped = true},
	{.pointer = FX_WORD, .writable = true},
	{.pointer = FX_WORD, .machine = 183, .last = true},
	{.machine = 183, .pointer = FX_RELATIVE},
	{.machine = 183, .pointer = FX_ABS64},
	{.symbol = true},
	{.last = true},
	{.last = true, .pointer = FX_RELR},
	{.writable = true},
	{.writable = true, .skew = true},
	{.skew = true},
	{.align = 0x8000},
	{.align = 0x10000},
	{.stripped = true},
	{.stripped = true, .last = true, .pointer = FX_ABS64},
	{.stripped = true, .writable = true, .pointer = FX_RELR},
	{.interp = true},
	{.ccob = 1},
	{.ccob = 1, .zlib = true},
	{.ccob = 2, .zlib = true, .writable = true},
	{.ccob = 2},
	{.ccob = 3},
	{.ccob = 1, .stripped = true},
	{.ccob = 3, .pointer = FX_RELR, .writable = true},
};

static void every_shape_works_and_is_smaller(void **state)
{
	(void)state;
	ARENA(a);
	struct str dir = test_dir(&a);
	size_t n = sizeof(shapes) / sizeof(*shapes);
	for (size_t i = 0; i < 2 * n; i += i < n ? 1 : 4) {
		fx_times = i < n ? 1 : 40; /* objects of many pieces */
		struct fx_built old = fx_fat_library(&a, shapes[i % n]);
		struct slim_keep k = keep(&a, "gfx1100");
		struct slim_plan p;
		struct str now;
		print_message("shape %zu\n", i);
		works(&a, &old, old.file, "gfx90a:xnack- gfx1100 gfx11-generic gfx1201");
		struct bytes src = bytes_mem(old.file);
		assert_ok(slim_read(&a, &src, &k, &p));
		assert_true(p.after < old.file.n); /* a guess */
		assert_ok(slim(&a, dir, old.file, &k, &now, &p));
		works(&a, &old, now, "gfx1100 gfx11-generic");
		assert_int_equal(p.after, now.n);
		assert_true(p.changed);
		assert_true(shapes[i % n].ccob || shapes[i % n].align > 0x8000 ||
			    now.n + 24000 < old.file.n);
		assert_true(now.n <= old.file.n);
		struct str again;
		k.exact = true; /* and once more */
		assert_ok(slim(&a, dir, now, &k, &again, &p));
		works(&a, &old, again, "gfx1100");
		assert_true(again.n <= now.n);
		assert_ok(slim(&a, dir, again, &k, &now, &p));
		assert_false(p.changed);
		assert_true(str_eq(again, now));
	}
	fx_times = 1;
	test_dir_remove(dir);
}

/* As bundles are read that are much larger than this test may be. */
static struct err *read_large(const struct bytes *s, void *p, size_t n, uint64_t offset)
{
	size_t have = offset < 4096 && s->mem ? 4096 - (size_t)offset : 0;
	have = have < n ? have : n;
	memset(p, 0, n);
	if (have)
		memcpy(p, s->mem + offset, have);
	return NULL;
}

static void raw_bundles_are_compressed_on_demand(void **state)
{
	(void)state;
	ARENA(a);
	struct str dir = test_dir(&a), now;
	struct slim_plan p;
	for (size_t i = 0; i < sizeof(shapes) / sizeof(*shapes); i++) {
		struct fx_built old = fx_fat_library(&a, shapes[i]);
		struct slim_keep k = keep(&a, "gfx1100");
		struct bytes src;
		k.compress = i % 2 ? BUNDLE_CCOB2 : BUNDLE_CCOB3;
		enum bundle_encoding want = shapes[i].ccob ? shapes[i].ccob : k.compress;
		assert_ok(slim(&a, dir, old.file, &k, &now, &p));
		works(&a, &old, now, "gfx1100 gfx11-generic");
		src = bytes_mem(now);
		assert_ok(slim_read(&a, &src, &k, &p));
		assert_false(p.changed);
		VEC_EACH (const struct slim_bundle, b, &p.bundles)
			assert_int_equal(b->old.encoding, want);
	}
	/* version 2 has no room for such sizes */
	const struct fx_entry v[] = {{.id = FX_HOST}, {.id = FX_ID("gfx1100"), .bytes = S("x")}};
	struct str bundle = fx_bundle(&a, v, 2, 4096);
	uint64_t size = UINT64_C(0xf0000000);
	put_le((char *)(uintptr_t)bundle.p + 32 + 24 + strlen(FX_HOST) + 8, size, 8);
	struct bytes src = {.read = read_large, .mem = bundle.p, .size = size + 4096};
	struct slim_keep k = keep(&a, "gfx1100");
	k.compress = BUNDLE_CCOB3;
	assert_ok(slim_read(&a, &src, &k, &p));
	k.compress = BUNDLE_CCOB2;
	assert_err_says(slim_read(&a, &src, &k, &p), E_SLIM, "version 3");
	test_dir_remove(dir);
}

static void what_cannot_be_proved_is_refused(void **state)
{
	(void)state;
	ARENA(a);
	struct str dir = test_dir(&a), now;
	static const struct {
		struct fx_fat f;
		const char *says;
	} rows[] = {
		{{.off = 64}, "into the middle of a bundle"},
		{{.off = 64, .pointer = FX_RELR}, "into the middle of a bundle"},
		{{.off = 64, .pointer = FX_ABS64}, "into the middle of a bundle"},
		{{.unnamed = 1}, "nothing that is known points at bundle 2"},
		{{.machine = 243}, "x86-64 or AArch64"},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct fx_built b = fx_fat_library(&a, rows[i].f);
		struct slim_keep k = keep(&a, "gfx1100");
		struct slim_plan p;
		assert_err_says(slim(&a, dir, b.file, &k, &now, &p), E_SLIM, rows[i].says);
	}
	/* a relocation of another type, or with an addend */
	struct slim_keep k = keep(&a, "gfx1100");
	struct slim_plan p;
	struct fx_built b = fx_fat_library(&a, (struct fx_fat){.pointer = FX_ABS64});
	put_le((char *)(uintptr_t)b.file.p + FX_RELA + 16, 4096, 8);
	assert_err_says(slim(&a, dir, b.file, &k, &now, &p), E_SLIM, "a relocation of type 1");
	b = fx_fat_library(&a, (struct fx_fat){.pointer = FX_ABS64});
	put_le((char *)(uintptr_t)b.file.p + FX_RELA + 8, 2, 4);
	assert_err_says(slim(&a, dir, b.file, &k, &now, &p), E_SLIM, "a relocation of type 2");
	/* a word that may be a pointer, and one that is in the middle of a bundle, which says nothing */
	b = fx_fat_library(&a, (struct fx_fat){.pointer = FX_WORD});
	char *place = (char *)(uintptr_t)b.file.p + 0x700;
	put_le(place, 0x400000 + 4096 + 64, 8);
	assert_ok(slim(&a, dir, b.file, &k, &now, &p));
	put_le(place, 0x400000 + 4096, 8);
	assert_err_says(slim(&a, dir, b.file, &k, &now, &p), E_SLIM, "is in no wrapper");
	b = fx_fat_library(&a, (struct fx_fat){0});
	put_le((char *)(uintptr_t)b.file.p + 16, 1, 2); /* an object file has no segments */
	put_le((char *)(uintptr_t)b.file.p + 56, 0, 2);
	assert_err_says(slim(&a, dir, b.file, &k, &now, &p), E_SLIM, "one segment");
	b = fx_fat_library(&a, (struct fx_fat){0});
	memcpy((char *)(uintptr_t)b.file.p + 4096 + 3, "X", 1); /* no bundle there */
	assert_ok(slim(&a, dir, b.file, &k, &now, &p));
	assert_true(str_eq(now, b.file));
	test_dir_remove(dir);
}

static void a_bare_bundle_is_a_file_of_its_own(void **state)
{
	(void)state;
	ARENA(a);
	struct str dir = test_dir(&a), now;
	for (unsigned ccob = 0; ccob < 4; ccob++) {
		struct fx_fat f = {.ccob = ccob};
		struct fx_fatbin fat = fx_fatbin(&a, &f);
		struct slim_keep k = keep(&a, "gfx1201");
		struct slim_plan p;
		uint64_t at = 0;
		assert_ok(slim(&a, dir, fat.section, &k, &now, &p));
		assert_true(now.n < fat.section.n);
		for (unsigned i = 0; i < FX_BUNDLES; i++, at = (at + 4095) / 4096 * 4096) {
			struct bytes src = bytes_mem(now);
			struct bundle b;
			bundle_has(&a, now, at, i, "gfx1201");
			assert_ok(bundle_open(&a, &src, at, now.n, &b));
			at += b.stored;
		}
	}
	test_dir_remove(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_a_gpu_runs_is_kept),
		cmocka_unit_test(side_files_are_of_the_gpus_in_their_names),
		cmocka_unit_test(globs_name_files_and_folders),
		cmocka_unit_test(every_shape_works_and_is_smaller),
		cmocka_unit_test(raw_bundles_are_compressed_on_demand),
		cmocka_unit_test(what_cannot_be_proved_is_refused),
		cmocka_unit_test(a_bare_bundle_is_a_file_of_its_own),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

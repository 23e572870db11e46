/* Fewer GPUs in a file: every shape that slim/ knows, loaded as ld.so does it, and each that it must refuse. */
#include "slim/slim.h"

#include <sys/stat.h>

#include "formats/offload.h"
#include "unit/fixture_fat.h"

static struct targets wanted(struct arena *a, const char *words)
{
	struct targets t = {0};
	struct strs list = str_split(a, str_from(words), ' ');
	assert_ok(targets_parse(a, &list, &t));
	return t;
}

static struct slim_keep keep(struct arena *a, const char *words)
{
	struct targets t = wanted(a, words);
	return (struct slim_keep){.v = t.v, .n = t.n};
}

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

/* ---- one file ---- */

static struct err *slim(struct arena *a, struct str dir, struct str file, struct slim_keep *k,
	struct str *ret, struct slim_plan *ret_plan)
{
	struct str out = path_join(a, dir, S("out"));
	struct bytes *src = NEW(a, struct bytes);
	CLEANUP(fs_out_abandon) struct fs_out o = {.fd = -1, .dir = -1};
	*src = bytes_mem(file);
	TRY(slim_read(a, src, k, ret_plan));
	TRY(fs_out_open(&o, out, 0644));
	TRY(slim_write(ret_plan, &o));
	TRY(fs_out_commit(&o));
	return fs_read(a, out, 1 << 26, ret);
}

/* An offload binary of version 1 with an image for a target of six letters. */
static void add_binary(struct buf *b, const char *arch, const char *triple)
{
	enum { SIZE = 160, ENTRIES = 32, STRINGS = 72, TEXT = 104, IMAGE = 144 };
	size_t at = b->n;
	buf_add(b, S("\x10\xff\x10\xad"));
	fx_le(b, 1, 4);
	const uint64_t words[] = {
		SIZE, ENTRIES, 40, 0, STRINGS, 2, IMAGE, 16, TEXT, TEXT + 5, TEXT + 12, TEXT + 19};
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		fx_le(b, words[i], 8);
	buf_fmt(b, "arch%c%s%ctriple%c%s", 0, arch, 0, 0, triple);
	fx_pad(b, at + IMAGE);
	buf_fmt(b, "image of %s.", arch);
	fx_pad(b, at + SIZE);
}

/* An offload binary of version 2, as clang 23 makes it, with images for these targets. */
static void add_second(struct buf *b, const char *const *archs, size_t n)
{
	const size_t at = b->n, strings = 32 + n * 40, text = strings + n * 48;
	size_t image = text + 31 + n * 6, next = (image + 7) / 8 * 8;
	buf_add(b, S("\x10\xff\x10\xad"));
	fx_le(b, 2, 4);
	fx_le(b, next + n * 24, 8);
	fx_le(b, 32, 8);
	fx_le(b, n, 8);
	for (size_t i = 0; i < n; i++) {
		const uint64_t words[] = {0x40002, strings + i * 48, 2, next + i * 24, 20};
		for (size_t k = 0; k < 5; k++)
			fx_le(b, words[k], 8);
	}
	for (size_t i = 0; i < n; i++) {
		const uint64_t words[] = {text, text + 31 + i * 6, 6, text + 5, text + 12, 17};
		for (size_t k = 0; k < 6; k++)
			fx_le(b, words[k], 8);
	}
	buf_fmt(b, "arch%ctriple%camdgcn-amd-amdhsa%c", 0, 0, 0);
	fx_pad(b, at + text + 31);
	for (size_t i = 0; i < n; i++)
		buf_fmt(b, "%s", archs[i]);
	for (size_t i = 0; i < n; i++) {
		fx_pad(b, at + next + i * 24);
		buf_fmt(b, "the image of %s.", archs[i]);
	}
	fx_pad(b, at + next + n * 24);
}

/* An object that is not linked yet: its sections, and the table behind them. */
static struct str unlinked(struct arena *a, struct str images)
{
	const struct fx_host_section v[] = {{.name = ".text", .bytes = S("code"), .align = 16},
		{.name = ".llvm.offloading", .bytes = images, .align = 8},
		{.name = ".data", .bytes = S("what lies behind"), .align = 16}};
	struct str file = host_elf(a, (struct fx_host){.v = v, .n = 3});
	char *p = str_z(a, file);
	put_le(p + 16, 1, 2); /* ET_REL */
	put_le(p + 32, 0, 8);
	put_le(p + 56, 0, 2);
	memset(p + 64, 0, 56);         /* no program headers */
	for (size_t i = 0; i < 4; i++) /* nor addresses */
		put_le(p + le64(p + 40) + i * 64 + 16, 0, 8);
	return (struct str){p, file.n};
}

static struct err *see_image(void *user, const struct offload_image *x)
{
	buf_fmt(user, "%.*s of %llu at %llu: %llu, ", STR(x->arch), (unsigned long long)x->of,
		(unsigned long long)x->offset, (unsigned long long)x->size);
	return NULL;
}

static void a_binary_of_many_images_loses_some(void **state)
{
	(void)state;
	ARENA(a);
	static const char *const archs[] = {"gfx90a", "gfx942", "gfx908"};
	struct str dir = test_dir(&a), now, again;
	struct slim_plan p;
	struct slim_keep k = keep(&a, "gfx942,gfx908");
	BUF(all, &a);
	BUF(seen, &a);
	add_second(&all, archs, 3);
	struct str file = unlinked(&a, buf_str(&all));
	assert_ok(slim(&a, dir, file, &k, &now, &p));
	assert_true(p.changed && p.after == now.n && now.n < file.n);
	struct elf e;
	struct bytes src = bytes_mem(now);
	assert_ok(elf_open(&a, &src, &e));
	VEC_EACH (const struct elf_section, s, &e.sections)
		if (str_eq(s->name, S(OFFLOAD_SECTION))) {
			struct bytes section = bytes_sub(&src, s->offset, s->size);
			assert_ok(offload_walk(&section, see_image, &seen));
		}
	assert_str(buf_str(&seen), "gfx942 of 2 at 352: 20, gfx908 of 2 at 376: 20, ");
	assert_false(str_contains(now, S("the image of gfx90a.")));
	assert_true(str_contains(now, S("the image of gfx942.")));
	assert_true(str_contains(now, S("the image of gfx908.")));
	assert_ok(slim(&a, dir, now, &k, &again, &p));
	assert_true(!p.changed && str_eq(again, now));
	k = keep(&a, "gfx1100");
	assert_ok(slim(&a, dir, file, &k, &now, &p));
	assert_false(str_contains(now, S("the image of")));
	/* the name of a GPU that lies in an image that goes; an image that lies in the tables, or over another one */
	put_le(all.p + 32 + 120 + 48 + 8, 352, 8);
	memcpy(all.p + 352, "gfx942", 6);
	k = keep(&a, "gfx942");
	assert_err_says(
		slim(&a, dir, unlinked(&a, buf_str(&all)), &k, &now, &p), E_SLIM, "other images");
	k = keep(&a, "gfx942");
	put_le(all.p + 32 + 24, 64, 8);
	assert_err_says(slim(&a, dir, unlinked(&a, buf_str(&all)), &k, &now, &p), E_SLIM,
		"end of its tables");
	put_le(all.p + 32 + 24, 352, 8);
	put_le(all.p + 32 + 40 + 24, 352, 8);
	put_le(all.p + 32 + 40 + 32, 60, 8);
	k = keep(&a, "gfx90a,gfx942");
	assert_err_says(slim(&a, dir, unlinked(&a, buf_str(&all)), &k, &now, &p), E_SLIM,
		"lie over each other");
}

static void an_object_that_is_not_linked_loses_images(void **state)
{
	(void)state;
	ARENA(a);
	struct str dir = test_dir(&a), now, again;
	struct slim_plan p;
	struct slim_keep k = keep(&a, "gfx942");
	uint64_t freed;
	BUF(all, &a);
	BUF(one, &a);
	add_binary(&all, "gfx90a", "amdgcn-amd-amdhsa");
	add_binary(&all, "gfx942", "amdgcn-amd-amdhsa");
	add_binary(&all, "sm_100", "nvptx64-nvidia-cuda");
	add_binary(&one, "gfx942", "amdgcn-amd-amdhsa");
	add_binary(&one, "sm_100", "nvptx64-nvidia-cuda");
	struct str file = unlinked(&a, buf_str(&all)), want = unlinked(&a, buf_str(&one));
	assert_ok(slim(&a, dir, file, &k, &now, &p));
	assert_true(p.changed && p.after == now.n);
	assert_true(str_eq(now, want));
	assert_err(slim_punch(&p, -1, &freed), E_SLIM);
	/* what is left has nothing to take out; no image at all may stay */
	assert_ok(slim(&a, dir, now, &k, &again, &p));
	assert_true(!p.changed && str_eq(again, now));
	k = keep(&a, "gfx1100");
	all.n = 320;
	assert_ok(slim(&a, dir, unlinked(&a, buf_str(&all)), &k, &now, &p));
	assert_true(str_eq(now, unlinked(&a, S(""))));
	/* two sections in one place; a binary that says more than there is */
	char *odd = str_z(&a, file);
	size_t table = (size_t)le64(odd + 40);
	put_le(odd + table + 3 * 64 + 24, le64(odd + table + 2 * 64 + 24), 8);
	assert_err_says(
		slim(&a, dir, (struct str){odd, file.n}, &k, &now, &p), E_SLIM, "lies over");
	odd = str_z(&a, file);
	put_le(odd + le64(odd + table + 2 * 64 + 24) + 8, 4096, 8);
	assert_err(slim(&a, dir, (struct str){odd, file.n}, &k, &now, &p), E_BUNDLE);
	test_dir_remove(dir);
}

static struct err *gather(void *user, const void *p, size_t n, uint64_t at, bool *stop)
{
	(void)stop;
	(void)at;
	buf_add(user, (struct str){p, n});
	return NULL;
}

/* A bundle has the entries for these targets, with the letters that they had. */
static void bundle_has(
	struct arena *a, struct str image, uint64_t at, unsigned number, const char *targets)
{
	static const char *const all[] = {"gfx90a:xnack-", "gfx1100", "gfx11-generic", "gfx1201"};
	struct bytes src = bytes_mem(image);
	struct strs want = str_split(a, str_from(targets), ' ');
	struct bundle b;
	BUF(bytes, a);
	assert_ok(bundle_open(a, &src, at, image.n, &b));
	assert_ok(bundle_decode(&src, &b, gather, &bytes));
	if (b.encoding != BUNDLE_RAW) {
		struct digest md5 = hash_bytes(HASH_MD5, bytes.p, bytes.n);
		assert_int_equal(le64(md5.b), b.hash);
	}
	assert_int_equal(b.entries.n, want.n + 1);
	assert_str(b.entries.v[0].id, FX_HOST);
	for (size_t i = 0; i < want.n; i++) {
		const struct bundle_entry *e = &b.entries.v[i + 1];
		unsigned t = 0;
		while (!str_eq(want.v[i], str_from(all[t])))
			t++;
		assert_str(e->target, all[t]);
		assert_int_equal(e->offset % 4096, 0);
		assert_true(str_eq(fx_letters(a, number, t),
			str_sub(buf_str(&bytes), e->offset, e->offset + e->size)));
	}
}

/* Loaded, every wrapper is where it was and leads to its bundle, and so is what was behind the bundles. */
static void works(struct arena *a, const struct fx_built *old, struct str now, const char *targets)
{
	struct str image = fx_load(a, now);
	for (unsigned i = 0; i < FX_BUNDLES; i++) {
		uint64_t w = old->wrappers + i * 24;
		assert_int_equal(fx_get(image, w, 4), 0x48495046);
		bundle_has(a, image, fx_get(image, w + 8, 8), i, targets);
	}
	if (old->tail)
		assert_str(str_sub(image, old->tail, old->tail + 26), "what is behind the bundles");
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

/* A code object with .dynsym, .dynstr, .debug_info, .symtab, .strtab and .shstrtab, as lld makes them. */
enum { OBJECT_SECTIONS = 7, OBJECT_KERNELS = 2, OBJECT_SYMBOLS = 1 + 2 * OBJECT_KERNELS };

static struct str object_with_symbols(struct arena *a, unsigned abi, size_t *ret_cut)
{
	static const char names[] = "\0.dynsym\0.dynstr\0.debug_info\0.symtab\0.strtab\0.shstrtab";
	struct str base = fx_code_object(a, (struct fx_object){.kernels = 2, .abi = abi});
	BUF(b, a);
	buf_add(&b, base);
	size_t debug = b.n, symbols = debug + 3000, strings = symbols + OBJECT_SYMBOLS * 24;
	fx_pad(&b, symbols);
	buf_add(&b, str_sub(base, FX_DYNSYM, FX_DYNSYM + OBJECT_SYMBOLS * 24));
	buf_add(&b, S("what the names of symbols are"));
	size_t sections = b.n;
	buf_add(&b, (struct str){names, sizeof(names)});
	fx_pad(&b, (b.n + 7) / 8 * 8);
	size_t table = b.n;
	fx_section(&b, 0, 0, 0, 0);
	fx_section(&b, 1, 11, FX_DYNSYM, OBJECT_SYMBOLS * 24);
	fx_section(&b, 9, 3, FX_DYNSYM + OBJECT_SYMBOLS * 24, 8);
	fx_section(&b, 17, 1, debug, 3000);
	fx_section(&b, 29, 2, symbols, OBJECT_SYMBOLS * 24);
	fx_section(&b, 37, 3, strings, 29);
	fx_section(&b, 45, 3, sections, sizeof(names));
	for (size_t i = 1; i < 3; i++)
		fx_set(&b, table + i * 64 + 8, 2, 8);
	fx_set(&b, table + 64 + 40, 2, 4);
	fx_set(&b, table + 4 * 64 + 40, 5, 4);
	fx_set(&b, 40, table, 8);
	fx_set(&b, 58, 64, 2);
	fx_set(&b, 60, OBJECT_SECTIONS, 2);
	fx_set(&b, 62, OBJECT_SECTIONS - 1, 2);
	*ret_cut = base.n;
	return buf_str(&b);
}

static struct str content_of(struct arena *a, struct str file, struct bundle *ret)
{
	struct bytes src = bytes_mem(file);
	BUF(bytes, a);
	assert_ok(bundle_open(a, &src, 0, file.n, ret));
	assert_ok(bundle_decode(&src, ret, gather, &bytes));
	return buf_str(&bytes);
}

static void is_stripped(struct arena *a, struct str now, struct str old, size_t cut)
{
	struct bytes src = bytes_mem(now);
	struct elf e;
	assert_true(now.n < old.n - 3000);
	assert_memory_equal(now.p, old.p, 40);
	assert_memory_equal(now.p + 64, old.p + 64, cut - 64);
	assert_ok(elf_open(a, &src, &e));
	assert_int_equal(e.sections.n, 5);
	const struct elf_section *dynamic = elf_section(&e, S(".dynsym")),
				 *all = elf_section(&e, S(".symtab"));
	assert_int_equal(dynamic->offset, FX_DYNSYM);
	assert_int_equal(all->offset, FX_DYNSYM);
	assert_int_equal(all->size, OBJECT_SYMBOLS * 24);
	assert_int_equal(all->type, 2);
	assert_str(e.sections.v[all->link].name, ".dynstr");
	assert_null(elf_section(&e, S(".debug_info")));
	assert_int_equal(le64(now.p + 40) % 8, 0);
	assert_int_equal(le64(now.p + 40) + 5 * 64, now.n);
}

static void objects_lose_what_no_runtime_reads(void **state)
{
	(void)state;
	ARENA(a);
	struct str dir = test_dir(&a), now;
	size_t cut;
	struct str object = object_with_symbols(&a, 4, &cut);
	const struct fx_entry v[] = {{.id = FX_HOST}, {.id = FX_ID("gfx90a"), .bytes = object},
		{.id = FX_ID("gfx1100"), .bytes = object},
		{.id = FX_ID("gfx1201"), .bytes = S("no object at all, and it stays")}};
	struct str raw = fx_bundle(&a, v, 4, 4096);
	for (unsigned ccob = 0; ccob < 4; ccob++) {
		struct slim_keep k = keep(&a, "gfx1100 gfx1201");
		struct slim_plan p;
		struct bundle b;
		k.strip = true;
		assert_ok(fs_tempfile(&k.scratch));
		assert_ok(slim(&a, dir, ccob ? fx_ccob(&a, raw, ccob, true) : raw, &k, &now, &p));
		struct str all = content_of(&a, now, &b);
		assert_int_equal(b.entries.n, 3);
		const struct bundle_entry *e = b.entries.v;
		is_stripped(&a, str_sub(all, e[1].offset, e[1].offset + e[1].size), object, cut);
		assert_int_equal(p.stripped, object.n - e[1].size);
		assert_str(str_sub(all, e[2].offset, e[2].offset + e[2].size),
			"no object at all, and it stays");
		assert_ok(slim(&a, dir, now, &k, &now, &p)); /* there is nothing more to take */
		assert_false(p.changed);
		assert_int_equal(p.stripped, 0);
		struct slim_keep all_gpus = {.strip = true, .scratch = k.scratch};
		assert_ok(slim(&a, dir, raw, &all_gpus, &now, &p));
		assert_int_equal(content_of(&a, now, &b).n, now.n);
		assert_int_equal(b.entries.n, 4);
		fd_closep(&k.scratch);
	}
	/* a bare object is a file of its own */
	struct slim_keep k = {.strip = true};
	struct slim_plan p;
	assert_ok(slim(&a, dir, object, &k, &now, &p));
	is_stripped(&a, now, object, cut);
	assert_int_equal(p.after, now.n);
	test_dir_remove(dir);
}

/* Where the symbols that can be asked for would not all be there, or numbers of sections would change. */
static void odd_objects_keep_everything(void **state)
{
	(void)state;
	ARENA(a);
	struct str dir = test_dir(&a), now;
	size_t cut;
	struct slim_keep k = {.strip = true};
	struct slim_plan p;
	struct str object = object_with_symbols(&a, 255, &cut); /* V2 */
	assert_ok(slim(&a, dir, object, &k, &now, &p));
	assert_true(str_eq(now, object));
	object = object_with_symbols(&a, 4, &cut);
	size_t table = le64(object.p + 40), symbols = le64(object.p + table + 4 * 64 + 24);
	const struct {
		size_t at;
		unsigned value, bytes;
	} rows[] = {
		{FX_DYNSYM + 2 * 24 + 4, 0x12, 1}, /* .symtab has an object that .dynsym lacks */
		{table + 64 + 4, 1, 4},            /* no .dynsym */
		{table + 64 + 8, 0, 8},            /* not the first sections are those that stay */
		{table + 2 * 64 + 24, (unsigned)cut, 8}, /* one that stays is behind the segments */
		{32, 128, 8},                            /* the program headers are elsewhere */
		{18, 62, 2},                             /* no code object */
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct str odd = str_dup(&a, object);
		put_le((char *)(uintptr_t)odd.p + rows[i].at, rows[i].value, rows[i].bytes);
		assert_ok(slim(&a, dir, odd, &k, &now, &p));
		if (!str_eq(now, odd))
			fail_msg("row %zu", i);
	}
	/* what is local or hidden nobody asks for */
	struct str odd = str_dup(&a, object);
	put_le((char *)(uintptr_t)odd.p + symbols + 2 * 24 + 5, 2, 1);
	put_le((char *)(uintptr_t)odd.p + FX_DYNSYM + 2 * 24 + 4, 1, 1);
	assert_ok(slim(&a, dir, odd, &k, &now, &p));
	assert_true(now.n < odd.n);
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

/* ---- files and folders ---- */

static struct err *on_path(struct arena *a, struct str from, struct str to, const char *gpus,
	bool force, struct slim_report *r)
{
	struct slim_keep k = keep(a, gpus);
	*r = (struct slim_report){.path = from, .output = to};
	r->gpus = str_split(a, str_from(gpus), ' ');
	return fs_is_dir(from) ? slim_folder(a, &k, force, r) : slim_file(a, &k, !to.n, force, r);
}

static void a_manifest_tells_what_went(void **state)
{
	(void)state;
	ARENA(a);
	struct str dir = test_dir(&a), text;
	struct str lib = path_join(&a, dir, S("lib.so")), out = path_join(&a, dir, S("out.so"));
	struct fx_built b = fx_fat_library(&a, (struct fx_fat){0});
	struct slim_report r;
	assert_ok(fs_write(lib, b.file, 0755));
	assert_err_says(
		on_path(&a, lib, out, "gfx942", false, &r), E_NOTHING, "has no code for gfx942");
	assert_false(fs_present(out));
	assert_false(fs_present(path_join(&a, dir, S("out.so.slim.json"))));
	assert_ok(on_path(&a, lib, out, "gfx1100", false, &r));
	assert_int_equal(r.targets.n, 4);
	assert_ok(fs_read(&a, path_join(&a, dir, S("out.so.slim.json")), 1 << 20, &text));
	assert_str(
		cut_list_describe(&a, text), "slimmed for gfx1100: without gfx90a:xnack-, gfx1201");
	assert_false(str_contains(text, dir));
	struct stat st;
	assert_ok(fs_stat(out, &st));
	assert_true(st.st_mode & 0100);
	assert_err_says(on_path(&a, lib, out, "gfx1201", false, &r), E_USAGE, "exists");
	assert_ok(on_path(&a, lib, out, "gfx1201", true, &r));
	assert_str(cut_list_describe(&a, S("{}")), "");
	assert_str(cut_list_describe(&a, S("[")), "");
	test_dir_remove(dir);
}

static void in_place_every_offset_stays(void **state)
{
	(void)state;
	ARENA(a);
	struct str dir = test_dir(&a), lib = path_join(&a, dir, S("lib.so")), now;
	struct fx_built b = fx_fat_library(&a, (struct fx_fat){0});
	struct slim_report r;
	b = fx_fat_library(&a, (struct fx_fat){.ccob = 2});
	assert_ok(fs_write(lib, b.file, 0644));
	assert_err_says(on_path(&a, lib, S(""), "gfx1100", false, &r), E_SLIM, "compressed");
	assert_ok(fs_read(&a, lib, 1 << 20, &now));
	assert_true(str_eq(now, b.file));
	b = fx_fat_library(&a, (struct fx_fat){0});
	assert_ok(fs_write(lib, b.file, 0644));
	assert_ok(on_path(&a, lib, S(""), "gfx1100", false, &r));
	assert_ok(fs_read(&a, lib, 1 << 20, &now));
	assert_int_equal(now.n, b.file.n);
	assert_true(r.after < r.before);
	assert_true(fs_present(path_join(&a, dir, S("lib.so.slim.json"))));
	/* entries of what is gone have no bytes; a reader still finds all bundles, and all can go */
	struct slim_keep k = keep(&a, "gfx1100"), all = {0};
	struct bytes src = bytes_mem(now);
	struct slim_plan p;
	assert_ok(slim_read(&a, &src, &all, &p));
	assert_int_equal(p.bundles.n, FX_BUNDLES);
	for (unsigned i = 0; i < FX_BUNDLES; i++)
		for (unsigned t = 0; t < 4; t++) {
			const struct bundle *bundle = &p.bundles.v[i].old;
			const struct bundle_entry *e = &bundle->entries.v[t + 1];
			struct str letters = fx_letters(&a, i, t);
			bool kept = t == 1 || t == 2;
			assert_int_equal(e->size, kept ? letters.n : 0);
			struct str is = str_sub(now, bundle->offset + e->offset,
				bundle->offset + e->offset + letters.n);
			assert_int_equal(str_eq(is, letters), kept);
		}
	assert_ok(slim(&a, dir, now, &k, &now, &p));
	works(&a, &b, now, "gfx1100 gfx11-generic");
	/* other names of the file would change, too */
	assert_ok(fs_write(lib, b.file, 0644));
	assert_ok(fs_link(lib, path_join(&a, dir, S("other.so"))));
	assert_err_says(on_path(&a, lib, S(""), "gfx1100", false, &r), E_PERM, "other names");
	assert_ok(on_path(&a, lib, S(""), "gfx1100", true, &r));
	test_dir_remove(dir);
}

static struct str read_text(struct arena *a, struct str dir, const char *name)
{
	struct str text;
	assert_ok(fs_read(a, path_join(a, dir, str_from(name)), 1 << 20, &text));
	return text;
}

static void a_folder_is_taken_over_whole(void **state)
{
	(void)state;
	ARENA(a);
	struct str dir = test_dir(&a), in = path_join(&a, dir, S("in")),
		   out = path_join(&a, dir, S("out"));
	struct fx_built b = fx_fat_library(&a, (struct fx_fat){0});
	struct slim_report r;
	struct stat st, other;
	struct str target, now;
	assert_ok(fs_mkdirs(path_join(&a, in, S("lib/rocblas"))));
	assert_ok(fs_write(path_join(&a, in, S("lib/lib.so.1")), b.file, 0755));
	assert_ok(fs_write(path_join(&a, in, S("lib/cut.so")), str_sub(b.file, 0, 9000), 0644));
	assert_ok(fs_symlink(S("lib.so.1"), path_join(&a, in, S("lib/lib.so"))));
	assert_int_equal(chmod(str_z(&a, path_join(&a, in, S("lib/cut.so"))), 04755), 0);
	assert_ok(fs_symlink(S("/nowhere"), path_join(&a, in, S("outside"))));
	test_put(path_join(&a, in, S("README")), "read me");
	test_put(path_join(&a, in, S("lib/rocblas/K_gfx90a.co")), "other");
	test_put(path_join(&a, in, S("lib/rocblas/K_gfx1100.co")), "mine");
	assert_err_says(on_path(&a, in, path_join(&a, in, S("lib/new")), "gfx1100", false, &r),
		E_USAGE, "lie in each other");
	assert_err_says(on_path(&a, in, dir, "gfx1100", true, &r), E_USAGE, "lie in each other");
	assert_ok(on_path(&a, in, out, "gfx1100", false, &r));
	assert_int_equal(r.files.n, 2);
	test_has(path_join(&a, out, S("README")), "read me");
	test_has(path_join(&a, out, S("lib/rocblas/K_gfx1100.co")), "mine");
	assert_false(fs_present(path_join(&a, out, S("lib/rocblas/K_gfx90a.co"))));
	assert_ok(fs_readlink(&a, path_join(&a, out, S("outside")), &target));
	assert_str(target, "/nowhere");
	assert_ok(fs_read(&a, path_join(&a, out, S("lib/lib.so")), 1 << 20, &now));
	works(&a, &b, now, "gfx1100 gfx11-generic");
	/* a copy of our own, even of what may run as somebody else; changes of the one do not reach the other */
	assert_ok(fs_stat(path_join(&a, in, S("lib/cut.so")), &st));
	assert_ok(fs_stat(path_join(&a, out, S("lib/cut.so")), &other));
	assert_int_equal(st.st_mode & 07777, 04755);
	assert_int_equal(other.st_mode & 07777, 0755);
	assert_int_equal(other.st_nlink, 1);
	assert_int_not_equal(st.st_ino, other.st_ino);
	assert_int_equal(st.st_mtim.tv_nsec, other.st_mtim.tv_nsec);
	assert_true(str_eq(read_text(&a, out, "lib/cut.so"), str_sub(b.file, 0, 9000)));
	assert_true(fs_present(path_join(&a, out, S(CUT_LIST))));
	/* ours is replaced when that is asked for, another folder never */
	assert_err_says(on_path(&a, in, out, "gfx1100", false, &r), E_USAGE, "exists");
	assert_ok(on_path(&a, in, out, "gfx1201", true, &r));
	assert_false(fs_present(path_join(&a, out, S("lib/rocblas")))); /* nothing is left in it */
	assert_ok(fs_mkdirs(path_join(&a, dir, S("foreign"))));
	assert_err_says(on_path(&a, in, path_join(&a, dir, S("foreign")), "gfx1100", true, &r),
		E_USAGE, "was not made by");
	test_dir_remove(dir);
}

static struct err *stop_there(struct arena *a, struct slim_report *all)
{
	(void)a;
	return all->unfinished ? err_new(E_CANCELLED, "stopped") : NULL;
}

static struct err *in_tree(struct arena *a, struct str dir, const char *gpus, slim_then_fn *then,
	struct slim_report *r)
{
	struct slim_keep k = keep(a, gpus);
	*r = (struct slim_report){.path = dir, .output = dir};
	r->gpus = str_split(a, str_from(gpus), ' ');
	k.without = &r->without;
	return slim_tree(a, &k, then, r);
}

static void a_tree_becomes_smaller_where_it_is(void **state)
{
	(void)state;
	ARENA(a);
	struct str dir = test_dir(&a), in = path_join(&a, dir, S("in")), now, done;
	struct fx_built b = fx_fat_library(&a, (struct fx_fat){0});
	struct slim_report r;
	assert_ok(fs_mkdirs(path_join(&a, in, S("lib"))));
	assert_ok(fs_write(path_join(&a, in, S("lib/lib.so.1")), b.file, 0755));
	assert_ok(fs_link(path_join(&a, in, S("lib/lib.so.1")), path_join(&a, dir, S("other"))));
	assert_ok(fs_symlink(S("lib.so.1"), path_join(&a, in, S("lib/lib.so"))));
	assert_ok(fs_write(path_join(&a, in, S("lib/cut.so")), str_sub(b.file, 0, 9000), 0644));
	struct str gone = path_join(&a, in, S("lib/rocblas/library"));
	assert_ok(fs_mkdirs(gone));
	assert_ok(fs_mkdirs(path_join(&a, in, S("lib/extra/empty"))));
	test_put(path_join(&a, gone, S("K_gfx90a.co")), "other");
	test_put(path_join(&a, in, S("lib/extra/K_gfx90a.co")), "other");
	test_put(path_join(&a, in, S("lib/K_gfx1100.co")), "mine");
	assert_err_says(in_tree(&a, in, "gfx942", NULL, &r), E_NOTHING, "has no code for gfx942");
	assert_false(fs_present(path_join(&a, in, S(CUT_LIST))));
	/* stopped before it is done: only the same may go on */
	assert_err_says(in_tree(&a, in, "gfx1100 gfx1201", stop_there, &r), E_CANCELLED, "stopped");
	assert_true(str_starts(cut_list_describe(&a, read_text(&a, in, CUT_LIST)),
		S("unfinished: being slimmed for gfx1100, gfx1201: without gfx90a")));
	assert_err_says(in_tree(&a, in, "gfx1100", NULL, &r), E_USAGE, "is unfinished");
	assert_ok(fs_mkdirs(gone)); /* as one that was killed leaves it */
	assert_ok(in_tree(&a, in, "gfx1100 gfx1201", NULL, &r));
	assert_int_equal(r.files.n, 0);
	assert_false(fs_present(path_dir(gone)));
	assert_true(fs_is_dir(path_join(&a, in, S("lib/extra/empty"))));
	assert_ok(fs_mkdirs(gone)); /* somebody else's by now */
	now = read_text(&a, in, "lib/lib.so.1");
	works(&a, &b, now, "gfx1100 gfx11-generic gfx1201");
	assert_true(str_eq(read_text(&a, dir, "other"), b.file));
	assert_int_equal(read_text(&a, in, "lib/cut.so").n, 9000);
	assert_false(fs_present(path_join(&a, in, S("lib/extra/K_gfx90a.co"))));
	done = read_text(&a, in, CUT_LIST);
	assert_true(str_contains(done, str_fmt(&a, "\"after\": %zu\n", now.n)));
	assert_true(str_contains(done, S("\"unfinished\": false")));
	/* once more nothing happens; for fewer GPUs the manifest knows of both */
	assert_ok(in_tree(&a, in, "gfx1100 gfx1201", stop_there, &r));
	assert_true(str_eq(read_text(&a, in, CUT_LIST), done));
	assert_ok(in_tree(&a, in, "gfx1100", NULL, &r));
	assert_true(fs_is_dir(gone));
	works(&a, &b, read_text(&a, in, "lib/lib.so.1"), "gfx1100 gfx11-generic");
	done = read_text(&a, in, CUT_LIST);
	assert_str(
		cut_list_describe(&a, done), "slimmed for gfx1100: without gfx90a:xnack-, gfx1201");
	assert_true(str_contains(done, str_fmt(&a, "\"before\": %zu,", b.file.n)));
	/* nothing has such a name */
	struct str globs[] = {S("*cuda*")};
	struct slim_keep k = {.without = &r.without};
	r = (struct slim_report){.path = in, .without = {.v = globs, .n = 1}};
	assert_err_says(slim_tree(&a, &k, NULL, &r), E_USAGE, "has a name like '*cuda*'");
	/* what cannot be proved stays whole, here and in a copy; the others do not wait for it */
	struct fx_built odd = fx_fat_library(&a, (struct fx_fat){.unnamed = 1});
	assert_ok(fs_write(path_join(&a, in, S("lib/odd.so")), odd.file, 0644));
	assert_ok(fs_write(path_join(&a, in, S("lib/second.so")), b.file, 0644));
	assert_ok(on_path(&a, in, path_join(&a, dir, S("out")), "gfx1100", false, &r));
	assert_int_equal(r.refused.n, 1);
	assert_true(str_eq(read_text(&a, dir, "out/lib/odd.so"), odd.file));
	assert_ok(in_tree(&a, in, "gfx1100", NULL, &r));
	assert_int_equal(r.refused.n, 1);
	assert_str(r.refused.v[0].path, "lib/odd.so");
	assert_str(r.refused.v[0].why, "nothing that is known points at bundle 2");
	assert_true(str_eq(read_text(&a, in, "lib/odd.so"), odd.file));
	works(&a, &b, read_text(&a, in, "lib/second.so"), "gfx1100 gfx11-generic");
	assert_true(str_contains(read_text(&a, in, CUT_LIST), S("lib/odd.so")));
	/* a manifest that is none */
	test_put(path_join(&a, in, S(CUT_LIST)), "[]");
	assert_err(in_tree(&a, in, "gfx1201", NULL, &r), E_SYNTAX);
	test_dir_remove(dir);
}

/* Held as another run holds it, the lock of a folder stops all that change what is in it, by any name. */
static void runs_in_place_do_not_meet(void **state)
{
	(void)state;
	ARENA(a);
	struct str dir = test_dir(&a), top = path_join(&a, dir, S("top")),
		   in = path_join(&a, top, S("in")), sub = path_join(&a, in, S("sub")),
		   lib = path_join(&a, sub, S("lib.so")), other = path_join(&a, dir, S("other"));
	const struct str held[] = {top, in, sub};
	struct fx_built b = fx_fat_library(&a, (struct fx_fat){0});
	struct slim_report r;
	assert_ok(fs_mkdirs(sub));
	assert_ok(fs_write(lib, b.file, 0644));
	assert_ok(fs_write(path_join(&a, top, S("own.so")), b.file, 0644));
	assert_ok(fs_symlink(S("top/in"), other));
	for (size_t i = 0; i < 3; i++) {
		int fd;
		struct str lock = path_join(&a, held[i], S(".rocsmith-slim.lock"));
		assert_ok(fs_lock(lock, FS_LOCK_NOW, &fd));
		for (size_t k = 0; k < 3; k++)
			assert_err(in_tree(&a, held[k], "gfx1100", NULL, &r), E_LOCKED);
		assert_err(in_tree(&a, other, "gfx1100", NULL, &r), E_LOCKED);
		assert_err(on_path(&a, lib, S(""), "gfx1100", false, &r), E_LOCKED);
		/* nor is something half changed copied */
		assert_err_says(on_path(&a, in, path_join(&a, dir, S("out")), "gfx1100", false, &r),
			E_LOCKED, "another 'slim --in-place' changes");
		assert_true(fs_present(lock));
		fd_closep(&fd); /* as a kill leaves it */
		assert_true(str_eq(read_text(&a, lib, ""), b.file));
	}
	/* a file is locked itself, by all of its names */
	CLEANUP(fd_closep) int fd = -1;
	assert_ok(fs_link(lib, path_join(&a, dir, S("name.so"))));
	assert_ok(fs_open(path_join(&a, dir, S("name.so")), &fd));
	assert_true(fs_try_lock(fd));
	assert_err(on_path(&a, lib, S(""), "gfx1100", true, &r), E_LOCKED);
	assert_err(in_tree(&a, in, "gfx1100", NULL, &r), E_LOCKED);
	assert_false(fs_present(path_join(&a, in, S(CUT_LIST)))); /* nothing was changed */
	fd_closep(&fd);
	assert_ok(on_path(&a, in, path_join(&a, dir, S("out")), "gfx1100", false, &r));
	assert_false(fs_present(path_join(&a, dir, S("out/.rocsmith-slim.lock"))));
	assert_ok(in_tree(&a, other, "gfx1100", NULL, &r));
	assert_false(fs_present(path_join(&a, in, S(".rocsmith-slim.lock"))));
	works(&a, &b, read_text(&a, lib, ""), "gfx1100 gfx11-generic");
	/* what the first run left is what the second one asks */
	assert_err(in_tree(&a, in, "gfx1201", NULL, &r), E_NOTHING);
	works(&a, &b, read_text(&a, lib, ""), "gfx1100 gfx11-generic");
	test_dir_remove(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_a_gpu_runs_is_kept),
		cmocka_unit_test(side_files_are_of_the_gpus_in_their_names),
		cmocka_unit_test(globs_name_files_and_folders),
		cmocka_unit_test(an_object_that_is_not_linked_loses_images),
		cmocka_unit_test(a_binary_of_many_images_loses_some),
		cmocka_unit_test(every_shape_works_and_is_smaller),
		cmocka_unit_test(raw_bundles_are_compressed_on_demand),
		cmocka_unit_test(what_cannot_be_proved_is_refused),
		cmocka_unit_test(objects_lose_what_no_runtime_reads),
		cmocka_unit_test(odd_objects_keep_everything),
		cmocka_unit_test(a_bare_bundle_is_a_file_of_its_own),
		cmocka_unit_test(a_manifest_tells_what_went),
		cmocka_unit_test(in_place_every_offset_stays),
		cmocka_unit_test(a_folder_is_taken_over_whole),
		cmocka_unit_test(a_tree_becomes_smaller_where_it_is),
		cmocka_unit_test(runs_in_place_do_not_meet),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

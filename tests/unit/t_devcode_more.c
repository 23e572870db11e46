/* Scanning for device code, beyond bundles: objects in arrays, V2, DLLs, AOTriton's stores, side files, and what objects
 * say when they are compared. */
#include "unit/fixture_devcode.h"
#include "unit/fixture_elf.h"

#include <lzma.h>

#include "devcode/devcode.h"

#define ID(target) "hipv4-amdgcn-amd-amdhsa--" target

enum { GFX803 = 0x2a, GFX90A = 0x53f, GFX942 = 0x54c, GFX1100 = 0x41 };

static struct devcode scan(struct arena *a, struct str bytes, unsigned flags)
{
	struct bytes src = bytes_mem(bytes);
	struct devcode d = {0};
	assert_ok(devcode_scan_src(a, &src, S("x.so"), flags, &d));
	devcode_finish(a, &d);
	said_devcode(S(""), &d);
	return d;
}

static struct str host(struct arena *a, const char *name, unsigned flags, struct str bytes)
{
	const struct fx_host_section v = {
		.name = name, .flags = flags, .bytes = bytes, .align = 16};
	return host_elf(a, (struct fx_host){.v = &v, .n = 1});
}

static struct str object(struct arena *a, unsigned flags, unsigned kernels)
{
	return fx_code_object(a, (struct fx_object){.flags = flags, .kernels = kernels});
}

/* Zeros, an object, a handler of the runtime (V2, no MACH), more zeros. */
static struct str array(struct arena *a)
{
	BUF(b, a);
	fx_pad(&b, 48);
	buf_add(&b, object(a, GFX942, 2));
	fx_pad(&b, (b.n + 15) / 16 * 16);
	size_t at = b.n;
	buf_add(&b, fx_code_object(a, (struct fx_object){.flags = 0x100, .abi = 255}));
	fx_set(&b, at + 48, 0, 4);
	fx_pad(&b, b.n + 64);
	return buf_str(&b);
}

static void finds_objects_in_arrays(void **state)
{
	(void)state;
	ARENA(a);
	struct str lib = host(&a, ".data", 3, array(&a));
	assert_int_equal(scan(&a, lib, DEVCODE_KERNELS).files.n, 0);
	struct devcode d = scan(&a, lib, DEVCODE_INNER);
	assert_int_equal(d.files.n, 1);
	const struct code_object *o = d.files.v[0].objects.v;
	assert_int_equal(d.files.v[0].objects.n, 2);
	assert_str(o[0].target, "gfx942");
	assert_int_equal(o[0].kernels, 2);
	assert_int_equal(o[0].size, object(&a, GFX942, 2).n);
	assert_memory_equal(lib.p + o[0].place.bundle, "\177ELF", 4);
	assert_str(o[1].target, DEVCODE_UNKNOWN);
	assert_true(o[0].inner && o[1].inner);
	assert_str(str_join(&a, &d.served, S(" ")), "gfx942");
	assert_int_equal(d.findings.n, 0);
	/* One whose end is not there is none. */
	lib = host(&a, ".data", 3, str_sub(object(&a, GFX942, 2), 0, 700));
	assert_int_equal(scan(&a, lib, DEVCODE_INNER).files.n, 0);
	lib = host(&a, ".data.rel.ro", 3, array(&a));
	assert_int_equal(scan(&a, lib, DEVCODE_INNER).files.n, 0);
}

static void v2_has_its_target_in_a_note(void **state)
{
	(void)state;
	ARENA(a);
	BUF(note, &a);
	fx_le(&note, 4, 4);
	fx_le(&note, 8, 4);
	fx_le(&note, 1, 4); /* another note first */
	buf_add(&note, (struct str){.p = "AMD\0........", .n = 12});
	fx_le(&note, 4, 4);
	fx_le(&note, 16, 4);
	fx_le(&note, 3, 4);
	buf_add(&note, (struct str){.p = "AMD\0\4\0\7\0", .n = 8});
	fx_le(&note, 9, 4);
	fx_le(&note, 0, 4);
	fx_le(&note, 10, 4);
	struct str o = fx_code_object(
		&a, (struct fx_object){
			    .flags = 0x100, .abi = 255, .kernels = 1, .note = buf_str(&note)});
	struct devcode d = scan(&a, o, DEVCODE_KERNELS);
	assert_str(d.files.v[0].objects.v[0].target, "gfx90a");
	assert_int_equal(d.files.v[0].objects.v[0].version, 2);
	assert_str(str_join(&a, &d.served, S(" ")), "gfx90a");
}

/* ---- AOTriton ---- */
static struct str store(struct arena *a, struct str kernel, size_t directory, size_t raw)
{
	BUF(b, a);
	BUF(out, a);
	static uint8_t packed[1 << 16];
	size_t n = 0;
	for (unsigned i = 0; i < 2; i++) { /* the second one was not to be compiled */
		fx_le(&b, 0, 8);
		fx_le(&b, 0, 4);
		fx_le(&b, i ? 0 : kernel.n, 4);
		fx_le(&b, 2, 4);
		buf_add(&b, (struct str){.p = "k", .n = 2});
	}
	buf_add(&b, kernel);
	assert_int_equal(lzma_easy_buffer_encode(6, LZMA_CHECK_CRC64, NULL, (const uint8_t *)b.p,
				 b.n, packed, &n, sizeof(packed)),
		LZMA_OK);
	buf_add(&out, S("AKS2"));
	fx_le(&out, b.n + raw, 4);
	fx_le(&out, 2, 4);
	fx_le(&out, 44 + directory, 4);
	buf_add(&out, (struct str){.p = (const char *)packed, .n = n});
	return buf_str(&out);
}

static void refuses(struct arena *a, struct str bytes, enum errcode want, const char *text)
{
	struct bytes src = bytes_mem(bytes);
	struct devcode d = {0};
	assert_err_says(devcode_scan_src(a, &src, S("x"), 0, &d), want, text);
}

static void reads_stores_of_aotriton(void **state)
{
	(void)state;
	ARENA(a);
	struct str kernel = object(&a, GFX942, 1), file = store(&a, kernel, 0, 0);
	struct devcode d = scan(&a, file, DEVCODE_KERNELS | DEVCODE_HASH);
	assert_string_equal(d.files.v[0].format, "aks2");
	assert_int_equal(d.files.v[0].bundles, 1);
	assert_int_equal(d.files.v[0].objects.n, 1);
	const struct code_object *o = d.files.v[0].objects.v;
	struct digest sha = hash_bytes(HASH_SHA256, kernel.p, kernel.n);
	assert_str(o->sha256, digest_hex(&a, sha).p);
	assert_int_equal(o->kernels, 1);
	assert_in_range(o->stored, 1, file.n);
	refuses(&a, store(&a, kernel, 1, 0), E_FORMAT, "lies outside");
	refuses(&a, store(&a, S(""), 1, 1), E_FORMAT, "xz stream is damaged");
	refuses(&a, store(&a, S("1"), 1, 0), E_FORMAT, "lies outside");
	refuses(&a, store(&a, kernel, 0, 1), E_FORMAT, "xz stream is damaged");
	refuses(&a, str_sub(file, 0, file.n - 30), E_FORMAT, "xz stream is damaged");
	refuses(&a, store(&a, kernel, 1 << 20, 0), E_FORMAT, "makes no sense");
}

/* ---- objects against each other ---- */
static struct str finding(const struct devcode *d, const char *id)
{
	VEC_EACH (const struct finding, f, &d->findings)
		if (!strcmp(f->id, id))
			return f->message;
	return S("");
}

static void says_which_kernels_one_gpu_has_alone(void **state)
{
	(void)state;
	ARENA(a);
	const struct fx_entry v[] = {
		{.id = ID("gfx90a"), .bytes = object(&a, GFX90A, 3)},
		{.id = ID("gfx942"), .bytes = object(&a, GFX942, 2)},
		{.id = ID("gfx1100"), .bytes = object(&a, GFX1100, 1)}, /* alone in its wave size */
	};
	struct str bundle = fx_bundle(&a, v, 3, 4096);
	struct devcode d = scan(&a, bundle, DEVCODE_KERNELS | DEVCODE_NAMES);
	const struct code_object *o = d.files.v[0].objects.v;
	assert_int_equal(o[0].alone, 1);
	assert_int_equal(o[1].alone, 0);
	assert_int_equal(o[2].alone, 0);
	assert_str(finding(&d, "kernels-of-one-target"),
		"gfx90a: 1 of 3 kernels are there for no other GPU of its wave size: 'k2' in "
		"bundle 0");
	d = scan(&a, bundle, DEVCODE_KERNELS);
	assert_int_equal(d.files.v[0].objects.v[0].alone, -1);
	assert_int_equal(d.findings.n, 0);
	/* A processor without any kernel is no peer. */
	const struct fx_entry lone[] = {v[0], {.id = v[1].id, .bytes = object(&a, GFX942, 0)}};
	d = scan(&a, fx_bundle(&a, lone, 2, 4096), DEVCODE_KERNELS | DEVCODE_NAMES);
	assert_int_equal(d.files.v[0].objects.v[0].alone, 0);
}

static void says_which_objects_are_identical(void **state)
{
	(void)state;
	ARENA(a);
	struct str same = object(&a, GFX1100, 1), text;
	const struct fx_entry v[] = {{.id = ID("gfx1100"), .bytes = same},
		{.id = ID("gfx1101"), .bytes = same},
		{.id = ID("gfx803"), .bytes = object(&a, GFX803, 1)}};
	struct devcode d = scan(&a, fx_bundle(&a, v, 3, 4096), DEVCODE_HASH);
	text = str_fmt(&a,
		"2 objects for gfx1100, gfx1101 are identical: %zu bytes are there more than once",
		same.n);
	assert_str(finding(&d, "objects-identical"), text.p);
	d = scan(&a, fx_bundle(&a, v, 1, 4096), DEVCODE_HASH);
	assert_str(finding(&d, "objects-identical"), "");
}

/* ---- side files ---- */
static void put(struct str dir, const char *name, struct str bytes)
{
	ARENA(a);
	struct str path = path_join(&a, dir, str_from(name));
	assert_ok(fs_mkdirs(path_dir(path)));
	assert_ok(fs_write(path, bytes, 0644));
}

static void counts_side_files_by_target(void **state)
{
	(void)state;
	ARENA(a);
	struct str dir = test_dir(&a);
	put(dir, "rocblas/library/TensileLibrary_lazy_gfx942.dat", S("1"));
	put(dir, "rocblas/library/TensileLibrary_a_gfx942.hsaco", object(&a, GFX942, 1));
	put(dir, "rocblas/library/gfx90a/TensileLibrary_b_gfx90a-xnack-.hsaco",
		object(&a, GFX90A, 1));
	put(dir, "rocblas/library/TensileLibrary_fallback.dat", S("12"));
	put(dir, "amd-gfx11xx/flash/a.aks2", store(&a, object(&a, GFX1100, 1), 0, 0));
	put(dir, "db/gfx90878.db", S("1"));
	put(dir, "db/other.db", S("1"));
	put(dir, "notes-gfx90a.txt", S("1"));
	struct devcode d;
	assert_ok(devcode_scan(&a, dir, 0, &d));
	said_devcode(dir, &d);
	BUF(text, &a);
	VEC_EACH (const struct devcode_set, s, &d.sets)
		VEC_EACH (const struct devcode_part, x, &s->parts)
			buf_fmt(&text, "%s %.*s '%.*s' %llu ", s->kind, STR(s->path),
				STR(x->target), (unsigned long long)x->files);
	assert_str(buf_str(&text),
		"aotriton . 'gfx11xx' 1 miopen db 'gfx908' 1 "
		"rocblas rocblas/library 'gfx90a:xnack-' 1 rocblas rocblas/library 'gfx942' 2 "
		"rocblas rocblas/library '' 1 ");
	assert_int_equal(d.served.n, 0); /* one set is for gfx11, another is not */
	assert_str(str_join(&a, &d.some, S(" ")), "gfx90a gfx942 gfx1100");
	assert_true(str_ends(finding(&d, "tensile-entry-missing"), S("for gfx90a")));
	assert_ok(devcode_scan(&a, path_join(&a, dir, S("rocblas")), 0, &d));
	said_devcode(dir, &d);
	assert_str(str_join(&a, &d.served, S(" ")), "gfx942");
	test_dir_remove(dir);
}

/* Objects and findings as text. */
static struct str all_of(struct arena *a, const struct devcode *d)
{
	BUF(b, a);
	VEC_EACH (const struct code_object, o, &d->files.v[0].objects)
		buf_fmt(&b, "%u %.*s %lld %.*s %u\n", o->bundle, STR(o->target),
			(long long)o->kernels, STR(o->kernel), o->version);
	VEC_EACH (const struct finding, f, &d->findings)
		buf_fmt(&b, "%s: %.*s\n", f->id, STR(f->message));
	return buf_str(&b);
}

/* Of a file several threads look at the objects, of memory one: what they say is the same, and so is the order. */
static void many_objects_are_shared_among_threads(void **state)
{
	(void)state;
	ARENA(a);
	enum { BUNDLES = 200 };
	BUF(b, &a);
	for (unsigned i = 0; i < BUNDLES; i++) {
		const struct fx_entry v[] = {
			{.id = ID("gfx90a"), .bytes = object(&a, GFX90A, 1 + i % 3)},
			{.id = ID("gfx1100"),
				.bytes =
					object(&a, i % 90 == 70 ? GFX942 : GFX1100, i % 50 != 49)}};
		fx_pad(&b, (b.n + 4095) / 4096 * 4096);
		buf_add(&b, fx_bundle(&a, v, 2, 4096));
	}
	struct str lib = host(&a, ".hip_fatbin", 2, buf_str(&b)), dir = test_dir(&a);
	struct str path = path_join(&a, dir, S("lib.so"));
	assert_ok(fs_write(path, lib, 0644));
	for (unsigned flags = 0; flags <= DEVCODE_KERNELS; flags += DEVCODE_KERNELS) {
		struct devcode d, alone = scan(&a, lib, flags);
		assert_ok(devcode_scan(&a, path, flags, &d));
		assert_int_equal(d.files.v[0].objects.n, 2 * BUNDLES);
		assert_str(finding(&d, "object-mislabelled"),
			"bundle 70 lists 'gfx1100', but the object there is for 'gfx942'");
		assert_str(all_of(&a, &d), all_of(&a, &alone).p);
	}
	test_dir_remove(dir);
}

/* A library of 64 MiB of bundles and 1 MiB of data; of memory one thread reads it, of a file the data is read beside the
 * bundles: where data has bundles, too, or there is something to say, as well. */
static void data_is_searched_beside_the_bundles(void **state)
{
	(void)state;
	ARENA(a);
	enum { DATA = (1 << 20) + 4096, LARGE = 33 << 20, CASES = 3 };
	static const unsigned flags[CASES] = {GFX90A, GFX90A, GFX942}, objects[CASES] = {2, 3, 2};
	struct str dir = test_dir(&a), path = path_join(&a, dir, S("lib.so"));
	for (size_t i = 0; i < CASES; i++) {
		const struct fx_entry v = {.id = ID("gfx90a"),
			.bytes = fx_code_object(&a,
				(struct fx_object){.flags = flags[i], .kernels = 1, .pad = LARGE})};
		BUF(data, &a);
		BUF(bundles, &a);
		if (i == 1)
			buf_add(&data, fx_bundle(&a,
					       &(struct fx_entry){.id = ID("gfx1100"),
						       .bytes = object(&a, GFX1100, 1)},
					       1, 4096));
		fx_pad(&data, DATA);
		for (int k = 0; k < 2; k++) {
			fx_pad(&bundles, (bundles.n + 4095) / 4096 * 4096);
			buf_add(&bundles, fx_bundle(&a, &v, 1, 4096));
		}
		const struct fx_host_section sections[] = {
			{.name = ".rodata", .bytes = buf_str(&data), .align = 16},
			{.name = ".hip_fatbin", .bytes = buf_str(&bundles)}};
		struct str lib = host_elf(&a, (struct fx_host){.v = sections, .n = 2});
		struct bytes src = bytes_mem(lib);
		struct devcode d, alone = {0};
		assert_ok(devcode_scan_src(&a, &src, S("x.so"), 0, &alone));
		assert_ok(fs_write(path, lib, 0644));
		assert_ok(devcode_scan(&a, path, 0, &d));
		assert_int_equal(d.files.v[0].objects.n, objects[i]);
		assert_int_equal(d.findings.n, flags[i] == GFX90A ? alone.findings.n : 2);
		assert_str(all_of(&a, &d), all_of(&a, &alone).p);
	}
	test_dir_remove(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(many_objects_are_shared_among_threads),
		cmocka_unit_test(data_is_searched_beside_the_bundles),
		cmocka_unit_test(finds_objects_in_arrays),
		cmocka_unit_test(v2_has_its_target_in_a_note),
		cmocka_unit_test(reads_stores_of_aotriton),
		cmocka_unit_test(says_which_kernels_one_gpu_has_alone),
		cmocka_unit_test(says_which_objects_are_identical),
		cmocka_unit_test(counts_side_files_by_target),
		cmocka_unit_test(all_is_said_as_recorded),
	};
	said_begin("devcode_more");
	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Readers of formats over a source that fails: whichever read it is, its error comes out as it is, nothing is
 * taken for the end of the data, and nothing stays taken (LSan). And what reading costs: with less work or memory
 * than that, it is E_LIMIT. */
#include "unit/fixture_elf.h"
#include "unit/fixture_source.h"
#include "unit/fixture_wheel.h"

#include "formats/kpack.h"
#include "formats/pe.h"

/* ---- what is done with a source ---- */

static struct err *see_symbol(void *user, const struct elf_symbol *s)
{
	*(uint32_t *)user = s->at;
	return NULL;
}

static struct err *use_elf(struct arena *a, const struct bytes *src)
{
	static const uint64_t tags[] = {1, 5};
	struct elf e;
	struct elf_dynamic d;
	uint64_t values[2], room;
	uint32_t at = 0;
	struct str name;
	TRY(elf_open(a, src, &e));
	TRY(elf_dynamic(a, &e, &d));
	TRY(elf_tags(&e, tags, 2, values));
	TRY(elf_symbol_room(&e, &room));
	TRY(elf_symbols(&e, false, see_symbol, &at));
	return elf_symbol_name(a, &e, at, &name);
}

static struct err *pass(void *user, const void *p, size_t n, uint64_t at, bool *stop)
{
	(void)user, (void)p, (void)n, (void)at, (void)stop;
	return NULL;
}

static struct err *decode(void *user, const struct bundle *b)
{
	return bundle_decode(user, b, pass, NULL);
}

static struct err *use_bundles(struct arena *a, const struct bytes *src)
{
	uint64_t at = 0;
	(void)a;
	return bundle_walk(src, &at, UINT64_MAX, decode, (void *)(uintptr_t)src);
}

static struct err *use_kpack(struct arena *a, const struct bytes *src)
{
	struct kpack k;
	TRY(kpack_open(a, src, &k));
	for (size_t i = 0; i < k.objects.n; i++)
		TRY(kpack_read(src, &k, &k.objects.v[i], pass, NULL));
	return NULL;
}

static struct err *use_pe(struct arena *a, const struct bytes *src)
{
	struct pe pe;
	struct strs names;
	TRY(pe_open(a, src, &pe));
	return pe_imports(a, src, &names);
}

static struct err *pass_piece(void *user, const void *p, size_t n, bool *stop)
{
	(void)user, (void)p, (void)n, (void)stop;
	return NULL;
}

static struct err *use_member(struct arena *a, const struct zip *z, const struct zip_member *m)
{
	struct str text;
	char byte;
	CLEANUP(zip_view_close) struct zip_view *v = NULL;
	TRY(zip_read(a, z, m, 1 << 24, &text));
	TRY(zip_stream(z, m, pass_piece, NULL));
	TRY(zip_view_open(z, m, &(struct zip_pass){.fn = pass_piece}, &v));
	struct bytes src = zip_view_src(v);
	return m->size ? bytes_read(&src, &byte, 1, m->size - 1) : NULL;
}

static struct err *use_zip(struct arena *a, const struct bytes *src)
{
	CLEANUP(zip_close) struct zip z = {.fd = -1};
	TRY(zip_open_src(a, src, S("x.zip"), NULL, &z));
	for (size_t i = 0; i < z.members.n; i++)
		TRY(use_member(a, &z, &z.members.v[i]));
	return NULL;
}

/* ---- the sources ---- */

static struct str bytes_of(struct arena *a, size_t n)
{
	char *p = arena_alloc(a, n);
	uint32_t x = 1;
	for (size_t i = 0; i < n; i++)
		p[i] = (char)((x = x * 1664525 + 1013904223) >> 24);
	return (struct str){p, n};
}

static struct str raw_bundle(struct arena *a)
{
	const struct fx_entry v[] = {{.id = "host-x86_64-unknown-linux-gnu-", .bytes = S("")},
		{.id = "hipv4-amdgcn-amd-amdhsa--gfx1100", .bytes = bytes_of(a, 300000)}};
	return fx_bundle(a, v, 2, 4096);
}

static struct str two_bundles(struct arena *a)
{
	BUF(b, a);
	buf_add(&b, raw_bundle(a));
	fx_pad(&b, b.n + 9000); /* not at a page */
	buf_add(&b, raw_bundle(a));
	fx_pad(&b, b.n + 5000);
	return buf_str(&b);
}

static struct str ccob1(struct arena *a)
{
	return fx_ccob(a, raw_bundle(a), 1, true);
}

static struct str ccob1_zlib(struct arena *a)
{
	return fx_ccob(a, raw_bundle(a), 1, false);
}

static struct str ccob3(struct arena *a)
{
	return fx_ccob(a, raw_bundle(a), 3, true);
}

static struct str object(struct arena *a)
{
	return fx_code_object(a, (struct fx_object){.kernels = 2, .sections = true});
}

static struct str object_gnu(struct arena *a)
{
	return fx_code_object(a, (struct fx_object){.kernels = 20, .gnu_hash = true});
}

static struct str library(struct arena *a)
{
	return fx_elf(a, (struct fx_library){.needed = {"liba.so"},
				 .soname = "libself.so",
				 .runpath = "$ORIGIN",
				 .versions = {"GLIBC_2.2.5", "GLIBC_2.34"},
				 .defines = {"libself.so", "V_1"},
				 .undefined = "hipMalloc"});
}

static struct str kpack(struct arena *a)
{
	struct str dir = test_dir(a), path = path_join(a, dir, S("a.kpack")), text;
	struct kpack_out o;
	assert_ok(kpack_out_open(a, path, S("group"), S("gfx90a"), &o));
	for (unsigned i = 0; i < 2; i++) {
		assert_ok(kpack_out_begin(&o, S("lib/y.so"), i, 1000));
		assert_ok(kpack_out_add(&o, bytes_of(a, 1000).p, 1000));
		assert_ok(kpack_out_end(&o));
	}
	assert_ok(kpack_out_commit(&o));
	kpack_out_close(&o);
	assert_ok(fs_read(a, path, 1 << 20, &text));
	test_dir_remove(dir);
	return text;
}

/* One section, with the import table of one DLL and that of one which is loaded later. */
static struct str pe(struct arena *a)
{
	enum { AT = 0x200, ADDR = 0x1000 };
	BUF(b, a);
	buf_add(&b, S("MZ"));
	fx_pad(&b, 60);
	fx_le(&b, 64, 4);
	buf_add(&b, (struct str){.p = "PE\0\0", .n = 4});
	fx_le(&b, 0x8664, 2);
	fx_le(&b, 1, 2);
	fx_pad(&b, b.n + 12);
	fx_le(&b, 240, 2);
	fx_le(&b, 0x2022, 2);
	size_t optional = b.n;
	fx_le(&b, 0x20b, 2);
	fx_pad(&b, optional + 108);
	fx_le(&b, 16, 4);
	fx_pad(&b, optional + 120);
	fx_le(&b, ADDR, 4); /* imports */
	fx_le(&b, 40, 4);
	fx_pad(&b, optional + 112 + 13 * 8);
	fx_le(&b, ADDR + 0x40, 4); /* delayed ones */
	fx_le(&b, 64, 4);
	fx_pad(&b, optional + 240);
	buf_add(&b, S(".rdata\0\0"));
	fx_le(&b, 0x200, 4);
	fx_le(&b, ADDR, 4);
	fx_le(&b, 0x200, 4);
	fx_le(&b, AT, 4);
	fx_pad(&b, b.n + 12);
	fx_le(&b, 0x40000040, 4);
	fx_pad(&b, AT + 12);
	fx_le(&b, ADDR + 0x100, 4); /* name of the DLL */
	fx_pad(&b, AT + 0x40);
	fx_le(&b, 1, 4);
	fx_le(&b, ADDR + 0x110, 4);
	fx_pad(&b, AT + 0x100);
	buf_add(&b, S("first.dll"));
	fx_pad(&b, AT + 0x110);
	buf_add(&b, S("later.dll"));
	fx_pad(&b, AT + 0x200);
	return buf_str(&b);
}

static struct str zip(struct arena *a)
{
	struct str dir = test_dir(a), path = path_join(a, dir, S("a.zip")), text;
	BUF(b, a);
	for (unsigned i = 0; b.n < 3000000; i++)
		buf_fmt(&b, "%u,", i * i);
	struct zip_input v[] = {{.name = S("text"), .content = buf_str(&b), .mode = 0644},
		{.name = S("bytes"), .content = bytes_of(a, 200000), .mode = 0644},
		{.name = S("none"), .mode = 0644}};
	struct zip_writer w = {.path = path, .jobs = 1, .v = v, .n = 3, .limits.size = 100000};
	assert_ok(zip_write(a, &w, NULL));
	assert_ok(fs_read(a, path, 1 << 24, &text));
	test_dir_remove(dir);
	return text;
}

static const struct kind {
	const char *name;
	struct str (*make)(struct arena *a);
	struct err *(*use)(struct arena *a, const struct bytes *src);
	uint64_t reads, work, memory; /* what it takes; the last two to one part in a hundred */
} kinds[] = {
	{"object", object, use_elf, 12, 5334, 1310},
	{"object, GNU", object_gnu, use_elf, 94, 28217, 1881},
	{"library", library, use_elf, 17, 7454, 2038},
	{"bundles", two_bundles, use_bundles, 13, 644888, 0},
	{"CCOB 1", ccob1, use_bundles, 14, 1043167, 304096},
	{"CCOB 1, zlib", ccob1_zlib, use_bundles, 8, 1480937, 0},
	{"CCOB 3", ccob3, use_bundles, 10, 1042128, 304096},
	{"kpack", kpack, use_kpack, 9, 139216, 1640},
	{"PE", pe, use_pe, 13, 4424, 304},
	{"zip", zip, use_zip, 28, 15227209, 4314924},
};
enum { KINDS = sizeof(kinds) / sizeof(*kinds) };

static struct err *use(
	const struct kind *k, struct str bytes, size_t fails, struct budget *b, size_t *ret_reads)
{
	ARENA(a);
	struct source x = {.bytes = bytes, .fails = fails};
	struct bytes src = source_of(&x);
	src.budget = b;
	struct err *e = k->use(&a, &src);
	*ret_reads = x.reads;
	return e;
}

static void any_read_may_fail(void **state)
{
	(void)state;
	for (size_t kind = 0; kind < KINDS; kind++) {
		const struct kind *k = &kinds[kind];
		ARENA(a);
		struct str bytes = k->make(&a);
		size_t reads, done;
		assert_ok(use(k, bytes, SIZE_MAX, NULL, &reads));
		if (reads != k->reads)
			fail_msg("%s: %zu reads", k->name, reads);
		for (size_t i = 0; i < reads; i++) {
			assert_err_says(use(k, bytes, i, NULL, &done), E_IO, "the disk is gone");
			assert_int_equal(done, i + 1); /* it is not tried again */
		}
	}
}

static bool enough(const void *kind, struct str bytes, struct budget b)
{
	size_t reads;
	struct err *e = use(kind, bytes, SIZE_MAX, &b, &reads);
	bool good = !e;
	if (e)
		assert_true(e->code == E_LIMIT);
	err_free(e);
	return good;
}

static void reading_costs_what_it_takes(void **state)
{
	(void)state;
	for (size_t kind = 0; kind < KINDS; kind++) {
		const struct kind *k = &kinds[kind];
		ARENA(a);
		struct str bytes = k->make(&a);
		uint64_t work = least(enough, k, bytes, true),
			 memory = least(enough, k, bytes, false);
		if (is_about(work, k->work) && is_about(memory, k->memory))
			continue;
		fail_msg("%s: %llu, %llu", k->name, (unsigned long long)work,
			(unsigned long long)memory);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(any_read_may_fail),
		cmocka_unit_test(reading_costs_what_it_takes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

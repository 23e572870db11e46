/* Fewer GPUs in objects that are not linked yet, and code objects without what no runtime reads. */
#include "formats/offload.h"
#include "unit/fixture_slim.h"

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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_object_that_is_not_linked_loses_images),
		cmocka_unit_test(a_binary_of_many_images_loses_some),
		cmocka_unit_test(objects_lose_what_no_runtime_reads),
		cmocka_unit_test(odd_objects_keep_everything),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

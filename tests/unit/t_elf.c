/* The ELF reader: tiny code objects, this very test program, hostile headers. */
#include "unit/fixture_elf.h"
#include "unit/fixture_said.h"

#include "base/proc.h"
#include "formats/elf.h"

static struct str code_object(struct arena *a)
{
	return fx_code_object(
		a, (struct fx_object){.kernels = 2, .sections = true, .flags = 0x54c});
}

static void reads_headers_segments_and_sections(void **state)
{
	(void)state;
	ARENA(a);
	struct str bytes = code_object(&a);
	struct bytes src = bytes_mem(bytes);
	struct elf e;
	assert_true(elf_is(bytes));
	assert_ok(elf_open(&a, &src, &e));
	assert_int_equal(e.type, ELF_DYN);
	assert_int_equal(e.machine, ELF_AMDGPU);
	assert_int_equal(e.abiversion, 4);
	assert_int_equal(e.flags, 0x54c);
	assert_int_equal(e.segments.n, 3);
	assert_int_equal(e.segments.v[1].type, ELF_PT_DYNAMIC);
	assert_int_equal(e.sections.n, 5);
	assert_str(e.sections.v[0].name, "");
	assert_str(e.sections.v[4].name, ".shstrtab");
	const struct elf_section *s = elf_section(&e, S(".debug_info"));
	struct str data;
	assert_non_null(s);
	assert_int_equal(s->size, 10);
	assert_ok(bytes_slice(&a, &src, s->offset, s->size, &data));
	assert_memory_equal(data.p, "\x88\x77\x66\x55\x44\x33\x22\x11\x88\x77", 10);
	assert_null(elf_section(&e, S(".text")));
	assert_int_equal(elf_offset_of(&e, 0x123), 0x123);
	assert_true(elf_offset_of(&e, bytes.n) == UINT64_MAX);
}

static struct err *add_name(void *user, const struct elf_symbol *s)
{
	struct buf *b = user;
	buf_fmt(b, "%.*s/%u/%llu ", STR(s->name), s->type, (unsigned long long)s->size);
	return NULL;
}

static void lists_symbols_with_either_hash_table(void **state)
{
	(void)state;
	for (int gnu = 0; gnu <= 1; gnu++) {
		ARENA(a);
		struct str bytes =
			fx_code_object(&a, (struct fx_object){.kernels = 2, .gnu_hash = gnu});
		struct bytes src = bytes_mem(bytes);
		struct elf e;
		BUF(names, &a);
		assert_ok(elf_open_head(&a, &src, &e));
		assert_ok(elf_symbols(&e, true, add_name, &names));
		assert_str(buf_str(&names), "k0/2/256 k0.kd/1/64 k1/2/256 k1.kd/1/64 ");
		assert_int_equal(e.sections.n, 0);
	}
}

static void a_file_without_symbols_has_none(void **state)
{
	(void)state;
	for (int gnu = 0; gnu <= 1; gnu++) {
		ARENA(a);
		struct str bytes = fx_code_object(&a, (struct fx_object){.gnu_hash = gnu});
		struct bytes src = bytes_mem(bytes);
		struct elf e;
		BUF(names, &a);
		assert_ok(elf_open_head(&a, &src, &e));
		assert_ok(elf_symbols(&e, true, add_name, &names));
		assert_int_equal(names.n, 0);
	}
}

/* Every prefix is refused or read without touching what is behind it (ASan watches). */
static void survives_being_cut_off_anywhere(void **state)
{
	(void)state;
	ARENA(a);
	struct str whole = code_object(&a);
	unsigned good = 0;
	for (size_t n = 0; n < whole.n; n++) {
		ARENA(tmp);
		char *exact = xmalloc(n);
		if (n)
			memcpy(exact, whole.p, n);
		struct bytes src = bytes_mem((struct str){.p = exact, .n = n});
		struct elf e;
		struct elf_dynamic d;
		struct err *err = elf_open(&tmp, &src, &e);
		if (!err)
			err = elf_dynamic(&tmp, &e, &d);
		good += !err;
		if (err)
			assert_true(err->code == E_ELF);
		err_free(err);
		free(exact);
	}
	assert_int_equal(good, 0); /* the section table is last */
}

/* Each byte of headers, symbols and dynamic section set to extremes: an error or a result, no
 * crash, and no memory beyond what the file can back. */
static void survives_any_byte_being_wrong(void **state)
{
	(void)state;
	ARENA(a);
	struct str whole = code_object(&a);
	static const unsigned char values[] = {0, 1, 0x7f, 0x80, 0xff};
	for (size_t at = 0; at < whole.n; at++) {
		for (size_t i = 0; i < sizeof(values); i++) {
			ARENA(tmp);
			char *p = str_z(&tmp, whole);
			p[at] = (char)values[i];
			struct bytes src = bytes_mem((struct str){.p = p, .n = whole.n});
			struct elf e;
			struct elf_dynamic d;
			struct err *err = elf_open(&tmp, &src, &e);
			if (!err)
				err = elf_dynamic(&tmp, &e, &d);
			err_free(err);
		}
	}
}

static struct err *open_with(struct arena *a, size_t at, uint64_t value, unsigned bytes)
{
	struct str whole = code_object(a);
	char *p = str_z(a, whole);
	put_le(p + at, value, bytes);
	struct bytes *src = NEW(a, struct bytes);
	struct elf e;
	struct elf_dynamic d;
	*src = bytes_mem((struct str){.p = p, .n = whole.n});
	TRY(elf_open(a, src, &e));
	return elf_dynamic(a, &e, &d);
}

static void refuses_hostile_headers(void **state)
{
	(void)state;
	ARENA(a);
	assert_ok(open_with(&a, 0, 0x7f, 1));
	assert_err_says(open_with(&a, 4, 1, 1), E_ELF, "no 64-bit little-endian"); /* ELF32 */
	assert_err_says(open_with(&a, 5, 2, 1), E_ELF, "no 64-bit little-endian"); /* big endian */
	assert_err_says(open_with(&a, 54, 32, 2), E_ELF, "program headers of 32 bytes");
	assert_err_says(open_with(&a, 58, 40, 2), E_ELF, "section headers of 40 bytes");
	assert_err_says(open_with(&a, 56, 5000, 2), E_LIMIT, "5000 segments");
	assert_err_says(open_with(&a, 32, UINT64_MAX, 8), E_ELF, "program headers");
	assert_err_says(open_with(&a, 40, UINT64_MAX - 10, 8), E_ELF, "section headers");
	assert_err_says(open_with(&a, FX_PHDRS + 56 + 32, UINT64_MAX, 8), E_LIMIT, "dynamic");
	assert_err_says(open_with(&a, FX_PHDRS + 56 + 8, 1 << 30, 8), E_ELF, "dynamic");
}

/* Counts that do not fit 16 bits stand in section 0. */
static void reads_counts_of_many_sections(void **state)
{
	(void)state;
	ARENA(a);
	struct str whole = code_object(&a);
	char *p = str_z(&a, whole);
	size_t table = (size_t)le64(p + 40);
	put_le(p + 60, 0, 2);
	put_le(p + 62, 0xffff, 2);
	put_le(p + table + 32, 5, 8);
	put_le(p + table + 40, 4, 4);
	struct bytes src = bytes_mem((struct str){.p = p, .n = whole.n});
	struct elf e;
	assert_ok(elf_open(&a, &src, &e));
	assert_int_equal(e.sections.n, 5);
	assert_non_null(elf_section(&e, S(".debug_line")));
	put_le(p + table + 32, UINT64_MAX, 8);
	assert_err(elf_open(&a, &src, &e), E_LIMIT);
}

static void sub_sources_do_not_reach_out(void **state)
{
	(void)state;
	struct bytes all = bytes_mem(S("0123456789")), sub = bytes_sub(&all, 2, 5);
	char p[8] = {0};
	size_t n;
	assert_int_equal(sub.size, 5);
	assert_ok(bytes_read(&sub, p, 5, 0));
	assert_string_equal(p, "23456");
	assert_err(bytes_read(&sub, p, 2, 4), E_ELF);
	assert_err(bytes_read(&sub, p, 1, UINT64_MAX), E_ELF);
	assert_ok(bytes_peek(&sub, p, 8, 3, &n));
	assert_int_equal(n, 2);
	assert_memory_equal(p, "56", 2);
	assert_ok(bytes_peek(&sub, p, 8, 99, &n));
	assert_int_equal(n, 0);
	struct bytes deep = bytes_sub(&sub, 4, UINT64_MAX), none = bytes_sub(&sub, 9, 1);
	assert_int_equal(deep.size, 1);
	assert_ok(bytes_read(&deep, p, 1, 0));
	assert_int_equal(p[0], '6');
	assert_int_equal(none.size, 0);
}

/* This program itself. */
static void reads_a_real_program(void **state)
{
	(void)state;
	ARENA(a);
	CLEANUP(fd_closep) int fd = -1;
	struct stat st;
	struct elf e;
	struct elf_dynamic d;
	assert_ok(fs_stat(S("/proc/self/exe"), &st));
	assert_ok(fs_open(S("/proc/self/exe"), &fd));
	struct bytes src = bytes_fd(fd, (uint64_t)st.st_size);
	assert_ok(elf_open(&a, &src, &e));
	assert_non_null(elf_section(&e, S(".text")));
	assert_ok(elf_dynamic(&a, &e, &d));
	assert_true(strs_has(&d.needed, S("libc.so.6")));
	assert_true(strs_has(&d.undefined, S("__libc_start_main")));
	assert_false(strs_has(&d.undefined, S("main")));
	bool base = false, all_glibc = true;
	VEC_EACH (struct elf_need_version, v, &d.versions) {
		base |= str_eq(v->version, S("GLIBC_2.2.5")) || str_eq(v->version, S("GLIBC_2.17"));
		if (str_eq(v->file, S("libc.so.6")))
			all_glibc &= str_starts(v->version, S("GLIBC_"));
	}
	assert_true(base);
	assert_true(all_glibc);
	const struct elf_section *bss = elf_section(&e, S(".bss"));
	assert_non_null(bss);
	assert_int_equal(bss->type, ELF_NOBITS);
}

/* ---- readelf as the judge ---- */
static struct str readelf(struct arena *a, const char *what, struct str path)
{
	struct proc p = {.limit = 16 << 20};
	struct proc_result r;
	proc_arg(a, &p, "readelf", "-W", what, NULL);
	strs_add(a, &p.argv, path);
	strs_add(a, &p.setenv, S("LC_ALL=C"));
	assert_ok(proc_check(a, &p, &r));
	return r.out;
}

/* Names that readelf shows behind a tag: "(NEEDED) ... [libc.so.6]". */
static struct str bracketed(struct arena *a, struct str text, const char *tag)
{
	struct strs found = {0};
	struct str line;
	while (str_next(&text, '\n', &line)) {
		size_t open = str_chr(line, '['), end = str_rchr(line, ']');
		if (str_contains(line, str_from(tag)) && open < end)
			strs_add(a, &found, str_sub(line, open + 1, end));
	}
	return str_join(a, &found, S(" "));
}

/* Dynamic symbols that are (not) defined, local ones left out, as counted from readelf's lines. */
static size_t count_symbols(struct str text, bool undefined)
{
	size_t n = 0;
	struct str line;
	while (str_next(&text, '\n', &line)) {
		bool named = str_contains(line, S(" GLOBAL ")) || str_contains(line, S(" WEAK ")) ||
			     str_contains(line, S(" UNIQUE "));
		n += named && str_contains(line, S(" UND ")) == undefined;
	}
	return n;
}

static void compare_with_readelf(struct str path)
{
	ARENA(a);
	CLEANUP(fd_closep) int fd = -1;
	struct stat st;
	struct elf e;
	struct elf_dynamic d;
	assert_ok(fs_stat(path, &st));
	assert_ok(fs_open(path, &fd));
	struct bytes src = bytes_fd(fd, (uint64_t)st.st_size);
	assert_ok(elf_open(&a, &src, &e));
	assert_ok(elf_dynamic(&a, &e, &d));
	struct str dynamic = readelf(&a, "-d", path), symbols = readelf(&a, "--dyn-syms", path);
	assert_str(str_join(&a, &d.needed, S(" ")), bracketed(&a, dynamic, "(NEEDED)").p);
	assert_str(d.soname, bracketed(&a, dynamic, "(SONAME)").p);
	assert_str(d.runpath, bracketed(&a, dynamic, "(RUNPATH)").p);
	assert_int_equal(d.undefined.n, count_symbols(symbols, true));
	assert_int_equal(d.defined.n, count_symbols(symbols, false));
	struct str versions = readelf(&a, "-V", path);
	assert_true(d.versions.n > 0);
	VEC_EACH (struct elf_need_version, v, &d.versions) {
		struct str line = str_fmt(&a, "Name: %.*s ", STR(v->version));
		assert_true(str_contains(versions, line));
		assert_true(strs_has(&d.needed, v->file));
	}
	size_t names = 0;
	for (struct str rest = versions, line; str_next(&rest, '\n', &line);)
		names += str_contains(line, S("  Name: ")) && str_contains(line, S("Version: ")) &&
			 str_contains(line, S("Flags: ")) && !str_contains(line, S("Rev: "));
	assert_int_equal(d.versions.n, names);
}

static void agrees_with_readelf(void **state)
{
	(void)state;
	ARENA(a);
	if (!proc_find(&a, S("readelf")).n)
		skip();
	struct str self;
	assert_ok(fs_readlink(&a, S("/proc/self/exe"), &self));
	const char *const files[] = {self.p, "/lib/x86_64-linux-gnu/libz.so.1",
		"/usr/lib/x86_64-linux-gnu/libcrypto.so.3",
		"/usr/lib/x86_64-linux-gnu/libzstd.so.1"};
	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
		if (fs_exists(str_from(files[i])))
			compare_with_readelf(str_from(files[i]));
	}
}

/* An object by llvm-mc and lld, from tests/data. */
static void reads_an_object_by_lld(void **state)
{
	(void)state;
	ARENA(a);
	struct str bytes;
	struct elf e;
	BUF(names, &a);
	assert_ok(fs_read(&a, S("tests/data/devcode/gfx90a.hsaco"), 1 << 20, &bytes));
	struct bytes src = bytes_mem(bytes);
	assert_ok(elf_open(&a, &src, &e));
	assert_int_equal(e.flags, 0x53f);
	assert_int_equal(e.abiversion, 2);
	assert_non_null(elf_section(&e, S(".note")));
	assert_ok(elf_symbols(&e, true, add_name, &names));
	assert_true(str_contains(buf_str(&names), S("foo.kd/1/64 ")));
	names.n = 0;
	assert_ok(elf_symbols(&e, false, add_name, &names));
	assert_true(str_contains(buf_str(&names), S("/1/64 ")));
	assert_false(str_contains(buf_str(&names), S("foo")));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_headers_segments_and_sections),
		cmocka_unit_test(lists_symbols_with_either_hash_table),
		cmocka_unit_test(a_file_without_symbols_has_none),
		cmocka_unit_test(survives_being_cut_off_anywhere),
		cmocka_unit_test(survives_any_byte_being_wrong),
		cmocka_unit_test(refuses_hostile_headers),
		cmocka_unit_test(reads_counts_of_many_sections),
		cmocka_unit_test(sub_sources_do_not_reach_out),
		cmocka_unit_test(reads_a_real_program),
		cmocka_unit_test(agrees_with_readelf),
		cmocka_unit_test(reads_an_object_by_lld),
		cmocka_unit_test(all_is_said_as_recorded),
	};
	said_begin("elf");
	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Dynamic sections that lie: hash tables that count too many or no symbols, version records that
 * run in circles or out of the file, strings without an end. The fixture's library is right; each
 * case changes a few bytes of it. A lie ends in an error or in what can still be read, soon, and
 * never in a read outside the bytes, which are kept in memory of their exact size. */
#include "fixture_said.h"
#include "fixture_wheel.h"

#include "formats/elf.h"
#include "formats/le.h"

enum {
	TAGS = 64 + 2 * 56, /* where the fixture puts the dynamic section: 24 entries */
	ENTRIES = 24,
	T_HASH = 4,
	T_STRTAB = 5,
	T_SYMTAB = 6,
	T_STRSZ = 10,
	T_VERNEED = 0x6ffffffe,
	T_VERNEEDNUM = 0x6fffffff,
	T_GNU_HASH = 0x6ffffef5,
};

static struct str library(struct arena *a)
{
	return fx_elf(a, (struct fx_library){.needed = {"liba.so", "libb.so"},
				 .soname = "libself.so",
				 .runpath = "$ORIGIN",
				 .versions = {"GLIBC_2.2.5", "GLIBC_2.34"},
				 .undefined = "hipMalloc"});
}

/* The entry with this tag; fails the test when there is none. */
static char *entry_of(struct str elf, uint64_t tag)
{
	char *p = (char *)(uintptr_t)elf.p + TAGS;
	for (unsigned i = 0; i < ENTRIES; i++, p += 16)
		if (le64(p) == tag)
			return p;
	fail_msg("no entry with the tag %llu", (unsigned long long)tag);
	return NULL;
}

static uint64_t value_of(struct str elf, uint64_t tag)
{
	return le64(entry_of(elf, tag) + 8);
}

static struct err *read_dynamic(struct arena *a, struct str elf, struct elf_dynamic *ret)
{
	struct elf e;
	char *exact = arena_alloc(a, elf.n);
	memcpy(exact, elf.p, elf.n);
	struct bytes src = bytes_mem((struct str){.p = exact, .n = elf.n});
	TRY(elf_open(a, &src, &e));
	return elf_dynamic(a, &e, ret);
}

static void a_right_library_is_read(void **state)
{
	(void)state;
	ARENA(a);
	struct elf_dynamic d;
	assert_ok(read_dynamic(&a, library(&a), &d));
	assert_str(str_join(&a, &d.needed, S(" ")), "liba.so libb.so");
	assert_str(d.soname, "libself.so");
	assert_str(d.runpath, "$ORIGIN");
	assert_str(d.rpath, "");
	assert_int_equal(d.versions.n, 2);
	assert_str(d.versions.v[0].version, "GLIBC_2.2.5");
	assert_str(d.versions.v[1].version, "GLIBC_2.34");
	assert_str(d.versions.v[1].file, "libc.so.6");
	assert_str(str_join(&a, &d.undefined, S(" ")), "hipMalloc");
	assert_int_equal(d.defined.n, 0);
	assert_false(d.textrel);
}

static void values_that_lead_nowhere(void **state)
{
	(void)state;
	static const struct {
		uint64_t tag, value;
		bool good;
		const char *says;
	} cases[] = {
		{.tag = T_STRTAB, .value = 1 << 20, .says = "cannot read the dynamic strings"},
		{.tag = T_STRTAB, .value = UINT64_MAX, .says = "cannot read the dynamic strings"},
		{.tag = T_STRSZ, .value = UINT64_MAX, .says = "cannot read the dynamic strings"},
		{.tag = T_STRSZ, .value = 0, .good = true},
		{.tag = T_STRTAB, .value = 0, .good = true},
		{.tag = T_SYMTAB, .value = 1 << 20, .says = "cannot read the dynamic symbols"},
		{.tag = T_SYMTAB, .value = 0, .good = true},
		{.tag = T_HASH,
			.value = UINT64_MAX - 7,
			.says = "cannot count the dynamic symbols"},
		{.tag = T_HASH, .value = 0, .good = true},
		{.tag = T_VERNEED, .value = 1 << 20, .says = "cannot read the needed versions"},
		{.tag = T_VERNEED, .value = 0, .good = true},
		{.tag = T_VERNEEDNUM, .value = 0, .good = true},
		{.tag = T_VERNEEDNUM, .value = 65536, .good = true}, /* the chain ends itself */
		{.tag = T_VERNEEDNUM, .value = 65537, .says = "at most 65536"},
		{.tag = T_VERNEEDNUM, .value = UINT64_MAX, .says = "at most 65536"},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		ARENA(a);
		struct elf_dynamic d;
		struct str elf = library(&a);
		put_le(entry_of(elf, cases[i].tag) + 8, cases[i].value, 8);
		CLEANUP(err_freep) struct err *e = read_dynamic(&a, elf, &d);
		said_err(e);
		if (!e != cases[i].good || (e && !test_err_says(e, cases[i].says))) {
			print_error("case %zu:\n", i);
			test_print_err(e);
			fail();
		}
	}
}

static void hash_tables_that_lie(void **state)
{
	(void)state;
	static const struct {
		uint32_t nchain;
		enum errcode want;
	} cases[] = {{.nchain = 0, .want = E_NONE}, {.nchain = 1, .want = E_NONE},
		{.nchain = 2, .want = E_NONE}, {.nchain = 1000, .want = E_ELF},
		{.nchain = 32 << 20, .want = E_ELF}, {.nchain = (32 << 20) + 1, .want = E_LIMIT},
		{.nchain = UINT32_MAX, .want = E_LIMIT}};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		ARENA(a);
		struct elf_dynamic d;
		struct str elf = library(&a);
		put_le((char *)(uintptr_t)elf.p + value_of(elf, T_HASH) + 4, cases[i].nchain, 4);
		CLEANUP(err_freep) struct err *e = read_dynamic(&a, elf, &d);
		said_err(e);
		assert_int_equal(e ? e->code : E_NONE, cases[i].want);
		if (!e)
			assert_int_equal(d.undefined.n, cases[i].nchain == 2);
	}
}

/* Words of a GNU hash table in the place of the fixture's DT_HASH, and behind it. */
static void gnu_hash_tables_that_lie(void **state)
{
	(void)state;
	static const struct {
		uint32_t words[10]; /* buckets, first symbol, bloom words, shift, ... */
		size_t n;
		unsigned symbols;
		bool fails;
	} cases[] = {
		{.words = {1, 1, 0, 0, 1, 1}, .n = 6, .symbols = 1},
		{.words = {1, 1, 1, 0, 0, 0, 1, 1}, .n = 8, .symbols = 1},
		{.words = {0, 2, 0, 0}, .n = 4, .symbols = 1}, /* all symbols are unhashed */
		{.words = {2, 1, 0, 0, 0, 0}, .n = 6, .symbols = 0},
		{.words = {1, 1, 0, 0, 1, 2}, .n = 6, .fails = true}, /* no end of the chain */
		{.words = {UINT32_MAX, 1, 0, 0, 1}, .n = 5, .fails = true},
		{.words = {1, 1, UINT32_MAX, 0, 1, 1}, .n = 6, .fails = true},
		{.words = {1, 1, 0, 0, UINT32_MAX, 1}, .n = 6, .fails = true},
		{.words = {1, 1, 0}, .n = 3, .fails = true},
		{.words = {1}, .n = 1, .fails = true},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		ARENA(a);
		BUF(b, &a);
		struct elf_dynamic d;
		struct str elf = library(&a);
		uint64_t at = value_of(elf, T_HASH);
		buf_add(&b, str_sub(elf, 0, at));
		for (size_t k = 0; k < cases[i].n; k++)
			fx_n(&b, cases[i].words[k], 4);
		struct str changed = buf_str(&b);
		put_le(entry_of(changed, T_HASH), T_GNU_HASH, 8);
		for (unsigned segment = 32; segment <= 40; segment += 8) /* filesz, memsz */
			put_le((char *)(uintptr_t)changed.p + 64 + segment, changed.n, 8);
		CLEANUP(err_freep) struct err *e = read_dynamic(&a, changed, &d);
		said_err(e);
		if (!e == cases[i].fails)
			print_error("case %zu\n", i);
		assert_int_equal(!e, !cases[i].fails);
		if (!e)
			assert_int_equal(d.undefined.n, cases[i].symbols);
	}
}

/* vn_cnt, vn_aux, vn_next; vna_next: each pointed at itself, backwards or out. */
static void version_records_that_lie(void **state)
{
	(void)state;
	static const struct {
		unsigned at, bytes; /* in the records: 16 bytes need, then 16 for each version */
		uint32_t value;
		int versions; /* -1: an error */
	} cases[] = {
		{.at = 2, .bytes = 2, .value = 0, .versions = 0},
		{.at = 2, .bytes = 2, .value = 1, .versions = 1},
		{.at = 2, .bytes = 2, .value = 0xffff, .versions = 2},
		{.at = 8, .bytes = 4, .value = 0, .versions = 0},
		{.at = 8, .bytes = 4, .value = 0x7fffffff, .versions = -1},
		{.at = 8, .bytes = 4, .value = UINT32_MAX, .versions = -1},
		{.at = 12, .bytes = 4, .value = UINT32_MAX, .versions = 2}, /* one need: unused */
		{.at = 28, .bytes = 4, .value = 0, .versions = 1},
		{.at = 28, .bytes = 4, .value = UINT32_MAX, .versions = -1},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		ARENA(a);
		struct elf_dynamic d;
		struct str elf = library(&a);
		char *records = (char *)(uintptr_t)elf.p + value_of(elf, T_VERNEED);
		put_le(records + cases[i].at, cases[i].value, cases[i].bytes);
		CLEANUP(err_freep) struct err *e = read_dynamic(&a, elf, &d);
		said_err(e);
		if (!e != (cases[i].versions >= 0))
			print_error("case %zu\n", i);
		assert_int_equal(!e, cases[i].versions >= 0);
		if (!e)
			assert_int_equal(d.versions.n, cases[i].versions);
	}
}

static void strings_end_with_their_table(void **state)
{
	(void)state;
	ARENA(a);
	struct str elf = library(&a);
	uint64_t whole = value_of(elf, T_STRSZ);
	for (uint64_t n = 0; n <= whole; n++) {
		ARENA(tmp);
		struct elf_dynamic d;
		put_le(entry_of(elf, T_STRSZ) + 8, n, 8);
		assert_ok(read_dynamic(&tmp, elf, &d));
		assert_int_equal(d.needed.n, 2);
		assert_true(str_starts(S("liba.so"), d.needed.v[0]));
		assert_true(str_starts(S("libb.so"), d.needed.v[1]));
		assert_true(str_starts(S("libself.so"), d.soname));
		assert_true(str_starts(S("$ORIGIN"), d.runpath));
	}
}

static struct err *take_at(void *user, const struct elf_symbol *s)
{
	*(uint32_t *)user = s->at;
	assert_int_equal(s->name.n, 0);
	return NULL;
}

/* Entries and symbols without their names are there even when the strings are not. */
static void what_needs_no_strings_does_without_them(void **state)
{
	(void)state;
	static const uint64_t sizes[] = {0, 1 << 20, UINT64_MAX};
	static const uint64_t tags[] = {T_STRSZ, T_SYMTAB, 7, 1};
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		ARENA(a);
		struct str elf = library(&a);
		struct bytes src = bytes_mem(elf);
		struct elf e;
		uint64_t got[] = {1, 1, 1, 1};
		uint32_t at = 0;
		struct str name;
		put_le(entry_of(elf, T_STRSZ) + 8, sizes[i], 8);
		assert_ok(elf_open(&a, &src, &e));
		assert_ok(elf_tags(&e, tags, 4, got));
		assert_true(got[0] == sizes[i] && got[1] == value_of(elf, T_SYMTAB) && !got[2]);
		assert_int_equal(got[3], strlen("_liba.so_")); /* of two the last: libb.so */
		assert_ok(elf_symbols(&e, false, take_at, &at));
		assert_ok(elf_symbol_name(&a, &e, at, &name));
		assert_str(name, "hipMalloc");
	}
	ARENA(a);
	struct str none = library(&a);
	struct bytes src = bytes_mem(none);
	struct elf e;
	uint64_t got[] = {1, 1, 1, 1};
	put_le((char *)(uintptr_t)none.p + 64 + 56, 4, 4); /* PT_DYNAMIC becomes a note */
	assert_ok(elf_open(&a, &src, &e));
	assert_ok(elf_tags(&e, tags, 4, got));
	assert_true(!got[0] && !got[1] && !got[2] && !got[3]);
}

static const char *filled(struct arena *a, size_t n, char c)
{
	char *p = arena_alloc(a, n + 1);
	memset(p, c, n);
	return p;
}

/* Pieces of a large table are read as its strings are asked for, wherever they begin and end. */
static void of_many_strings_few_are_read(void **state)
{
	(void)state;
	static const size_t lengths[] = {10, 65533, 65534, 65535, 65536, 200000};
	for (size_t i = 0; i < sizeof(lengths) / sizeof(*lengths); i++) {
		ARENA(a);
		const char *one = filled(&a, lengths[i], 'x'), *last = filled(&a, 1 << 20, 'z');
		struct fx_library l = {.needed = {one, "b"}, .soname = "c", .undefined = last};
		struct str bytes = fx_elf(&a, l);
		struct bytes src = bytes_mem(bytes);
		struct budget budget = {.work = 800000, .memory = 8 << 20};
		struct elf_dynamic d;
		struct elf e;
		src.budget = &budget;
		assert_ok(elf_open(&a, &src, &e));
		assert_ok(elf_needs(&a, &e, &d));
		assert_str(d.needed.v[0], one);
		assert_str(d.needed.v[1], "b");
		assert_str(d.soname, "c");
		assert_int_equal(d.undefined.n, 0);
		assert_err(elf_dynamic(&a, &e, &d), E_LIMIT);
		budget.work = 4 << 20;
		assert_ok(elf_dynamic(&a, &e, &d));
		assert_str(d.needed.v[0], one);
		assert_int_equal(d.undefined.n, 1);
		assert_str(d.undefined.v[0], last);
		budget.memory = 100000;
		assert_err(elf_needs(&a, &e, &d), E_LIMIT);
		put_le(entry_of(bytes, T_STRSZ) + 8, bytes.n, 8);
		assert_err(elf_needs(&a, &e, &d), E_ELF);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_right_library_is_read),
		cmocka_unit_test(values_that_lead_nowhere),
		cmocka_unit_test(hash_tables_that_lie),
		cmocka_unit_test(gnu_hash_tables_that_lie),
		cmocka_unit_test(version_records_that_lie),
		cmocka_unit_test(strings_end_with_their_table),
		cmocka_unit_test(of_many_strings_few_are_read),
		cmocka_unit_test(what_needs_no_strings_does_without_them),
		cmocka_unit_test(all_is_said_as_recorded),
	};
	said_begin("elf_dynamic");
	return cmocka_run_group_tests(tests, NULL, NULL);
}

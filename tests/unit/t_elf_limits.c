/* The ELF reader at its limits, each at the last value that is taken and the first that is not; and dynamic sections
 * of every kind, put down tag by tag. */
#include "unit/fixture_elf.h"
#include "unit/fixture_said.h"

#include "formats/elf.h"

enum { HEAD = 64 + 2 * 56 };
#define HERE                                                                                       \
	(UINT64_C(1) << 40) /* added to a value: it is an address in the bytes behind the table */

struct tag {
	uint64_t tag, value;
};
enum {
	NEEDED = 1,
	PLTRELSZ = 2,
	HASH = 4,
	STRTAB = 5,
	SYMTAB = 6,
	RELA = 7,
	RELASZ = 8,
	STRSZ = 10,
	SONAME = 14,
	RPATH = 15,
	TEXTREL = 22,
	JMPREL = 23,
	RUNPATH = 29,
	FLAGS = 30,
	GNU_HASH = 0x6ffffef5,
	VERDEF = 0x6ffffffc,
	VERDEFNUM = 0x6ffffffd,
	VERNEED = 0x6ffffffe,
	VERNEEDNUM = 0x6fffffff,
};

/* A file of a table and what it tells of, loaded at an address of its own. */
static struct str image(struct arena *a, const struct tag *v, size_t n, struct str rest)
{
	enum { BASE = 0x10000 };
	BUF(b, a);
	size_t behind = HEAD + (n + 1) * 16;
	buf_add(&b, (struct str){.p = "\177ELF\2\1\1\0", .n = 8});
	fx_pad(&b, 16);
	fx_le(&b, 3, 2);
	fx_le(&b, 62, 2);
	fx_pad(&b, 32);
	fx_le(&b, 64, 8);
	fx_pad(&b, 54);
	fx_le(&b, 56, 2);
	fx_le(&b, 2, 2);
	fx_pad(&b, HEAD);
	for (size_t i = 0; i < n; i++) {
		bool here = v[i].value >= HERE;
		fx_le(&b, v[i].tag, 8);
		fx_le(&b, here ? v[i].value - HERE + BASE + behind : v[i].value, 8);
	}
	fx_le(&b, 0, 8);
	fx_le(&b, 0, 8);
	buf_add(&b, rest);
	fx_phdr(&b, 0, ELF_PT_LOAD, 0, b.n);
	fx_set(&b, 64 + 16, BASE, 8);
	fx_phdr(&b, 1, ELF_PT_DYNAMIC, HEAD, (n + 1) * 16);
	return buf_str(&b);
}

static struct err *dynamic(struct arena *a, struct str bytes, struct elf_dynamic *ret)
{
	struct elf e;
	struct bytes *src = NEW(a, struct bytes);
	char *exact = xmalloc(bytes.n);
	memcpy(exact, bytes.p, bytes.n);
	*src = bytes_mem((struct str){exact, bytes.n});
	struct err *err = elf_open(a, src, &e);
	if (!err)
		err = elf_dynamic(a, &e, ret);
	if (!err) { /* views lead into the arena, not into the bytes */
		memset(exact, 'x', bytes.n);
	}
	free(exact);
	return err;
}

#define DYNAMIC(a, rest, ret, ...) dynamic((a), IMAGE((a), (rest), __VA_ARGS__), (ret))
#define IMAGE(a, rest, ...)                                                                        \
	image((a), (const struct tag[]){__VA_ARGS__},                                              \
		sizeof((const struct tag[]){__VA_ARGS__}) / sizeof(struct tag), (rest))

/* ---- the table ---- */

static void every_tag_has_its_place(void **state)
{
	(void)state;
	ARENA(a);
	struct elf_dynamic d;
	struct str s = {"\0one\0two\0self\0rpath\0runpath", 28};
	assert_ok(DYNAMIC(&a, s, &d, {NEEDED, 1}, {SONAME, 9}, {RPATH, 14}, {NEEDED, 5},
		{RUNPATH, 20}, {STRTAB, HERE}, {STRSZ, 28}, {0x7fffffff, 1}));
	assert_str(str_join(&a, &d.needed, S(" ")), "one two");
	assert_str(d.soname, "self");
	assert_str(d.rpath, "rpath");
	assert_str(d.runpath, "runpath");
	assert_false(d.textrel);
	assert_true(!d.versions.n && !d.offers.n && !d.defined.n && !d.undefined.n);
	/* An entry behind the end of the table is none. */
	assert_ok(
		DYNAMIC(&a, s, &d, {NEEDED, 1}, {STRTAB, HERE}, {STRSZ, 28}, {0, 0}, {NEEDED, 5}));
	assert_str(str_join(&a, &d.needed, S(" ")), "one");
	assert_ok(DYNAMIC(&a, s, &d, {TEXTREL, 0}));
	assert_true(d.textrel);
	for (uint64_t flags = 0; flags < 16; flags++) {
		assert_ok(DYNAMIC(&a, s, &d, {FLAGS, flags}));
		assert_int_equal(d.textrel, (flags & 4) != 0);
	}
}

/* Names may be the ends of one another; not so many that they are four times as long as what they share. */
static void names_share_their_strings_to_an_end(void **state)
{
	(void)state;
	enum { SIZE = 1000, MOST = (4 * SIZE + (64 << 10)) / SIZE };
	for (size_t n = MOST; n <= MOST + 1; n++) {
		ARENA(a);
		struct elf_dynamic d;
		struct tag *v = arena_array(&a, n + 2, sizeof(*v));
		char *strings = arena_alloc(&a, SIZE);
		memset(strings, 's', SIZE);
		for (size_t i = 0; i < n; i++)
			v[i] = (struct tag){NEEDED, 0};
		v[n] = (struct tag){STRTAB, HERE};
		v[n + 1] = (struct tag){STRSZ, SIZE};
		struct err *e = dynamic(&a, image(&a, v, n + 2, (struct str){strings, SIZE}), &d);
		if (n == MOST)
			assert_ok(e);
		else
			assert_err_says(e, E_LIMIT,
				"its names are more than four times as long as the 1000 bytes of "
				"strings that they share");
	}
}

static void so_many_libraries_may_be_needed(void **state)
{
	(void)state;
	enum { MOST = 65536 };
	for (size_t n = MOST; n <= MOST + 1; n++) {
		ARENA(a);
		struct elf_dynamic d;
		struct tag *v = arena_array(&a, n + 1, sizeof(*v));
		for (size_t i = 0; i < n; i++)
			v[i] = (struct tag){NEEDED, 1};
		v[n] = (struct tag){TEXTREL, 0};
		struct err *e = dynamic(&a, image(&a, v, n + 1, S("")), &d);
		if (n > MOST) {
			assert_err_says(e, E_LIMIT, "more than 65536 needed libraries");
			continue;
		}
		assert_ok(e);
		assert_int_equal(d.needed.n, MOST);
		assert_true(d.textrel);
	}
}

/* ---- versions ---- */

static void put_need(struct buf *b, unsigned n, size_t file, size_t aux, size_t next)
{
	fx_le(b, 1, 2);
	fx_le(b, n, 2);
	fx_le(b, file, 4);
	fx_le(b, aux, 4);
	fx_le(b, next, 4);
}

static void put_aux(struct buf *b, unsigned flags, size_t name, size_t next)
{
	fx_le(b, 0, 4);
	fx_le(b, flags, 2);
	fx_le(b, 2, 2);
	fx_le(b, name, 4);
	fx_le(b, next, 4);
}

static void versions_of_several_libraries(void **state)
{
	(void)state;
	ARENA(a);
	BUF(b, &a);
	struct elf_dynamic d;
	put_need(&b, 2, 1, 16, 48);
	put_aux(&b, 0, 5, 16);
	put_aux(&b, 2, 8, 0);
	put_need(&b, 1, 3, 16, 0);
	put_aux(&b, 1, 5, 99);
	size_t strings = b.n;
	buf_add(&b, (struct str){"\0a\0b\0V1\0V2", 11});
	for (uint64_t count = 0; count < 4; count++) {
		assert_ok(DYNAMIC(&a, buf_str(&b), &d, {VERNEED, HERE}, {VERNEEDNUM, count},
			{STRTAB, HERE + strings}, {STRSZ, 11}));
		assert_int_equal(d.versions.n, count ? count > 1 ? 3 : 2 : 0);
		BUF(text, &a);
		VEC_EACH (const struct elf_need_version, v, &d.versions)
			buf_fmt(&text, "%.*s:%.*s%s ", STR(v->file), STR(v->version),
				v->weak ? "?" : "");
		assert_true(str_starts(S("a:V1 a:V2? b:V1 "), buf_str(&text)));
	}
}

/* Two libraries that share one chain, which is half as long as all may be. */
static void so_many_versions_may_be_needed(void **state)
{
	(void)state;
	enum { HALF = 32768 };
	for (size_t n = HALF; n <= HALF + 1; n++) {
		ARENA(a);
		BUF(b, &a);
		struct elf_dynamic d;
		put_need(&b, (unsigned)n, 0, 32, 16);
		put_need(&b, HALF, 0, 16, 0);
		for (size_t i = 0; i < n; i++)
			put_aux(&b, 0, 0, i + 1 < n ? 16 : 0);
		struct err *e = DYNAMIC(&a, buf_str(&b), &d, {VERNEED, HERE}, {VERNEEDNUM, 2});
		if (n > HALF) {
			assert_err_says(e, E_LIMIT, "more than 65536 needed versions");
			continue;
		}
		assert_ok(e);
		assert_int_equal(d.versions.n, 2 * HALF);
	}
}

static void versions_that_are_offered(void **state)
{
	(void)state;
	ARENA(a);
	BUF(b, &a);
	struct elf_dynamic d;
	for (unsigned i = 0; i < 3; i++) {
		fx_le(&b, 1, 2);
		fx_le(&b, 0, 2);
		fx_le(&b, i + 1, 2);
		fx_le(&b, 1, 2);
		fx_le(&b, 0, 4);
		fx_le(&b, 20 + 4 * i, 4); /* to its names, which need not follow at once */
		fx_le(&b, i < 2 ? 28 + 4 * i : 0, 4);
		fx_pad(&b, b.n + 4 * i);
		fx_le(&b, 1 + 3 * i, 4);
		fx_le(&b, 0, 4);
	}
	size_t strings = b.n;
	buf_add(&b, (struct str){"\0V1\0V2\0V3", 10});
	for (uint64_t count = 0; count < 5; count++) {
		assert_ok(DYNAMIC(&a, buf_str(&b), &d, {VERDEF, HERE}, {VERDEFNUM, count},
			{STRTAB, HERE + strings}, {STRSZ, 10}));
		assert_int_equal(d.offers.n, count < 3 ? count : 3);
		assert_true(str_starts(S("V1 V2 V3"), str_join(&a, &d.offers, S(" "))));
	}
	assert_err_says(DYNAMIC(&a, buf_str(&b), &d, {VERDEF, HERE + b.n - 10}, {VERDEFNUM, 1}),
		E_ELF, "cannot read the versions that it defines");
}

/* ---- symbols ---- */

static void put_symbol(struct buf *b, size_t name, unsigned info, unsigned other, unsigned section)
{
	fx_le(b, name, 4);
	fx_le(b, info, 1);
	fx_le(b, other, 1);
	fx_le(b, section, 2);
	fx_le(b, 0x1122334455667788, 8);
	fx_le(b, 0x99, 8);
}

static struct err *see(void *user, const struct elf_symbol *s)
{
	struct buf *b = user;
	assert_true(s->value == 0x1122334455667788 && s->size == 0x99);
	buf_fmt(b, "%u:%.*s/%u/%u/%u@%u ", s->index, STR(s->name), s->type, s->bind, s->section,
		s->at);
	return NULL;
}

static struct str symbols(struct arena *a, struct str bytes)
{
	struct elf e;
	struct bytes src = bytes_mem(bytes);
	BUF(b, a);
	assert_ok(elf_open(a, &src, &e));
	assert_ok(elf_symbols(&e, true, see, &b));
	return buf_str(&b);
}

static void symbols_have_all_their_parts(void **state)
{
	(void)state;
	ARENA(a);
	BUF(b, &a);
	struct elf_dynamic d;
	put_symbol(&b, 0, 0, 0, 0);
	put_symbol(&b, 1, 0x12, 0xff, 7); /* global function */
	put_symbol(&b, 3, 0x20, 2, 0);    /* weak, undefined */
	put_symbol(&b, 5, 0x02, 0, 9);    /* local */
	put_symbol(&b, 0, 0x10, 0, 0);    /* without a name */
	put_symbol(&b, 1, 0xa1, 0, 0xfff1);
	size_t hash = b.n;
	fx_le(&b, 1, 4);
	fx_le(&b, 6, 4);
	size_t strings = b.n;
	buf_add(&b, (struct str){"\0f\0w\0l", 7});
	struct str lib = IMAGE(&a, buf_str(&b), {SYMTAB, HERE}, {HASH, HERE + hash},
		{STRTAB, HERE + strings}, {STRSZ, 7});
	assert_str(symbols(&a, lib),
		"1:f/2/1/7@1 2:w/0/2/0@3 3:l/2/0/9@5 4:/0/1/0@0 5:f/1/10/65521@1 ");
	assert_ok(dynamic(&a, lib, &d));
	assert_str(str_join(&a, &d.defined, S(" ")), "f f");
	assert_str(str_join(&a, &d.undefined, S(" ")), "w");
}

/* Their number by relocations, where a GNU hash table tells of none: the highest one that is named. */
static void symbols_that_only_relocations_name(void **state)
{
	(void)state;
	for (unsigned highest = 0; highest < 4; highest++) {
		for (unsigned lazy = 0; lazy < 3; lazy++) {
			ARENA(a);
			BUF(b, &a);
			struct elf_dynamic d;
			for (unsigned i = 0; i < 5; i++)
				put_symbol(&b, i ? 1 : 0, 0x10, 0, 0);
			size_t hash = b.n;
			fx_le(&b, 1, 4);
			fx_le(&b, 1, 4); /* the first one that is hashed */
			fx_le(&b, 0, 4);
			fx_le(&b, 0, 4);
			fx_le(&b, 0, 4);
			size_t at = b.n;
			for (unsigned i = 0; i < 2; i++) {
				fx_le(&b, 0, 8);
				fx_le(&b, 6, 4);
				fx_le(&b, i ? 0 : highest, 4);
				fx_le(&b, 0, 8);
			}
			size_t strings = b.n;
			buf_add(&b, (struct str){"\0f", 3});
			const struct tag v[] = {{SYMTAB, HERE}, {GNU_HASH, HERE + hash},
				{STRTAB, HERE + strings}, {STRSZ, 3},
				{lazy ? JMPREL : RELA, HERE + at},
				{lazy ? PLTRELSZ : RELASZ, lazy == 2 ? 23 : 48}};
			assert_ok(dynamic(&a, image(&a, v, 6, buf_str(&b)), &d));
			assert_int_equal(d.undefined.n, lazy == 2 ? 0 : highest);
		}
	}
}

/* Around the number that is read at once, with the hash table close behind and far away, and of either kind. */
static void many_symbols_come_in_order(void **state)
{
	(void)state;
	static const unsigned sizes[] = {2, 4094, 4095, 4096, 4097, 8192, 8193};
	for (size_t i = 0; i < 2 * sizeof(sizes) / sizeof(*sizes); i++) {
		ARENA(a);
		BUF(b, &a);
		unsigned n = sizes[i / 2];
		struct elf_dynamic d;
		for (unsigned k = 0; k < n; k++)
			put_symbol(&b, k ? 1 + 2 * (k % 10) : 0, 0x10, 0, k % 2);
		for (size_t far = 0; far < 400000; far = far * 20 + 1000) {
			struct buf rest = {.a = &a};
			buf_add(&rest, buf_str(&b));
			fx_pad(&rest, rest.n + far);
			size_t hash = rest.n;
			fx_le(&rest, 1, 4);
			fx_le(&rest, i % 2 ? 1 : n, 4);
			fx_le(&rest, 0, 4);
			fx_le(&rest, 0, 4);
			fx_le(&rest, 1, 4);
			for (unsigned k = 1; k < n; k++)
				fx_le(&rest, k + 1 == n, 4);
			size_t strings = rest.n;
			buf_add(&rest, (struct str){"\0a\0b\0c\0d\0e\0f\0g\0h\0i\0j", 21});
			assert_ok(DYNAMIC(&a, buf_str(&rest), &d, {SYMTAB, HERE},
				{i % 2 ? GNU_HASH : HASH, HERE + hash}, {STRTAB, HERE + strings},
				{STRSZ, 21}));
			assert_int_equal(d.defined.n, n / 2);
			assert_int_equal(d.undefined.n, (n - 1) / 2);
			for (unsigned k = 1; k < n; k++) {
				struct str name = (k % 2 ? d.defined : d.undefined).v[(k - 1) / 2];
				assert_int_equal(name.p[0], "abcdefghij"[k % 10]);
			}
		}
	}
}

/* Up to which table there is room: the first one behind the symbols. */
static void room_for_symbols_ends_at_the_next_table(void **state)
{
	(void)state;
	ARENA(a);
	static const struct {
		struct tag v[4];
		uint64_t room;
	} cases[] = {
		{{{SYMTAB, 1000}, {HASH, 1048}}, 2},
		{{{SYMTAB, 1000}, {GNU_HASH, 1071}}, 2},
		{{{SYMTAB, 1000}, {STRTAB, 1072}}, 3},
		{{{SYMTAB, 1000}, {HASH, 1500}, {STRTAB, 1240}, {GNU_HASH, 1120}}, 5},
		{{{SYMTAB, 1000}, {HASH, 900}, {STRTAB, 1024}}, 1},
		{{{SYMTAB, 1000}, {HASH, 1000}}, 0},
		{{{SYMTAB, 1000}}, 0},
		{{{HASH, 1000}}, 0},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct elf e;
		uint64_t room = 77;
		struct bytes src = bytes_mem(image(&a, cases[i].v, 4, S("")));
		assert_ok(elf_open(&a, &src, &e));
		assert_ok(elf_symbol_room(&e, &room));
		assert_int_equal(room, cases[i].room);
	}
}

static void names_by_their_place(void **state)
{
	(void)state;
	ARENA(a);
	BUF(b, &a);
	struct elf e;
	struct str name;
	fx_pad(&b, 1);
	for (unsigned i = 0; i < 300; i++)
		buf_char(&b, 'a' + (char)(i % 26));
	fx_pad(&b, b.n + 1);
	struct bytes src = bytes_mem(IMAGE(&a, buf_str(&b), {STRTAB, HERE}));
	assert_ok(elf_open(&a, &src, &e));
	assert_ok(elf_symbol_name(&a, &e, 299, &name));
	assert_str(name, "mn");
	assert_ok(elf_symbol_name(&a, &e, 1, &name));
	assert_int_equal(name.n, 200);
	assert_int_equal(name.p[199], 'a' + 199 % 26);
	assert_ok(elf_symbol_name(&a, &e, UINT32_MAX, &name));
	assert_str(name, "");
	src = bytes_mem(IMAGE(&a, buf_str(&b), {STRTAB, UINT64_MAX}));
	assert_ok(elf_open(&a, &src, &e));
	assert_ok(elf_symbol_name(&a, &e, 1, &name));
	assert_str(name, "");
}

/* ---- headers ---- */

static struct str sections(struct arena *a, struct str bytes)
{
	struct elf e;
	struct bytes src = bytes_mem(bytes);
	BUF(b, a);
	assert_ok(elf_open(a, &src, &e));
	VEC_EACH (const struct elf_section, s, &e.sections)
		buf_fmt(&b, "%zu:", s->name.n);
	buf_fmt(&b, "%zu:%llu", e.segments.n, (unsigned long long)elf_extent(&e));
	return buf_str(&b);
}

static void section_names_are_cut(void **state)
{
	(void)state;
	static const size_t sizes[] = {1, 255, 256, 257, 500};
	for (size_t i = 0; i < 5; i++) {
		ARENA(a);
		char *name = arena_alloc(&a, 501);
		memset(name, 'n', sizes[i]);
		const struct fx_host_section v = {.name = name, .bytes = S("123")};
		struct str got = sections(&a, host_elf(&a, (struct fx_host){.v = &v, .n = 1}));
		assert_true(str_starts(
			got, str_fmt(&a, "0:%zu:0:1:", sizes[i] < 256 ? sizes[i] : 256)));
	}
}

/* Sections without bytes in the file do not count; a lie makes it endless. */
static void what_a_file_tells_of_has_an_end(void **state)
{
	(void)state;
	ARENA(a);
	const struct fx_host_section v[] = {{.name = ".data", .bytes = S("123")},
		{.name = ".bss", .type = ELF_NOBITS, .bytes = S("12345678")}};
	struct str lib = host_elf(&a, (struct fx_host){.v = v, .n = 2});
	char *p = str_z(&a, lib);
	size_t table = (size_t)le64(p + 40), bss = table + 2 * 64;
	put_le(p + bss + 24, 1 << 20, 8);
	struct str bytes = {p, lib.n};
	assert_true(str_ends(sections(&a, bytes), str_fmt(&a, ":%zu", lib.n)));
	put_le(p + bss + 4, ELF_PROGBITS, 4);
	assert_true(str_ends(sections(&a, bytes), str_fmt(&a, ":%u", (1 << 20) + 8)));
	put_le(p + bss + 24, UINT64_MAX - 8, 8);
	assert_true(str_ends(sections(&a, bytes), S(":18446744073709551615")));
	put_le(p + bss + 24, UINT64_MAX - 7, 8);
	assert_true(str_ends(sections(&a, bytes), S(":18446744073709551615")));
	put_le(p + bss + 24, UINT64_MAX, 8);
	assert_true(str_ends(sections(&a, bytes), S(":18446744073709551615")));
	/* the later one of both tables, when nothing else is as far */
	struct str none = host_elf(&a, (struct fx_host){.v = v, .n = 0});
	assert_true(str_ends(sections(&a, none), str_fmt(&a, ":%zu", none.n)));
}

/* Zeros behind a header: tables of any size. */
static struct err *read_zeros(const struct bytes *s, void *p, size_t n, uint64_t at)
{
	const struct str *head = s->user;
	memset(p, 0, n);
	if (at < head->n)
		memcpy(p, head->p + at, n < head->n - at ? n : (size_t)(head->n - at));
	return NULL;
}

static void tables_have_limits(void **state)
{
	(void)state;
	ARENA(a);
	enum { MOST = 4096, SECTIONS = 65535 };
	struct elf e;
	BUF(b, &a);
	buf_add(&b, str_sub(IMAGE(&a, S(""), {0, 0}), 0, 64));
	fx_set(&b, 32, 4096, 8);
	fx_set(&b, 40, 1 << 20, 8);
	fx_set(&b, 58, 64, 2);
	fx_pad(&b, (1 << 20) + 64);
	struct str head = buf_str(&b);
	struct bytes src = {.read = read_zeros, .size = 1 << 30, .user = &head};
	for (unsigned n = MOST; n <= MOST + 1; n++) {
		fx_set(&b, 56, n, 2);
		fx_set(&b, 60, 1, 2);
		struct err *err = elf_open(&a, &src, &e);
		if (n == MOST)
			assert_ok(err);
		else
			assert_err_says(err, E_LIMIT, "4097 segments and 1 sections: at most 4096");
	}
	/* Numbers that do not fit stand in the first section. */
	fx_set(&b, 56, 0xffff, 2);
	fx_set(&b, 60, 0, 2);
	for (unsigned n = SECTIONS; n <= SECTIONS + 1; n++) {
		fx_set(&b, (1 << 20) + 32, n, 8);
		fx_set(&b, (1 << 20) + 44, 5, 4);
		struct err *err = elf_open(&a, &src, &e);
		if (n > SECTIONS) {
			assert_err_says(err, E_LIMIT, "5 segments and 65536 sections: at most");
			continue;
		}
		assert_ok(err);
		assert_int_equal(e.sections.n, SECTIONS);
		assert_int_equal(e.segments.n, 5);
	}
	fx_set(&b, 40, 0, 8); /* no section to tell: as it says */
	assert_err_says(elf_open(&a, &src, &e), E_LIMIT, "65535 segments and 0 sections");
	/* At once no more than 512 MiB are read. */
	struct str text;
	src.size = 512 << 20;
	assert_err_says(bytes_slice(&a, &src, 1, 512 << 20, &text), E_ELF, "are not inside");
	src.size = UINT64_C(1) << 40;
	assert_err_says(bytes_slice(&a, &src, 5, (512 << 20) + 1, &text), E_LIMIT,
		"536870913 bytes at offset 5: at most 536870912 are read");
	struct budget budget = {.work = UINT64_MAX, .memory = 512 << 20};
	src.budget = &budget;
	assert_err(bytes_slice(&a, &src, 5, (512 << 20) + 1, &text), E_LIMIT);
	assert_int_equal(budget.memory, 512 << 20);
}

static void addresses_lead_into_one_segment(void **state)
{
	(void)state;
	ARENA(a);
	struct elf e;
	struct str lib = IMAGE(&a, S("12345678"), {0, 0});
	char *p = str_z(&a, lib);
	struct bytes src = bytes_mem((struct str){p, lib.n});
	assert_ok(elf_open(&a, &src, &e));
	assert_int_equal(elf_offset_of(&e, 0x10000), 0);
	assert_int_equal(elf_offset_of(&e, 0x10000 + lib.n - 1), lib.n - 1);
	assert_true(elf_offset_of(&e, 0x10000 + lib.n) == UINT64_MAX);
	assert_true(elf_offset_of(&e, 0xffff) == UINT64_MAX);
	put_le(p + 64 + 8, UINT64_MAX - 4, 8); /* an offset that runs over */
	assert_ok(elf_open(&a, &src, &e));
	assert_true(elf_offset_of(&e, 0x10003) == UINT64_MAX - 1);
	assert_true(elf_offset_of(&e, 0x10005) == UINT64_MAX);
}

/* Without a hash table the section table tells how many symbols there are. */
static void symbols_by_their_section(void **state)
{
	(void)state;
	for (unsigned n = 0; n <= 4; n++) {
		ARENA(a);
		BUF(b, &a);
		struct elf_dynamic d;
		for (unsigned i = 0; i < 5; i++)
			put_symbol(&b, i ? 1 : 0, 0x10, 0, 0);
		buf_add(&b, (struct str){"\0f", 3});
		struct str lib =
			IMAGE(&a, buf_str(&b), {SYMTAB, HERE}, {STRTAB, HERE + 120}, {STRSZ, 3});
		struct buf with = {.a = &a};
		buf_add(&with, lib);
		size_t table = with.n;
		fx_section(&with, 0, 0, 0, 0);
		fx_section(&with, 0, ELF_PROGBITS, 0, 480);
		fx_section(&with, 0, n == 4 ? ELF_PROGBITS : ELF_DYNSYM, 0, n * 24 + 23);
		fx_set(&with, 40, table, 8);
		fx_set(&with, 58, 64, 2);
		fx_set(&with, 60, 3, 2);
		assert_ok(dynamic(&a, buf_str(&with), &d));
		assert_int_equal(d.undefined.n, n == 4 || !n ? 0 : n - 1);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_tag_has_its_place),
		cmocka_unit_test(names_share_their_strings_to_an_end),
		cmocka_unit_test(so_many_libraries_may_be_needed),
		cmocka_unit_test(versions_of_several_libraries),
		cmocka_unit_test(so_many_versions_may_be_needed),
		cmocka_unit_test(versions_that_are_offered),
		cmocka_unit_test(symbols_have_all_their_parts),
		cmocka_unit_test(symbols_that_only_relocations_name),
		cmocka_unit_test(many_symbols_come_in_order),
		cmocka_unit_test(room_for_symbols_ends_at_the_next_table),
		cmocka_unit_test(names_by_their_place),
		cmocka_unit_test(section_names_are_cut),
		cmocka_unit_test(what_a_file_tells_of_has_an_end),
		cmocka_unit_test(tables_have_limits),
		cmocka_unit_test(addresses_lead_into_one_segment),
		cmocka_unit_test(symbols_by_their_section),
		cmocka_unit_test(all_is_said_as_recorded),
	};
	said_begin("elf_limits");
	return cmocka_run_group_tests(tests, NULL, NULL);
}

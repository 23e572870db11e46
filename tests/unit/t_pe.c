/* The reader of PE images and COFF objects: section tables, names in the string table, hostile headers. */
#include "unit/fixture_elf.h"
#include "unit/fixture_said.h"

#include "formats/pe.h"

struct fx_pe {
	unsigned sections, stub; /* their number as the header has it; bytes in front of "PE" */
	size_t raw, inside;      /* size of the first section in the file, and in memory */
	const char *name;
};

static struct str image(struct arena *a, struct fx_pe x)
{
	BUF(b, a);
	if (x.stub) {
		buf_add(&b, S("MZ"));
		fx_pad(&b, 60);
		fx_le(&b, x.stub, 4);
		fx_pad(&b, x.stub);
		buf_add(&b, (struct str){.p = "PE\0\0", .n = 4});
	}
	fx_le(&b, 0x8664, 2);
	fx_le(&b, x.sections, 2);
	fx_le(&b, 0, 4);
	fx_le(&b, x.stub ? 0 : 0x200, 4); /* symbols: one */
	fx_le(&b, 1, 4);
	fx_le(&b, x.stub ? 8 : 0, 2); /* optional header */
	fx_le(&b, 0, 2);
	fx_pad(&b, b.n + (x.stub ? 8 : 0));
	size_t at = b.n;
	buf_fmt(&b, "%s", x.name);
	fx_pad(&b, at + 8);
	fx_le(&b, x.inside, 4);
	fx_le(&b, 0x1000, 4);
	fx_le(&b, x.raw, 4);
	fx_le(&b, 0x180, 4);
	fx_pad(&b, at + 36);
	fx_le(&b, 0x40000040, 4);
	fx_pad(&b, 0x200 + 18);
	buf_add(&b, (struct str){.p = "\20\0\0\0.hip_fatbin", .n = 16});
	return buf_str(&b);
}

static struct err *open_image(struct arena *a, struct fx_pe x, struct pe *ret)
{
	struct bytes src = bytes_mem(image(a, x));
	return pe_open(a, &src, ret);
}

static void reads_sections_of_images(void **state)
{
	(void)state;
	ARENA(a);
	struct pe pe;
	assert_true(pe_is(image(&a, (struct fx_pe){.stub = 128, .name = ""})));
	assert_ok(open_image(&a,
		(struct fx_pe){
			.stub = 128, .sections = 1, .raw = 32, .inside = 20, .name = ".hip_fat"},
		&pe));
	assert_int_equal(pe.machine, 0x8664);
	assert_int_equal(pe.sections.n, 1);
	assert_str(pe.sections.v[0].name, ".hip_fat");
	assert_int_equal(pe.sections.v[0].offset, 0x180);
	assert_int_equal(pe.sections.v[0].size, 20); /* the rest fills up */
	assert_int_equal(pe.sections.v[0].flags, 0x40000040);
}

static void reads_long_names_of_objects(void **state)
{
	(void)state;
	ARENA(a);
	struct pe pe;
	struct str object = image(&a, (struct fx_pe){.sections = 1, .raw = 32, .name = "/4"});
	struct bytes src = bytes_mem(object);
	assert_true(coff_is(object) && !pe_is(object));
	assert_ok(pe_open(&a, &src, &pe));
	assert_str(pe.sections.v[0].name, ".hip_fatbin");
	assert_int_equal(pe.sections.v[0].size, 32);
}

static void a_dos_program_has_no_sections(void **state)
{
	(void)state;
	ARENA(a);
	struct pe pe;
	struct str dos = str_sub(image(&a, (struct fx_pe){.stub = 128, .name = ""}), 0, 100);
	struct bytes src = bytes_mem(dos);
	assert_ok(pe_open(&a, &src, &pe));
	assert_int_equal(pe.sections.n, 0);
}

static void refuses_what_lies_outside(void **state)
{
	(void)state;
	ARENA(a);
	struct pe pe;
	struct fx_pe far = {.stub = 128, .sections = 1, .raw = 0xffffffff, .name = ".hip_fat"};
	assert_err(open_image(&a, far, &pe), E_FORMAT);
	far = (struct fx_pe){.stub = 128, .sections = 60000, .name = ""};
	assert_err(open_image(&a, far, &pe), E_ELF);
	far.sections = 65535;
	assert_err(open_image(&a, far, &pe), E_LIMIT);
	struct bytes text = bytes_mem(S("plain text"));
	assert_err(pe_open(&a, &text, &pe), E_FORMAT);
}

/* The numbers of a section, one by one; the file has 546 bytes. */
static void sections_have_bytes_or_none(void **state)
{
	(void)state;
	enum {
		HEADER = 128 + 4 + 20 + 8,
		INSIDE = HEADER + 8,
		RAW = HEADER + 16,
		AT = HEADER + 20
	};
	enum { FLAGS = HEADER + 36, END = 0x200 + 18 + 16 };
	static const struct {
		uint32_t inside, raw, at, flags, size; /* size UINT32_MAX: an error */
	} cases[] = {
		{20, 32, 0x180, 0x40, 20},
		{0, 32, 0x180, 0x40, 32},  /* objects do not say */
		{33, 32, 0x180, 0x40, 32}, /* zeros follow in memory */
		{32, 32, 0x180, 0x40, 32},
		{20, 32, 0, 0x40, 0},
		{20, 32, 0x180, 0x80, 0},
		{20, 0, 0x180, 0x40, 0},
		{20, 0, 0xffffffff, 0x40, 0},
		{20, 32, 0xffffffff, 0x80, 0},
		{32, 32, END - 32, 0x40, 32},
		{32, 32, END - 31, 0x40, UINT32_MAX},
		{1, 1, END, 0x40, UINT32_MAX},
		{1, 1, END - 1, 0x40, 1},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		ARENA(a);
		struct pe pe;
		struct str bytes =
			image(&a, (struct fx_pe){.stub = 128, .sections = 1, .name = ".data"});
		char *p = (char *)(uintptr_t)bytes.p;
		assert_int_equal(bytes.n, END);
		put_le(p + INSIDE, cases[i].inside, 4);
		put_le(p + RAW, cases[i].raw, 4);
		put_le(p + AT, cases[i].at, 4);
		put_le(p + FLAGS, cases[i].flags, 4);
		struct bytes src = bytes_mem(bytes);
		struct err *e = pe_open(&a, &src, &pe);
		if (cases[i].size == UINT32_MAX) {
			assert_err(e, E_FORMAT);
			continue;
		}
		assert_ok(e);
		assert_int_equal(pe.sections.v[0].size, cases[i].size);
		assert_int_equal(pe.sections.v[0].flags, cases[i].flags);
	}
}

/* By the first bytes alone. */
static void heads_are_told_apart(void **state)
{
	(void)state;
	static const struct {
		uint16_t machine, sections, optional;
		bool is;
	} cases[] = {{0x8664, 1, 0, true}, {0xaa64, 1, 0, true}, {0x14c, 1, 0, false},
		{0x8664, 0, 0, false}, {0x8664, 1, 240, false}, {0x8664, 65535, 0, true}};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char p[64] = "";
		put_le(p, cases[i].machine, 2);
		put_le(p + 2, cases[i].sections, 2);
		put_le(p + 16, cases[i].optional, 2);
		assert_int_equal(coff_is((struct str){p, 20}), cases[i].is);
		assert_false(coff_is((struct str){p, 19}));
		assert_false(pe_is((struct str){p, 64}));
	}
	char dos[64] = "MZ";
	assert_true(pe_is((struct str){dos, 64}));
	assert_false(pe_is((struct str){dos, 63}));
}

/* Names of up to 64 bytes in the string table of an object, and such as only look like one. */
static void long_names_end_somewhere(void **state)
{
	(void)state;
	ARENA(a);
	struct pe pe;
	BUF(b, &a);
	buf_add(&b, image(&a, (struct fx_pe){.sections = 1, .raw = 32, .name = "/20"}));
	for (unsigned i = 0; i < 90; i++)
		buf_char(&b, 'n');
	fx_set(&b, 0x200 + 18 + 16 + 3, 0, 1); /* three of them, then the rest */
	static const struct {
		const char *name;
		size_t n;
		const char *begins;
	} cases[] = {{"/16", 3, "nnn"}, {"/20", 64, "nnnnn"}, {"/4", 11, ".hip_fatbin"},
		{"/105", 1, "n"}, {"/106", 0, ""}, {"/999999", 0, ""}, {"/x", 2, "/x"},
		{"/", 1, "/"}};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		memset(b.p + 20, 0, 8);
		memcpy(b.p + 20, cases[i].name, strlen(cases[i].name));
		struct bytes src = bytes_mem(buf_str(&b));
		assert_ok(pe_open(&a, &src, &pe));
		if (pe.sections.v[0].name.n != cases[i].n)
			fail_msg("%s: '%.*s'", cases[i].name, STR(pe.sections.v[0].name));
		assert_true(str_starts(pe.sections.v[0].name, str_from(cases[i].begins)));
	}
	fx_set(&b, 8, 0, 4); /* no symbols, and so no strings */
	memcpy(b.p + 20, "/20", 4);
	struct bytes src = bytes_mem(buf_str(&b));
	assert_ok(pe_open(&a, &src, &pe));
	assert_str(pe.sections.v[0].name, "/20");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_sections_of_images),
		cmocka_unit_test(reads_long_names_of_objects),
		cmocka_unit_test(a_dos_program_has_no_sections),
		cmocka_unit_test(refuses_what_lies_outside),
		cmocka_unit_test(sections_have_bytes_or_none),
		cmocka_unit_test(heads_are_told_apart),
		cmocka_unit_test(long_names_end_somewhere),
		cmocka_unit_test(all_is_said_as_recorded),
	};
	said_begin("pe");
	return cmocka_run_group_tests(tests, NULL, NULL);
}

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
	struct elf_src src = elf_src_mem(image(a, x));
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
	struct elf_src src = elf_src_mem(object);
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
	struct elf_src src = elf_src_mem(dos);
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
	struct elf_src text = elf_src_mem(S("plain text"));
	assert_err(pe_open(&a, &text, &pe), E_FORMAT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_sections_of_images),
		cmocka_unit_test(reads_long_names_of_objects),
		cmocka_unit_test(a_dos_program_has_no_sections),
		cmocka_unit_test(refuses_what_lies_outside),
	};
	said_begin("pe");
	return cmocka_run_group_tests(tests, NULL, said_check);
}

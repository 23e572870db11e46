/* Section tables of PE images (Windows programs and DLLs) and of COFF objects, read through elf_src.
 *
 * Only what is needed to find device code: where sections lie in the file. Limits: 65,279 sections; names
 * are cut at 64 bytes. Source: Microsoft's "PE Format",
 * sections "COFF File Header" to "Section Table".
 */
#pragma once

#include "formats/elf.h"

enum pe_flag { PE_CODE = 0x20, PE_EXECUTE = 0x20000000 };

struct pe_section {
	struct str name; /* 8 bytes at most, or what the string table has */
	uint64_t offset,
		size; /* of its bytes in the file; size 0: it has none. They lie inside of it */
	uint32_t flags;
};

struct pe {
	unsigned machine; /* 0x8664, 0xaa64, 0x14c */
	VEC(struct pe_section) sections;
};

bool pe_is(struct str head); /* the first 64 bytes: of a DOS program, which an image begins as? */
bool coff_is(struct str
		head); /* of an object for x86-64 or aarch64? A weak sign: archive members only */
/* An image or object. A DOS program that is none has no sections. E_FORMAT for tables outside of the file. */
MUST_USE struct err *pe_open(struct arena *a, const struct elf_src *src, struct pe *ret);

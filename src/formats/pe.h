/* Section tables of PE images (Windows programs and DLLs) and of COFF objects, read through bytes, and the DLLs that
 * images name.
 *
 * Only what is needed to find device code: where sections lie in the file. Limits: 65,279 sections; names
 * are cut at 64 bytes; 65,536 names of DLLs, of 255 bytes. Source: Microsoft's "PE Format", sections "COFF File Header"
 * to "Section Table", "The .idata Section" and "Delay-Load Import Tables".
 */
#pragma once

#include "formats/elf.h"

enum pe_flag { PE_CODE = 0x20, PE_EXECUTE = 0x20000000 };

struct pe_section {
	struct str name;       /* 8 bytes at most, or what the string table has */
	uint64_t offset, size; /* its bytes, which are inside the file; size 0: none */
	uint64_t addr;         /* relative to the image */
	uint32_t flags;
};

struct pe {
	const struct bytes *src;
	unsigned machine;  /* 0x8664, 0xaa64, 0x14c */
	uint64_t optional; /* offset of an image's optional header; 0: an object */
	VEC(struct pe_section) sections;
};

bool pe_is(struct str head); /* do the first 64 bytes belong to a DOS program, as an image's do? */
bool coff_is(struct str
		head); /* an object for x86-64 or aarch64? A weak sign: for archive members only */
/* An image or object. A DOS program that is none has no sections. E_FORMAT for tables outside of the file. */
MUST_USE struct err *pe_open(struct arena *a, const struct bytes *src, struct pe *ret);
/* The DLLs that an image names: those loaded with it, and those that it loads when first used. E_FORMAT for what is no
 * 64-bit image, or has tables outside of the file. */
MUST_USE struct err *pe_imports(struct arena *a, const struct bytes *src, struct strs *ret);

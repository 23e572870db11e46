/* Section tables of PE images (Windows programs and DLLs) and of COFF objects, read through bytes, and the DLLs that
 * images import.
 *
 * Reads only what finding device code needs: the places of sections in the file. Limits: 65,279 sections; names are
 * cut at 64 bytes; 65,536 names of DLLs, of 255 bytes. Source: Microsoft's "PE Format", sections "COFF File Header"
 * to "Section Table", "The .idata Section" and "Delay-Load Import Tables". */
#pragma once

#include "formats/elf.h"

enum pe_flag { PE_CODE = 0x20, PE_EXECUTE = 0x20000000 };

struct pe_section {
	struct str name;       /* at most 8 bytes, or a longer one from the string table */
	uint64_t offset, size; /* its bytes, all of them inside the file; size 0: none */
	uint64_t addr;         /* relative to the image base */
	uint32_t flags;
};

struct pe {
	const struct bytes *src;
	unsigned machine;  /* 0x8664, 0xaa64, 0x14c */
	uint64_t optional; /* offset of an image's optional header; 0: an object */
	VEC(struct pe_section) sections;
};

bool pe_is(struct str head); /* do these 64 bytes begin a DOS program, as every PE image does? */
/* An object for x86-64 or aarch64? The evidence is weak: use it for archive members only. */
bool coff_is(struct str head);
/* Opens an image or object. A DOS program that is not a PE image has no sections. E_FORMAT for tables outside the
 * file. */
MUST_USE struct err *pe_open(struct arena *a, const struct bytes *src, struct pe *ret);
/* The offset in the file of an address relative to the image base; UINT64_MAX if it is in no section's bytes. */
uint64_t pe_offset(const struct pe *m, uint64_t rva);
/* The DLLs that an image imports: those loaded with it, and those that it loads on first use. E_FORMAT if it is not a
 * 64-bit image, or has tables outside the file. */
MUST_USE struct err *pe_imports(struct arena *a, const struct bytes *src, struct strs *ret);

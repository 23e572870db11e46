/* Reading ELF64 little-endian files: bounded views, no pointer arithmetic on unchecked offsets.
 *
 * Only what a caller needs is read, through struct bytes. Every size that a file claims is checked against the size
 * of its source before memory is allocated for it. Source: System V gABI chapters 4 and 5; LLVM AMDGPUUsage for
 * EM_AMDGPU. */
#pragma once

#include "base/vec.h"
#include "formats/bytes.h"

enum { ELF_REL = 1, ELF_EXEC = 2, ELF_DYN = 3 };               /* e_type */
enum { ELF_X86_64 = 62, ELF_AARCH64 = 183, ELF_AMDGPU = 224 }; /* e_machine */
/* sh_type */
enum { ELF_PROGBITS = 1, ELF_SYMTAB = 2, ELF_STRTAB = 3, ELF_DYNAMIC = 6, ELF_NOTE = 7 };
enum { ELF_NOBITS = 8, ELF_DYNSYM = 11 };
enum { ELF_WRITE = 1, ELF_ALLOC = 2, ELF_EXECINSTR = 4 }; /* sh_flags */
enum { ELF_PT_LOAD = 1, ELF_PT_DYNAMIC = 2, ELF_PT_INTERP = 3, ELF_PT_NOTE = 4, ELF_PT_PHDR = 6 };
enum { ELF_EHDR = 64, ELF_PHDR = 56, ELF_SHDR = 64 }; /* bytes of the headers */

/* Headers have the layout that they have in the file, whose tables are therefore copied whole. */
struct elf_section {
	uint32_t name_at; /* offset of the name in the section of section names */
	uint32_t type;
	uint64_t flags, addr, offset, size;
	uint32_t link, info;
	uint64_t align, entsize;
	struct str name; /* behind the header's own members */
};

struct elf_segment {
	uint32_t type, flags;
	uint64_t offset, vaddr, paddr, filesz, memsz, align;
};

struct elf {
	const struct bytes *src;
	uint16_t type, machine;
	uint8_t abiversion;
	uint32_t flags;
	uint64_t entry;
	uint64_t phoff, shoff;            /* offsets of the program headers and section headers */
	uint32_t names;                   /* index of the section with the section names */
	uint64_t tables;                  /* the end of the table that ends last */
	VEC(struct elf_section) sections; /* empty when the table was stripped */
	VEC(struct elf_segment) segments;
};

/* Reads headers, section table and section names; limits: 65,535 sections, 4,096 segments; names are cut at 256
 * bytes. src must outlive ret. E_ELF if it is not an ELF64 LE image, or its tables are not inside it. */
MUST_USE struct err *elf_open(struct arena *a, const struct bytes *src, struct elf *ret);
/* The same without sections: one read for small tables. */
MUST_USE struct err *elf_open_head(struct arena *a, const struct bytes *src, struct elf *ret);
/* Fills in the members that follow from the first 64 bytes alone; false if these begin no ELF64 LE image. */
bool elf_header(struct str head, struct elf *ret);
bool elf_is(struct str head); /* do these bytes begin an ELF64 LE image? */
const struct elf_section *elf_section(const struct elf *e, struct str name); /* or NULL */
const struct elf_segment *elf_segment(const struct elf *e, uint32_t type); /* the first, or NULL */
/* The end of everything that the tables describe, which is the size of an image embedded in other bytes. UINT64_MAX:
 * the offsets overflow. */
uint64_t elf_extent(const struct elf *e);
/* File offset of a virtual address, or UINT64_MAX. */
uint64_t elf_offset_of(const struct elf *e, uint64_t vaddr);

/* The facts that the dynamic loader works with: a needed version, and the dynamic section. */
struct elf_need_version {
	struct str file, version; /* "libc.so.6", "GLIBC_2.34" */
	bool weak;                /* the loader does not require it */
};

struct elf_dynamic {
	struct str soname, rpath, runpath;
	struct strs needed;
	VEC(struct elf_need_version) versions;
	struct strs offers; /* versions that the file defines; the first one is its own name */
	struct strs undefined, defined; /* names of dynamic symbols, in table order */
	bool textrel;
};

/* Reads the dynamic section by PT_DYNAMIC, so stripped section tables do not matter. A file without one (static,
 * relocatable) gives an empty result. E_LIMIT if the names together are over four times as long as the strings that
 * they share. */
MUST_USE struct err *elf_dynamic(struct arena *a, const struct elf *e, struct elf_dynamic *ret);
/* The same without `undefined` and `defined`: reads few of the strings, and no symbols. */
MUST_USE struct err *elf_needs(struct arena *a, const struct elf *e, struct elf_dynamic *ret);

struct elf_symbol {
	struct str name; /* NUL-terminated; lives for the call only */
	uint32_t index;  /* index in the table, whose first entry is the null symbol */
	uint8_t type, bind;
	uint16_t section; /* 0 = undefined */
	uint32_t at;      /* offset of the name in the dynamic strings */
	uint64_t value, size;
};

/* The name at elf_symbol.at, or the first 200 bytes of it. */
MUST_USE struct err *elf_symbol_name(
	struct arena *a, const struct elf *e, uint32_t at, struct str *ret);

/* Calls fn for every dynamic symbol but the null one. Their number comes from DT_HASH or DT_GNU_HASH; without either,
 * or with an empty one, from the section table or the relocations. With named = false the names, which can be most of
 * the bytes, are not read. */
typedef struct err *elf_symbol_fn(void *user, const struct elf_symbol *s);
MUST_USE struct err *elf_symbols(const struct elf *e, bool named, elf_symbol_fn *fn, void *user);

/* The number of symbols, the null one included, that fit before the table that follows theirs. Linkers leave no gap,
 * so it is the number of symbols. 0: not known. */
MUST_USE struct err *elf_symbol_room(const struct elf *e, uint64_t *ret);

/* Values of dynamic tags; 0 for an absent one. */
MUST_USE struct err *elf_tags(const struct elf *e, const uint64_t *tags, size_t n, uint64_t *ret);

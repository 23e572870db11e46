/* Reading ELF64 little-endian files: bounded views, no pointer arithmetic on unchecked offsets.
 *
 * Only what is asked for is read, through struct bytes. Whatever an ELF file claims is checked against the size of its source before memory is
 * taken for it. Source: System V gABI chapters 4 and 5; LLVM AMDGPUUsage for EM_AMDGPU.
 */
#pragma once

#include "base/vec.h"
#include "formats/bytes.h"

enum { ELF_EXEC = 2, ELF_DYN = 3 };                            /* e_type */
enum { ELF_X86_64 = 62, ELF_AARCH64 = 183, ELF_AMDGPU = 224 }; /* e_machine */
enum {
	ELF_PROGBITS = 1,
	ELF_SYMTAB = 2,
	ELF_STRTAB = 3,
	ELF_DYNAMIC = 6,
	ELF_NOTE = 7,
	ELF_NOBITS = 8,
	ELF_DYNSYM = 11
};                                                        /* sh_type */
enum { ELF_WRITE = 1, ELF_ALLOC = 2, ELF_EXECINSTR = 4 }; /* sh_flags */
enum { ELF_PT_LOAD = 1, ELF_PT_DYNAMIC = 2, ELF_PT_INTERP = 3, ELF_PT_NOTE = 4, ELF_PT_PHDR = 6 };
enum { ELF_EHDR = 64, ELF_PHDR = 56, ELF_SHDR = 64 }; /* bytes of the headers */

struct elf_section {
	struct str name;
	uint32_t name_at; /* offset of the name in the section of names */
	uint32_t type, link, info;
	uint64_t flags, addr, offset, size, entsize, align;
};

struct elf_segment {
	uint32_t type, flags;
	uint64_t offset, vaddr, paddr, filesz, memsz, align;
};

struct elf {
	const struct bytes *src;
	uint16_t type, machine;
	uint8_t osabi, abiversion;
	uint32_t flags;
	uint64_t entry;
	uint64_t phoff, shoff;            /* offsets of the program headers and section headers */
	uint32_t names;                   /* index of the section with the section names */
	uint64_t tables;                  /* the end of the later one of both tables */
	VEC(struct elf_section) sections; /* empty when the table was stripped */
	VEC(struct elf_segment) segments;
};

/* Headers, section table and section names; limits: 65,535 sections, 4,096 segments, names are cut
 * at 256 bytes. src must outlive ret. E_ELF for anything that is no ELF64 LE image or whose tables are not inside it. */
MUST_USE struct err *elf_open(struct arena *a, const struct bytes *src, struct elf *ret);
/* Headers and segments only: one read for small tables. */
MUST_USE struct err *elf_open_head(struct arena *a, const struct bytes *src, struct elf *ret);
/* Fills in the members that come from the first 64 bytes alone. False when they belong to no such file. */
bool elf_header(struct str head, struct elf *ret);
bool elf_is(struct str head); /* first bytes of a file: an ELF64 LE image? */
const struct elf_section *elf_section(const struct elf *e, struct str name); /* or NULL */
const struct elf_segment *elf_segment(const struct elf *e, uint32_t type); /* the first, or NULL */
/* The end of everything that the tables describe: the size of an image in an array. UINT64_MAX: nonsense. */
uint64_t elf_extent(const struct elf *e);
/* File offset of a virtual address, or UINT64_MAX. */
uint64_t elf_offset_of(const struct elf *e, uint64_t vaddr);

/* The facts that the dynamic loader works with. */
struct elf_need_version {
	struct str file, version; /* "libc.so.6", "GLIBC_2.34" */
	bool weak;                /* the loader does not insist on it */
};

struct elf_dynamic {
	struct str soname, rpath, runpath;
	struct strs needed;
	VEC(struct elf_need_version) versions;
	struct strs offers; /* versions that it defines; the first one is its own name */
	struct strs undefined, defined; /* names of dynamic symbols, in table order */
	bool textrel;
};

/* E_LIMIT when names together are four times as long as the strings that they share.
 * Works from PT_DYNAMIC, so stripped section tables do not matter. A file without one (static,
 * relocatable) gives an empty result. */
MUST_USE struct err *elf_dynamic(struct arena *a, const struct elf *e, struct elf_dynamic *ret);
/* The same without undefined and defined: few of the strings are read, and no symbol is looked at. */
MUST_USE struct err *elf_needs(struct arena *a, const struct elf *e, struct elf_dynamic *ret);

struct elf_symbol {
	struct str name; /* NUL-terminated; lives for the call only */
	uint32_t index;  /* in the table, whose first entry is no symbol */
	uint8_t type, bind, visibility;
	uint16_t section; /* 0 = undefined */
	uint32_t at;      /* offset of the name in the dynamic strings */
	uint64_t value, size;
};

/* The name at elf_symbol.at, or the first 200 bytes of it. */
MUST_USE struct err *elf_symbol_name(
	struct arena *a, const struct elf *e, uint32_t at, struct str *ret);

/* Calls fn for every dynamic symbol but the null one; their number comes from DT_HASH, DT_GNU_HASH
 * or, without either or with an empty one, the section table or the relocations. named = false: the names, which can be most of it, are not
 * read. */
typedef struct err *elf_symbol_fn(void *user, const struct elf_symbol *s);
MUST_USE struct err *elf_symbols(const struct elf *e, bool named, elf_symbol_fn *fn, void *user);

/* The number of symbols, the null one included, that fit in front of the table behind theirs. Linkers leave no gap, so it
 * is the number of symbols. 0: not known. */
MUST_USE struct err *elf_symbol_room(const struct elf *e, uint64_t *ret);

/* Values of dynamic tags; 0 for one that is not there. */
MUST_USE struct err *elf_tags(const struct elf *e, const uint64_t *tags, size_t n, uint64_t *ret);

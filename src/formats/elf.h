/* Reading ELF64 little-endian files: bounded views, no pointer arithmetic on unchecked offsets.
 *
 * A file is read through a struct elf_src, so that the same code serves files (pread, nothing is
 * mapped whole) and members of zip archives or memory. Only what is asked for is read.
 * Source: System V gABI; LLVM AMDGPUUsage for EM_AMDGPU.
 */
#pragma once

#include "base/err.h"
#include "base/vec.h"

/* Random access to bytes. read() fills exactly n bytes at offset or returns an error. */
struct elf_src {
	struct err *(*read)(const struct elf_src *s, void *p, size_t n, uint64_t offset);
	uint64_t size;
	int fd;          /* for files */
	const char *mem; /* for memory */
};

struct elf_src elf_src_fd(int fd, uint64_t size);
struct elf_src elf_src_mem(struct str bytes);

struct elf_section {
	struct str name;
	uint32_t type, link, info;
	uint64_t flags, addr, offset, size, entsize, align;
};

struct elf_segment {
	uint32_t type, flags;
	uint64_t offset, vaddr, filesz, memsz, align;
};

struct elf {
	const struct elf_src *src;
	uint16_t type, machine;
	uint8_t osabi, abiversion;
	uint32_t flags;
	uint64_t entry;
	VEC(struct elf_section) sections;
	VEC(struct elf_segment) segments;
};

/* Headers, section table and section names; limits: 65,535 sections, 4,096 segments. */
MUST_USE struct err *elf_open(struct arena *a, const struct elf_src *src, struct elf *ret);
bool elf_is(struct str head); /* first bytes of a file: an ELF64 LE image? */
const struct elf_section *elf_section(const struct elf *e, struct str name); /* or NULL */
/* The whole content of a section (SHT_NOBITS: E_ELF), at most limit bytes. */
MUST_USE struct err *elf_section_data(struct arena *a, const struct elf *e,
	const struct elf_section *s, size_t limit, struct str *ret);
/* File offset of a virtual address, or UINT64_MAX. */
uint64_t elf_offset_of(const struct elf *e, uint64_t vaddr);

/* What the dynamic loader needs to know. */
struct elf_need_version {
	struct str file, version; /* "libc.so.6", "GLIBC_2.34" */
};

struct elf_dynamic {
	struct str soname, rpath, runpath;
	struct strs needed;
	VEC(struct elf_need_version) versions;
	struct strs undefined, defined; /* names of dynamic symbols */
	bool textrel;
};

/* Works from PT_DYNAMIC, so stripped section tables do not matter. */
MUST_USE struct err *elf_dynamic(struct arena *a, const struct elf *e, struct elf_dynamic *ret);

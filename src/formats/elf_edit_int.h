/* What elf_edit.c and elf_grow.c share while one file is changed; elf_edit.h is the interface. */
#pragma once

#include "formats/elf_edit.h"
#include "formats/le.h"

enum { ELF_EHDR = 64, ELF_PHDR = 56, ELF_SHDR = 64, ELF_DYN_SIZE = 16 };
enum { DT_STRTAB = 5, DT_STRSZ = 10, DT_VERSYM = 0x6ffffff0, DT_VERDEF = 0x6ffffffc };
enum { DT_VERDEFNUM = 0x6ffffffd, DT_VERNEED = 0x6ffffffe, DT_VERNEEDNUM = 0x6fffffff };

struct elf_edit { /* bytes to be written at an offset of the file, or behind its end; in their order */
	uint64_t offset;
	struct str bytes;
};

struct elf_edits {
	struct elf_edit *v;
	size_t n, cap;
};

struct elf_entry { /* of the dynamic table */
	uint64_t tag, value;
	struct str text; /* .p: a new one, whose place is not known yet */
};

struct elf_editor {
	struct arena *a;
	const struct elf *e;
	char head[ELF_EHDR];
	VEC(struct elf_entry) entries; /* as they are to be, without the last, DT_NULL */
	uint64_t table_at,
		table_size; /* the dynamic table in the file; its size with spare entries */
	bool table_moves;
	uint64_t strings_at;
	struct str strings;  /* as they were */
	char *now;           /* as they are to be */
	unsigned char *used; /* for each byte: does somebody name it? */
	struct buf more;     /* behind the old ones */
	/* what moved out of the way of another program header */
	uint64_t moved_from, moved_to,
		moved_by; /* offsets in the file; addresses move by moved_addr */
	uint64_t moved_addr;
	struct elf_edits *out;
};

/* Bytes over the file as it was: what moved is changed at its new place. */
void elf_put(struct elf_editor *ed, uint64_t offset, const void *p, size_t n);
void elf_put_le(struct elf_editor *ed, uint64_t offset, uint64_t value, unsigned bytes);
struct elf_entry *elf_entry(struct elf_editor *ed, uint64_t tag); /* or NULL */

/* elf_grow.c: the strings, and the table if so, in a segment of their own; headers and tags that tell of them. What
 * is written to the table where it was comes later, unless it moves. */
MUST_USE struct err *elf_grow(struct elf_editor *ed);

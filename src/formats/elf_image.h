/* Changing an ELF file: its headers as structs, the changes planned on them, and one function that writes the result.
 *
 *     elf_image_begin(a, &elf, &m);                plan: change m.now, m.patches, through the functions below
 *     TRY(elf_image_write(&m, fd));                over the file itself, or over a copy without what was cut
 *     TRY(elf_open(a, &result, &e));               read it back
 *     elf_image_is(&m, &e)                         did it become what was planned?
 *
 * Nothing that code can refer to moves in memory. What may move are the program headers, and read-only tables behind
 * them that only the loader reads. In the file, a cut moves everything behind it.
 * Sources: System V gABI chapters 4 and 5. Until Linux 5.18 the kernel computed a program's AT_PHDR as if the program
 * headers were as far from the first segment in memory as they are in the file, so headers of programs keep that
 * distance. */
#pragma once

#include "formats/elf.h"
#include "formats/le.h"

/* New bytes at an offset of the file as it was. They go to where that range of the file is in the new one. */
struct elf_patch {
	uint64_t offset;
	struct str bytes;
};

/* A range of the file that lies elsewhere in the new one. */
struct elf_shift {
	uint64_t from, to; /* offsets in the file as it was */
	uint64_t by, addr; /* added to offsets and to addresses, modulo 2^64 */
	uint64_t gone;     /* bytes in front of `from` that leave the file */
};

struct elf_image {
	struct arena *a;
	const struct elf *was;
	struct elf now; /* the headers as they are to be; now.src is still the old file */
	struct elf_shift shift;
	struct str
		moved; /* content of the shifted range, when it has to be written to its new place */
	struct buf names; /* section names, once they are rewritten */
	VEC(struct elf_patch) patches;
};

/* The loaded segments of a file together. */
struct elf_memory {
	uint64_t page;  /* the largest alignment, at least 4096 */
	uint64_t end;   /* the first address behind all of them */
	uint64_t delta; /* address - offset of the first one, which has the headers */
	size_t n, last; /* their number; index of the last one */
	size_t bad;     /* index of one whose header makes no sense, or SIZE_MAX */
};

/* e must outlive ret. */
void elf_image_begin(struct arena *a, const struct elf *e, struct elf_image *ret);
struct elf_memory elf_memory(const struct elf *e);

void elf_image_put(struct elf_image *m, uint64_t offset, const void *p, size_t n);
void elf_image_put_le(struct elf_image *m, uint64_t offset, uint64_t value, unsigned bytes);
/* The new offset of a range of the old file; of a range inside a cut: where the cut is. */
uint64_t elf_image_at(const struct elf_image *m, uint64_t offset, uint64_t size);

/* Inserts a program header at an index. The caller has made room for it. */
struct elf_segment *elf_image_load(struct elf_image *m, size_t i, const struct elf_segment *s);
/* Moves the program headers to an offset that is at this address in memory. */
void elf_image_move_headers(struct elf_image *m, uint64_t offset, uint64_t addr);
/* Plans a read-only segment behind the end of the file and of memory. Its program header goes behind the others:
 * notes, .interp and tables of the loader that are in the way move to the start of the new segment. Where other things
 * are there, or the file has no section headers, all program headers move into it. *ret: its index; it has no size
 * yet. *ret_at: offset in the file where its content may begin. E_ELF when there is no way. */
MUST_USE struct err *elf_image_append(struct elf_image *m, size_t *ret, uint64_t *ret_at);
/* Takes the free bytes end..stop of a segment out of the file, as far as they are whole pages. When the segment goes
 * on behind them it becomes two, and the program headers move to `end`. E_SLIM when that is not possible. */
MUST_USE struct err *elf_image_cut(
	struct elf_image *m, size_t segment, uint64_t end, uint64_t stop);
/* Adds a section behind the others. Without a call of elf_image_keep_names() before, the names begin anew. */
void elf_image_add_section(struct elf_image *m, const struct elf_section *s, struct str name);
MUST_USE struct err *elf_image_keep_names(struct elf_image *m);
/* Moves section names and section headers to an offset of the new file, where the caller writes these bytes. */
struct str elf_image_tail(struct elf_image *m, uint64_t offset);

MUST_USE struct err *elf_image_head(const struct elf_image *m, char ret[ELF_EHDR]);
/* Patches, tables and header, over a file whose other bytes are in place. */
MUST_USE struct err *elf_image_write(const struct elf_image *m, int fd);
/* Are the tables of the result those that were planned? */
bool elf_image_is(const struct elf_image *m, const struct elf *result);

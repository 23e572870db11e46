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

/* New bytes for an offset of the old file. They are written where that range of the old file lies in the new one. */
struct elf_patch {
	uint64_t offset;
	struct str bytes;
};

/* A range of the old file that lies elsewhere in the new one. */
struct elf_shift {
	uint64_t from, to; /* offsets in the old file */
	uint64_t by, addr; /* added to offsets and to addresses, modulo 2^64 */
	uint64_t gone;     /* bytes before `from` that are cut out of the file */
};

struct elf_image {
	struct arena *a;
	const struct elf *was;
	struct elf now; /* the new headers; now.src is still the old file */
	struct elf_shift shift;
	struct str moved; /* content of the shifted range, if it has to be rewritten */
	struct buf names; /* the new section names, if they change */
	VEC(struct elf_patch) patches;
};

/* Summary of a file's loaded segments. */
struct elf_memory {
	uint64_t page;  /* the largest alignment, at least 4096 */
	uint64_t end;   /* the first address behind all of them */
	uint64_t delta; /* address - offset of the first segment, which holds the headers */
	size_t n, last; /* number of segments; index of the last one */
	size_t bad;     /* index of the first one with an invalid header, or SIZE_MAX */
};

/* e must outlive ret. */
void elf_image_begin(struct arena *a, const struct elf *e, struct elf_image *ret);
struct elf_memory elf_memory(const struct elf *e);

void elf_image_put(struct elf_image *m, uint64_t offset, const void *p, size_t n);
void elf_image_put_le(struct elf_image *m, uint64_t offset, uint64_t value, unsigned bytes);
/* The new offset of a range of the old file. A range inside a cut maps to the place of the cut. */
uint64_t elf_image_at(const struct elf_image *m, uint64_t offset, uint64_t size);

/* Inserts a program header at an index. The caller has made room for it in the file. */
void elf_image_load(struct elf_image *m, size_t i, const struct elf_segment *s);
/* Moves the program headers to an offset, which is at `addr` in memory. */
void elf_image_move_headers(struct elf_image *m, uint64_t offset, uint64_t addr);
/* Plans a read-only segment behind the end of the file and of memory. Its program header goes behind the others:
 * notes, .interp and loader tables that are in the way move to the start of the new segment. If anything else is in
 * the way, or the file has no section headers, all program headers move into the new segment. *ret is the index of
 * the segment, whose size is still 0; *ret_at is the file offset where its content may begin. E_ELF if there is no
 * way. */
MUST_USE struct err *elf_image_append(struct elf_image *m, size_t *ret, uint64_t *ret_at);
/* Cuts the unused bytes end..stop of a segment out of the file, in whole pages. If the segment goes on behind them,
 * it is split in two, and the program headers move to `end`. E_SLIM if that is not possible. */
MUST_USE struct err *elf_image_cut(
	struct elf_image *m, size_t segment, uint64_t end, uint64_t stop);
/* Everything from `stop` on lies `gone` bytes before its old place: in an object, where nothing has an address. */
void elf_image_shift(struct elf_image *m, uint64_t stop, uint64_t gone);
/* Adds a section behind the others. Unless elf_image_keep_names() was called before, the section names start empty. */
void elf_image_add_section(struct elf_image *m, const struct elf_section *s, struct str name);
MUST_USE struct err *elf_image_keep_names(struct elf_image *m);
/* Moves section names and section headers to an offset of the new file, and returns the bytes that the caller writes
 * there. */
struct str elf_image_tail(struct elf_image *m, uint64_t offset);

MUST_USE struct err *elf_image_head(const struct elf_image *m, char ret[ELF_EHDR]);
/* Writes patches, tables and header into a file whose other bytes are in place. */
MUST_USE struct err *elf_image_write(const struct elf_image *m, int fd);
/* Does the result have the tables that were planned? */
bool elf_image_is(const struct elf_image *m, const struct elf *result);

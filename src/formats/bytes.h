/* Random access to bytes, wherever they lie: a file (pread, nothing is mapped whole), a range of one, a member of a
 * zip archive, or memory. Every reader of a format takes a struct bytes, so that one reader serves all of them.
 */
#pragma once

#include "base/str.h"
#include "formats/budget.h"

/* read() fills exactly n bytes at offset or returns an error. */
struct bytes {
	struct err *(*read)(const struct bytes *s, void *p, size_t n, uint64_t offset);
	uint64_t size;
	uint64_t base;         /* offset of this source in the file or memory below */
	int fd;                /* a file, or -1 */
	const char *mem;       /* memory */
	void *user;            /* state of any other source */
	struct budget *budget; /* limits the cost of reading; NULL: no limit */
	/* Moves offset to the next candidate that a first pass found, or to the end; false: what lies behind offset was
	 * not searched. NULL: nothing was. See zip_pass in zip.h. */
	bool (*next_candidate)(const struct bytes *s, uint64_t *offset);
};

static inline uint64_t round_up(uint64_t n, uint64_t step) /* to a multiple of step */
{
	return (n + step - 1) / step * step;
}

/* The fd stays the caller's; readahead is switched off for it (POSIX_FADV_RANDOM). */
struct bytes bytes_fd(int fd, uint64_t size);
struct bytes bytes_mem(struct str bytes);
/* A part of another source, clamped to its size. It does not keep s. */
struct bytes bytes_sub(const struct bytes *s, uint64_t offset, uint64_t size);
/* Exactly n bytes; E_ELF when they are not all inside the source. */
MUST_USE struct err *bytes_read(const struct bytes *s, void *p, size_t n, uint64_t offset);
/* Up to n bytes: fewer at the end of the source. */
MUST_USE struct err *bytes_peek(
	const struct bytes *s, void *p, size_t n, uint64_t offset, size_t *ret_n);
/* n bytes in an arena, NUL-terminated behind; E_LIMIT above 512 MiB. */
MUST_USE struct err *bytes_slice(
	struct arena *a, const struct bytes *s, uint64_t offset, uint64_t n, struct str *ret);

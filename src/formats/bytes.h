/* Random access to bytes, wherever they lie: in a file (pread, nothing is mapped whole), a range of one, a member of
 * a zip archive, or memory. Every reader of a format takes a struct bytes, so one reader serves all of them. */
#pragma once

#include <stdatomic.h>
#include <sys/stat.h>

#include "base/hash.h"

/* A budget limits the cost of reading an untrusted file, so that none takes minutes to read or exhausts the machine's
 * memory.
 *
 * Work is counted in bytes that are read, unpacked or compared; memory in bytes that are kept. A file below 10 MB
 * gets 1 GiB of work and 160 MiB of memory, which keeps the program below 5 seconds and 256 MiB. A larger file gets
 * 256 bytes of work and 32 bytes of memory more for each byte above that. A NULL budget is no limit; it serves files
 * that we made. Spending work also notices SIGTERM. Any number of threads may share one budget. */
struct budget {
	_Atomic uint64_t work, memory; /* bytes left */
};

void budget_set(struct budget *b, uint64_t file_size);
/* Spends n; E_LIMIT if less is left, E_CANCELLED after a signal. */
MUST_USE struct err *budget_work(struct budget *b, uint64_t n);
MUST_USE struct err *budget_memory(struct budget *b, uint64_t n);
void budget_return(struct budget *b, uint64_t n); /* gives back n bytes that were freed */

/* read() fills exactly n bytes at offset or returns an error. */
struct bytes {
	struct err *(*read)(const struct bytes *s, void *p, size_t n, uint64_t offset);
	uint64_t size;
	uint64_t base;         /* offset of this source in the underlying file or memory */
	int fd;                /* a file, or -1 */
	const char *mem;       /* memory */
	void *user;            /* state of any other source */
	struct budget *budget; /* limits the cost of reading; NULL: no limit */
};

/* Rounds n up to a multiple of step. */
static inline uint64_t round_up(uint64_t n, uint64_t step)
{
	return (n + step - 1) / step * step;
}

/* Compares two numbers, or two structs whose first member is an offset or address (uint64_t), for qsort() and bsearch(). */
int offset_order(const void *x, const void *y);

/* The fd stays the caller's; readahead is switched off for it (POSIX_FADV_RANDOM). */
struct bytes bytes_fd(int fd, uint64_t size);
/* An open file as a source, with a budget of its own. It must not move. */
struct bytes_file {
	int fd;
	struct stat st;
	struct budget budget;
	struct bytes src;
};
/* E_FORMAT for anything but a regular file. *ret may be closed even after an error. */
MUST_USE struct err *bytes_open(struct str path, struct bytes_file *ret);
void bytes_close(struct bytes_file *f);
struct bytes bytes_mem(struct str bytes);
/* A part of another source, clamped to its size. It keeps no pointer to s. */
struct bytes bytes_sub(const struct bytes *s, uint64_t offset, uint64_t size);
/* Reads exactly n bytes; E_ELF if they are not all inside the source. */
MUST_USE struct err *bytes_read(const struct bytes *s, void *p, size_t n, uint64_t offset);
/* Reads up to n bytes: fewer at the end of the source. */
MUST_USE struct err *bytes_peek(
	const struct bytes *s, void *p, size_t n, uint64_t offset, size_t *ret_n);
/* Passes n bytes from an offset on to fn, in order and in pieces, until fn sets *stop; at: the offset of the piece. */
typedef struct err *bytes_fn(void *user, const void *p, size_t n, uint64_t at, bool *stop);
MUST_USE struct err *bytes_each(
	const struct bytes *s, uint64_t offset, uint64_t n, bytes_fn *fn, void *user);
/* The SHA-256 of n bytes from an offset on. */
MUST_USE struct err *bytes_hash(
	const struct bytes *s, uint64_t offset, uint64_t n, struct digest *ret);
/* Appends n bytes from an offset on to a file that is being written. The first write error ends it. */
struct fs_out;
MUST_USE struct err *bytes_copy(
	const struct bytes *s, uint64_t offset, uint64_t n, struct fs_out *to);
/* Compares two sources up to the end of the shorter one. *ret: the number of equal bytes, rounded down to whole MiB if
 * they differ. */
MUST_USE struct err *bytes_compare(const struct bytes *x, const struct bytes *y, uint64_t *ret);
/* Reads n bytes into an arena, followed by a NUL; E_LIMIT above 512 MiB. */
MUST_USE struct err *bytes_slice(
	struct arena *a, const struct bytes *s, uint64_t offset, uint64_t n, struct str *ret);

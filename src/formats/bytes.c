/* Bytes of files, of memory, and parts of both, and what reading them may cost; see bytes.h. */
#include "formats/bytes.h"

#include <fcntl.h>

#include "base/fs.h"
#include "base/proc.h"

#define FREE_SIZE UINT64_C(10000000)
#define LEAST_WORK (UINT64_C(1) << 30)
#define LEAST_MEMORY (UINT64_C(160) << 20)
#define MOST (UINT64_C(1) << 40) /* cap of the size-dependent work */

enum {
	WORK_A_BYTE = 256,
	MEMORY_A_BYTE = 32,
	MAX_SLICE = 512 << 20, /* bytes read at once */
	READ_COST = 256,       /* work of a read, in addition to its bytes */
};

void budget_set(struct budget *b, uint64_t size)
{
	uint64_t more = size > FREE_SIZE ? size - FREE_SIZE : 0;
	more = more < MOST / WORK_A_BYTE ? more : MOST / WORK_A_BYTE;
	b->work = LEAST_WORK + more * WORK_A_BYTE;
	b->memory = LEAST_MEMORY + more * MEMORY_A_BYTE;
}

static struct err *spend(_Atomic uint64_t *left, uint64_t n, const char *what)
{
	uint64_t now = atomic_load(left);
	do {
		if (now < n)
			return err_new(E_LIMIT,
				"reading it takes more %s than a file of its size may cost", what);
	} while (!atomic_compare_exchange_weak(left, &now, now - n));
	return NULL;
}

struct err *budget_work(struct budget *b, uint64_t n)
{
	TRY(cancel_check());
	return b ? spend(&b->work, n, "work") : NULL;
}

struct err *budget_memory(struct budget *b, uint64_t n)
{
	return b ? spend(&b->memory, n, "memory") : NULL;
}

void budget_return(struct budget *b, uint64_t n)
{
	if (b)
		atomic_fetch_add(&b->memory, n);
}

/* ---- bytes ---- */

int offset_order(const void *x, const void *y)
{
	uint64_t a = *(const uint64_t *)x, b = *(const uint64_t *)y;
	return (a > b) - (a < b);
}

static struct err *read_fd(const struct bytes *s, void *p, size_t n, uint64_t offset)
{
	return fs_pread(s->fd, p, n, s->base + offset);
}

static struct err *read_mem(const struct bytes *s, void *p, size_t n, uint64_t offset)
{
	if (n)
		memcpy(p, s->mem + s->base + offset, n);
	return NULL;
}

struct bytes bytes_fd(int fd, uint64_t size)
{
	posix_fadvise(fd, 0, 0, POSIX_FADV_RANDOM);
	return (struct bytes){.read = read_fd, .fd = fd, .size = size};
}

struct err *bytes_open(struct str path, struct bytes_file *ret)
{
	*ret = (struct bytes_file){.fd = -1};
	TRY(fs_stat(path, &ret->st));
	if (!S_ISREG(ret->st.st_mode))
		return err_new(E_FORMAT, "'%.*s' is neither a file nor a folder", STR(path));
	TRY(fs_open(path, &ret->fd));
	ret->src = bytes_fd(ret->fd, (uint64_t)ret->st.st_size);
	budget_set(&ret->budget, ret->src.size);
	ret->src.budget = &ret->budget;
	return NULL;
}

void bytes_close(struct bytes_file *f)
{
	fd_closep(&f->fd);
}

struct bytes bytes_mem(struct str bytes)
{
	return (struct bytes){.read = read_mem, .mem = bytes.p, .size = bytes.n, .fd = -1};
}

struct bytes bytes_sub(const struct bytes *s, uint64_t offset, uint64_t size)
{
	struct bytes sub = *s;
	uint64_t from = offset < s->size ? offset : s->size;
	sub.base += from;
	sub.size = size < s->size - from ? size : s->size - from;
	return sub;
}

struct err *bytes_read(const struct bytes *s, void *p, size_t n, uint64_t offset)
{
	if (offset > s->size || n > s->size - offset)
		return err_new(E_ELF,
			"%zu bytes at offset %llu are not inside the file of %llu bytes", n,
			(unsigned long long)offset, (unsigned long long)s->size);
	TRY(budget_work(s->budget, n + READ_COST));
	return n ? s->read(s, p, n, offset) : NULL;
}

struct err *bytes_peek(const struct bytes *s, void *p, size_t n, uint64_t offset, size_t *ret_n)
{
	uint64_t left = offset < s->size ? s->size - offset : 0;
	*ret_n = n < left ? n : (size_t)left;
	return bytes_read(s, p, *ret_n, *ret_n ? offset : 0);
}

struct err *bytes_slice(
	struct arena *a, const struct bytes *s, uint64_t offset, uint64_t n, struct str *ret)
{
	if (n > MAX_SLICE)
		return err_new(E_LIMIT, "%llu bytes at offset %llu: at most %d are read",
			(unsigned long long)n, (unsigned long long)offset, MAX_SLICE);
	if (offset > s->size || n > s->size - offset)
		return bytes_read(s, NULL, (size_t)n, offset); /* fails, without allocating */
	TRY(budget_memory(s->budget, n));
	char *p = arena_raw(a, (size_t)n + 1);
	TRY(bytes_read(s, p, (size_t)n, offset));
	p[n] = 0;
	*ret = (struct str){.p = p, .n = (size_t)n};
	return NULL;
}

struct err *bytes_each(const struct bytes *s, uint64_t offset, uint64_t n, bytes_fn *fn, void *user)
{
	enum { PIECE = 256 << 10 };
	ARENA(tmp);
	bool stop = false;
	char *p = arena_raw(&tmp, n < PIECE ? (size_t)n : PIECE);
	for (size_t k; n && !stop; n -= k, offset += k) {
		k = n < PIECE ? (size_t)n : PIECE;
		TRY(bytes_read(s, p, k, offset));
		TRY(fn(user, p, k, offset, &stop));
	}
	return NULL;
}

static struct err *hash_piece(void *user, const void *p, size_t n, uint64_t at, bool *stop)
{
	(void)at;
	(void)stop;
	hash_add(user, p, n);
	return NULL;
}

struct err *bytes_hash(const struct bytes *s, uint64_t offset, uint64_t n, struct digest *ret)
{
	struct hash *h = hash_new(HASH_SHA256);
	struct err *e = bytes_each(s, offset, n, hash_piece, h);
	*ret = hash_end(h);
	return e;
}

static struct err *copy_piece(void *user, const void *p, size_t n, uint64_t at, bool *stop)
{
	struct fs_out *to = user;
	(void)at;
	(void)stop;
	fs_out_write(to, p, n);
	return fs_out_error(to);
}

struct err *bytes_copy(const struct bytes *s, uint64_t offset, uint64_t n, struct fs_out *to)
{
	return bytes_each(s, offset, n, copy_piece, to);
}

struct err *bytes_compare(const struct bytes *x, const struct bytes *y, uint64_t *ret)
{
	enum { CHUNK = 1 << 20 };
	ARENA(tmp);
	uint64_t size = x->size < y->size ? x->size : y->size;
	size_t room = size < CHUNK ? (size_t)size : CHUNK;
	char *p = arena_raw(&tmp, room), *q = arena_raw(&tmp, room);
	for (*ret = 0; *ret < size;) {
		size_t n = size - *ret < CHUNK ? (size_t)(size - *ret) : CHUNK;
		TRY(bytes_read(x, p, n, *ret));
		TRY(bytes_read(y, q, n, *ret));
		if (memcmp(p, q, n) != 0)
			return NULL;
		*ret += n;
	}
	return NULL;
}

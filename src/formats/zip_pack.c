/* Compressing and hashing the content of zip members; see zip_pack.h.
 *
 * libdeflate has no flush, so the chunks of a big member are finished streams; they are joined by
 * clearing the "final" bit of the last block and adding an empty stored block, which ends at a byte
 * boundary (RFC 1951, 3.2.3 and 3.2.4). Where the last block begins is what zlib's inflate tells
 * with Z_BLOCK; its second look also proves that the chunk unpacks. */
#include "formats/zip_pack.h"

#include <libdeflate.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/fs.h"

enum { LEVEL = 6 };

struct err *zip_input_read(const struct zip_input *in, void *p, size_t n, uint64_t from)
{
	if (!in->path.n) {
		if (n)
			memcpy(p, in->content.p + from, n);
		return NULL;
	}
	CLEANUP(fd_closep) int fd = -1;
	TRY(fs_open(in->path, &fd));
	TRY_CTX(fs_pread(fd, p, n, from), "cannot read '%.*s' to pack it", STR(in->path));
	return NULL;
}

static void deflate_freep(struct libdeflate_compressor **c)
{
	libdeflate_free_compressor(*c);
}

static void bytes_freep(char **p)
{
	free(*p);
}

static struct err *compressor(struct libdeflate_compressor **ret)
{
	*ret = libdeflate_alloc_compressor(LEVEL);
	return *ret ? NULL : err_new(E_LIMIT, "not enough memory to compress");
}

static struct err *pack_whole(struct libdeflate_compressor *c, struct zip_unit *u)
{
	struct zip_packed *m = u->member;
	CLEANUP(bytes_freep) char *raw = xmalloc(u->n + 1);
	TRY(zip_input_read(m->in, raw, u->n, 0));
	m->digest = hash_bytes(HASH_SHA256, raw, u->n);
	m->crc = libdeflate_crc32(0, raw, u->n);
	m->method = ZIP_DEFLATE;
	u->out = xmalloc(u->n + 1);
	/* Less room than the content: what does not shrink is stored. */
	if (u->n)
		u->out_n = libdeflate_deflate_compress(c, raw, u->n, u->out, u->n - 1);
	if (!u->out_n) {
		free(u->out);
		u->out = raw;
		u->out_n = u->n;
		raw = NULL;
		m->method = ZIP_STORED;
	}
	return NULL;
}

static void inflate_endp(z_stream *z)
{
	(void)inflateEnd(z);
}

struct last_block {
	uint64_t begin, end; /* in bits from the start of the stream */
};

static struct err *find_last_block(
	struct arena *tmp, const char *p, size_t n, struct last_block *ret)
{
	enum { WINDOW = 1 << 16 };
	CLEANUP(inflate_endp) z_stream z = {.next_in = (unsigned char *)p, .avail_in = (uInt)n};
	unsigned char *window = arena_alloc(tmp, WINDOW);
	if (inflateInit2(&z, -15) != Z_OK)
		return err_new(E_LIMIT, "not enough memory to compress");
	*ret = (struct last_block){0};
	for (;;) {
		z.next_out = window;
		z.avail_out = WINDOW;
		if (inflate(&z, Z_BLOCK) != Z_OK)
			return err_new(E_INTERNAL, "a deflated chunk cannot be unpacked again");
		if (!(z.data_type & 128))
			continue;
		uint64_t bit = (uint64_t)z.total_in * 8 - (z.data_type & 63);
		ret->end = bit;
		if (z.data_type & 64)
			return NULL;
		ret->begin = bit;
	}
}

/* Makes a finished stream one that others may follow; out has 8 bytes of room. */
static struct err *unfinish(struct arena *tmp, struct zip_unit *u)
{
	struct last_block b = {0};
	TRY(find_last_block(tmp, u->out, u->out_n, &b));
	u->out[b.begin / 8] = (char)((unsigned char)u->out[b.begin / 8] & ~(1u << b.begin % 8));
	/* Three header bits of an empty stored block, zeros up to the byte, LEN and NLEN. */
	u->out_n = (size_t)((b.end + 3 + 7) / 8);
	if ((b.end + 7) / 8 < u->out_n)
		u->out[u->out_n - 1] = 0;
	memcpy(u->out + u->out_n, "\0\0\xff\xff", 4);
	u->out_n += 4;
	return NULL;
}

static struct err *pack_chunk(
	struct arena *tmp, struct libdeflate_compressor *c, struct zip_unit *u)
{
	struct zip_packed *m = u->member;
	size_t n = (size_t)u->n, room = libdeflate_deflate_compress_bound(NULL, n) + 8;
	CLEANUP(bytes_freep) char *raw = xmalloc(n);
	TRY(zip_input_read(m->in, raw, n, u->from));
	if (m->method == ZIP_STORED) {
		u->out = raw;
		u->out_n = n;
		raw = NULL;
		return NULL;
	}
	u->out = xmalloc(room);
	u->out_n = libdeflate_deflate_compress(c, raw, n, u->out, room - 8);
	if (!u->out_n)
		return err_new(E_INTERNAL, "a chunk outgrew the bound of libdeflate");
	return u->from + u->n < m->size ? unfinish(tmp, u) : NULL;
}

static struct err *hash_part(struct arena *tmp, struct zip_unit *u)
{
	enum { PIECE = 1 << 20 };
	char *p = arena_alloc(tmp, PIECE);
	struct zip_packed *m = u->member;
	for (uint64_t at = u->from; at < u->from + u->n; at += PIECE) {
		uint64_t left = u->from + u->n - at;
		size_t n = left < PIECE ? (size_t)left : PIECE;
		TRY(zip_input_read(m->in, p, n, at));
		hash_add(m->running, p, n);
		m->crc = libdeflate_crc32(m->crc, p, n);
	}
	return NULL;
}

struct err *zip_job_run(struct arena *tmp, void *job)
{
	CLEANUP(deflate_freep) struct libdeflate_compressor *c = NULL;
	struct zip_job *j = job;
	TRY(compressor(&c));
	for (size_t i = 0; i < j->n; i++) {
		struct arena_mark mark = arena_mark(tmp);
		struct zip_unit *u = &j->v[i];
		TRY(u->work == ZIP_PACK_WHOLE       ? pack_whole(c, u)
			: u->work == ZIP_PACK_CHUNK ? pack_chunk(tmp, c, u)
						    : hash_part(tmp, u));
		arena_rewind(tmp, mark);
	}
	return NULL;
}

void zip_unit_free(struct zip_unit *u)
{
	free(u->out);
	u->out = NULL;
}

struct err *zip_pack_probe(struct zip_packed *m)
{
	enum { SAMPLE = 1 << 16, SAMPLES = 8 };
	ARENA(tmp);
	CLEANUP(deflate_freep) struct libdeflate_compressor *c = NULL;
	TRY(compressor(&c));
	char *raw = arena_alloc(&tmp, SAMPLE), *out = arena_alloc(&tmp, SAMPLE);
	size_t sum = 0, n = m->size < SAMPLE ? (size_t)m->size : SAMPLE;
	for (unsigned i = 0; i < SAMPLES; i++) {
		TRY(zip_input_read(m->in, raw, n, (m->size - n) / (SAMPLES - 1) * i));
		size_t got = libdeflate_deflate_compress(c, raw, n, out, n);
		sum += got ? got : n;
	}
	m->method = sum > n * SAMPLES / 100 * 98 ? ZIP_STORED : ZIP_DEFLATE;
	return NULL;
}

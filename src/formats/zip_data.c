/* Contents of zip members: whole (libdeflate), in pieces (zlib) or for random access; always
 * checked against size, checksum and the amount of compressed data. See zip.h. */
#include <libdeflate.h>
#include <stdlib.h>
#include <zlib.h>

#include "base/fs.h"
#include "formats/zip_format.h"

enum { PIECE = 1 << 18, WHOLE = 1 << 22 }; /* up to WHOLE bytes libdeflate is used throughout */

static struct err *damaged(const struct zip *z, const struct zip_member *m, const char *what)
{
	return err_new(E_ZIP, "'%.*s' in '%.*s': %s", STR(m->name), STR(z->path), what);
}

static struct err *get(
	const struct zip *z, const struct zip_member *m, void *p, size_t n, uint64_t at)
{
	TRY_CTX(elf_src_read(&z->src, p, n, m->data + at), "cannot read '%.*s' in '%.*s'",
		STR(m->name), STR(z->path));
	return NULL;
}

static struct err *may_read(const struct zip *z, const struct zip_member *m)
{
	if (m->unsafe)
		return damaged(z, m, "it is not safe to read");
	return NULL;
}

static void inflater_freep(struct libdeflate_decompressor **d)
{
	libdeflate_free_decompressor(*d);
}

static void bytes_freep(char **p)
{
	free(*p);
}

/* Unpacks into out, which has m->size bytes. */
static struct err *inflate_whole(const struct zip *z, const struct zip_member *m, char *out)
{
	CLEANUP(inflater_freep) struct libdeflate_decompressor *d = libdeflate_alloc_decompressor();
	CLEANUP(bytes_freep) char *packed = xmalloc((size_t)m->stored + 1);
	size_t used, made;
	if (!d)
		return err_new(E_LIMIT, "not enough memory to unpack '%.*s'", STR(m->name));
	TRY(get(z, m, packed, (size_t)m->stored, 0));
	enum libdeflate_result r = libdeflate_deflate_decompress_ex(
		d, packed, (size_t)m->stored, out, (size_t)m->size, &used, &made);
	if (r == LIBDEFLATE_INSUFFICIENT_SPACE)
		return damaged(z, m, "it unpacks to more bytes than it says");
	if (r != LIBDEFLATE_SUCCESS)
		return damaged(z, m, "its compressed data is damaged");
	if (made != m->size)
		return damaged(z, m, "it unpacks to fewer bytes than it says");
	if (used != m->stored)
		return damaged(z, m, "there are bytes behind its compressed data");
	return NULL;
}

static struct err *content(const struct zip *z, const struct zip_member *m, char *out)
{
	TRY(budget_work(z->src.budget, m->size));
	if (m->method == ZIP_STORED)
		TRY(get(z, m, out, (size_t)m->size, 0));
	else
		TRY(inflate_whole(z, m, out));
	if (libdeflate_crc32(0, out, (size_t)m->size) != m->crc)
		return damaged(z, m, "its checksum is wrong");
	return NULL;
}

struct err *zip_read(struct arena *a, const struct zip *z, const struct zip_member *m, size_t limit,
	struct str *ret)
{
	TRY(may_read(z, m));
	if (m->size > limit || m->stored > SIZE_MAX / 2)
		return err_new(E_LIMIT, "'%.*s' in '%.*s' is larger than %zu bytes", STR(m->name),
			STR(z->path), limit);
	TRY(budget_memory(z->src.budget, m->size));
	char *p = arena_alloc(a, (size_t)m->size + 1);
	TRY(content(z, m, p));
	*ret = (struct str){.p = p, .n = (size_t)m->size};
	return NULL;
}

/* ---- in pieces ---- */

struct stream {
	const struct zip *z;
	const struct zip_member *m;
	zip_fn *fn;
	void *user;
	uint32_t crc;
	uint64_t made, taken; /* bytes given out; compressed bytes read */
	bool stop;
	char *in, *out;
	z_stream inflate;
};

static void stream_done(struct stream *s)
{
	(void)inflateEnd(&s->inflate);
	free(s->in);
	free(s->out);
}

static struct err *give(struct stream *s, const char *p, size_t n)
{
	if (n > s->m->size - s->made)
		return damaged(s->z, s->m, "it unpacks to more bytes than it says");
	TRY(budget_work(s->z->src.budget, n));
	s->made += n;
	s->crc = libdeflate_crc32(s->crc, p, n);
	return n ? s->fn(s->user, p, n, &s->stop) : NULL;
}

/* The next compressed bytes; *ret_n is 0 at their end. */
static struct err *refill(struct stream *s, size_t *ret_n)
{
	uint64_t left = s->m->stored - s->taken;
	*ret_n = left < PIECE ? (size_t)left : PIECE;
	TRY(get(s->z, s->m, s->in, *ret_n, s->taken));
	s->taken += *ret_n;
	return NULL;
}

static struct err *stream_deflated(struct stream *s)
{
	int r = Z_OK;
	if (inflateInit2(&s->inflate, -15) != Z_OK)
		return err_new(E_LIMIT, "not enough memory to unpack '%.*s'", STR(s->m->name));
	while (r != Z_STREAM_END && !s->stop) {
		if (!s->inflate.avail_in) {
			size_t n;
			TRY(refill(s, &n));
			if (!n)
				return damaged(s->z, s->m, "its compressed data is cut short");
			s->inflate.next_in = (unsigned char *)s->in;
			s->inflate.avail_in = (uInt)n;
		}
		s->inflate.next_out = (unsigned char *)s->out;
		s->inflate.avail_out = PIECE;
		r = inflate(&s->inflate, Z_NO_FLUSH);
		if (r != Z_OK && r != Z_STREAM_END && r != Z_BUF_ERROR)
			return damaged(s->z, s->m, "its compressed data is damaged");
		TRY(give(s, s->out, PIECE - s->inflate.avail_out));
	}
	if (!s->stop && (s->inflate.avail_in || s->taken < s->m->stored))
		return damaged(s->z, s->m, "there are bytes behind its compressed data");
	return NULL;
}

struct err *zip_stream(const struct zip *z, const struct zip_member *m, zip_fn *fn, void *user)
{
	TRY(may_read(z, m));
	CLEANUP(stream_done) struct stream s = {.z = z, .m = m, .fn = fn, .user = user};
	if (m->size <= WHOLE && m->stored <= WHOLE) { /* libdeflate is twice as fast as zlib */
		s.out = xmalloc((size_t)m->size + 1);
		TRY(content(z, m, s.out));
		return m->size ? fn(user, s.out, (size_t)m->size, &s.stop) : NULL;
	}
	s.in = xmalloc(PIECE);
	s.out = xmalloc(PIECE);
	if (m->method == ZIP_DEFLATE)
		TRY(stream_deflated(&s));
	for (size_t n = 1; m->method == ZIP_STORED && n && !s.stop;) {
		TRY(refill(&s, &n));
		TRY(give(&s, s.in, n));
	}
	if (s.stop)
		return NULL;
	if (s.made != m->size)
		return damaged(z, m, "it unpacks to fewer bytes than it says");
	return s.crc == m->crc ? NULL : damaged(z, m, "its checksum is wrong");
}

/* ---- random access ---- */

struct err *zip_sink_write(struct zip_sink *s, const void *p, size_t n)
{
	if (s->fd < 0)
		TRY(fs_tempfile(&s->fd));
	TRY_CTX(fs_pwrite(s->fd, p, n, s->at), "cannot write a temporary file");
	s->at += n;
	return NULL;
}

void zip_sink_close(struct zip_sink *s)
{
	fd_closep(&s->fd);
}

static struct err *write_out(void *user, const void *p, size_t n, bool *stop)
{
	(void)stop;
	return zip_sink_write(user, p, n);
}

struct err *zip_src(
	const struct zip *z, const struct zip_member *m, struct elf_src *ret, int *ret_fd)
{
	*ret_fd = -1;
	TRY(may_read(z, m));
	if (m->method == ZIP_STORED) {
		*ret = elf_src_sub(&z->src, m->data, m->size);
		return NULL;
	}
	CLEANUP(zip_sink_close) struct zip_sink sink = {.fd = -1};
	TRY(zip_sink_write(&sink, "", 0));
	TRY(zip_stream(z, m, write_out, &sink));
	*ret = elf_src_fd(sink.fd, m->size);
	ret->budget = z->src.budget;
	*ret_fd = sink.fd;
	sink.fd = -1;
	return NULL;
}

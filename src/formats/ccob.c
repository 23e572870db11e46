/* Payloads of compressed bundles: streaming zstd and zlib; see ccob.h and doc/formats.md.
 *
 * clang writes zstd frames as a single segment, whose window is the whole content. A decoder takes
 * memory for the window, so looking at the first block goes through a frame header of our own with
 * a window of one block. Memory for the real window is taken by mapping, not by filling. */
#include "formats/ccob.h"

#include <zlib.h>
#include <zstd.h>

#include "formats/le.h"

enum {
	CHUNK = 128 << 10,     /* bytes read and given at once */
	PEEK_CHUNK = 32 << 10, /* the first block is seldom longer */
	BLOCK = 128 << 10,     /* most that one zstd block holds */
	FRAME_HEADER = 18,     /* longest zstd frame header */
	WINDOW_LOG_MIN = 27,   /* accepted whatever the claimed size */
	WINDOW_LOG_MAX = 31,   /* the library's limit */
};

/* Where decoded bytes go, and how far that is. */
struct sink {
	const struct bundle *b;
	bundle_fn *fn; /* NULL: only counting */
	void *user;
	uint64_t at, limit;
	bool stop;
};

/* Compressed bytes, read in pieces. */
struct feed {
	const struct elf_src *src;
	uint64_t at, end;
	char *p;
	size_t n, chunk;
};

static struct err *feed_next(struct feed *f)
{
	uint64_t left = f->end - f->at;
	f->n = f->chunk < left ? f->chunk : (size_t)left;
	TRY(elf_src_read(f->src, f->p, f->n, f->at));
	f->at += f->n;
	return NULL;
}

static struct err *give(struct sink *s, const void *p, size_t n)
{
	if (n > s->limit - s->at)
		n = (size_t)(s->limit - s->at);
	if (s->at + n > s->b->size)
		return err_new(E_BUNDLE, "the content is larger than the %llu bytes it claims",
			(unsigned long long)s->b->size);
	if (n && s->fn)
		TRY(s->fn(s->user, p, n, s->at, &s->stop));
	s->at += n;
	if (s->at == s->limit && s->limit < s->b->size)
		s->stop = true;
	return NULL;
}

static void dctx_freep(ZSTD_DCtx **z)
{
	ZSTD_freeDCtx(*z);
}

static struct err *zstd_error(size_t code)
{
	return err_new(E_BUNDLE, "zstd: %s", ZSTD_getErrorName(code));
}

/* Runs the decoder over one piece of input; *ret_done at the end of the frame. */
static struct err *zstd_piece(
	ZSTD_DCtx *z, ZSTD_inBuffer *in, struct sink *s, char *out, bool *ret_done)
{
	bool more = true;
	while (!*ret_done && !s->stop && (more || in->pos < in->size)) {
		ZSTD_outBuffer o = {.dst = out, .size = CHUNK};
		size_t code = ZSTD_decompressStream(z, &o, in);
		if (ZSTD_isError(code))
			return zstd_error(code);
		TRY(give(s, out, o.pos));
		*ret_done = code == 0;
		more = o.pos == o.size; /* a full buffer: there may be more inside the decoder */
	}
	return NULL;
}

struct frame {
	unsigned header; /* bytes */
	bool checksum, dictionary;
};

/* RFC 8878, 3.1.1.1: the descriptor byte tells which fields follow. */
static struct err *frame_at(const struct elf_src *src, uint64_t at, uint64_t end, struct frame *ret)
{
	static const unsigned char fcs_bytes[] = {0, 2, 4, 8}, dict_bytes[] = {0, 1, 2, 4};
	char h[FRAME_HEADER];
	if (end - at < 6)
		return err_new(E_BUNDLE, "the zstd frame is cut off");
	TRY(elf_src_read(src, h, 6, at));
	if (le32(h) != ZSTD_MAGICNUMBER)
		return err_new(E_BUNDLE, "no zstd frame where the bundle's header says so");
	unsigned d = (unsigned char)h[4], fcs = fcs_bytes[d >> 6];
	bool single = d & 0x20;
	*ret = (struct frame){
		.header = 5 + (single ? 0u : 1u) + dict_bytes[d & 3] + (single && !fcs ? 1u : fcs),
		.checksum = d & 4,
		.dictionary = d & 3,
	};
	if (end - at < ret->header)
		return err_new(E_BUNDLE, "the zstd frame is cut off");
	return NULL;
}

/* The first bytes go through a frame header of our own, see above; all of them with a window as large
 * as the content, which clang's frames have (others need no more than the minimum). */
static struct err *zstd_decode(struct feed *f, struct sink *s, char *out, bool peek)
{
	/* magic; no content size, no checksum, no single segment; window 2^(10 + 7) */
	static const char small[] = {0x28, (char)0xb5, 0x2f, (char)0xfd, 0, 7 << 3};
	CLEANUP(dctx_freep) ZSTD_DCtx *z = ZSTD_createDCtx();
	ZSTD_inBuffer in = {.src = small, .size = sizeof(small)};
	struct frame frame;
	bool done = false;
	int log = WINDOW_LOG_MIN;
	if (!z)
		return err_new(E_LIMIT, "no memory for a zstd decoder");
	if (peek) {
		TRY(frame_at(f->src, f->at, f->end, &frame));
		if (frame.dictionary)
			return err_new(E_BUNDLE, "the zstd frame needs a dictionary");
		f->at += frame.header;
		TRY(zstd_piece(z, &in, s, out, &done));
	} else {
		while (log < WINDOW_LOG_MAX && s->b->size > UINT64_C(1) << log)
			log++;
		size_t code = ZSTD_DCtx_setParameter(z, ZSTD_d_windowLogMax, log);
		if (ZSTD_isError(code))
			return zstd_error(code);
	}
	while (!done && !s->stop) {
		TRY(feed_next(f));
		if (!f->n)
			return err_new(E_BUNDLE, "the zstd frame is cut off");
		in = (ZSTD_inBuffer){.src = f->p, .size = f->n};
		TRY(zstd_piece(z, &in, s, out, &done));
	}
	return NULL;
}

static void inflate_endp(z_stream *z)
{
	inflateEnd(z);
}

static struct err *zlib_decode(struct feed *f, struct sink *s, char *out, uint64_t *ret_used)
{
	CLEANUP(inflate_endp) z_stream z = {0};
	int code = Z_OK;
	if (inflateInit(&z) != Z_OK)
		return err_new(E_LIMIT, "no memory for a zlib decoder");
	while (code != Z_STREAM_END && !s->stop) {
		TRY(feed_next(f));
		if (!f->n)
			return err_new(E_BUNDLE, "the zlib stream is cut off");
		z.next_in = (unsigned char *)f->p;
		z.avail_in = (unsigned)f->n;
		do {
			z.next_out = (unsigned char *)out;
			z.avail_out = CHUNK;
			code = inflate(&z, Z_NO_FLUSH);
			if (code != Z_OK && code != Z_STREAM_END && code != Z_BUF_ERROR)
				return err_new(
					E_BUNDLE, "zlib: %s", z.msg ? z.msg : "damaged data");
			TRY(give(s, out, CHUNK - z.avail_out));
		} while (!s->stop && code == Z_OK && z.avail_out == 0);
	}
	*ret_used = f->at - z.avail_in;
	return NULL;
}

/* Feeds the payload to s; *ret_used is where a zlib stream ended. */
static struct err *decode(const struct elf_src *src, struct sink *s, bool peek, uint64_t *ret_used)
{
	ARENA(tmp);
	const struct bundle *b = s->b;
	struct feed f = {
		.src = src,
		.at = b->offset + b->header,
		.end = b->offset + b->stored,
		.p = arena_alloc(&tmp, CHUNK),
		.chunk = peek ? PEEK_CHUNK : CHUNK,
	};
	char *out = arena_alloc(&tmp, CHUNK);
	TRY(b->zstd ? zstd_decode(&f, s, out, peek) : zlib_decode(&f, s, out, ret_used));
	if (!s->stop && s->at != b->size)
		return err_new(E_BUNDLE, "the content is %llu bytes long, not %llu as it claims",
			(unsigned long long)s->at, (unsigned long long)b->size);
	return NULL;
}

struct err *ccob_decode(
	const struct elf_src *src, const struct bundle *b, bool peek, bundle_fn *fn, void *user)
{
	struct sink s = {.b = b, .fn = fn, .user = user, .limit = peek ? BLOCK : UINT64_MAX};
	uint64_t used;
	return decode(src, &s, peek, &used);
}

/* Blocks tell their lengths (RFC 8878, 3.1.1.2), so nothing has to be decoded. */
static struct err *zstd_end(const struct elf_src *src, uint64_t at, uint64_t end, uint64_t *ret)
{
	enum { RLE = 1, RESERVED = 3 };
	struct frame frame;
	TRY(frame_at(src, at, end, &frame));
	at += frame.header;
	for (bool last = false; !last;) {
		char h[4] = {0};
		if (end - at < 3)
			return err_new(E_BUNDLE, "the zstd frame is cut off");
		TRY(elf_src_read(src, h, 3, at));
		uint32_t block = le32(h), type = block >> 1 & 3, n = block >> 3;
		last = block & 1;
		if (type == RESERVED || n > BLOCK || (n == 0 && !last))
			return err_new(E_BUNDLE, "damaged zstd block header at offset %llu",
				(unsigned long long)at);
		at += 3 + (type == RLE ? 1 : n);
		if (at > end)
			return err_new(E_BUNDLE, "the zstd frame is cut off");
	}
	at += frame.checksum ? 4 : 0;
	if (at > end)
		return err_new(E_BUNDLE, "the zstd frame is cut off");
	*ret = at;
	return NULL;
}

struct err *ccob_length(const struct elf_src *src, const struct bundle *b, uint64_t *ret)
{
	uint64_t at = b->offset + b->header, end = 0;
	struct sink s = {.b = b, .limit = UINT64_MAX};
	TRY(b->zstd ? zstd_end(src, at, b->offset + b->stored, &end)
		    : decode(src, &s, false, &end));
	*ret = end - at;
	return NULL;
}

/* Unpacks bytes while they are read; see stream.h. Each format has a step function that consumes input and produces
 * output until one of them is used up. */
#include <errno.h>
#include <lzma.h>
#include <stdlib.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "base/fs.h"
#include "base/proc.h"
#include "formats/stream.h"

enum { INPUT = 1 << 17, WINDOW = 128 << 20 };

struct unpacker;

struct stream {
	int fd;
	struct str text, name;
	char in[INPUT];
	size_t from, n; /* the unread part of `in` */
	bool started, ended, wide;
	bool between, full; /* between concatenated streams; output was full, so more may follow */
	const struct unpacker *by; /* NULL: not compressed */
	z_stream gz;
	lzma_stream xz; /* all zero until it is opened */
	ZSTD_DStream *zst;
};

struct unpacker {
	const char *magic;
	size_t magic_n;
	bool (*open)(struct stream *s);
	/* Returns false for damaged data. Sets `between` at the end of each concatenated stream. */
	bool (*step)(struct stream *s, char *out, size_t n, size_t *ret_made);
};

static struct err *damaged(const struct stream *s, const char *what)
{
	return err_new(E_SYNTAX, "the compressed file '%.*s' %s", STR(s->name), what);
}

static bool gz_open(struct stream *s)
{
	return inflateInit2(&s->gz, 15 + 16) == Z_OK;
}

static bool gz_step(struct stream *s, char *out, size_t n, size_t *ret_made)
{
	s->gz.next_in = (unsigned char *)s->in + s->from;
	s->gz.avail_in = (unsigned)s->n;
	s->gz.next_out = (unsigned char *)out;
	s->gz.avail_out = n < UINT32_MAX ? (unsigned)n : UINT32_MAX;
	unsigned room = s->gz.avail_out;
	int code = s->between && inflateReset(&s->gz) != Z_OK ? Z_DATA_ERROR
							      : inflate(&s->gz, Z_NO_FLUSH);
	s->from += s->n - s->gz.avail_in;
	s->n = s->gz.avail_in;
	*ret_made = room - s->gz.avail_out;
	s->between = code == Z_STREAM_END;
	return code == Z_OK || code == Z_STREAM_END || code == Z_BUF_ERROR;
}

static bool xzip_open(struct stream *s)
{
	return lzma_stream_decoder(&s->xz, WINDOW, 0) == LZMA_OK;
}

static bool xzip_step(struct stream *s, char *out, size_t n, size_t *ret_made)
{
	if (s->between && !xzip_open(s))
		return false;
	s->xz.next_in = (unsigned char *)s->in + s->from;
	s->xz.avail_in = s->n;
	s->xz.next_out = (unsigned char *)out;
	s->xz.avail_out = n;
	lzma_ret code = lzma_code(&s->xz, LZMA_RUN);
	s->from += s->n - s->xz.avail_in;
	s->n = s->xz.avail_in;
	*ret_made = n - s->xz.avail_out;
	s->between = code == LZMA_STREAM_END;
	return code == LZMA_OK || code == LZMA_STREAM_END || code == LZMA_BUF_ERROR;
}

static bool zst_open(struct stream *s)
{
	s->zst = ZSTD_createDStream();
	return s->zst && !ZSTD_isError(ZSTD_DCtx_setParameter(s->zst, ZSTD_d_windowLogMax, 27));
}

static bool zst_step(struct stream *s, char *out, size_t n, size_t *ret_made)
{
	ZSTD_inBuffer in = {s->in + s->from, s->n, 0};
	ZSTD_outBuffer o = {out, n, 0};
	size_t code = ZSTD_decompressStream(s->zst, &o, &in);
	s->from += in.pos;
	s->n -= in.pos;
	*ret_made = o.pos;
	s->between = code == 0;
	return !ZSTD_isError(code);
}

static const struct unpacker unpackers[] = {
	{"\x1f\x8b\x08", 3, gz_open, gz_step},
	{"\3757zXZ", 5, xzip_open, xzip_step},
	{"\x28\xb5\x2f\xfd", 4, zst_open, zst_step},
};

struct stream *stream_new(int fd, struct str text, struct str name)
{
	struct stream *s = xmalloc(sizeof(*s));
	memset(s, 0, offsetof(struct stream, in));
	memset(&s->from, 0, sizeof(*s) - offsetof(struct stream, from));
	s->fd = fd;
	s->text = text;
	s->name = name;
	return s;
}

void stream_freep(struct stream **s)
{
	if (!*s)
		return;
	inflateEnd(&(*s)->gz);
	lzma_end(&(*s)->xz);
	ZSTD_freeDStream((*s)->zst);
	free(*s);
	*s = NULL;
}

bool stream_is_open_ended(const struct stream *s)
{
	return s->by || (s->fd >= 0 && fs_end(s->fd) != FS_END_BY_SIZE);
}

/* Reads what is available at once; *ret is 0 only at the end. */
static struct err *take(struct stream *s, char *p, size_t n, size_t *ret)
{
	ssize_t got = 0;
	if (s->fd < 0) {
		*ret = s->text.n < n ? s->text.n : n;
		memcpy(p, *ret ? s->text.p : "", *ret);
		s->text = str_sub(s->text, *ret, s->text.n);
		return NULL;
	}
	do {
		TRY(cancel_check());
		got = read(s->fd, p, n);
	} while (got < 0 && errno == EINTR);
	if (got < 0)
		return err_errno("cannot read '%.*s'", STR(s->name));
	*ret = (size_t)got;
	return NULL;
}

static struct err *step(struct stream *s, char *p, size_t n, size_t *ret)
{
	*ret = 0;
	if (!s->n && !s->full && !s->ended) {
		s->from = 0;
		TRY(take(s, s->in, INPUT, &s->n));
		s->ended = s->n == 0;
	}
	if (s->by && (s->n || s->full)) {
		if (!s->by->step(s, p, n, ret))
			return damaged(s, "is damaged");
		s->full = *ret == n && !s->between;
	} else if (s->by && !s->between) {
		return damaged(s, "ends too early");
	} else if (s->n) {
		*ret = s->n < n ? s->n : n;
		memcpy(p, s->in + s->from, *ret);
		s->from += *ret;
		s->n -= *ret;
	}
	return NULL;
}

struct err *stream_read(struct stream *s, char *p, size_t n, size_t *ret)
{
	*ret = 0;
	if (!s->started) {
		s->started = true;
		for (size_t got = 1; got && s->n < 8; s->n += got)
			TRY(take(s, s->in + s->n, INPUT - s->n, &got));
		struct str head = {s->in, s->n};
		s->wide = str_starts(head, S("\xff\xfe")) || str_starts(head, S("\xfe\xff"));
		for (size_t i = 0; i < sizeof(unpackers) / sizeof(unpackers[0]); i++)
			if (str_starts(
				    head, (struct str){unpackers[i].magic, unpackers[i].magic_n}))
				s->by = &unpackers[i];
		if (s->by && !s->by->open(s))
			return damaged(s, "cannot be read");
	}
	while (*ret < n && (s->n || s->full || !s->ended)) {
		char *to = p + *ret;
		size_t made = 0;
		TRY(step(s, to, n - *ret, &made));
		for (size_t i = 0; s->wide && i < made; i++)
			if (to[i])
				p[(*ret)++] = to[i];
		*ret += s->wide ? 0 : made;
	}
	return NULL;
}

/* Offload bundles: their tables, the payloads of compressed ones (streaming zstd and zlib), and walking from one
 * bundle to the next; see bundle.h and doc/formats.md.
 *
 * clang writes zstd frames as a single segment, whose window is the whole content, and a decoder allocates memory for
 * the window. Peeking at the first block therefore goes through a frame header of our own with a window of one block.
 * Memory for the real window is mapped, not filled. */
#include "formats/bundle.h"

#include <zlib.h>
#include <zstd.h>

#include "formats/le.h"

#define RAW_MAGIC "__CLANG_OFFLOAD_BUNDLE__"
#define CCOB_MAGIC "CCOB"
#define MAX_SIZE (UINT64_C(16) << 30)

enum {
	MAX_ENTRIES = 4096,
	MAX_ID = 256,
	TABLE = BUNDLE_TABLE,
	ENTRY = BUNDLE_ENTRY,
	WINDOW = 4096, /* the runtime reads this much of a table, so it usually holds all of it */
	PAGE = 4096,   /* clang's alignment of bundles */
	ZSTD_RATIO = 43700, /* a block has at least 3 bytes, and gives at most 128 KiB */
	ZLIB_RATIO = 1032,  /* also limits large zstd bundles: real ones stay below 100 */
	LARGE = 128 << 20,
	PIECE = 128 << 10,     /* bytes per read of compressed data, and per call of fn */
	PEEK_PIECE = 32 << 10, /* the first block is seldom longer */
	BLOCK = 128 << 10,     /* the most that one zstd block holds */
	START_COST = 64 << 10, /* work of starting a decoder */
	WINDOW_SHARE = 8,      /* and of making room for its window: this part of it */
	FRAME_HEADER = 18,     /* bytes of the longest zstd frame header */
	WINDOW_LOG_LEAST = 10, /* no frame has less */
	WINDOW_LOG_MAX = 31,   /* the library's limit */
};

/* ---- the payload of compressed bundles ---- */

/* The payload of a compressed bundle on its way to fn. */
struct decoding {
	const struct bytes *src;
	const struct bundle *b;
	bytes_fn *fn; /* NULL: bytes are only counted */
	void *user;
	bool peek;        /* only the first BLOCK bytes, without memory for the whole window */
	uint64_t at, end; /* the compressed bytes that have not been read */
	char *in, *out;   /* buffers of PIECE bytes */
	size_t n;         /* bytes in `in` */
	uint64_t given;   /* decoded bytes */
	bool stop;
};

/* Reads the next piece of compressed bytes. */
static struct err *feed(struct decoding *d, const char *name)
{
	uint64_t left = d->end - d->at;
	size_t most = d->peek ? PEEK_PIECE : PIECE;
	d->n = most < left ? most : (size_t)left;
	if (!d->n)
		return err_new(E_BUNDLE, "the %s is cut off", name);
	TRY(bytes_read(d->src, d->in, d->n, d->at));
	d->at += d->n;
	return NULL;
}

/* Passes on the n bytes in `out`. */
static struct err *give(struct decoding *d, size_t n)
{
	if (d->peek && n > BLOCK - d->given)
		n = (size_t)(BLOCK - d->given);
	if (d->given + n > d->b->size)
		return err_new(E_BUNDLE, "the content is larger than the %llu bytes it claims",
			(unsigned long long)d->b->size);
	TRY(budget_work(d->src->budget, n));
	if (n && d->fn)
		TRY(d->fn(d->user, d->out, n, d->given, &d->stop));
	d->given += n;
	if (d->peek && d->given == BLOCK && BLOCK < d->b->size)
		d->stop = true;
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
static struct err *zstd_piece(ZSTD_DCtx *z, ZSTD_inBuffer in, struct decoding *d, bool *ret_done)
{
	bool more = true;
	while (!*ret_done && !d->stop && (more || in.pos < in.size)) {
		ZSTD_outBuffer o = {.dst = d->out, .size = PIECE};
		size_t code = ZSTD_decompressStream(z, &o, &in);
		if (ZSTD_isError(code))
			return zstd_error(code);
		TRY(give(d, o.pos));
		*ret_done = code == 0;
		more = o.pos == o.size; /* a full buffer: there may be more inside the decoder */
	}
	return NULL;
}

struct zstd_frame {
	unsigned header;      /* bytes */
	unsigned char window; /* its descriptor; 0: the content is a single segment */
	bool checksum, dictionary;
};

/* RFC 8878, 3.1.1.1: the descriptor byte determines which fields follow. */
static struct err *frame_at(
	const struct bytes *src, uint64_t at, uint64_t end, struct zstd_frame *ret)
{
	static const unsigned char fcs_bytes[] = {0, 2, 4, 8}, dict_bytes[] = {0, 1, 2, 4};
	char h[FRAME_HEADER];
	if (end - at < 6)
		return err_new(E_BUNDLE, "the zstd frame is cut off");
	TRY(bytes_read(src, h, 6, at));
	if (le32(h) != ZSTD_MAGICNUMBER)
		return err_new(E_BUNDLE, "no zstd frame where one should be");
	unsigned d = (unsigned char)h[4], fcs = fcs_bytes[d >> 6];
	bool single = d & 0x20;
	*ret = (struct zstd_frame){
		.header = 5 + (single ? 0u : 1u) + dict_bytes[d & 3] + (single && !fcs ? 1u : fcs),
		.window = single ? 0 : (unsigned char)h[5],
		.checksum = d & 4,
		.dictionary = d & 3,
	};
	if (end - at < ret->header)
		return err_new(E_BUNDLE, "the zstd frame is cut off");
	return NULL;
}

/* A peek goes through a frame header of our own (see the top of this file), and so does a frame that has a window: no more of it
 * is made than the content fills, whatever it claims. Of a single segment, such as clang's, the content is the window. */
static struct err *zstd_decode(struct decoding *d)
{
	/* magic; no content size, no checksum, no single segment; window 2^(10 + 7) */
	char head[] = {0x28, (char)0xb5, 0x2f, (char)0xfd, 0, 7 << 3};
	CLEANUP(dctx_freep) ZSTD_DCtx *z = ZSTD_createDCtx();
	struct zstd_frame frame;
	bool done = false;
	int log = WINDOW_LOG_LEAST;
	if (!z)
		return err_new(E_LIMIT, "no memory for a zstd decoder");
	TRY(frame_at(d->src, d->at, d->end, &frame));
	if (frame.dictionary)
		return err_new(E_BUNDLE, "the zstd frame needs a dictionary");
	while (log < WINDOW_LOG_MAX && d->b->size > UINT64_C(1) << log)
		log++;
	if (!d->peek) {
		int window = (log - WINDOW_LOG_LEAST) << 3;
		head[4] = frame.checksum ? 4 : 0;
		head[5] = (char)(window < frame.window ? window : frame.window);
		size_t code = ZSTD_DCtx_setParameter(z, ZSTD_d_windowLogMax, log);
		if (ZSTD_isError(code))
			return zstd_error(code);
	}
	if (d->peek || frame.window) {
		d->at += frame.header;
		TRY(zstd_piece(z, (ZSTD_inBuffer){head, sizeof(head), 0}, d, &done));
	}
	while (!done && !d->stop) {
		TRY(feed(d, "zstd frame"));
		TRY(zstd_piece(z, (ZSTD_inBuffer){d->in, d->n, 0}, d, &done));
	}
	return NULL;
}

static struct err *zlib_decode(struct decoding *d)
{
	CLEANUP(inflateEnd) z_stream z = {0};
	int code = Z_OK;
	if (inflateInit(&z) != Z_OK)
		return err_new(E_LIMIT, "no memory for a zlib decoder");
	while (code != Z_STREAM_END && !d->stop) {
		TRY(feed(d, "zlib stream"));
		z.next_in = (unsigned char *)d->in;
		z.avail_in = (unsigned)d->n;
		do {
			z.next_out = (unsigned char *)d->out;
			z.avail_out = PIECE;
			code = inflate(&z, Z_NO_FLUSH);
			if (code != Z_OK && code != Z_STREAM_END && code != Z_BUF_ERROR)
				return err_new(
					E_BUNDLE, "zlib: %s", z.msg ? z.msg : "damaged data");
			TRY(give(d, PIECE - z.avail_out));
		} while (!d->stop && code == Z_OK && z.avail_out == 0);
	}
	d->at -= z.avail_in;
	return NULL;
}

/* Decodes the payload; d->at becomes the end of a zlib stream. */
static struct err *decode(struct decoding *d)
{
	ARENA(tmp);
	const struct bundle *b = d->b;
	/* in single-segment frames the window is the whole content */
	uint64_t window = b->zstd && !d->peek ? b->size : 0;
	d->at = b->offset + b->header;
	d->end = b->offset + b->stored;
	d->in = arena_raw(&tmp, PIECE);
	d->out = arena_raw(&tmp, PIECE);
	TRY(budget_work(d->src->budget, START_COST + window / WINDOW_SHARE));
	TRY(budget_memory(d->src->budget, window));
	struct err *e = b->zstd ? zstd_decode(d) : zlib_decode(d);
	budget_return(d->src->budget, window);
	if (!e && !d->stop && d->given != b->size)
		e = err_new(E_BUNDLE, "the content is %llu bytes long, not %llu as it claims",
			(unsigned long long)d->given, (unsigned long long)b->size);
	return e;
}

/* Finds the end of a frame without decoding it: block headers have the length of their block (RFC 8878, 3.1.1.2). */
static struct err *zstd_end(const struct bytes *src, uint64_t at, uint64_t end, uint64_t *ret)
{
	enum { RLE = 1, RESERVED = 3 };
	struct zstd_frame frame;
	TRY(frame_at(src, at, end, &frame));
	at += frame.header;
	for (bool last = false; !last;) {
		char h[4] = {0};
		if (end - at < 3)
			return err_new(E_BUNDLE, "the zstd frame is cut off");
		TRY(bytes_read(src, h, 3, at));
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

/* ---- tables ---- */

bool bundle_is(struct str head)
{
	return str_starts(head, S(RAW_MAGIC)) || (head.n >= 8 && str_starts(head, S(CCOB_MAGIC)));
}

/* The processor and its features follow the last "--"; ids with an environment part have only one dash there.
 * Processor names may contain dashes themselves (gfx9-4-generic). */
struct str bundle_target(struct str id)
{
	struct str head = str_sub(id, 0, str_chr(id, ':')); /* features may end in '-' */
	if (str_starts(id, S("host")))
		return S("");
	for (size_t i = head.n; i >= 2; i--) {
		if (head.p[i - 1] == '-' && head.p[i - 2] == '-')
			return str_sub(id, i, id.n);
	}
	size_t gfx = str_find(head, S("-gfx")), dash = str_rchr(head, '-');
	if (gfx < head.n)
		return str_sub(id, gfx + 1, id.n);
	return dash < head.n ? str_sub(id, dash + 1, id.n) : id;
}

/* Parses the table from the bytes at hand. *ret_need is the number of bytes needed to continue; it is at most have.n
 * once the table is complete. */
static struct err *parse_table(
	struct arena *a, struct str have, struct bundle *b, uint64_t *ret_need)
{
	*ret_need = TABLE;
	if (have.n < TABLE)
		return NULL;
	uint64_t count = le64(have.p + BUNDLE_MAGIC), at = TABLE;
	if (!str_starts(have, S(RAW_MAGIC)))
		return err_new(E_BUNDLE, "no bundle inside the compressed data");
	if (count > MAX_ENTRIES)
		return err_new(E_LIMIT, "a table of %llu entries: at most %d are read",
			(unsigned long long)count, MAX_ENTRIES);
	b->entries.n = 0;
	for (uint64_t i = 0; i < count; i++) {
		*ret_need = at + ENTRY;
		if (*ret_need > have.n)
			return NULL;
		const char *p = have.p + at;
		uint64_t idlen = le64(p + 16);
		if (idlen > MAX_ID)
			return err_new(E_LIMIT, "an id of %llu bytes: at most %d are read",
				(unsigned long long)idlen, MAX_ID);
		*ret_need += idlen;
		if (*ret_need > have.n)
			return NULL;
		struct str id = str_dup(a, (struct str){.p = p + ENTRY, .n = (size_t)idlen});
		*VEC_PUSH(a, &b->entries) = (struct bundle_entry){.id = id,
			.target = bundle_target(id),
			.offset = le64(p),
			.size = le64(p + 8),
			.at = at};
		at = *ret_need;
	}
	return NULL;
}

/* Checks that entries with content lie inside the bundle, behind the table, and do not overlap. *ret is the end of
 * the last one. */
static struct err *check_entries(
	const struct bundle *b, uint64_t table, uint64_t limit, uint64_t *ret)
{
	ARENA(tmp);
	const struct bundle_spans spans = bundle_spans(&tmp, b);
	*ret = table;
	for (size_t i = 0; i < spans.n; i++) {
		const struct bundle_entry *e = &b->entries.v[spans.v[i].id];
		if (e->offset < *ret)
			return err_new(
				E_BUNDLE, "entry '%.*s' lies over the one before it", STR(e->id));
		if (e->offset > limit || e->size > limit - e->offset)
			return err_new(
				E_BUNDLE, "entry '%.*s' is not inside the bundle", STR(e->id));
		*ret = e->offset + e->size;
	}
	return NULL;
}

static struct err *open_raw(
	struct arena *a, const struct bytes *src, uint64_t end, struct str head, struct bundle *b)
{
	uint64_t need = 0, limit = end - b->offset;
	if (limit > MAX_SIZE)
		limit = MAX_SIZE;
	TRY(parse_table(a, head, b, &need));
	while (need > head.n) {
		uint64_t want = need + WINDOW > 2 * head.n ? need + WINDOW : 2 * head.n;
		if (need > limit)
			return err_new(E_BUNDLE, "the table is cut off");
		want = want < limit ? want : limit;
		TRY(bytes_slice(a, src, b->offset, want, &head));
		TRY(parse_table(a, head, b, &need));
	}
	TRY(check_entries(b, need, limit, &b->size));
	b->stored = b->size;
	return NULL;
}

struct peek {
	struct arena *a;
	struct buf bytes;
	struct bundle *b;
	uint64_t need;
};

static struct err *peek_piece(void *user, const void *p, size_t n, uint64_t at, bool *stop)
{
	(void)at;
	struct peek *k = user;
	buf_add(&k->bytes, (struct str){.p = p, .n = n});
	if (k->bytes.n < k->need)
		return NULL;
	TRY(parse_table(k->a, buf_str(&k->bytes), k->b, &k->need));
	*stop = k->need <= k->bytes.n;
	return NULL;
}

/* Layouts of CCOB headers by version: their size, and the offsets of their fields; 0: the header has no such field. */
static const struct ccob_layout {
	unsigned header, total, size, hash;
	unsigned width; /* bytes of total and size */
} layouts[] = {
	[1] = {.header = 20, .size = 8, .hash = 12, .width = 4},
	[2] = {.header = 24, .total = 8, .size = 12, .hash = 16, .width = 4},
	[3] = {.header = 32, .total = 8, .size = 16, .hash = 24, .width = 8},
};

static struct err *open_ccob(
	struct arena *a, const struct bytes *src, uint64_t end, struct str head, struct bundle *b)
{
	ARENA(tmp);
	unsigned version = le16(head.p + 4), method = le16(head.p + 6);
	if (version < 1 || version > 3)
		return err_new(E_BUNDLE, "a compressed bundle of the unknown version %u", version);
	const struct ccob_layout *l = &layouts[version];
	if (method > 1)
		return err_new(E_BUNDLE, "a compressed bundle with the unknown method %u", method);
	if (head.n < l->header)
		return err_new(E_BUNDLE, "the header is cut off");
	uint64_t left = end - b->offset;
	b->encoding = (enum bundle_encoding)version;
	b->zstd = method == 1;
	b->header = l->header;
	b->size = l->width == 4 ? le32(head.p + l->size) : le64(head.p + l->size);
	b->hash = le64(head.p + l->hash);
	b->stored = left;
	if (l->total)
		b->stored = l->width == 4 ? le32(head.p + l->total) : le64(head.p + l->total);
	if (b->stored > left || b->stored < b->header)
		return err_new(E_BUNDLE, "a compressed bundle of %llu bytes where %llu are left",
			(unsigned long long)b->stored, (unsigned long long)left);
	uint64_t payload = b->stored - b->header;
	uint64_t ratio = b->zstd && b->size <= LARGE ? ZSTD_RATIO : ZLIB_RATIO;
	if (b->size > MAX_SIZE)
		return err_new(E_LIMIT, "a bundle of %llu bytes: at most %llu are read",
			(unsigned long long)b->size, (unsigned long long)MAX_SIZE);
	if (b->size / ratio > payload)
		return err_new(E_BUNDLE, "%llu compressed bytes cannot give the %llu they claim",
			(unsigned long long)payload, (unsigned long long)b->size);
	if (!l->total) {
		struct decoding all = {.src = src, .b = b};
		TRY(b->zstd ? zstd_end(src, b->offset + b->header, end, &all.at) : decode(&all));
		b->stored = all.at - b->offset;
	}
	/* the table is nearly always in the first block */
	struct peek k = {.a = a, .bytes = {.a = &tmp}, .b = b, .need = TABLE};
	struct decoding d = {.src = src, .b = b, .fn = peek_piece, .user = &k, .peek = true};
	TRY(decode(&d));
	if (k.need > k.bytes.n) {
		k.bytes.n = 0;
		d = (struct decoding){.src = src, .b = b, .fn = peek_piece, .user = &k};
		TRY(decode(&d));
	}
	if (k.need > k.bytes.n)
		return err_new(E_BUNDLE, "the table is cut off");
	return check_entries(b, k.need, b->size, &left);
}

/* The first bytes at an offset. */
struct bundle_window {
	uint64_t offset;
	size_t n;
	char p[WINDOW];
};

static struct err *look_at(
	const struct bytes *src, uint64_t offset, uint64_t end, struct bundle_window *w)
{
	uint64_t left = offset < end ? end - offset : 0;
	w->offset = offset;
	return bytes_peek(src, w->p, left < WINDOW ? (size_t)left : WINDOW, offset, &w->n);
}

static struct err *open_any(struct arena *a, const struct bytes *src, const struct bundle_window *w,
	uint64_t end, struct bundle *b)
{
	struct str head = {.p = w->p, .n = w->n};
	*b = (struct bundle){.offset = w->offset};
	struct err *e = !bundle_is(head) ? err_new(E_BUNDLE, "no bundle begins there")
			: str_starts(head, S(RAW_MAGIC)) ? open_raw(a, src, end, head, b)
							 : open_ccob(a, src, end, head, b);
	TRY_CTX(e, "cannot read the bundle at offset %llu", (unsigned long long)w->offset);
	return NULL;
}

struct err *bundle_open(
	struct arena *a, const struct bytes *src, uint64_t offset, uint64_t end, struct bundle *ret)
{
	struct bundle_window w;
	end = end < src->size ? end : src->size;
	TRY_CTX(look_at(src, offset, end, &w), "cannot read the bundle at offset %llu",
		(unsigned long long)offset);
	return open_any(a, src, &w, end, ret);
}

struct err *bundle_copy(
	struct arena *a, const struct bytes *src, const struct bundle *b, struct bundle *ret)
{
	TRY(budget_memory(src->budget, sizeof(*b) + 4 * b->entries.n * sizeof(*b->entries.v)));
	*ret = *b;
	memset(&ret->entries, 0, sizeof(ret->entries));
	VEC_EACH (const struct bundle_entry, e, &b->entries) {
		struct bundle_entry *copy = VEC_PUSH(a, &ret->entries);
		*copy = *e;
		copy->id = str_dup(a, e->id);
		copy->target = str_dup(a, e->target);
	}
	return NULL;
}

struct err *bundle_decode(const struct bytes *src, const struct bundle *b, bytes_fn *fn, void *user)
{
	const struct bytes raw = bytes_sub(src, b->offset, b->size);
	struct decoding d = {.src = src, .b = b, .fn = fn, .user = user};
	return b->encoding == BUNDLE_RAW ? bytes_each(&raw, 0, b->size, fn, user) : decode(&d);
}

/* ---- objects ---- */

struct bundle_spans bundle_spans(struct arena *a, const struct bundle *b)
{
	struct bundle_spans s = {.v = arena_array(a, b->entries.n + 1, sizeof(*s.v))};
	for (size_t i = 0; i < b->entries.n; i++) {
		const struct bundle_entry *e = &b->entries.v[i];
		if (e->size)
			s.v[s.n++] = (struct bundle_span){e->offset, e->size, i};
	}
	VEC_SORT(&s, offset_order);
	return s;
}

struct err *bundle_reader_piece(void *reader, const void *p, size_t n, uint64_t at, bool *stop)
{
	struct bundle_reader *r = reader;
	for (; r->i < r->spans.n; r->i++) {
		const struct bundle_span *s = &r->spans.v[r->i];
		uint64_t from = s->offset > at ? s->offset : at, end = s->offset + s->size;
		uint64_t to = end < at + n ? end : at + n;
		if (from >= at + n)
			break;
		struct str part = {(const char *)p + (from - at), (size_t)(to - from)};
		TRY(r->fn(r->user, s, part, from - s->offset));
		if (to < end)
			break;
	}
	*stop = r->i == r->spans.n && !r->whole;
	return NULL;
}

struct err *bundle_read(const struct bytes *src, const struct bundle *b, struct bundle_reader *r)
{
	const struct bytes raw = bytes_sub(src, b->offset, b->size);
	if (b->encoding != BUNDLE_RAW)
		return bundle_decode(src, b, bundle_reader_piece, r);
	while (r->i < r->spans.n) {
		const struct bundle_span *s = &r->spans.v[r->i];
		TRY(bytes_each(&raw, s->offset, s->size, bundle_reader_piece, r));
	}
	return NULL;
}

struct err *bundle_walk(
	const struct bytes *src, uint64_t *at, uint64_t end, bundle_walk_fn *fn, void *user)
{
	const uint64_t start = *at;
	char p[PAGE + BUNDLE_MAGIC];
	if (end > src->size)
		end = src->size;
	while (*at < end) {
		ARENA(tmp);
		struct bundle b;
		struct bundle_window w;
		/* the next bundle is almost always at the next page */
		uint64_t page = start + round_up(*at - start, PAGE);
		bool is = false;
		if (page < end && end - page >= BUNDLE_MAGIC) {
			TRY(look_at(src, page, end, &w));
			is = bundle_is((struct str){.p = w.p, .n = w.n});
			*at = is ? page : *at;
		}
		while (!is && *at < end) {
			size_t n = end - *at < sizeof(p) ? (size_t)(end - *at) : sizeof(p), i = 0;
			TRY(bytes_peek(src, p, n, *at, &n));
			while (i < n && i < PAGE && !p[i])
				i++;
			*at += i;
			if (i == n || i == PAGE)
				continue;
			is = bundle_is((struct str){.p = p + i, .n = n - i});
			if (!is)
				return NULL;
			TRY(look_at(src, *at, end, &w));
		}
		if (!is)
			break;
		TRY(open_any(&tmp, src, &w, end, &b));
		TRY(fn(user, &b));
		*at += b.stored ? b.stored : 1;
	}
	return NULL;
}

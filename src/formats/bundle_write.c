/* Writing raw offload bundles, byte by byte as clang-offload-bundler does, and compressed ones; see bundle.h.
 *
 * Layout measured with LLVM 22.1.8: table, then each object at the next multiple of 4096, zero
 * bytes between, nothing behind the last. The host entry is empty and stands first. */
#include "formats/bundle.h"

#include <zlib.h>
#include <zstd.h>

#include "base/fs.h"
#include "base/hash.h"
#include "formats/le.h"

enum { ALIGN = 4096 };

struct str bundle_table(struct arena *a, const struct bundle *b)
{
	BUF(table, a);
	buf_add(&table, S("__CLANG_OFFLOAD_BUNDLE__"));
	buf_le(&table, b->entries.n, 8);
	VEC_EACH (const struct bundle_entry, e, &b->entries) {
		buf_le(&table, e->offset, 8);
		buf_le(&table, e->size, 8);
		buf_le(&table, e->id.n, 8);
		buf_add(&table, e->id);
	}
	return buf_str(&table);
}

struct err *bundle_write(struct str path, const struct strs *targets, const struct strs *files)
{
	ARENA(a);
	struct bundle b = {0};
	struct strs seen = {0};
	uint64_t at = BUNDLE_TABLE;
	VEC_EACH (const struct str, target, targets)
		if (!strs_put(&a, &seen, *target))
			return err_wrap(
				err_new(E_BUNDLE, "target '%.*s' is named twice", STR(*target)),
				"cannot write the bundle '%.*s'", STR(path));
	for (size_t i = 0; i <= targets->n; i++) {
		struct bundle_entry *e = VEC_PUSH(&a, &b.entries);
		e->id = i ? str_fmt(&a, "hipv4-amdgcn-amd-amdhsa--%.*s", STR(targets->v[i - 1]))
			  : S("host-x86_64-unknown-linux-gnu-");
		at += BUNDLE_ENTRY + e->id.n;
	}
	for (size_t i = 0; i <= targets->n; i++) {
		struct bundle_entry *e = &b.entries.v[i];
		struct stat st = {0};
		if (i)
			TRY_CTX(fs_stat(files->v[i - 1], &st), "cannot write the bundle '%.*s'",
				STR(path));
		e->size = (uint64_t)st.st_size;
		e->offset = round_up(at, ALIGN);
		at = e->offset + e->size;
	}
	struct str table = bundle_table(&a, &b);
	CLEANUP(fs_out_abandon) struct fs_out o;
	TRY(fs_out_open(&o, path, 0644));
	fs_out_write(&o, table.p, table.n);
	for (size_t i = 0; i < targets->n; i++) {
		CLEANUP(fd_closep) int fd = -1;
		const struct bundle_entry *p = &b.entries.v[i + 1];
		if (!p->size)
			continue;
		fs_out_zeros(&o, p->offset);
		TRY_CTX(fs_open(files->v[i], &fd), "cannot write the bundle '%.*s'", STR(path));
		const struct bytes part = bytes_fd(fd, p->size);
		TRY_CTX(bytes_copy(&part, 0, p->size, &o),
			"cannot write the bundle '%.*s' with '%.*s'", STR(path), STR(files->v[i]));
	}
	return fs_out_commit(&o);
}

/* ---- compressed ---- */

/* Like clang (ClangOffloadBundler.cpp): zlib at its default level, zstd at level 3 with long-distance matching. */
struct err *bundle_out_open(struct bundle_out *o, struct fs_out *to, struct bundle *b)
{
	enum { LEVEL = 3, WINDOW_LOG = 25 };
	static const char zeros[32];
	static const unsigned header[] = {0, 20, 24, 32};
	bool good;
	*o = (struct bundle_out){.to = to, .b = b};
	if (b->zstd) {
		ZSTD_CCtx *z = o->zstd = ZSTD_createCCtx();
		good = z &&
		       !ZSTD_isError(ZSTD_CCtx_setParameter(z, ZSTD_c_compressionLevel, LEVEL)) &&
		       !ZSTD_isError(ZSTD_CCtx_setParameter(z, ZSTD_c_windowLog, WINDOW_LOG)) &&
		       !ZSTD_isError(
			       ZSTD_CCtx_setParameter(z, ZSTD_c_enableLongDistanceMatching, 1)) &&
		       !ZSTD_isError(ZSTD_CCtx_setPledgedSrcSize(z, b->size));
	} else {
		o->zlib = xmalloc(sizeof(*o->zlib));
		*o->zlib = (z_stream){0};
		good = deflateInit(o->zlib, Z_DEFAULT_COMPRESSION) == Z_OK;
	}
	if (!good)
		return err_new(E_NOMEMORY, "no memory for an encoder");
	b->offset = to->offset;
	b->header = header[b->encoding];
	o->md5 = hash_new(HASH_MD5);
	fs_out_write(to, zeros, b->header);
	return NULL;
}

struct err *bundle_compress(
	struct fs_out *to, struct ZSTD_CCtx_s *zstd, const void *p, size_t n, bool end)
{
	char piece[16 << 10];
	ZSTD_inBuffer in = {.src = p, .size = n};
	for (size_t left = 1; end ? left > 0 : in.pos < n;) {
		ZSTD_outBuffer out = {.dst = piece, .size = sizeof(piece)};
		left = ZSTD_compressStream2(zstd, &out, &in, end ? ZSTD_e_end : ZSTD_e_continue);
		if (ZSTD_isError(left))
			return err_new(E_INTERNAL, "zstd: %s", ZSTD_getErrorName(left));
		fs_out_write(to, piece, out.pos);
	}
	return NULL;
}

static struct err *compress_some(struct bundle_out *o, const void *p, size_t n, bool end)
{
	char piece[16 << 10];
	if (o->b->zstd)
		return bundle_compress(o->to, o->zstd, p, n, end);
	z_stream *z = o->zlib;
	z->next_in = (unsigned char *)(uintptr_t)p;
	z->avail_in = (unsigned)n;
	do {
		z->next_out = (unsigned char *)piece;
		z->avail_out = sizeof(piece);
		if (deflate(z, end ? Z_FINISH : Z_NO_FLUSH) == Z_STREAM_ERROR)
			return err_new(E_INTERNAL, "zlib: %s", z->msg ? z->msg : "an error");
		fs_out_write(o->to, piece, sizeof(piece) - z->avail_out);
	} while (!z->avail_out);
	return NULL;
}

/* At most 4 GiB at once. */
struct err *bundle_out_add(struct bundle_out *o, const void *p, size_t n)
{
	hash_add(o->md5, p, n);
	return compress_some(o, p, n, false);
}

struct err *bundle_out_end(struct bundle_out *o)
{
	ARENA(tmp);
	BUF(h, &tmp);
	struct bundle *b = o->b;
	unsigned width = b->encoding == BUNDLE_CCOB3 ? 8 : 4;
	TRY(compress_some(o, "", 0, true));
	struct digest md5 = hash_end(o->md5);
	o->md5 = NULL;
	b->hash = le64(md5.b);
	b->stored = o->to->offset - b->offset;
	buf_add(&h, S("CCOB"));
	buf_le(&h, b->encoding, 2);
	buf_le(&h, b->zstd, 2);
	if (b->encoding != BUNDLE_CCOB1)
		buf_le(&h, b->stored, width);
	buf_le(&h, b->size, width);
	buf_le(&h, b->hash, 8);
	return o->to->first ? NULL : fs_pwrite(o->to->fd, h.p, h.n, b->offset);
}

void bundle_out_close(struct bundle_out *o)
{
	ZSTD_freeCCtx(o->zstd);
	if (o->zlib)
		deflateEnd(o->zlib);
	free(o->zlib);
	hash_free(o->md5);
}

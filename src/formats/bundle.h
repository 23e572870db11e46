/* Offload bundles: raw (__CLANG_OFFLOAD_BUNDLE__) and compressed (CCOB v1, v2, v3; zlib or zstd).
 *
 * Reading asks for as little as possible: the table of a raw bundle is one small read, that of a
 * compressed one decodes the first block. Limits: 4,096 entries, ids <= 256 bytes, raw size <= 16
 * GiB, and what the source's budget allows; overlapping entries are refused. No memory is taken on the word of a header: buffers grow
 * with the bytes that really come out. Sources: clang ClangOffloadBundler docs; LLVM
 * OffloadBundle.cpp; RFC 8878 for zstd frames; layout tables in doc/formats.md.
 */
#pragma once

#include "base/vec.h"
#include "formats/elf.h"

struct fs_out;
struct hash;

enum bundle_encoding { BUNDLE_RAW, BUNDLE_CCOB1, BUNDLE_CCOB2, BUNDLE_CCOB3 };

struct bundle_entry {
	struct str id;         /* "hipv4-amdgcn-amd-amdhsa--gfx1100" */
	struct str target;     /* "gfx1100", "" for the host entry */
	uint64_t offset, size; /* inside the (decoded) bundle */
	uint64_t
		at; /* offset of the entry itself: 8 bytes each of offset, size, length of id; the id */
};

enum {
	BUNDLE_TABLE = 32,
	BUNDLE_ENTRY = 24
}; /* bytes in front of the entries; of an entry without its id */

struct bundle {
	enum bundle_encoding encoding;
	bool zstd;                        /* compressed with zstd, else zlib */
	uint64_t offset;                  /* offset of the bundle in its source */
	uint64_t stored;                  /* bytes it takes there, CCOB header included */
	uint64_t header;                  /* bytes of the CCOB header, 0 for raw */
	uint64_t size;                    /* decoded size */
	uint64_t hash;                    /* CCOB: low 64 bits of the MD5 of the decoded bytes */
	VEC(struct bundle_entry) entries; /* as in the table, host entry included */
};

enum { BUNDLE_MAGIC = 24 }; /* bytes that bundle_is() needs to see */

bool bundle_is(struct str head); /* first bytes: either magic? */
/* Reads the table of the bundle at offset; end limits what belongs to it. E_BUNDLE, E_LIMIT. The
 * header of CCOB v1 has no length: it is found by walking the zstd frame, or by decoding zlib.
 */
MUST_USE struct err *bundle_open(struct arena *a, const struct bytes *src, uint64_t offset,
	uint64_t end, struct bundle *ret);
/* Gives the decoded bytes in order, in pieces; stops early when fn sets *stop. Without a stop the
 * bytes are exactly b->size, or it is E_BUNDLE. zstd windows above 2 GiB are E_LIMIT. */
typedef struct err *bundle_fn(void *user, const void *p, size_t n, uint64_t at, bool *stop);
MUST_USE struct err *bundle_decode(
	const struct bytes *src, const struct bundle *b, bundle_fn *fn, void *user);

/* Objects of a bundle: ranges of its decoded bytes. */
struct bundle_span {
	uint64_t offset, size;
	size_t id; /* the caller's */
};

struct bundle_spans { /* by offset; none is empty or lies over another */
	struct bundle_span *v;
	size_t n;
};

/* The entries that have content; id: the entry's index. */
struct bundle_spans bundle_spans(struct arena *a, const struct bundle *b);
void bundle_spans_sort(struct bundle_spans *s);

/* Hands out spans while the bytes of their bundle go by: fn gets each in one or more parts; `at` is where a part
 * begins in its span. */
typedef struct err *bundle_part_fn(
	void *user, const struct bundle_span *s, struct str part, uint64_t at);
struct bundle_reader {
	struct bundle_spans spans;
	bundle_part_fn *fn;
	void *user;
	bool whole; /* go on behind the last span, so that the end of the bundle is checked, too */
	size_t i;   /* the span at hand; spans.n when all were handed out */
};
/* A bundle_fn, whose user is a struct bundle_reader. */
struct err *bundle_reader_piece(void *reader, const void *p, size_t n, uint64_t at, bool *stop);
/* Spans of bytes that are not compressed: nothing else is read. */
MUST_USE struct err *bundle_read_raw(const struct bytes *content, struct bundle_reader *r);
/* Spans of a bundle of any encoding. */
MUST_USE struct err *bundle_read(
	const struct bytes *src, const struct bundle *b, struct bundle_reader *r);

/* Calls fn for every bundle from *at to end, in file order. Only zero bytes may be between two of them; there are many
 * where objects were taken out in place. *at becomes the end of the walk: end, or the first byte that belongs to no
 * bundle, or the bundle that cannot be read. The bundle that fn gets lives for the call only. */
typedef struct err *bundle_walk_fn(void *user, const struct bundle *b);
MUST_USE struct err *bundle_walk(
	const struct bytes *src, uint64_t *at, uint64_t end, bundle_walk_fn *fn, void *user);

/* Writing: host entry first, then the objects in the given order, each at a multiple of align. */
struct bundle_object {
	struct str target; /* "gfx90a:xnack-" */
	struct str path;   /* file with the code object */
};

/* A raw bundle as clang-offload-bundler -type=o -bundle-align=4096 makes it, to `path`, atomically.
 * host_triple as clang has it: "x86_64-unknown-linux-gnu". A target named twice is E_BUNDLE. */
MUST_USE struct err *bundle_write(
	struct str path, struct str host_triple, const struct bundle_object *v, size_t n);

/* Compresses a bundle of known size, with a given version and method, to the end of a file that is being written.
 * Memory: some 100 MiB, whatever the size. */
struct bundle_out {
	struct fs_out *to;
	struct bundle *b; /* in: encoding, zstd, size; the other numbers are filled in */
	struct ZSTD_CCtx_s *zstd;
	struct z_stream_s *zlib;
	struct hash *md5;
};
MUST_USE struct err *bundle_out_open(struct bundle_out *o, struct fs_out *to, struct bundle *b);
MUST_USE struct err *bundle_out_add(struct bundle_out *o, const void *p, size_t n);
MUST_USE struct err *bundle_out_end(struct bundle_out *o);
void bundle_out_close(struct bundle_out *o);
/* Adds n bytes to a frame; end: they are its last ones. */
MUST_USE struct err *bundle_compress(
	struct fs_out *to, struct ZSTD_CCtx_s *zstd, const void *p, size_t n, bool end);
struct str bundle_table(
	struct arena *a, const struct bundle *b); /* the table of a raw bundle with its entries */

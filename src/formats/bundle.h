/* Offload bundles: raw (__CLANG_OFFLOAD_BUNDLE__) and compressed (CCOB v1, v2, v3; zlib or zstd).
 *
 * Readers fetch as little as possible: opening a raw bundle takes one small read, opening a compressed one decodes
 * its first block. Limits: 4,096 entries, ids of 256 bytes, a raw size of 16 GiB, and the source's budget;
 * overlapping entries are refused. No memory is allocated on the word of a header: buffers grow with the bytes that
 * really come out. Sources: clang ClangOffloadBundler docs; LLVM OffloadBundle.cpp; RFC 8878 for zstd frames; layout
 * tables in doc/formats.md. */
#pragma once

#include "formats/elf.h"

struct fs_out;
struct hash;

enum bundle_encoding { BUNDLE_RAW, BUNDLE_CCOB1, BUNDLE_CCOB2, BUNDLE_CCOB3 };

struct bundle_entry {
	struct str id;         /* "hipv4-amdgcn-amd-amdhsa--gfx1100" */
	struct str target;     /* "gfx1100", "" for the host entry */
	uint64_t offset, size; /* inside the (decoded) bundle */
	/* Offset of the table entry: 8 bytes each of offset, size and length of id, then the id. */
	uint64_t at;
};

/* Bytes of the table before its entries; bytes of an entry without its id. */
enum { BUNDLE_TABLE = 32, BUNDLE_ENTRY = 24 };

struct bundle {
	uint64_t offset; /* its place in the source; first, for offset_order() */
	enum bundle_encoding encoding;
	bool zstd;                        /* compressed with zstd, else zlib */
	uint64_t stored;                  /* bytes that it takes there, CCOB header included */
	uint64_t header;                  /* bytes of the CCOB header, 0 for raw */
	uint64_t size;                    /* decoded size */
	uint64_t hash;                    /* CCOB: low 64 bits of the MD5 of the decoded bytes */
	VEC(struct bundle_entry) entries; /* in the table's order, host entry included */
};

enum { BUNDLE_MAGIC = 24 }; /* bytes that bundle_is() needs to see */

/* The target of an entry's id ("hip-amdgcn-amd-amdhsa--gfx90a"); "" for the host's. */
struct str bundle_target(struct str id);
bool bundle_is(struct str head); /* do these bytes begin with either magic? */
/* Reads the table of the bundle at offset; the bundle must not reach beyond `end`. E_BUNDLE, E_LIMIT. The header of
 * CCOB v1 does not give the bundle's length: it is found by walking the zstd frame, or by decoding the zlib stream. */
MUST_USE struct err *bundle_open(struct arena *a, const struct bytes *src, uint64_t offset,
	uint64_t end, struct bundle *ret);
/* A copy whose entries are in the arena too, for a bundle that lives for a call only. Paid from the source's budget. */
MUST_USE struct err *bundle_copy(
	struct arena *a, const struct bytes *src, const struct bundle *b, struct bundle *ret);
/* Passes the decoded bytes to fn, like bytes_each(). If fn never sets *stop, they are exactly b->size bytes, else it is
 * E_BUNDLE, as is a zstd window above 2 GiB. */
MUST_USE struct err *bundle_decode(
	const struct bytes *src, const struct bundle *b, bytes_fn *fn, void *user);

/* An object in a bundle: a range of the decoded bytes. */
struct bundle_span { /* offset first, for offset_order() */
	uint64_t offset, size;
	size_t id; /* chosen by the caller */
};

struct bundle_spans { /* sorted by offset; none is empty, none overlaps another */
	struct bundle_span *v;
	size_t n;
};

/* The entries that have content, as spans; `id` is the index of the entry. */
struct bundle_spans bundle_spans(struct arena *a, const struct bundle *b);

/* Cuts the spans out of a bundle's bytes as these pass by: fn gets each span in one or more parts; `at` is the offset
 * of the part in its span. */
typedef struct err *bundle_part_fn(
	void *user, const struct bundle_span *s, struct str part, uint64_t at);
struct bundle_reader {
	struct bundle_spans spans;
	bundle_part_fn *fn;
	void *user;
	bool whole; /* continue behind the last span, so that the end of the bundle is checked, too */
	size_t i;   /* index of the current span; spans.n once all were passed to fn */
};
/* A bytes_fn, whose user is a struct bundle_reader. */
struct err *bundle_reader_piece(void *reader, const void *p, size_t n, uint64_t at, bool *stop);
/* Reads the spans of a bundle of any encoding; of uncompressed bytes (BUNDLE_RAW), nothing else is read. */
MUST_USE struct err *bundle_read(
	const struct bytes *src, const struct bundle *b, struct bundle_reader *r);

/* Calls fn for every bundle from *at to end, in file order. Only zero bytes may lie between two of them; there are
 * many after objects were removed in place. *at becomes the end of the walk: `end`, or the first byte that belongs to
 * no bundle, or the bundle that cannot be read. The bundle that is passed to fn lives for that call only. */
typedef struct err *bundle_walk_fn(void *user, const struct bundle *b);
MUST_USE struct err *bundle_walk(
	const struct bytes *src, uint64_t *at, uint64_t end, bundle_walk_fn *fn, void *user);

/* Writes a raw bundle to `path`, atomically, byte by byte as clang-offload-bundler -type=o -bundle-align=4096 does: the
 * host entry comes first, then an entry for each target ("gfx90a:xnack-") with the object in the file of the same index,
 * at a multiple of 4096. A target named twice is E_BUNDLE. */
MUST_USE struct err *bundle_write(
	struct str path, const struct strs *targets, const struct strs *files);

/* Compresses a bundle of known size, with a given version and method, to the end of a file that is being written.
 * Memory: about 100 MiB, whatever the size. */
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
/* Compresses n bytes into a zstd frame; `end` closes the frame behind them. */
MUST_USE struct err *bundle_compress(
	struct fs_out *to, struct ZSTD_CCtx_s *zstd, const void *p, size_t n, bool end);
/* The table of a raw bundle, entries included. */
struct str bundle_table(struct arena *a, const struct bundle *b);

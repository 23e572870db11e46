/* Offload bundles: raw (__CLANG_OFFLOAD_BUNDLE__) and compressed (CCOB v1, v2, v3; zlib or zstd).
 *
 * Reading asks for as little as possible: the table of a raw bundle is one small read, that of a
 * compressed one decodes the first few KiB. Limits: 4,096 entries, ids <= 256 bytes, raw size <= 16
 * GiB; overlapping entries are refused. Sources: clang ClangOffloadBundler docs; LLVM
 * OffloadBundle.cpp; layout tables in doc/formats.md.
 */
#pragma once

#include "base/vec.h"
#include "formats/elf.h"

enum bundle_encoding { BUNDLE_RAW, BUNDLE_CCOB1, BUNDLE_CCOB2, BUNDLE_CCOB3 };

struct bundle_entry {
	struct str id;         /* "hipv4-amdgcn-amd-amdhsa--gfx1100" */
	struct str target;     /* "gfx1100", "" for the host entry */
	uint64_t offset, size; /* inside the (decoded) bundle */
};

struct bundle {
	enum bundle_encoding encoding;
	bool zstd;       /* compressed with zstd, else zlib */
	uint64_t offset; /* of the bundle in its source */
	uint64_t stored; /* bytes that it takes there */
	uint64_t size;   /* decoded size */
	uint64_t hash;   /* CCOB: low 64 bits of the MD5 of the decoded bytes */
	VEC(struct bundle_entry) entries;
};

bool bundle_is(struct str head); /* first bytes: either magic? */
/* Reads the table of the bundle at offset; end limits what belongs to it. */
MUST_USE struct err *bundle_open(struct arena *a, const struct elf_src *src, uint64_t offset,
	uint64_t end, struct bundle *ret);
/* Gives the decoded bytes in order, in pieces; stops early when fn sets *stop. */
typedef struct err *bundle_fn(void *user, const void *p, size_t n, uint64_t at, bool *stop);
MUST_USE struct err *bundle_decode(
	const struct elf_src *src, const struct bundle *b, bundle_fn *fn, void *user);

/* Writing: host entry first, then the objects in the given order, each at a multiple of align. */
struct bundle_object {
	struct str target; /* "gfx90a:xnack-" */
	struct str path;   /* file with the code object */
};

/* A raw bundle as clang-offload-bundler -type=o -bundle-align=4096 makes it, to `path`. */
MUST_USE struct err *bundle_write(
	struct str path, struct str host_triple, const struct bundle_object *v, size_t n);

/* kpack archives, version 1: the device code of a project's libraries, for one GPU or several; and the mark, a
 * section in which a library names its archives.
 *
 * Layout: "KPAK", version, offset of the table, zeros up to 64; objects; the table (MessagePack) up to the end of the
 * file. An object is identified by PATH#NUMBER (a library, and a bundle in it) and a target; it is stored as a zstd
 * frame ("zstd-per-kernel": a count, then each frame behind its size) or as it is ("none"). A library's wrappers
 * (magic "HIPK") hold the numbers: each is that of the bundle which the wrapper pointed at, so several wrappers of a
 * library that was linked with -fgpu-rdc share one number.
 *
 * Limits: a table of 64 MiB, 1,000,000 objects, and the source's budget.
 *
 * Sources: rocm-systems shared/kpack (archive format, wheel_splitter); the table in doc/formats.md. */
#pragma once

#include "base/fs.h"
#include "formats/bundle.h"
#include "formats/pe.h"

struct kpack_object {
	struct str path; /* the library's path, as its mark spells it */
	uint32_t index;
	struct str target;
	uint64_t offset, stored, size; /* place and size in the archive; decoded size */
};

struct kpack {
	struct str group;
	struct strs
		archs; /* the targets that it says to be for: the runtime chooses archives by them */
	bool zstd;
	VEC(struct kpack_object) objects; /* in the table's order */
};

bool kpack_is(struct str head);
/* E_BUNDLE, E_LIMIT. */
MUST_USE struct err *kpack_open(struct arena *a, const struct bytes *src, struct kpack *ret);
/* Decodes an object, like bundle_decode(). */
MUST_USE struct err *kpack_read(const struct bytes *src, const struct kpack *k,
	const struct kpack_object *o, bytes_fn *fn, void *user);

/* The content of a mark. `pattern` names archives, relative to the library; "@GFXARCH@" stands for the target. */
struct str kpack_mark(struct arena *a, struct str name, struct str pattern);

/* A library whose device code is in archives: its mark and its wrappers. */
struct kpack_host {
	struct str name;       /* "": it has no mark, or one that cannot be read */
	struct strs patterns;  /* see kpack_mark() */
	VEC(uint32_t) indexes; /* the numbers in its wrappers: sorted, each once */
};
/* Reads an ELF file or PE image that has section headers: .rocm_kpack_ref and .hipFatBinSegment, or .kpackrf and
 * .hipFatB. Limits: a mark of 64 KiB, which is also the runtime's limit, and 100 patterns. */
MUST_USE struct err *kpack_host_read(
	struct arena *a, const struct bytes *src, struct kpack_host *ret);

/* A Windows program or DLL with bundles in .hip_fat, to which the wrappers in .hipFatB lead. */
struct kpack_dll {
	struct arena *a;
	const struct bytes *src;
	struct pe pe;
	struct pe_section fat, wrappers;
	size_t index;               /* index of .hip_fat */
	VEC(struct bundle) bundles; /* none: it has no such section */
	VEC(uint32_t) numbers;      /* the bundle of each wrapper */
	/* its headers; offsets of the section table, and of the place for one more section; the preferred address */
	struct str head;
	uint64_t table, after, base;
	uint64_t cut, cut_size; /* the range of the bundles in the file */
};
/* E_FORMAT when a host part cannot be made: a pointer at device code is in no wrapper, there is no room for a section, it is
 * no 64-bit image; E_BUNDLE. src must outlive ret. */
MUST_USE struct err *kpack_dll_open(
	struct arena *a, const struct bytes *src, struct kpack_dll *ret);
/* Writes the host part, with the mark in .kpackrf and without a signature, and reads it back. */
MUST_USE struct err *kpack_dll_save(const struct kpack_dll *d, struct str mark, struct str path);
/* Writes a host part's image, ours or AMD's, with the bundles of `code`, which lie back to back, in place of the mark; reads it
 * back. E_FORMAT for a host part that has something behind its mark, E_LIMIT above 2 GiB. */
MUST_USE struct err *kpack_dll_fill(
	struct arena *a, const struct bytes *host, const struct bytes *code, struct str path);

/* ---- writing: an archive for one target ---- */
struct kpack_out {
	struct fs_out out;
	struct arena *a;
	struct str group, target;
	struct ZSTD_CCtx_s *zstd;
	uint64_t frame; /* offset of the current object */
	VEC(struct kpack_object) objects;
};

MUST_USE struct err *kpack_out_open(struct arena *a, struct str path, struct str group,
	struct str target, struct kpack_out *ret);
/* Begins an object; kpack_out_add() supplies its `size` bytes. */
MUST_USE struct err *kpack_out_begin(
	struct kpack_out *o, struct str path, uint32_t index, uint64_t size);
MUST_USE struct err *kpack_out_add(struct kpack_out *o, const void *p, size_t n);
MUST_USE struct err *kpack_out_end(struct kpack_out *o);
MUST_USE struct err *kpack_out_commit(struct kpack_out *o);
void kpack_out_close(struct kpack_out *o);

/* Taking the device code of unwanted GPUs out of libraries, folders and (wheel/wheel.h) wheels.
 *
 * A bundle keeps the entries of the wanted GPUs, of their feature variants, of generic targets that cover them, of
 * processors that we do not know, and the host's: keep.c decides. Objects that stay keep their bytes; a compressed bundle
 * keeps its version and method.
 *
 * slim_write() makes a smaller file in which every address stays where it was. Bundles move together, whole pages that
 * become free leave the file, and the segment around them becomes two, with the program headers in the freed space
 * (elf_image_cut()). Everything that points at a bundle follows: relocations (RELATIVE, ABS64, GLOB_DAT, RELR),
 * symbols, and the wrappers' pointers in programs at fixed addresses. E_SLIM means that the result could not be proved
 * right: a pointer into the middle of a bundle, a bundle that nothing points at, a word outside of wrappers that looks
 * like a bundle's address in such a program, overlapping segments. Code that computes a bundle's address from its own
 * would go unnoticed; no compiler makes it. slim_punch() makes holes instead, and moves nothing. Bundles outside of
 * .hip_fatbin stay, because nothing tells who uses them.
 *
 * Memory: the window of a compressed bundle (the size of its content, as clang writes them), and 100 MiB for
 * compressing it; everything else is read and written in pieces.
 */
#pragma once

#include "formats/bundle.h"
#include "target/cut_list.h"

struct fs_out;

/* ---- what stays ---- */
struct slim_keep {
	const struct target *v; /* n = 0: keep everything */
	size_t n;
	bool exact; /* keep the named targets only: no variants, no generic targets */
	bool none;  /* with n = 0: keep no device code at all */
	enum bundle_encoding
		compress; /* encoding for bundles that are not compressed yet; RAW: none */
	const struct strs *without; /* globs of files that are left out; NULL: none */
	bool strip;  /* objects that stay lose the parts that no runtime reads: see slim_strip */
	int scratch; /* with strip: a private temporary file, for one plan at a time */
};

bool slim_keeps(const struct slim_keep *k, struct str target);
/* A side file of a library (Tensile, MIOpen, AOTriton, a static library) is for the GPUs that its path
 * names: "gfx90a68.kdb", "amd-gfx11xx/". True for all other files. */
bool slim_keeps_file(const struct slim_keep *k, struct str path);
/* Does a glob of k->without match? One without a slash is for any part of the path: "nvidia" is for everything below such
 * a folder. */
bool slim_leaves_out(const struct slim_keep *k, struct str path);
/* The GPU ("gfx90a") or family ("gfx11", "gfx110x", "gfx12_0") that a side file is for; "" for a file for all GPUs, or
 * for several. */
struct str slim_file_owner(struct arena *a, struct str path);
bool slim_owner_covers(struct str owner, struct str gpu); /* both as slim_file_owner() names them */

/* ---- which compressed bundles a HIP runtime reads ---- */
struct slim_runtime {
	struct str path;           /* "": none is found */
	unsigned major, minor;     /* its version of HIP, at least */
	enum bundle_encoding most; /* the newest compressed bundles that it reads */
};
/* Is this file name libamdhip64's? */
bool slim_is_runtime(struct str name);
/* Look at one runtime, which messages call `path`; at each in a folder; (deep) at each below it. The oldest one stays in
 * io. */
MUST_USE struct err *slim_runtime(
	struct arena *a, const struct bytes *src, struct str path, struct slim_runtime *io);
MUST_USE struct err *slim_runtime_in(
	struct arena *a, struct str dir, bool deep, struct slim_runtime *io);

/* ---- one file ---- */
/* A stripped object: a new header, then its own bytes up to `cut`, then a tail. Debug information, comments and
 * .symtab are gone; everything in segments (code, descriptors, notes, .dynsym) stays where it is, and a section header
 * .symtab points at .dynsym, because ROCr finds no kernel without it. cut 0: the object stays as it is. */
struct slim_strip {
	uint64_t cut;
	const char *head; /* SLIM_HEAD bytes */
	struct str tail;
};
enum { SLIM_HEAD = 64 };

struct slim_move {               /* an object moves inside its decoded bundle */
	uint64_t old, now, size; /* offsets; the new size */
	struct slim_strip strip;
	uint32_t crc; /* checksum of the bytes written */
};

struct slim_bundle {
	struct bundle old, now; /* now: offset, stored and hash are known when it is written */
	bool changed;
	struct slim_move *moves; /* objects with content, by offset */
	size_t n;
	struct bytes
		content; /* the source of the moves; a compressed bundle has it with strip only */
};

struct slim_plan {
	struct arena *a;
	const struct bytes *src;
	const struct slim_keep *keep;
	struct elf elf;          /* .src = NULL: a bare bundle */
	size_t section, segment; /* indexes of those that have the bundles; section 0: none */
	uint64_t from, size;     /* range of the bundles in the file */
	VEC(struct slim_bundle) bundles;
	struct slim_sums targets;
	bool changed;
	struct slim_strip object; /* when the file is a code object */
	uint64_t after;           /* new size of the file; before slim_write() a guess */
	uint64_t stripped;        /* bytes that the objects that stay lose */
	uint64_t scratch;         /* bytes used of keep->scratch */
	struct str mark;          /* see slim_mark() */
};

/* src must outlive ret. A file of another kind has no bundles; a damaged one is E_ELF or E_BUNDLE. */
MUST_USE struct err *slim_read(struct arena *a, const struct bytes *src,
	const struct slim_keep *keep, struct slim_plan *ret);
/* Writes the plan's result to an empty file, reads it back and compares it; the caller commits. Without changes the
 * result is a copy. */
MUST_USE struct err *slim_write(struct slim_plan *p, struct fs_out *out);
/* The same, and commits. */
MUST_USE struct err *slim_save(struct slim_plan *p, struct str path, unsigned mode);
/* Makes holes in the file that p was read from, whose entries get size 0 in the tables; E_SLIM for compressed bundles.
 * fd -1: only counts. */
MUST_USE struct err *slim_punch(const struct slim_plan *p, int fd, uint64_t *ret_freed);

/* ---- device code apart from its file ---- */
/* Gives the bytes of all objects with content, in order and in pieces; at: offset of the piece in its object. */
typedef struct err *slim_object_fn(void *user, size_t bundle, const struct bundle_entry *e,
	const struct str *piece, uint64_t at);
MUST_USE struct err *slim_objects(const struct slim_plan *p, slim_object_fn *fn, void *user);
/* Makes slim_write() write a host part: these bytes stand for all bundles, in a section .rocm_kpack_ref. Everything
 * that pointed at a bundle points at them; each wrapper ("HIPF") becomes one of kpack ("HIPK") with the number of its
 * bundle. p was read with keep->none. */
void slim_mark(struct slim_plan *p, struct str mark);
/* E_SLIM unless both files are the same but for device code. Loaded sections have to be equal byte for byte, except for
 * addresses and distances that differ by just as much as their sections have moved, because .hip_fatbin has another
 * size. Pointers have to point at the same bundles. */
MUST_USE struct err *slim_same_host(const struct slim_plan *x, const struct slim_plan *y);

struct slim_object { /* for slim_fill(): an object's bytes in the content */
	size_t bundle;
	struct str id; /* the entry's; the host's entry has no bytes */
	uint64_t at, size;
};

struct slim_fill {
	const struct bytes *host;    /* a host part, ours or AMD's; NULL: bundles only */
	const struct bytes *content; /* has the objects' bytes */
	struct slim_object *v;       /* by bundle, in the order of the tables */
	size_t n, bundles;           /* the host may name more bundles */
	struct str first;            /* id of each bundle's host entry, when v does not have it */
	enum bundle_encoding encoding;
};
/* The inverse of slim_mark(): puts bundles into a segment of their own at the end of the file, reads the result back,
 * compares it, and commits. */
MUST_USE struct err *slim_fill(struct arena *a, const struct slim_fill *f, struct str path);

/* ---- the report: see target/cut_list.h ---- */
/* Adds a file, of `before` bytes; p = NULL: it is left out. */
void slim_note(struct arena *a, struct slim_report *r, struct str path, uint64_t before,
	const struct slim_plan *p);
/* E_GFX when there is code, but none for any of the GPUs. */
MUST_USE struct err *slim_check_served(
	struct arena *a, const struct slim_report *r, const struct slim_keep *k);
/* E_USAGE when no file was left out by one of r->without. */
MUST_USE struct err *slim_check_without(const struct slim_report *r);
/* E_USAGE when the output exists: with force, only when it is a folder that we did not make. */
MUST_USE struct err *slim_may_make(
	struct arena *a, const struct slim_report *r, bool folder, bool force);

/* The caller sets report.path, output and gpus. A dry run reads everything. An output is there whole or not at all.
 * in_place: changes a file of this user's (force: even if it has other names). */
MUST_USE struct err *slim_file(struct arena *a, const struct slim_keep *k, bool in_place,
	bool force, struct slim_report *r);
/* Takes every file below a folder; unchanged ones are linked or copied. Links stay links. */
MUST_USE struct err *slim_folder(
	struct arena *a, const struct slim_keep *k, bool force, struct slim_report *r);
/* Changes the folder itself, which is this user's: files are replaced whole (a process that has one open, and its other
 * names, keep the old one) or removed. A killed run is completed by asking for the same again; asking for something
 * else is E_USAGE then. then() gets the changes of all runs so far, before the cut list says that they are done. */
typedef struct err *slim_then_fn(const struct slim_report *all);
MUST_USE struct err *slim_tree(
	struct arena *a, const struct slim_keep *k, slim_then_fn *then, struct slim_report *r);

/* Takes the device code of unwanted GPUs out of libraries, folders and (wheel/wheel.h) wheels.
 *
 * A bundle keeps the entries of the wanted GPUs, of their feature variants, of generic targets that cover them, of
 * unknown processors, and the host's: keep.c decides. Objects that stay keep their bytes; a compressed bundle keeps its
 * version and method.
 *
 * slim_write() makes a smaller file in which every address stays where it was. Bundles move together, whole pages that
 * become free leave the file, and the segment around them becomes two, with the program headers in the freed space
 * (elf_image_cut()). Everything that points at a bundle is updated: relocations (RELATIVE, ABS64, GLOB_DAT, RELR),
 * symbols, and the wrappers' pointers in programs at fixed addresses. E_SLIM means that the result could not be proved
 * right: a pointer into the middle of a bundle, a bundle that nothing points at, a word outside of wrappers that looks
 * like a bundle's address in such a program, overlapping segments. Code that computes a bundle's address from its own
 * would go unnoticed; no compiler emits it. An object that is not linked yet loses images of its section
 * .llvm.offloading: it has no addresses. slim_punch() punches holes instead, and moves nothing. Bundles outside of
 * .hip_fatbin stay, because nothing tells who uses them.
 *
 * Memory: the window of a compressed bundle (the size of its content, as clang writes them), and 100 MiB for
 * compressing it; everything else is read and written in pieces.
 */
#pragma once

#include "formats/bundle.h"
#include "target/cut_list.h"

struct fs_out;

/* ---- the device code that stays ---- */
struct slim_keep {
	const struct target *v; /* n = 0: keep everything */
	size_t n;
	bool exact; /* keep the named targets only: no variants, no generic targets */
	bool none;  /* with n = 0: keep no device code at all */
	enum bundle_encoding
		compress; /* encoding for bundles that are not compressed yet; RAW: they stay so */
	const struct strs *without; /* globs of files that are left out; NULL: none */
	/* removes from the objects that stay the parts that no runtime reads: see slim_strip */
	bool strip;
	int scratch; /* with strip: a private temporary file, for one plan at a time */
};

bool slim_keeps(const struct slim_keep *k, struct str target);
/* Does a file stay? A side file (of Tensile, MIOpen, AOTriton, or a static library) is for the GPUs that its path
 * names: "gfx90a68.kdb", "amd-gfx11xx/". All other files stay, unless slim_leaves_out() matches. */
bool slim_keeps_file(const struct slim_keep *k, struct str path);
/* Does a glob of k->without match? One without a slash matches any component of the path: "nvidia" takes everything
 * below such a folder. */
bool slim_leaves_out(const struct slim_keep *k, struct str path);
/* The GPU ("gfx90a") or family ("gfx11", "gfx110x", "gfx12_0") that a side file is for; "" if it is for all GPUs, or
 * for several. */
struct str slim_file_owner(struct arena *a, struct str path);
bool slim_owner_covers(struct str owner, struct str gpu); /* both as slim_file_owner() names them */

/* ---- the newest compressed bundles that a HIP runtime reads ---- */
struct slim_runtime {
	struct str path;           /* "": none was found */
	unsigned major, minor;     /* its HIP version, a lower bound */
	enum bundle_encoding most; /* the newest encoding of bundles that it reads */
};
/* Is this a file name of libamdhip64? */
bool slim_is_runtime(struct str name);
/* Examines one runtime (`path` is its name in messages); each one in a folder; (deep) each one in the tree below it.
 * *io keeps the oldest. */
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

struct slim_move { /* the move of an object inside its decoded bundle; first: `old`, for offset_order() */
	uint64_t old, now, size; /* the old and the new offset; the new size */
	struct slim_strip strip;
	uint32_t crc; /* checksum of the bytes written */
};

struct slim_bundle {
	struct bundle old, now; /* now: offset, stored and hash are set when it is written */
	bool changed;
	struct slim_move *moves; /* objects with content, by offset */
	size_t n;
	/* the bytes that the moves read; in a compressed bundle, with strip only */
	struct bytes content;
};

/* Bytes of a section that stay, the next ones at a multiple of 8: an offload binary, or the parts of one of which some images go. */
struct slim_part {
	uint64_t offset, size; /* in the section */
	struct str head;       /* the new bytes of a header with its tables; else .p is NULL */
};

struct slim_plan {
	struct arena *a;
	const struct bytes *src;
	const struct slim_keep *keep;
	struct elf elf;          /* .src = NULL: the file is a bare bundle */
	size_t section, segment; /* indexes of the ones that hold the bundles; section 0: none */
	uint64_t from, size;     /* range of the bundles in the file */
	VEC(struct slim_bundle) bundles;
	/* an object that is not linked yet, whose section is .llvm.offloading: the parts that stay */
	bool unlinked;
	VEC(struct slim_part) parts;
	struct slim_sums targets;
	bool changed;
	struct slim_strip object; /* set if the file is a code object */
	uint64_t after;           /* new size of the file; an estimate until slim_write() */
	uint64_t stripped;        /* bytes stripped from the objects that stay */
	uint64_t scratch;         /* bytes used of keep->scratch */
	struct str mark;          /* see slim_mark() */
};

/* Plans a smaller file. src must outlive ret. A file of another kind has no bundles; a damaged one is E_ELF or
 * E_BUNDLE. */
MUST_USE struct err *slim_read(struct arena *a, const struct bytes *src,
	const struct slim_keep *keep, struct slim_plan *ret);
/* Writes the plan's result to an empty file, reads it back and compares it; the caller commits. Without changes the
 * result is a copy. */
MUST_USE struct err *slim_write(struct slim_plan *p, struct fs_out *out);
/* The same to a path, and commits. */
MUST_USE struct err *slim_save(struct slim_plan *p, struct str path);
/* Punches holes for the removed code into the file that p was read from, and sets the size of its table entries to 0;
 * E_SLIM for compressed bundles. fd -1: only counts the bytes. */
MUST_USE struct err *slim_punch(const struct slim_plan *p, int fd, uint64_t *ret_freed);

/* ---- device code apart from its file ---- */
/* Passes the bytes of all nonempty objects to fn, in order and in pieces; at: offset of the piece in its object. */
typedef struct err *slim_object_fn(void *user, size_t bundle, const struct bundle_entry *e,
	const struct str *piece, uint64_t at);
MUST_USE struct err *slim_objects(const struct slim_plan *p, slim_object_fn *fn, void *user);
/* Makes slim_write() write a host part: `mark` replaces all bundles, in a section .rocm_kpack_ref. Everything that
 * pointed at a bundle points at the mark; each wrapper ("HIPF") becomes one of kpack ("HIPK") with the number of its
 * bundle. p was read with keep->none. */
void slim_mark(struct slim_plan *p, struct str mark);
/* E_SLIM unless both files are the same but for device code. Loaded sections have to be equal byte for byte, except for
 * addresses and distances that differ by exactly as much as their sections have moved, because .hip_fatbin differs in
 * size. Pointers have to point at the same bundles. */
MUST_USE struct err *slim_same_host(const struct slim_plan *x, const struct slim_plan *y);

struct slim_object { /* an object to be put back, and its bytes in the content */
	size_t bundle;
	struct str id; /* ID of the entry; a host entry has no bytes */
	uint64_t at, size;
};

struct slim_fill {
	const struct bytes *host;    /* a host part, ours or AMD's; NULL: bundles only */
	const struct bytes *content; /* the bytes of all objects */
	struct slim_object *v;       /* by bundle, in the order of the tables */
	size_t n, bundles;           /* the host may name more bundles */
	struct str first;            /* ID of a host entry for each bundle, if v has none */
	enum bundle_encoding encoding;
};
/* The inverse of slim_mark(): puts bundles into a segment of their own at the end of the file, reads the result back,
 * compares it, and commits it to `path`. */
MUST_USE struct err *slim_fill(struct arena *a, const struct slim_fill *f, struct str path);

/* ---- the report: see target/cut_list.h ---- */
/* Adds a file of `before` bytes; p = NULL: the file is left out. */
void slim_note(struct arena *a, struct slim_report *r, struct str path, uint64_t before,
	const struct slim_plan *p);
/* Notes a file that names a GPU, and whether it stays. Each file of a folder or wheel is passed here. */
void slim_note_side(
	struct arena *a, const struct slim_keep *k, struct slim_report *r, struct str path);
/* E_NOTHING when there is device code, but none for any of the wanted GPUs. */
MUST_USE struct err *slim_check_served(
	struct arena *a, const struct slim_report *r, const struct slim_keep *k);
/* The same, and E_NOTHING when nothing changes; not if slim made this (`again`), so that a command may be repeated. Fills
 * in what the report says of code that is gone or absent. Called when all files are noted. */
MUST_USE struct err *slim_judge(
	struct arena *a, const struct slim_keep *k, bool again, struct slim_report *r);
/* E_USAGE when one of the globs r->without left out no file. */
MUST_USE struct err *slim_check_without(const struct slim_report *r);
/* E_USAGE when the output exists (with force: when a file would replace a folder, or a folder something that slim did
 * not make), or when the input and output folders contain each other. */
MUST_USE struct err *slim_may_make(
	struct arena *a, const struct slim_report *r, bool folder, bool force);

/* The caller sets report.path, output and gpus. A dry run reads everything, too. The output appears whole or not at
 * all. in_place: changes the file itself, which this user must own (force: even if it has other hard links). Runs in
 * place that meet fail with E_LOCKED; E_IO if somebody else changes a file while it is read. */
MUST_USE struct err *slim_file(struct arena *a, const struct slim_keep *k, bool in_place,
	bool force, struct slim_report *r);
/* Slims every file below a folder into a new folder; unchanged files are copied, and symbolic links stay links. */
MUST_USE struct err *slim_folder(
	struct arena *a, const struct slim_keep *k, bool force, struct slim_report *r);
/* Changes the folder itself, which this user must own: files are replaced whole (a process that has one open, and its
 * other hard links, keep the old one) or removed. Repeating a killed run with the same options completes it; other
 * options are E_USAGE then. then() gets the changes of all runs so far, before the cut list declares them done, and may set what they take to be undone. */
typedef struct err *slim_then_fn(struct arena *a, struct slim_report *all);
MUST_USE struct err *slim_tree(
	struct arena *a, const struct slim_keep *k, slim_then_fn *then, struct slim_report *r);

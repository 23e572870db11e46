/* Taking the device code of GPUs that nobody asked for out of libraries, folders and (wheel/wheel.h) wheels.
 *
 * A bundle keeps the entries of the GPUs asked for, of feature variants and of generic targets that cover them, of
 * processors that we do not know, and the host's. What stays keeps its bytes, a compressed bundle its version and method.
 *
 * slim_write() makes a smaller file in which every address stays where it was: bundles move together, what becomes
 * free leaves the file, and the segment around it becomes two, whose headers lie in the freed space. All that
 * points at a bundle follows: relocations (RELATIVE, ABS64, GLOB_DAT, RELR), symbols, and in programs at fixed
 * addresses the pointers of wrappers. What cannot be proved is E_SLIM: a pointer into the middle of a bundle, a bundle
 * that nothing points at, a word outside of wrappers that has a bundle's address there, overlapping segments. Code that computes a bundle's address from its own cannot be seen; no
 * compiler makes it. slim_punch() makes holes instead: nothing moves. Bundles elsewhere than in .hip_fatbin
 * stay: nothing tells who uses them.
 *
 * Memory: the window of a compressed bundle (the size of its content, as clang writes them), and 100 MiB to
 * compress it anew; all else is read and written in pieces.
 */
#pragma once

#include "formats/bundle.h"
#include "target/cut_list.h"

struct fs_out;

/* ---- what stays ---- */
struct slim_keep {
	const struct target *v; /* none: everything */
	size_t n;
	bool exact; /* only what is named to the letter: no variants, no generic targets */
	bool none;  /* v is empty and means it: no device code at all */
	enum bundle_encoding compress; /* of bundles that are not compressed yet; RAW: no */
	const struct strs *without;    /* globs of files that are left out; NULL: none */
	bool strip;                    /* what stays loses what no runtime reads: see slim_strip */
	int scratch; /* with strip: a file of this run that nobody else sees; of one plan at a time */
};

bool slim_keeps(const struct slim_keep *k, struct str target);
/* A side file of a library (Tensile, MIOpen, AOTriton, a static library) is for the GPUs that its path
 * names: "gfx90a68.kdb", "amd-gfx11xx/". True for all other files. */
bool slim_keeps_file(const struct slim_keep *k, struct str path);
/* By a glob of k->without: one without a slash is for any part of the path, "nvidia" for all below such a folder. */
bool slim_leaves_out(const struct slim_keep *k, struct str path);
/* That GPU ("gfx90a") or family ("gfx11", "gfx110x", "gfx12_0"); "" of a file for all, or for several. */
struct str slim_file_owner(struct arena *a, struct str path);
bool slim_owner_covers(struct str owner, struct str gpu); /* both as slim_file_owner() names them */

/* ---- which compressed bundles a HIP runtime reads ---- */
struct slim_runtime {
	struct str path;       /* "": none is found */
	unsigned major, minor; /* of HIP, at least */
	enum bundle_encoding most;
};
/* By its name: libamdhip64. */
bool slim_is_runtime(struct str name);
/* Looks at one, for its name `path`; in a folder, or (deep) all below it, at each: the oldest stays in io. */
MUST_USE struct err *slim_runtime(
	struct arena *a, const struct bytes *src, struct str path, struct slim_runtime *io);
MUST_USE struct err *slim_runtime_in(
	struct arena *a, struct str dir, bool deep, struct slim_runtime *io);

/* ---- one file ---- */
/* What an object is then: its first bytes anew, then its own up to `cut`, then a tail. Debug information, comments
 * and .symtab are gone; all that segments have (code, descriptors, notes, .dynsym) stays where it is, and a
 * header .symtab leads to .dynsym, without which ROCr finds no kernel. cut 0: it stays as it is. */
struct slim_strip {
	uint64_t cut;
	const char *head; /* SLIM_HEAD bytes */
	struct str tail;
};
enum { SLIM_HEAD = 64 };

struct slim_move {               /* of an object, inside its bundle as it is decoded */
	uint64_t old, now, size; /* size: then */
	struct slim_strip strip;
	uint32_t crc; /* of what is written */
};

struct slim_bundle {
	struct bundle old, now; /* now: offset, stored and hash are known when it is written */
	bool changed;
	struct slim_move *moves; /* objects with content, in their order */
	size_t n;
	struct bytes
		content; /* that the moves are from; of a compressed one none, but with strip */
};

struct slim_plan {
	struct arena *a;
	const struct bytes *src;
	const struct slim_keep *keep;
	struct elf elf;          /* .src = NULL: a bare bundle */
	size_t section, segment; /* those that have the bundles; section 0: there are no headers */
	uint64_t from, size;     /* where the bundles are in the file */
	VEC(struct slim_bundle) bundles;
	struct slim_sums targets;
	bool changed;
	struct slim_strip object; /* of a bare code object */
	uint64_t after;           /* bytes of the file then; before slim_write() a guess */
	uint64_t stripped;        /* bytes that objects which stay lose */
	uint64_t scratch;         /* bytes used of that file */
	struct str mark;          /* see slim_mark() */
};

/* src must outlive ret. A file of another kind has no bundles; a damaged one is E_ELF or E_BUNDLE. */
MUST_USE struct err *slim_read(struct arena *a, const struct bytes *src,
	const struct slim_keep *keep, struct slim_plan *ret);
/* To an empty file. It is read back and compared, but not yet committed. Without changes: a copy. */
MUST_USE struct err *slim_write(struct slim_plan *p, struct fs_out *out);
/* And commits it. */
MUST_USE struct err *slim_save(struct slim_plan *p, struct str path, unsigned mode);
/* Holes in the file that p was read from, which have size 0 in the tables then; E_SLIM for compressed bundles.
 * fd -1: only a look. */
MUST_USE struct err *slim_punch(const struct slim_plan *p, int fd, uint64_t *ret_freed);

/* ---- device code apart from its file ---- */
/* The bytes of all objects with content, in order, in pieces; at: where this one is in the object. */
typedef struct err *slim_object_fn(void *user, size_t bundle, const struct bundle_entry *e,
	const struct str *piece, uint64_t at);
MUST_USE struct err *slim_objects(const struct slim_plan *p, slim_object_fn *fn, void *user);
/* slim_write() then makes a host part: these bytes stand for all bundles, in a section .rocm_kpack_ref. All that
 * pointed at a bundle points at them; each wrapper ("HIPF") becomes one of kpack ("HIPK") with the number of its
 * bundle. p was read with keep->none. */
void slim_mark(struct slim_plan *p, struct str mark);
/* E_SLIM unless what is no device code is the same in both: all sections that are loaded, byte for byte, but for
 * addresses and distances that differ just as those of sections do, because .hip_fatbin has another size. Pointers have
 * to be at the same bundles. */
MUST_USE struct err *slim_same_host(const struct slim_plan *x, const struct slim_plan *y);

struct slim_object { /* for slim_fill(): where its bytes are in the content */
	size_t bundle;
	struct str id; /* of the entry; one without bytes is the host's */
	uint64_t at, size;
};

struct slim_fill {
	const struct bytes *host;    /* a host part, ours or AMD's; NULL: bundles only */
	const struct bytes *content; /* of the objects */
	struct slim_object *v;       /* by bundle, in the order of the tables */
	size_t n, bundles;           /* there may be more that the host names */
	struct str first;            /* of each table, when v does not have it: the host's entry */
	enum bundle_encoding encoding;
};
/* The inverse: bundles in a segment of their own at the end of the file. Read back and compared; commits. */
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
/* E_USAGE when something at the output must stay: with force, a folder that we did not make. */
MUST_USE struct err *slim_may_make(
	struct arena *a, const struct slim_report *r, bool folder, bool force);

/* report.path, output and gpus are set. In a dry run all is looked at. An output is there whole, or not at all;
 * in_place: a file of this user's is changed (force: even if it has other names). */
MUST_USE struct err *slim_file(struct arena *a, const struct slim_keep *k, bool in_place,
	bool force, struct slim_report *r);
/* Every file below it; what does not change is linked, or copied. Links stay links. */
MUST_USE struct err *slim_folder(
	struct arena *a, const struct slim_keep *k, bool force, struct slim_report *r);
/* The folder itself, which is this user's: files are replaced whole (what has them open, and their other names, keep
 * the old ones) or removed. A run that was killed goes on when it is asked for the same again; for something else it is
 * E_USAGE. then() is called with all that changed, of earlier runs too, before the manifest says that it is done. */
typedef struct err *slim_then_fn(const struct slim_report *all);
MUST_USE struct err *slim_tree(
	struct arena *a, const struct slim_keep *k, slim_then_fn *then, struct slim_report *r);

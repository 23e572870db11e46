/* Device code wherever it sits: fat ELF files, bundles, bare code objects, archives, folders,
 * wheels.
 *
 * A scan reads only what it must. Without flags: section tables, bundle tables, and the 64-byte
 * header of every object that is not compressed. Kernels and hashes need the objects themselves,
 * and inside compressed bundles decoding, so they are looked at only when asked for. Damaged device
 * code is a finding, so that one bad file does not hide the others. Formats: formats/elf.h,
 * formats/bundle.h; doc/formats.md.
 */
#pragma once

#include "formats/bundle.h"
#include "formats/finding.h"
#include "target/target.h"

enum devcode_encoding {
	DEVCODE_RAW,
	DEVCODE_CCOB1,
	DEVCODE_CCOB2,
	DEVCODE_CCOB3,
	DEVCODE_OBJECT /* a bare code object, in no bundle */
};

/* Where an object is, so that it can be cut out or replaced without another search: its bundle in
 * the file, and the rest inside that bundle as it is decoded. Of a raw bundle and of a bare object
 * the bytes are in the file at bundle + offset. */
struct code_place {
	uint64_t bundle; /* offset of the bundle in the file; of a bare object: its own */
	uint64_t length; /* bytes that the bundle takes there, its header included */
	uint64_t entry;  /* of the object's entry in the table, see struct bundle_entry; bare: 0 */
	uint64_t offset; /* of the object's bytes, of which there are code_object.size; bare: 0 */
};

struct code_object {
	struct str target;     /* id as listed: "gfx942:sramecc+:xnack-" */
	struct str elf_target; /* from e_flags; "": not looked at, or they do not tell (V2) */
	unsigned bundle;       /* counts from 0 in file order */
	enum devcode_encoding encoding;
	uint64_t size, stored; /* decoded bytes; share of the file */
	struct code_place place;
	unsigned version;  /* code object version 2..6, 0 = not looked at */
	int64_t kernels;   /* -1 = not looked at */
	uint64_t debug;    /* bytes of .debug_* sections; with DEVCODE_DEBUG */
	struct str sha256; /* hex, only when asked for */
};

struct devcode_file {
	struct str path;                 /* as given, or relative to the folder or wheel */
	const char *format;              /* "elf", "bundle", "object", "archive" */
	uint64_t size;                   /* of the file */
	unsigned bundles;                /* a bare object counts as one */
	VEC(struct code_object) objects; /* in file order; host entries are left out */
};

struct devcode {
	struct str path;
	VEC(struct devcode_file) files; /* those with device code */
	struct strs served;             /* targets that every file with device code has, sorted */
	struct findings findings;
	unsigned looked_at; /* files seen, with device code or not */
};

/* Look deeper. DEBUG implies KERNELS. */
enum { DEVCODE_KERNELS = 1, DEVCODE_HASH = 2, DEVCODE_DEBUG = 4 };

/* path: a file, folder or wheel. E_NOENT; E_FORMAT for a single file without any known format;
 * E_ELF or E_ZIP for a single file that is damaged as a whole. */
MUST_USE struct err *devcode_scan(
	struct arena *a, struct str path, unsigned flags, struct devcode *ret);
/* The same for one image (a wheel's member, say); adds to ret->files when it has device code. Call
 * devcode_finish() behind the last one. */
MUST_USE struct err *devcode_scan_src(struct arena *a, const struct elf_src *src, struct str path,
	unsigned flags, struct devcode *ret);
/* Fills in what depends on all files: served. devcode_scan() has done it. */
void devcode_finish(struct arena *a, struct devcode *d);
const char *devcode_encoding_name(enum devcode_encoding e);
/* The document of `rocsmith inspect --json`: schema rocsmith.inspect/1. */
extern const struct json_field devcode_fields[];

/* Device code wherever it sits: fat ELF files, bundles, bare code objects, folders, wheels.
 *
 * A scan reads only what it must: section table, wrapper relocations, bundle tables; kernels and
 * flags only when asked for. Formats: formats/elf.h, formats/bundle.h; doc/formats.md.
 */
#pragma once

#include "formats/bundle.h"
#include "formats/finding.h"
#include "target/target.h"

enum devcode_encoding { DEVCODE_RAW, DEVCODE_CCOB1, DEVCODE_CCOB2, DEVCODE_CCOB3, DEVCODE_OBJECT };

struct code_object {
	struct str target;     /* id as listed: "gfx942:sramecc+:xnack-" */
	struct str elf_target; /* from e_flags; "" when not looked at */
	unsigned bundle;       /* counts from 0 in file order */
	enum devcode_encoding encoding;
	uint64_t size, stored; /* decoded bytes; share of the file */
	unsigned version;      /* code object version 2..6, 0 = not looked at */
	int64_t kernels;       /* -1 = not looked at */
	uint64_t debug;        /* bytes of .debug_* sections */
	struct str sha256;     /* hex, only when asked for */
};

struct devcode_file {
	struct str path;    /* as given, or relative to the folder or wheel */
	const char *format; /* "elf", "bundle", "object", "archive" */
	VEC(struct code_object) objects;
};

struct devcode {
	struct str path;
	VEC(struct devcode_file) files; /* those with device code */
	struct strs served;             /* targets that every file with device code has */
	struct findings findings;
};

enum { DEVCODE_KERNELS = 1, DEVCODE_HASH = 2 }; /* look deeper */

/* path: a file, folder or wheel. E_NOENT, E_FORMAT for a single file without any known format. */
MUST_USE struct err *devcode_scan(
	struct arena *a, struct str path, unsigned flags, struct devcode *ret);
/* The same for one image (a wheel's member, say); adds to ret->files when it has device code. */
MUST_USE struct err *devcode_scan_src(struct arena *a, const struct elf_src *src, struct str path,
	unsigned flags, struct devcode *ret);
const char *devcode_encoding_name(enum devcode_encoding e);
void devcode_json(struct json *j, const struct devcode *d, unsigned flags); /* whole object */

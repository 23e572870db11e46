/* Device code wherever it sits: fat ELF files, bundles, bare code objects, archives, folders,
 * wheels.
 *
 * A scan reads only what it must. Without flags: section tables, bundle tables, and the 64-byte
 * header of every object that is not compressed. Kernels and hashes need the objects themselves,
 * and inside compressed bundles decoding, so they are looked at only when asked for. Damaged device
 * code is a finding, so that one bad file does not hide the others; so is a target that one bundle of a file lacks
 * and others have. Each file (with everything in it) has a budget (formats/budget.h). Formats: formats/elf.h,
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
	DEVCODE_OBJECT, /* a bare code object, in no bundle */
	DEVCODE_AKS2,   /* one of AOTriton's stores, which counts as a bundle */
	DEVCODE_KPACK   /* in a kpack archive, where those of one library and number are a bundle */
};

/* The place of an object, so that it can be cut out or replaced without another search: its bundle in
 * the file, and the rest inside that bundle as it is decoded. The bytes of an object in a raw bundle,
 * or in none, are in the file at bundle + offset. */
struct code_place {
	uint64_t
		bundle; /* offset of the bundle in the file; a bare object has its own offset here */
	uint64_t length; /* bytes that the bundle takes there, its header included */
	uint64_t entry;  /* offset of its entry in the table, see struct bundle_entry; bare: 0 */
	uint64_t offset; /* offset of its bytes; code_object.size is their number; bare: 0 */
};

/* The resources of a GPU that a kernel needs, as its compiler noted them; sizes in bytes. */
struct code_kernel {
	struct str name;                   /* the linker's name; its end may be cut off */
	uint64_t vgprs, agprs, sgprs;      /* vgprs include the agprs on gfx90a and its like */
	uint64_t vgpr_spills, sgpr_spills; /* registers that had to be kept in memory */
	uint64_t lds, scratch; /* per workgroup, per work-item; the part known at compile time */
	unsigned waves;        /* most that fit a SIMD unit, by registers; 0: not known */
	uint64_t wave;         /* 32 or 64 lanes */
};

struct code_object {
	struct str target; /* id as listed: "gfx942:sramecc+:xnack-" */
	unsigned id;       /* index into devcode.targets */
	unsigned bundle;   /* counts from 0 in file order */
	enum devcode_encoding encoding;
	bool inner; /* in an array of a program that loads it by itself. Its kernels are always counted; one
		     * without kernels (trap handlers) counts for no GPU, and no GPU misses it */
	uint64_t size, stored; /* decoded bytes; share of the file */
	int64_t kernels;       /* -1 = not looked at */
	struct code_place place;
	unsigned version; /* code object version 2..6, 0 = not looked at */
	struct str
		kernel; /* name of the first one, its end may be cut off; "" = none was looked for */
	int64_t debug;  /* bytes of .debug_* sections; -1 without DEVCODE_DEBUG */
	int64_t alone; /* kernels that the bundle has for no other processor with waves as wide; -1:
			* without DEVCODE_NAMES */
	struct str alone_kernel; /* one of those */
	VEC(struct code_kernel)
	resources;         /* with DEVCODE_RESOURCES; of a scan 4000 kernels at most */
	struct str sha256; /* hex, only when asked for */
};

struct devcode_pack { /* the library that a bundle in a kpack archive belongs to */
	struct str library;
	uint32_t index;
};

struct devcode_file {
	struct str path;    /* as given, or relative to the folder or wheel */
	const char *format; /* "elf", "pe", "bundle", "object", "archive", "aks2", "kpack" */
	uint64_t size;      /* bytes of the file */
	unsigned bundles;   /* a bare object counts as one */
	bool side;          /* one of a set of side files, for the GPU in its name */
	struct strs served; /* by this file alone, as devcode.served */
	VEC(struct devcode_pack) packs;  /* by bundle, in kpack archives */
	VEC(struct code_object) objects; /* in file order, without host entries */
};

#define DEVCODE_UNKNOWN                                                                            \
	"unknown" /* target of an object that names none: the runtime's trap handlers */
enum { DEVCODE_TARGETS = 256 }; /* more different ones are an error of the file */

struct devcode_target {
	struct str name;
	struct target t;
};

/* The objects of one target together. */
struct devcode_sum {
	struct str target;
	unsigned objects, versions; /* versions: a bit for each */
	uint64_t size, stored;
	int64_t kernels, debug; /* -1: not counted */
};

struct devcode_sums {
	struct devcode_sum *v;
	size_t n, cap;
};

/* Adds the objects of a file; targets stay sorted by generation. */
void devcode_count(struct arena *a, struct devcode_sums *sums, const struct devcode_file *f);

/* Files beside a library that it chooses by GPU when it runs: Tensile's solutions and kernels (rocBLAS,
 * hipBLASLt, hipSPARSELt), AOTriton's stores, databases of MIOpen, rocFFT's cache, archives of Composable
 * Kernel. They are known by their names; the code in them is in devcode.files, too. */
struct devcode_part {
	struct str target;            /* "gfx90a:xnack-", "gfx11xx"; "": for all of them */
	uint64_t files, size, stored; /* stored: in the wheel */
	bool entry, code,
		tuned; /* Tensile: has its lazy table; kernels; kernels that are no fallback */
};

struct devcode_set {
	const char *
		kind; /* "rocblas", "hipblaslt", "hipsparselt", "tensile", "aotriton", "miopen", "rocfft", "ck", "code" */
	struct str path; /* the folder of all of them */
	VEC(struct devcode_part) parts;
};

struct devcode {
	bool unknown; /* in: count code of unknown libraries with a GPU in its name as side files, too ("code") */
	struct str path;
	VEC(struct devcode_target) targets; /* every target, once */
	VEC(struct devcode_file) files;     /* those with device code */
	VEC(struct devcode_set) sets;
	struct devcode_sums sums;
	/* The GPUs that every file with device code serves, and every set of side files that is needed, by
	 * generation; and those that any file serves. */
	struct strs served, some;
	struct findings findings;
	unsigned looked_at; /* files seen, with device code or not */
	unsigned resources; /* kernels in the lists of that name */
};

/* Look deeper. DEBUG implies KERNELS; RESOURCES go with it. INNER: code objects in arrays too.
 * NAMES: compares the names of kernels. */
enum {
	DEVCODE_KERNELS = 1,
	DEVCODE_HASH = 2,
	DEVCODE_DEBUG = 4,
	DEVCODE_RESOURCES = 8,
	DEVCODE_INNER = 16,
	DEVCODE_NAMES = 32
};

/* path: a file, folder or wheel. E_NOENT; E_FORMAT for a single file without any known format;
 * E_ELF or E_ZIP for a single file that is damaged as a whole. */
MUST_USE struct err *devcode_scan(
	struct arena *a, struct str path, unsigned flags, struct devcode *ret);
/* The same for one image (a wheel's member, say); adds to ret->files when it has device code. Call
 * devcode_finish() behind the last one. */
MUST_USE struct err *devcode_scan_src(struct arena *a, const struct bytes *src, struct str path,
	unsigned flags, struct devcode *ret);
/* The `find` of a struct zip_pass: the next place where a bundle or a code object may begin. Scans with no more than
 * DEVCODE_INNER read little else of the device code. */
size_t devcode_candidate(const char *p, size_t i, size_t n, size_t *ret_want);
/* Is it a side file for the GPU in its name? */
bool devcode_is_side(const struct devcode *d, struct str path);
/* Adds a file to the set that its path belongs to, if there is one; file: its numbers. */
void devcode_note_side(
	struct arena *a, struct devcode *d, struct str path, const struct devcode_part *file);
/* Does the set serve this GPU? *ret_needed: a call fails without code for its GPU; otherwise it is only slower, and the
 * set serves every GPU. */
bool devcode_set_serves(const struct devcode_set *s, const struct target *want, bool *ret_needed);
/* Tells how far a file serves one target: each bundle with kernels must have them for it. Where kernels were not counted,
 * or there are none, an object counts as one kernel. All objects outside of bundles are one bundle. */
struct devcode_cover {
	unsigned bundles,
		without; /* bundles with any kernel; those of them without one for the target */
	bool counts;     /* there are objects other than trap handlers */
	int64_t kernels,
		missing; /* sums of the largest object of each bundle; those the target lacks */
	size_t first[4]; /* the largest objects of the first bundles without the target */
};

/* served: by index into d->targets, do its objects serve the wanted target? */
struct devcode_cover devcode_cover(const struct devcode_file *f, const bool *served);
/* Fills in such a table by the rule of target_covers(), where a variant counts in both directions. */
void devcode_serves(const struct devcode *d, const struct target *want, bool ret[DEVCODE_TARGETS]);
/* "2 of 237 bundles (171 of 414 kernels): bundle 7 at 4096 (12 kernels, '_Z1kv', ...), ..." */
struct str devcode_cover_text(
	struct arena *a, const struct devcode_file *f, const struct devcode_cover *c);
/* Fills in the members that depend on all files: served, some, sums. devcode_scan() has done it. */
void devcode_finish(struct arena *a, struct devcode *d);
const char *devcode_encoding_name(enum devcode_encoding e);
/* The document of `rocsmith inspect --json`: schema rocsmith.inspect/1. */
extern const struct json_field devcode_fields[];

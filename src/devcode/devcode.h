/* Device code wherever it sits: fat ELF files, bundles, bare code objects, archives, folders, wheels.
 *
 * A scan reads only what it must. Without flags: section tables, bundle tables, and the 64-byte header of every object
 * that is not compressed. Kernels and hashes need the objects themselves and, inside compressed bundles, decoding; both
 * are read only on request. Damaged device code is a finding, so that one bad file does not hide the others; so is a
 * target that one bundle of a file lacks and others have. Each file, with everything in it, is read on one budget
 * (formats/bytes.h). Formats: formats/elf.h, formats/bundle.h; doc/formats.md.
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
	DEVCODE_AKS2,   /* in an AOTriton store, which counts as one bundle */
	/* in a kpack archive; the objects of one library and number count as a bundle */
	DEVCODE_KPACK,
	/* an image for the linker in a section .llvm.offloading; those of one source count as a bundle */
	DEVCODE_OFFLOAD,
	DEVCODE_UNLINKED, /* likewise, of clang's old offload driver: in a section for each target */
};

/* The location of an object, so that it can be cut out or replaced without another search: its bundle's place in the
 * file, and its own place inside the decoded bundle. The bytes of an object in a raw bundle, or in none, are in the
 * file at bundle + offset. */
struct code_place {
	uint64_t
		bundle; /* offset of the bundle in the file; a bare object has its own offset here */
	uint64_t length; /* bytes of the bundle in the file, including its header */
	uint64_t entry;  /* offset of its table entry, as bundle_entry.at; bare: 0 */
	uint64_t offset; /* offset of the object's bytes, code_object.size of them; bare: 0 */
};

/* The GPU resources that a kernel needs, as its compiler recorded them; sizes in bytes. */
struct code_kernel {
	/* the symbol name, cut at 1500 bytes, with DEVCODE_EVERY at 8000 */
	struct str name;
	/* with DEVCODE_EVERY: as people write it; "" if that is the name itself */
	struct str demangled;
	uint64_t size; /* bytes of machine code; 0: its symbol does not tell */
	/* vgprs include the agprs where both share one register file (gfx90a) */
	uint64_t vgprs, agprs, sgprs;
	uint64_t vgpr_spills, sgpr_spills; /* registers spilled to memory */
	uint64_t lds, scratch; /* per workgroup, per work-item; as far as known at compile time */
	unsigned waves;        /* most waves per SIMD unit that the registers allow; 0: unknown */
	uint64_t wave;         /* lanes of a wave: 32 or 64 */
	uint64_t code;         /* with DEVCODE_CODE: hash of its machine code; 0: not read */
};

struct code_object {
	struct str target; /* target ID as listed: "gfx942:sramecc+:xnack-" */
	unsigned id;       /* index into devcode.targets */
	unsigned bundle;   /* counts from 0 in file order */
	enum devcode_encoding encoding;
	/* embedded in an array of a program that loads it by itself. Its kernels are always counted; one without
	 * kernels (a trap handler) counts for no GPU, and no GPU misses it */
	bool inner;
	uint64_t size, stored; /* decoded bytes; its share of the bytes in the file */
	int64_t kernels;       /* -1 = not looked at */
	struct code_place place;
	unsigned version;  /* code object version 2..6, 0 = not looked at */
	struct str kernel; /* name of the first kernel, possibly truncated; "" = not looked for */
	int64_t debug;     /* bytes of .debug_* sections; -1 without DEVCODE_DEBUG */
	/* kernels that the bundle has for no other processor of the same wave size; -1 without DEVCODE_NAMES */
	int64_t alone;
	struct str alone_kernel; /* the name of one of them */
	/* with DEVCODE_RESOURCES; at most 4000 kernels in a scan, with DEVCODE_EVERY a million */
	VEC(struct code_kernel) resources;
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
	bool side; /* a side file (see struct devcode_set) for the GPU that its path names */
	/* the HSA or HIP runtime beside other code: its trap handlers and blit kernels say nothing of what is served */
	bool runtime;
	struct strs served;              /* GPUs that this file alone serves */
	VEC(struct devcode_pack) packs;  /* indexed by bundle number; kpack archives only */
	VEC(struct code_object) objects; /* in file order, without host entries */
};

#define DEVCODE_UNKNOWN                                                                            \
	"unknown" /* target of an object that names none (trap handlers of the runtime) */
enum { DEVCODE_TARGETS = 512 }; /* most distinct targets; a file that brings more is E_LIMIT */

struct devcode_target {
	struct str name;
	struct target t;
};

/* Totals over the objects of one target. */
struct devcode_sum {
	struct str target;          /* first, as in devcode_part, for target_order_first() */
	unsigned objects, versions; /* versions: bit mask of code object versions */
	uint64_t size, stored;
	int64_t kernels, debug; /* -1: not counted */
};

struct devcode_sums VEC_OF(struct devcode_sum);

/* Is it the HSA or HIP runtime, by its name? Its own kernels copy memory on every GPU that it knows, and tell nothing
 * about the code beside it. */
bool devcode_is_runtime(struct str path);
/* Adds the objects of a file to the totals, which stay sorted by GPU generation. */
void devcode_count(struct arena *a, struct devcode_sums *sums, const struct devcode_file *f);

/* Side files: files beside a library, which picks some of them by GPU at run time. Tensile's solutions and kernels
 * (rocBLAS, hipBLASLt, hipSPARSELt), AOTriton's stores, databases of MIOpen, rocFFT's cache, archives of Composable
 * Kernel. They are recognized by their names; the code in them is in devcode.files, too. */
struct devcode_part {
	struct str target;            /* "gfx90a:xnack-", "gfx11xx"; "": files for all GPUs */
	uint64_t files, size, stored; /* stored: bytes in the wheel */
	/* entry: has Tensile's lazy-loading table; code: has kernels; tuned: has Tensile kernels other than fallbacks */
	bool entry, code, tuned;
};

struct devcode_set {
	const char *
		kind; /* "rocblas", "hipblaslt", "hipsparselt", "tensile", "aotriton", "miopen", "rocfft", "ck", "code" */
	struct str path; /* the folder that holds the files of all GPUs */
	VEC(struct devcode_part) parts;
};

struct devcode {
	struct str path;
	VEC(struct devcode_target) targets; /* every target, once */
	VEC(struct devcode_file) files;     /* the files with device code */
	VEC(struct devcode_set) sets;
	bool more_sets; /* there are more than 1,000, and the others were left out */
	struct devcode_sums sums;
	/* served: GPUs that every file with device code, and every needed set of side files, serves. some: GPUs that
	 * any file serves. Both by generation. */
	struct strs served, some;
	struct findings findings;
	unsigned looked_at; /* files seen, with device code or not */
	unsigned resources; /* number of kernels in all lists code_object.resources */
	const struct devcode_taker *taker; /* see devcode_take() */
	struct err *failed;                /* the taker's error, which ends the scan */
};

/* Flags of a deeper scan. DEBUG implies KERNELS; RESOURCES and NAMES have no effect without one of these two. INNER:
 * also finds code objects in arrays. NAMES: compares the names of kernels between the objects of a bundle. CODE: reads the machine
 * code of the kernels in resources. */
enum { DEVCODE_KERNELS = 1, DEVCODE_HASH = 2, DEVCODE_DEBUG = 4, DEVCODE_RESOURCES = 8 };
enum { DEVCODE_INNER = 16, DEVCODE_NAMES = 32, DEVCODE_EVERY = 64, DEVCODE_CODE = 128 };

/* path: a file, folder, wheel or source distribution. E_NOENT; E_FORMAT for a single file without any known format;
 * E_ELF or E_ZIP for a single file that is damaged as a whole. */
MUST_USE struct err *devcode_scan(
	struct arena *a, struct str path, unsigned flags, struct devcode *ret);
/* The same, and passes every object to a function once all is known of it; src: its decoded bytes. */
struct devcode_taker {
	struct err *(*fn)(void *user, const struct devcode_file *f, const struct code_object *o,
		const struct bytes *src);
	void *user;
};
MUST_USE struct err *devcode_take(struct arena *a, struct str path, unsigned flags,
	const struct devcode_taker *taker, struct devcode *ret);
/* The same for one image, such as a wheel's member: adds it to ret->files if it has device code. Call devcode_finish()
 * after the last one. */
MUST_USE struct err *devcode_scan_src(struct arena *a, const struct bytes *src, struct str path,
	unsigned flags, struct devcode *ret);
/* Do these bytes begin a static library? */
bool archive_is(struct str head);
/* Is this a side file for a GPU that its path names? Of unknown libraries those are, too, that have code for it (kind "code"). */
bool devcode_is_side(const struct devcode_file *f);
/* Adds a file to the set that its path belongs to, if there is one; `file` has its count and sizes. content: its
 * device code, or NULL if that was not looked at. A .co or .hsaco file without code for the target that its path names is
 * none, whatever it is called. */
void devcode_note_side(struct arena *a, struct devcode *d, struct str path,
	const struct devcode_part *file, const struct devcode_file *content);
/* Does the set serve this GPU? *ret_needed: library calls fail on a GPU without code in the set. If they are only
 * slower there, the set serves every GPU. */
bool devcode_set_serves(const struct devcode_set *s, const struct target *want, bool *ret_needed);
/* The extent to which a file serves one target: each bundle with kernels must have some for it. If no kernels of the
 * file were counted, every nonempty object counts as one kernel. All objects outside of bundles count as one bundle. */
struct devcode_cover {
	/* bundles with any kernel; how many of them have none for the target */
	unsigned bundles, without;
	bool counts; /* the file has objects other than trap handlers */
	/* kernels of the largest object of each bundle, summed; how many of these the target lacks */
	int64_t kernels, missing;
	/* indexes of the largest objects of the first bundles without the target */
	size_t first[4];
};

/* served[i]: do objects of target d->targets.v[i] serve the wanted target? */
struct devcode_cover devcode_cover(const struct devcode_file *f, const bool *served);
/* Fills in that table by target_covers(); feature variants of one processor count in both directions. */
void devcode_serves(const struct devcode *d, const struct target *want, bool ret[DEVCODE_TARGETS]);
/* "2 of 237 bundles (171 of 414 kernels): bundle 7 at 4096 (12 kernels, '_Z1kv', ...), ..." */
struct str devcode_cover_text(
	struct arena *a, const struct devcode_file *f, const struct devcode_cover *c);
/* Fills in the members that depend on all files: served, some, sums. devcode_scan() does it itself. */
void devcode_finish(struct arena *a, struct devcode *d);
const char *devcode_encoding_name(enum devcode_encoding e);
/* The document of `rocsmith inspect --json`: schema rocsmith.inspect/1. */
extern const struct json_field devcode_fields[];

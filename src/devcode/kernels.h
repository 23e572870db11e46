/* Kernels one by one: all of a scan in one list, those that a person names, objects taken out by them, and what changed
 * between two scans. The scans have DEVCODE_RESOURCES, and DEVCODE_EVERY where no kernel may be left out. */
#pragma once

#include "base/map.h"
#include "devcode/devcode.h"

/* ---- lists ---- */
struct kernel_place {
	const struct devcode_file *file;
	const struct code_object *object;
	const struct code_kernel *kernel;
};

struct kernel_places VEC_OF(struct kernel_place);

/* Adds the kernels of a scan, and sorts the list by name, target, file and bundle. */
void kernels_list(struct arena *a, const struct devcode *d, struct kernel_places *io);
/* Compares the names and targets of two kernels. */
int kernel_order(const struct kernel_place *x, const struct kernel_place *y);
struct str kernel_title(const struct code_kernel *k); /* its name as people write it */
uint64_t kernel_spills(const struct code_kernel *k);
/* The bytes of the file that its code takes: as many as it has, or, compressed, in proportion to its object's. */
uint64_t kernel_stored(const struct kernel_place *p);

/* ---- wishes ---- */
/* "TARGET[:KERNEL]": a target as in --gpu, with its features ("gfx90a:xnack-"), or "all"; a kernel by its mangled name, by its
 * demangled one, by what stands before its '(' or '<' in that, with or without its namespaces, or by a glob. */
struct kernel_wish {
	struct str text;        /* as it was written */
	struct targets targets; /* none: all */
	struct str kernel;      /* "": any */
};

/* kernel_alone: a text that begins with no target is the name of a kernel. E_GFX, E_USAGE. */
MUST_USE struct err *kernel_wish_read(
	struct arena *a, struct str text, bool kernel_alone, struct kernel_wish *ret);
/* The first kernel of the object that is meant, or NULL. */
const struct code_kernel *kernel_wished(const struct kernel_wish *w, const struct code_object *o);
/* Is the object meant: is it for the target, and has it the kernel, if the wish has one? */
bool object_wished(const struct kernel_wish *w, const struct code_object *o);

/* ---- objects taken out ---- */
struct taken_object {
	struct str file; /* its name in the folder: "libx.so.0.gfx90a_xnack-.hsaco" */
	struct str path, target;
	uint64_t bundle, size;
	struct str sha256;
};

struct taken {
	struct arena *a;
	struct kernel_wish wish;
	struct str dir; /* did not exist before */
	VEC(struct taken_object) objects;
	uint64_t bytes;
	struct map names; /* the files in it */
	struct str tree;
};

/* Writes the wished objects of files, folders and wheels into the new folder t->dir, which appears when all are written, under
 * names of ours that have letters, digits and "._+-" only. E_USAGE if something is there; E_NOTHING if no object is meant. */
MUST_USE struct err *kernels_extract(struct arena *a, const struct strs *paths, struct taken *t);

/* ---- comparison ---- */
struct kernel_change {
	const char *change; /* "added", "gone", "grown", "shrunk", "changed", "bytes" */
	struct str target, name, demangled, path;
	const struct code_kernel *old, *now; /* NULL: there is none */
};

struct target_change {
	struct str target; /* first, for target_order_first() */
	uint64_t kernels_old, kernels_now, added, gone, changed;
	uint64_t code_old, code_now;         /* bytes of machine code */
	uint64_t spilling_old, spilling_now; /* kernels that spill registers */
};

struct kernel_changes {
	struct str old, now;
	VEC(struct target_change) targets;
	VEC(struct kernel_change)
	kernels; /* the worst first: more spills, more scratch, fewer waves, more code */
};

/* Kernels are the same by target and name; of several with one name the first is compared with the first. With DEVCODE_CODE
 * in both scans, kernels whose size and resources are equal but whose machine code is not are in the list, too ("bytes"). */
void kernels_compare(struct arena *a, const struct devcode *old, const struct devcode *now,
	struct kernel_changes *ret);
extern const struct json_field kernel_changes_fields[]; /* rocsmith.inspect-compare/1 */
extern const struct json_field taken_fields[];          /* rocsmith.inspect-extract/1 */
/* The resources of a kernel; for kernels in documents of other schemas. */
extern const struct json_field code_kernel_fields[];

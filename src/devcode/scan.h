/* The state that the files of devcode/ share while one image is scanned; devcode.h is the interface. */
#pragma once

#include "devcode/devcode.h"

struct scan_name { /* a kernel name of the current bundle */
	uint64_t hash;
	size_t object; /* index into file->objects */
	struct str text;
};

struct scan {
	struct arena *a; /* owns the results */
	unsigned flags;
	struct devcode *out;
	struct devcode_file *file; /* results of this image; added to out when it has any */
	uint64_t base;             /* offset of the image in its file; places are relative to it */
	struct str whose;       /* in kpack archives: " (LIBRARY#NUMBER)" of the current bundle */
	struct arena *names_in; /* with DEVCODE_NAMES: owns the names */
	struct budget *names_budget;
	uint64_t names_taken; /* bytes of that budget in use */
	VEC(struct scan_name) names;
	size_t names_object; /* index of the object whose names are taken */
};

/* scan_FORMAT.c: adds the device code of an image to s->file. Errors are about the image as a whole;
 * a damaged part is a finding. */
MUST_USE struct err *scan_elf(struct scan *s, const struct bytes *src);
/* Scans bundles that lie back to back from offset to end. Anything else there becomes a finding, which calls the range
 * `where`. */
MUST_USE struct err *scan_bundles(
	struct scan *s, const struct bytes *src, uint64_t offset, uint64_t end, struct str where);
/* Searches for bundles at every multiple of 8; with `objects` also for code objects. */
MUST_USE struct err *scan_search(
	struct scan *s, const struct bytes *src, uint64_t offset, uint64_t end, bool objects);
MUST_USE struct err *scan_archive(struct scan *s, const struct bytes *src);
MUST_USE struct err *scan_kpack(struct scan *s, const struct bytes *src);
MUST_USE struct err *scan_pe(struct scan *s, const struct bytes *src);
/* The section .llvm.offloading of an object that is not linked yet. */
MUST_USE struct err *scan_offload(struct scan *s, const struct bytes *section);
/* The sections of an object that clang's old offload driver made. */
MUST_USE struct err *scan_unlinked(struct scan *s, const struct bytes *src, const struct elf *e);
MUST_USE struct err *scan_aks2(struct scan *s, const struct bytes *src);
/* Does every needed set of side files serve this processor? *ret_any: there is a needed set. */
bool sides_serve(const struct devcode *d, const struct target *want, bool *ret_any);
/* Adds findings about sets that lack the lazy table, or all tuned kernels, of a GPU. */
void sides_judge(struct arena *a, struct devcode *d);

bool aks2_is(struct str head);
/* object.c: the bytes of an object while it is decoded, paid from a budget. */
struct object_bytes {
	struct budget *budget;
	char *p; /* malloc'ed */
	size_t n, cap;
};
/* Adds a part of an object of `size` bytes, for all of which it makes room at once. */
MUST_USE struct err *object_bytes_add(struct object_bytes *b, uint64_t size, struct str part);
void object_bytes_free(struct object_bytes *b);

/* object.c: src is a code object in no bundle. */
MUST_USE struct err *scan_object(struct scan *s, const struct bytes *src);

/* object.c: adds an object for the target that its bundle lists ("": not known yet). E_LIMIT. */
MUST_USE struct err *object_add(
	struct scan *s, const struct bytes *src, struct str target, struct code_object **ret);
/* object.c: fills in the members that come from the object's bytes. Anything odd becomes a finding. */
void object_look(struct scan *s, const struct bytes *src, struct code_object *o);
/* Adds findings that compare the objects of one bundle, first..end of s->file->objects. */
void object_compare(struct scan *s, size_t first, size_t end);

/* compare.c, with DEVCODE_NAMES. names_take() collects the kernel names of an object. names_compare() compares those of
 * a bundle, whose objects begin at `first`, and frees them. names_judge() adds the findings about the file. */
MUST_USE struct err *names_take(struct scan *s, const struct elf *e, const struct code_object *o);
void names_compare(struct scan *s, size_t first);
void names_judge(struct scan *s);
/* Adds a finding about objects of several targets with the same hash. */
void same_judge(struct arena *a, struct devcode *d);

/* Adds a finding about the current file. */
void scan_say(struct scan *s, const char *id, const char *fmt, ...) PRINTF(3, 4);
/* Adds a finding whose message is the whole chain of an error. Frees e. */
void scan_damage(struct scan *s, const char *id, struct err *e);

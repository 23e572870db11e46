/* What the files of devcode/ share while one image is being scanned; devcode.h is the interface. */
#pragma once

#include "devcode/devcode.h"

struct scan_name { /* of a kernel of the bundle at hand */
	uint64_t hash;
	size_t object; /* index into file->objects */
	struct str text;
};

struct scan {
	struct arena *a; /* of the results */
	unsigned flags;
	struct devcode *out;
	struct devcode_file *file; /* results of this image; added to out when it has any */
	uint64_t base;             /* of the image in what its source reads from */
	struct str whose;          /* of kpack: " (LIBRARY#NUMBER)" of the bundle at hand */
	struct arena *names_in;    /* with DEVCODE_NAMES: where names are */
	struct budget *names_budget;
	uint64_t names_taken; /* of its memory */
	VEC(struct scan_name) names;
};

/* Where to look for bundles: */
struct scan_range {
	uint64_t offset, size;
	bool fatbin; /* bundles from its first byte on; else to be searched */
	struct str name;
};

struct scan_ranges {
	struct scan_range *v;
	size_t n, cap;
};

/* In file order, no byte twice: sections of hostile files may overlap. */
MUST_USE struct err *scan_ranges(struct scan *s, const struct bytes *src, struct scan_ranges *r);

/* scan_FORMAT.c: device code in an image, added to s->file. Errors are for the image as
 * a whole; a damaged part is a finding. */
MUST_USE struct err *scan_elf(struct scan *s, const struct bytes *src);
/* Walks bundles from offset to end; what is there instead of a bundle becomes a finding, named by
 * `where`. */
MUST_USE struct err *scan_bundles(
	struct scan *s, const struct bytes *src, uint64_t offset, uint64_t end, struct str where);
/* Looks for bundles at every multiple of 8; with `objects` also for code objects. */
MUST_USE struct err *scan_search(
	struct scan *s, const struct bytes *src, uint64_t offset, uint64_t end, bool objects);
MUST_USE struct err *scan_archive(struct scan *s, const struct bytes *src);
MUST_USE struct err *scan_kpack(struct scan *s, const struct bytes *src);
MUST_USE struct err *scan_pe(struct scan *s, const struct bytes *src);
MUST_USE struct err *scan_aks2(struct scan *s, const struct bytes *src);
/* Do the sets whose code a program needs serve this processor? *ret_any: there are such sets. */
bool sides_serve(const struct devcode *d, const struct target *want, bool *ret_any);
/* Findings about sets that lack something. */
void sides_judge(struct arena *a, struct devcode *d);

bool archive_is(struct str head);
bool aks2_is(struct str head);
/* object.c: a code object in no bundle, which is all of src. */
MUST_USE struct err *scan_object(struct scan *s, const struct bytes *src);

/* object.c: adds an object for a target as listed ("": not known yet). E_LIMIT. */
MUST_USE struct err *object_add(
	struct scan *s, const struct bytes *src, struct str target, struct code_object **ret);
/* object.c: fills in what can be told from the object's bytes. Anything odd becomes a finding. */
void object_look(struct scan *s, const struct bytes *src, struct code_object *o);
/* Findings that compare the objects of one bundle: from index `first` of s->file->objects to `end`. */
void object_compare(struct scan *s, size_t first, size_t end);

/* compare.c, with DEVCODE_NAMES: takes the names of an object's kernels; compares those of a bundle, whose objects
 * begin at `first`, and drops them; says what came of it for the file. */
MUST_USE struct err *names_take(struct scan *s, const struct elf *e, const struct code_object *o);
void names_compare(struct scan *s, size_t first);
void names_judge(struct scan *s);
/* Objects of several targets with one hash. */
void same_judge(struct arena *a, struct devcode *d);

/* A finding about the current file. */
void scan_say(struct scan *s, const char *id, enum severity severity, const char *fmt, ...)
	PRINTF(4, 5);
/* "device code was split off", of a library that is marked so. */
void scan_say_host(struct scan *s, const struct bytes *src);
/* The same, of an error: the message is its whole chain. Frees e. */
void scan_damage(struct scan *s, const char *id, struct err *e);

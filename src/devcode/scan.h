/* What the files of devcode/ share while one image is being scanned; devcode.h is the interface. */
#pragma once

#include "devcode/devcode.h"

struct scan {
	struct arena *a; /* of the results */
	unsigned flags;
	struct devcode *out;
	struct devcode_file *file; /* results of this image; added to out when it has any */
	uint64_t base;             /* of the image in what its source reads from */
};

/* scan_elf.c, scan_bundle.c: device code in an image, added to s->file. Errors are for the image as
 * a whole; a damaged part is a finding. */
MUST_USE struct err *scan_elf(struct scan *s, const struct elf_src *src);
/* Walks bundles from offset to end; what is there instead of a bundle becomes a finding, named by
 * `where`. */
MUST_USE struct err *scan_bundles(
	struct scan *s, const struct elf_src *src, uint64_t offset, uint64_t end, struct str where);
/* Looks for bundles at every multiple of 8. */
MUST_USE struct err *scan_search(
	struct scan *s, const struct elf_src *src, uint64_t offset, uint64_t end);
MUST_USE struct err *scan_archive(struct scan *s, const struct elf_src *src);
MUST_USE struct err *scan_kpack(struct scan *s, const struct elf_src *src);

/* object.c: adds an object for a target as listed ("": not known yet). E_LIMIT. */
MUST_USE struct err *object_add(
	struct scan *s, const struct elf_src *src, struct str target, struct code_object **ret);
/* object.c: fills in what can be told from the object's bytes. Anything odd becomes a finding. */
void object_look(struct scan *s, const struct elf_src *src, struct code_object *o);
/* resources.c: fills in what the kernels take. */
MUST_USE struct err *object_resources(struct scan *s, const struct elf *e, struct code_object *o);
/* In the notes of an object: moves *note to the first of the n kernels of its metadata. False when there are
 * none, or they are not in these bytes. */
bool object_metadata(struct str *note, uint64_t *ret_n);
/* Findings that compare the objects of one bundle: from index `first` of s->file->objects on. */
void object_compare(struct scan *s, size_t first);

/* A finding about the current file. */
void scan_say(struct scan *s, const char *id, enum severity severity, const char *fmt, ...)
	PRINTF(4, 5);
/* The same, of an error: the message is its whole chain. Frees e. */
void scan_damage(struct scan *s, const char *id, struct err *e);

/* The steps by which one file becomes smaller, shared by the files of slim/; slim.h is the interface. */
#pragma once

#include "base/fs.h"
#include "formats/elf_image.h"
#include "slim/slim.h"

/* A place in the file that holds a bundle's address, or a relocation that produces it. */
struct slim_ref {
	/* offset in the file of the 8 bytes that hold the address (first, for offset_order()); 0: a relocation takes it
	 * from a symbol */
	uint64_t at;
	size_t bundle;
	bool pointer;    /* a pointer in memory, not just a symbol */
	uint64_t place;  /* address of a pointer */
	uint32_t symbol; /* index of the dynamic symbol that a relocation names, or 0 */
};

struct slim_refs VEC_OF(struct slim_ref);

/* refs.c: all references, in an order that depends on the file's structure alone. now: e is p's result, not its
 * source. E_SLIM. */
MUST_USE struct err *slim_refs(struct arena *a, const struct slim_plan *p, const struct elf *e,
	bool now, struct slim_refs *ret);
uint64_t slim_addr(const struct slim_plan *p, size_t bundle, bool now);

/* read.c: assigns offsets to the objects that stay. strips: one for each entry, or NULL. */
void slim_lay_out(struct arena *a, struct slim_bundle *s, const struct slim_strip *strips);
/* strip.c: src is one object. */
MUST_USE struct err *slim_strip(struct arena *a, const struct bytes *src, struct slim_strip *ret);
/* write.c */
MUST_USE struct err *slim_find_segment(struct slim_plan *p);
MUST_USE struct err *slim_write_bundles(struct slim_plan *p, struct fs_out *o);

/* offload.c: an object of clang's new offload driver, whose p->elf is open. The result is written, read back and compared. */
MUST_USE struct err *slim_offload_read(struct slim_plan *p);
MUST_USE struct err *slim_offload_write(struct slim_plan *p, struct fs_out *o);

/* mark.c: the wrappers and sections of a host part. */
/* magics of a wrapper, and of a marked one */
enum { SLIM_HIPF = 0x48495046, SLIM_HIPK = 0x4b504948 };
#define SLIM_KPACK_REF ".rocm_kpack_ref"
MUST_USE struct err *slim_mark_wrapper(
	const struct slim_plan *p, const struct slim_ref *r, struct elf_image *m);
MUST_USE struct err *slim_mark_sections(
	const struct slim_plan *p, struct elf_image *m, struct fs_out *o);
/* Reads the bundle number in a marked wrapper; r is the pointer in it. */
MUST_USE struct err *slim_marked(const struct elf *e, const struct slim_ref *r, uint32_t *ret);

/* prove.c, E_SLIM when a proof fails: the bytes before and behind the bundles are unchanged; a bundle has exactly the
 * objects that stay; the patched file is right as a whole. m: NULL for a file that is a bundle. */
MUST_USE struct err *slim_prove_copy(
	const struct slim_plan *p, const struct elf_image *m, const struct bytes *now);
MUST_USE struct err *slim_prove_bundle(
	const struct slim_plan *p, const struct slim_bundle *b, const struct bytes *now);
MUST_USE struct err *slim_prove(
	const struct slim_plan *p, const struct elf_image *m, const struct bytes *now);

/* lock.c: runs in place. A run on a folder holds a lock in it, and then asks for the locks above and below: two runs in
 * folders that lie in each other hold their own before they ask, so that at least one of them meets the other. A run on
 * a file asks above, and every run holds a lock on the file itself while it is changed, whatever its names. All fail
 * with E_LOCKED at once. A kill releases a lock; the next run takes over its file. */
#define SLIM_LOCK ".rocsmith-slim.lock"
struct slim_lock {
	struct str path;
	int fd; /* -1: not held */
};
/* ret->fd may be set even after an error. */
MUST_USE struct err *slim_lock_tree(struct arena *a, struct str dir, struct slim_lock *ret);
void slim_unlockp(struct slim_lock *l);
bool slim_is_lock(const struct fs_entry *e);
/* E_LOCKED if a run on this folder (check_free: or on one above it) is under way. */
MUST_USE struct err *slim_check_run(struct str dir);
MUST_USE struct err *slim_check_free(struct str dir);
/* Locks an open file until it is closed; path is for the message. */
MUST_USE struct err *slim_claim(int fd, struct str path);

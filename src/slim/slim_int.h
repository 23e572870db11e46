/* What the files of slim/ share while one file is worked on; slim.h is the interface. */
#pragma once

#include "slim/slim.h"

/* What holds or makes the address of a bundle. */
struct slim_ref {
	uint64_t
		at; /* offset in the file of 8 bytes with the address; 0: a relocation by a symbol */
	size_t bundle;
	bool pointer;    /* not only a symbol */
	uint64_t place;  /* of a pointer: its address */
	uint32_t symbol; /* index of the dynamic one that it goes by, or 0 */
};

struct slim_refs {
	struct slim_ref *v;
	size_t n, cap;
};

/* refs.c: all of them, in an order that depends on the file's structure alone. now: of p's result, which e is, else
 * of its source. E_SLIM. */
MUST_USE struct err *slim_refs(struct arena *a, const struct slim_plan *p, const struct elf *e,
	bool now, struct slim_refs *ret);
uint64_t slim_addr(const struct slim_plan *p, size_t bundle, bool now);

/* read.c: places for the objects that stay; strips: of each entry, or NULL. */
void slim_lay_out(struct arena *a, struct slim_bundle *s, const struct slim_strip *strips);
/* strip.c: of an object that is all of src. */
MUST_USE struct err *slim_strip(struct arena *a, const struct bytes *src, struct slim_strip *ret);
/* write.c */
MUST_USE struct err *slim_find_segment(struct slim_plan *p);
MUST_USE struct err *slim_write_bundles(struct slim_plan *p, struct fs_out *o);
MUST_USE struct err *slim_copy(
	const struct slim_plan *p, uint64_t from, uint64_t n, struct fs_out *o);

/* path.c: a file of a folder: as it is to be, or, with to = "", only looked at. */
MUST_USE struct err *slim_take_file(struct arena *a, const struct slim_keep *k,
	struct slim_report *r, struct str name, struct str to);
struct fs_entry;
bool slim_drops(const struct slim_keep *k, const struct fs_entry *e); /* leaves it out whole */
/* Folders below top that nothing is left in, since files went that the report names; what was empty before stays. */
MUST_USE struct err *slim_remove_empty(struct str top, const struct slim_report *r);

/* report.c: to the others of its target. */
void slim_sum_add(struct arena *a, struct slim_sums *to, const struct slim_sum *s);

/* layout.c: what leaves the file. */
struct slim_cut {
	uint64_t from, n;
	uint64_t table; /* where the program headers are then */
	bool split;     /* the segment becomes two */
};
static inline uint64_t slim_map(const struct slim_cut *c, uint64_t offset) /* of the old file */
{
	if (offset <= c->from)
		return offset;
	return offset < c->from + c->n ? c->from : offset - c->n;
}
MUST_USE struct err *slim_layout(const struct slim_plan *p, uint64_t end, struct slim_cut *ret);
MUST_USE struct err *slim_headers(
	const struct slim_plan *p, const struct slim_cut *c, struct buf *table);
/* Over the copy: headers, section headers, pointers. */
MUST_USE struct err *slim_patch(
	const struct slim_plan *p, const struct slim_cut *c, struct str table, int fd);

/* mark.c: a wrapper that a pointer is in; and section headers, behind all else. */
enum { SLIM_HIPF = 0x48495046, SLIM_HIPK = 0x4b504948 };
#define SLIM_KPACK_REF ".rocm_kpack_ref"
MUST_USE struct err *slim_mark_wrapper(
	const struct slim_plan *p, const struct slim_cut *c, const struct slim_ref *r, int fd);
MUST_USE struct err *slim_mark_sections(
	const struct slim_plan *p, const struct slim_cut *c, struct fs_out *o);
/* Number of the bundle that a kpack wrapper names, of a pointer into it. */
MUST_USE struct err *slim_marked(const struct elf *e, const struct slim_ref *r, uint32_t *ret);

/* prove.c: what is before and behind the bundles is the same; then, patched, all of it works. E_SLIM. */
MUST_USE struct err *slim_prove_copy(
	const struct slim_plan *p, const struct slim_cut *c, const struct bytes *now);
MUST_USE struct err *slim_prove_bundle(
	const struct slim_plan *p, const struct slim_bundle *b, const struct bytes *now);
MUST_USE struct err *slim_prove(
	const struct slim_plan *p, const struct slim_cut *c, const struct bytes *now);

/* read.c: the next part of an object that is in a piece of a bundle, from moves[*i] on; false: none any more. */
struct slim_piece {
	const char *p;
	size_t n;
	uint64_t at; /* in the bundle */
};
struct slim_part {
	const char *p;
	size_t n;
	uint64_t now; /* where it is in the new bundle */
	bool end;     /* of the object */
	struct slim_move *move;
};
bool slim_part(const struct slim_bundle *b, bool now, size_t *i, struct slim_piece *rest,
	struct slim_part *ret);

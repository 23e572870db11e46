/* Writing the smaller file, from its first byte to its last: what is before the bundles, the bundles as they are to
 * be, the program headers that need a new place, what is behind; then the patches over it. See slim.h. */
#include <libdeflate.h>

#include "base/fs.h"
#include "slim/slim_int.h"

enum { CHUNK = 1 << 20 };

/* ---- bundles ---- */

struct packer {
	struct slim_bundle *b;
	struct fs_out *to;
	struct bundle_out out; /* of a compressed one */
	uint64_t at;           /* bytes of the new content so far */
	size_t i;              /* the object at hand */
};

static void packer_done(struct packer *k)
{
	bundle_out_close(&k->out);
}

static struct err *add(struct packer *k, const void *p, size_t n)
{
	k->at += n;
	if (k->b->now.encoding != BUNDLE_RAW)
		return bundle_out_add(&k->out, p, n);
	fs_out_write(k->to, p, n);
	return NULL;
}

/* Bytes of an object; its first ones go to its place. */
static struct err *add_part(struct packer *k, struct slim_move *m, const void *p, size_t n)
{
	static const char zeros[4096];
	while (k->at < m->now)
		TRY(add(k, zeros,
			m->now - k->at < sizeof(zeros) ? (size_t)(m->now - k->at) : sizeof(zeros)));
	m->crc = libdeflate_crc32(m->crc, p, n);
	return add(k, p, n);
}

static struct err *pack_piece(void *user, const void *p, size_t n, uint64_t at, bool *stop)
{
	struct packer *k = user;
	struct slim_piece rest = {p, n, at};
	struct slim_part part;
	while (slim_part(k->b, false, &k->i, &rest, &part))
		TRY(add_part(k, part.move, part.p, part.n));
	*stop = k->i == k->b->n || k->to->first;
	return NULL;
}

/* In pieces; fn gets their offsets in the source. */
static struct err *read_pieces(
	const struct bytes *src, uint64_t from, uint64_t n, bundle_fn *fn, void *user)
{
	ARENA(tmp);
	bool stop = false;
	char *bytes = arena_raw(&tmp, n < CHUNK ? (size_t)n : CHUNK);
	for (uint64_t at = 0; at < n && !stop; at += CHUNK) {
		size_t part = n - at < CHUNK ? (size_t)(n - at) : CHUNK;
		TRY(bytes_read(src, bytes, part, from + at));
		TRY(fn(user, bytes, part, from + at, &stop));
	}
	return NULL;
}

static struct err *copy_piece(void *user, const void *p, size_t n, uint64_t at, bool *stop)
{
	(void)at;
	struct fs_out *o = user;
	fs_out_write(o, p, n);
	*stop = o->first;
	return NULL;
}

struct err *slim_copy(const struct slim_plan *p, uint64_t from, uint64_t n, struct fs_out *o)
{
	return read_pieces(p->src, from, n, copy_piece, o);
}

static struct err *strip_piece(void *user, const void *p, size_t n, uint64_t at, bool *stop)
{
	(void)at;
	struct packer *k = user;
	*stop = k->to->first;
	return add_part(k, &k->b->moves[k->i], p, n);
}

static struct err *write_stripped(struct packer *k, struct slim_move *m)
{
	const struct slim_strip *s = &m->strip;
	TRY(add_part(k, m, s->head, SLIM_HEAD));
	TRY(read_pieces(&k->b->content, m->old + SLIM_HEAD, s->cut - SLIM_HEAD, strip_piece, k));
	k->i++;
	return add_part(k, m, s->tail.p, s->tail.n);
}

/* Where there is a choice, only what stays is read. */
static struct err *write_objects(const struct slim_plan *p, struct packer *k)
{
	struct slim_bundle *b = k->b;
	if (!b->content.read)
		return b->n ? bundle_decode(p->src, &b->old, pack_piece, k) : NULL;
	while (k->i < b->n && !k->to->first) {
		struct slim_move *m = &b->moves[k->i];
		TRY(m->strip.cut ? write_stripped(k, m)
				 : read_pieces(&b->content, m->old, m->size, pack_piece, k));
	}
	return NULL;
}

static struct err *write_bundle(struct slim_plan *p, struct slim_bundle *b, struct fs_out *o)
{
	ARENA(tmp);
	CLEANUP(packer_done) struct packer k = {.b = b, .to = o};
	struct str table = bundle_table(&tmp, &b->now);
	bool raw = b->now.encoding == BUNDLE_RAW;
	b->now.offset = o->offset;
	if (!b->changed)
		return slim_copy(p, b->old.offset, b->old.stored, o);
	if (!raw)
		TRY(bundle_out_open(&k.out, o, &b->now));
	TRY(add(&k, table.p, table.n));
	TRY(write_objects(p, &k));
	b->now.stored = o->offset - b->now.offset;
	return raw ? NULL : bundle_out_end(&k.out);
}

/* ---- the file ---- */

/* Each begins at such a multiple as all of them did. */
struct err *slim_write_bundles(struct slim_plan *p, struct fs_out *o)
{
	uint64_t align = 4096;
	VEC_EACH (const struct slim_bundle, b, &p->bundles)
		while (b->old.offset % align)
			align /= 2;
	VEC_EACH (struct slim_bundle, b, &p->bundles) {
		fs_out_zeros(o, (o->offset + align - 1) / align * align);
		TRY(write_bundle(p, b, o));
	}
	return NULL;
}

/* What failed is else told by the commit, but nobody may look at such a file before. */
static struct err *written(struct fs_out *o, struct bytes *ret)
{
	struct err *e = o->first;
	o->first = NULL;
	*ret = bytes_fd(o->fd, o->offset);
	return e;
}

static struct err *write_elf(struct slim_plan *p, struct fs_out *o)
{
	ARENA(tmp);
	BUF(table, &tmp);
	struct slim_cut cut;
	struct bytes now;
	uint64_t stop = p->from + p->size;
	TRY(slim_layout(p, o->offset, &cut));
	TRY(slim_headers(p, &cut, &table));
	if (cut.split)
		fs_out_zeros(o, cut.table);
	if (cut.split)
		fs_out_write(o, table.p, table.n);
	fs_out_zeros(o, stop - cut.n);
	TRY(slim_copy(p, stop, p->src->size - stop, o));
	TRY(written(o, &now));
	TRY(slim_prove_copy(p, &cut, &now));
	TRY(slim_patch(p, &cut, buf_str(&table), o->fd));
	if (p->mark.n)
		TRY(slim_mark_sections(p, &cut, o));
	TRY(written(o, &now));
	return slim_prove(p, &cut, &now);
}

/* The segment that has all of the bundles. */
struct err *slim_find_segment(struct slim_plan *p)
{
	for (p->segment = 0; p->segment < p->elf.segments.n; p->segment++) {
		const struct elf_segment *s = &p->elf.segments.v[p->segment];
		if (s->type == ELF_PT_LOAD && p->from >= s->offset &&
			p->from - s->offset <= s->filesz &&
			p->size <= s->filesz - (p->from - s->offset))
			return NULL;
	}
	return err_new(E_SLIM, "its bundles are not in one segment that is loaded");
}

/* A bare code object is all of the file. */
static struct err *write_object(struct slim_plan *p, struct fs_out *o)
{
	fs_out_write(o, p->object.head, SLIM_HEAD);
	TRY(slim_copy(p, SLIM_HEAD, p->object.cut - SLIM_HEAD, o));
	fs_out_write(o, p->object.tail.p, p->object.tail.n);
	return NULL;
}

struct err *slim_write(struct slim_plan *p, struct fs_out *out)
{
	struct bytes now;
	if (!p->changed)
		return slim_copy(p, 0, p->src->size, out);
	if (p->object.cut)
		return write_object(p, out);
	if (p->elf.src)
		TRY(slim_find_segment(p));
	TRY(slim_copy(p, 0, p->from, out));
	if (p->mark.n)
		fs_out_write(out, p->mark.p, p->mark.n);
	else
		TRY(slim_write_bundles(p, out));
	if (p->elf.src)
		TRY(write_elf(p, out));
	TRY(written(out, &now));
	p->after = out->offset;
	return p->elf.src ? NULL : slim_prove(p, &(struct slim_cut){0}, &now);
}

struct err *slim_save(struct slim_plan *p, struct str path, unsigned mode)
{
	CLEANUP(fs_out_abandon) struct fs_out out;
	TRY(fs_out_open(&out, path, mode));
	TRY_CTX(slim_write(p, &out), "cannot make '%.*s'", STR(path));
	return fs_out_commit(&out);
}

/* Writes the smaller file from its first byte to its last: everything before the bundles, the new bundles, everything
 * behind them. Then it patches headers and pointers (formats/elf_image.h). See slim.h. */
#include <libdeflate.h>

#include "slim/slim_int.h"

/* ---- bundles ---- */

struct slim_packer {
	struct slim_bundle *b;
	struct fs_out *to;
	struct bundle_out *out; /* the output of a compressed bundle */
	uint64_t at;            /* bytes of the new content so far */
};

static struct err *pack(struct slim_packer *k, const void *p, size_t n)
{
	k->at += n;
	if (k->b->now.encoding != BUNDLE_RAW)
		return bundle_out_add(k->out, p, n);
	fs_out_write(k->to, p, n);
	return fs_out_error(k->to);
}

static struct err *pack_bytes(struct slim_packer *k, struct slim_move *m, struct str bytes)
{
	m->crc = libdeflate_crc32(m->crc, bytes.p, bytes.n);
	return pack(k, bytes.p, bytes.n);
}

static struct err *pack_part(void *user, const struct bundle_span *s, struct str part, uint64_t at)
{
	static const char zeros[4096];
	struct slim_packer *k = user;
	struct slim_move *m = &k->b->moves[s->id];
	const struct slim_strip *strip = &m->strip;
	while (!at && k->at < m->now) {
		uint64_t left = m->now - k->at;
		TRY(pack(k, zeros, left < sizeof(zeros) ? (size_t)left : sizeof(zeros)));
	}
	if (!at && strip->cut)
		TRY(pack_bytes(k, m, (struct str){strip->head, SLIM_HEAD}));
	TRY(pack_bytes(k, m, part));
	bool last = strip->cut && at + part.n == s->size;
	return last ? pack_bytes(k, m, strip->tail) : NULL;
}

static struct err *write_bundle(struct slim_plan *p, struct slim_bundle *b, struct fs_out *o)
{
	ARENA(tmp);
	CLEANUP(bundle_out_close) struct bundle_out out = {0};
	struct slim_packer k = {.b = b, .to = o, .out = &out};
	struct bundle_reader r = {.fn = pack_part, .user = &k};
	const struct bundle decoded = {.size = b->content.size};
	struct str table = bundle_table(&tmp, &b->now);
	bool raw = b->now.encoding == BUNDLE_RAW;
	b->now.offset = o->offset;
	if (!b->changed)
		return bytes_copy(p->src, b->old.offset, b->old.stored, o);
	if (!raw)
		TRY(bundle_out_open(&out, o, &b->now));
	TRY(pack(&k, table.p, table.n));
	r.spans.v = arena_array(&tmp, b->n + 1, sizeof(*r.spans.v));
	for (r.spans.n = 0; r.spans.n < b->n; r.spans.n++) {
		const struct slim_move *m = &b->moves[r.spans.n];
		uint64_t head = m->strip.cut ? SLIM_HEAD : 0;
		uint64_t size = m->strip.cut ? m->strip.cut - SLIM_HEAD : m->size;
		r.spans.v[r.spans.n] = (struct bundle_span){m->old + head, size, r.spans.n};
	}
	if (b->n)
		TRY(b->content.read ? bundle_read(&b->content, &decoded, &r)
				    : bundle_read(p->src, &b->old, &r));
	b->now.stored = o->offset - b->now.offset;
	return raw ? NULL : bundle_out_end(&out);
}

/* All bundles begin at multiples of the largest power of two, up to a page, that all of them began at. */
struct err *slim_write_bundles(struct slim_plan *p, struct fs_out *o)
{
	uint64_t align = 4096;
	VEC_EACH (const struct slim_bundle, b, &p->bundles)
		while (b->old.offset % align)
			align /= 2;
	VEC_EACH (struct slim_bundle, b, &p->bundles) {
		fs_out_zeros(o, round_up(o->offset, align));
		TRY(write_bundle(p, b, o));
	}
	return NULL;
}

/* ---- the file ---- */

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

/* Writes everything behind the bundles, then the patches over the whole file, and proves the result. */
static struct err *write_elf(struct slim_plan *p, struct fs_out *o)
{
	ARENA(tmp);
	struct elf_image m;
	struct slim_refs refs;
	bool *seen = arena_array(&tmp, p->bundles.n, sizeof(*seen));
	const struct slim_bundle *last = &p->bundles.v[p->bundles.n - 1];
	uint64_t stop = p->from + p->size, end = last->now.offset + last->now.stored;
	elf_image_begin(&tmp, &p->elf, &m);
	TRY(elf_image_cut(&m, p->segment, o->offset, stop));
	bool split = m.now.segments.n > p->elf.segments.n;
	for (size_t i = 0; i < p->elf.segments.n; i++) {
		const struct elf_segment *s = &p->elf.segments.v[i];
		bool ours = i == p->segment || (split && s->type == ELF_PT_PHDR);
		if (!ours && s->filesz && s->offset < stop && s->offset + s->filesz > p->from)
			return err_new(E_SLIM, "segment %zu lies over the bundles", i);
	}
	fs_out_zeros(o, stop - m.shift.gone);
	TRY(bytes_copy(p->src, stop, p->src->size - stop, o));
	struct bytes now = bytes_fd(o->fd, o->offset);
	TRY(slim_prove_copy(p, &m, &now));
	TRY(slim_refs(&tmp, p, &p->elf, false, &refs));
	VEC_EACH (const struct slim_ref, r, &refs) {
		seen[r->bundle] = seen[r->bundle] || r->pointer;
		if (r->at)
			elf_image_put_le(&m, r->at, slim_addr(p, r->bundle, true), 8);
		if (p->mark.n && r->pointer)
			TRY(slim_mark_wrapper(p, r, &m));
	}
	for (size_t i = 0; i < p->bundles.n;
		i++) /* otherwise something finds it in an unknown way */
		if (!seen[i])
			return err_new(E_SLIM, "nothing that is known points at bundle %zu", i);
	if (p->section)
		m.now.sections.v[p->section].size = p->mark.n ? 0 : end - p->from;
	TRY(elf_image_write(&m, o->fd));
	if (p->mark.n)
		TRY(slim_mark_sections(p, &m, o));
	TRY(fs_out_error(o));
	now = bytes_fd(o->fd, o->offset);
	return slim_prove(p, &m, &now);
}

struct err *slim_write(struct slim_plan *p, struct fs_out *out)
{
	if (!p->changed)
		return bytes_copy(p->src, 0, p->src->size, out);
	if (p->object.cut) {
		fs_out_write(out, p->object.head, SLIM_HEAD);
		TRY(bytes_copy(p->src, SLIM_HEAD, p->object.cut - SLIM_HEAD, out));
		fs_out_write(out, p->object.tail.p, p->object.tail.n);
		return NULL;
	}
	if (p->unlinked)
		return slim_offload_write(p, out);
	if (p->elf.src)
		TRY(slim_find_segment(p));
	TRY(bytes_copy(p->src, 0, p->from, out));
	if (p->mark.n)
		fs_out_write(out, p->mark.p, p->mark.n);
	else
		TRY(slim_write_bundles(p, out));
	if (p->elf.src)
		TRY(write_elf(p, out));
	TRY(fs_out_error(out));
	struct bytes now = bytes_fd(out->fd, out->offset);
	p->after = out->offset;
	return p->elf.src ? NULL : slim_prove(p, NULL, &now);
}

struct err *slim_save(struct slim_plan *p, struct str path)
{
	CLEANUP(fs_out_abandon) struct fs_out out;
	TRY(fs_out_open(&out, path, 0644));
	TRY_CTX(slim_write(p, &out), "cannot make '%.*s'", STR(path));
	return fs_out_commit(&out);
}

/* Plans a smaller file: finds its bundles, and decides what becomes of each. See slim.h. */
#include "slim/slim_int.h"

enum { PAGE = 4096 };

/* ---- one bundle ---- */

/* Estimates the stored size of `bytes` decoded bytes: by the bundle's ratio, or, if it was not compressed before, a
 * guess. */
static uint64_t stored(const struct bundle *b, uint64_t bytes)
{
	double part = b->size ? (double)b->stored / (double)b->size : 0;
	part = b->encoding != BUNDLE_RAW && !b->header ? 0.3 : part;
	return b->encoding == BUNDLE_RAW ? bytes : (uint64_t)((double)bytes * part);
}

/* The objects that stay move together, in their order, each at the largest alignment that all of them had, up to a
 * page. */
void slim_lay_out(struct arena *a, struct slim_bundle *s, const struct slim_strip *strips)
{
	struct bundle *b = &s->now;
	uint64_t at = BUNDLE_TABLE, align = PAGE;
	s->moves = arena_array(a, b->entries.n + 1, sizeof(*s->moves));
	for (size_t i = 0; i < b->entries.n; i++) {
		struct bundle_entry *e = &b->entries.v[i];
		e->at = at;
		at += BUNDLE_ENTRY + e->id.n;
		if (strips && strips[i].cut)
			e->size = strips[i].cut + strips[i].tail.n;
		if (e->size)
			s->moves[s->n++] = (struct slim_move){.old = e->offset,
				.size = e->size,
				.strip = strips ? strips[i] : (struct slim_strip){0}};
		while (e->size && e->offset % align)
			align /= 2;
	}
	qsort(s->moves, s->n, sizeof(*s->moves), offset_order);
	uint64_t first = round_up(at, align);
	for (size_t i = 0; i < s->n; i++) {
		s->moves[i].now = round_up(at, align);
		at = s->moves[i].now + s->moves[i].size;
	}
	b->size = at;
	VEC_EACH (struct bundle_entry, e, &b->entries) {
		struct slim_move key = {.old = e->offset};
		const struct slim_move *m =
			!e->size ? NULL : bsearch(&key, s->moves, s->n, sizeof(key), offset_order);
		e->offset = m ? m->now : first;
	}
}

/* ---- objects that lose something ---- */

static struct err *keep_part(void *user, const struct bundle_span *s, struct str part, uint64_t at)
{
	const struct slim_plan *p = user;
	return fs_pwrite(p->keep->scratch, part.p, part.n, p->scratch + s->offset + at);
}

/* A compressed bundle is decoded first: the objects that stay go to the scratch file, at the distances that they have
 * in the bundle. */
static struct err *strip_objects(struct slim_plan *p, struct slim_bundle *s, struct slim_strip *ret)
{
	if (s->old.encoding != BUNDLE_RAW) {
		ARENA(tmp);
		struct bundle_reader r = {
			.spans = bundle_spans(&tmp, &s->now), .fn = keep_part, .user = p};
		TRY(bundle_decode(p->src, &s->old, bundle_reader_piece, &r));
		struct bytes all = bytes_fd(p->keep->scratch, p->scratch + s->old.size);
		all.budget = p->src->budget;
		s->content = bytes_sub(&all, p->scratch, s->old.size);
		p->scratch += s->old.size;
	}
	for (size_t i = 0; i < s->now.entries.n; i++) {
		const struct bundle_entry *e = &s->now.entries.v[i];
		struct bytes object = bytes_sub(&s->content, e->offset, e->size);
		if (e->size)
			TRY(slim_strip(p->a, &object, &ret[i]));
		p->stripped += ret[i].cut ? e->size - ret[i].cut - ret[i].tail.n : 0;
		s->changed = s->changed || ret[i].cut;
	}
	return NULL;
}

static struct err *take_bundle(void *user, const struct bundle *b)
{
	enum { COST = 1000 }; /* bytes kept for an entry, also in the sums and the report */
	ARENA(tmp);
	struct slim_plan *p = user;
	struct slim_bundle s = {.now = *b};
	struct slim_strip *strips = NULL;
	TRY(budget_memory(p->src->budget, b->entries.n * COST));
	TRY(bundle_copy(p->a, p->src, b, &s.old));
	memset(&s.now.entries, 0, sizeof(s.now.entries));
	VEC_EACH (const struct bundle_entry, e, &s.old.entries) {
		bool keep = slim_keeps(p->keep, e->target);
		s.changed = s.changed || !keep;
		if (keep)
			*VEC_PUSH(p->a, &s.now.entries) = *e;
		if (e->target.n)
			slim_sum_add(p->a, &p->targets,
				&(struct slim_sum){e->target, keep, 1, stored(b, e->size)});
	}
	if (b->encoding == BUNDLE_RAW)
		s.content = bytes_sub(p->src, b->offset, b->stored);
	if (p->keep->strip) {
		strips = arena_array(&tmp, s.now.entries.n + 1, sizeof(*strips));
		TRY(strip_objects(p, &s, strips));
	}
	if (p->keep->compress && b->encoding == BUNDLE_RAW) {
		s.now.encoding = p->keep->compress;
		s.now.zstd = s.changed = true;
	}
	if (s.changed) {
		slim_lay_out(p->a, &s, strips);
		p->after -= b->stored - stored(b->encoding ? b : &s.now, s.now.size);
		p->changed = true;
	}
	if (s.changed && s.now.encoding < BUNDLE_CCOB3 && s.now.encoding && s.now.size > 0xf0000000)
		return err_new(E_SLIM, "a bundle of %llu bytes needs version 3 of compressed ones",
			(unsigned long long)s.now.size);
	*VEC_PUSH(p->a, &p->bundles) = s;
	return NULL;
}

/* ---- finding the bundles ---- */

static struct err *walk(struct slim_plan *p, uint64_t at, uint64_t end, bool all)
{
	p->from = at;
	TRY(bundle_walk(p->src, &at, end, take_bundle, p));
	if (all && at < end && p->changed)
		return err_new(E_SLIM, "at offset %llu there is something that is no bundle",
			(unsigned long long)at);
	if (p->bundles.n) {
		const struct bundle *last = &p->bundles.v[p->bundles.n - 1].old;
		p->size = (all ? end : last->offset + last->stored) - p->from;
	}
	return NULL;
}

/* Finds the bundles of a file without sections: the first one at a page of a segment, as linkers align them, and those
 * behind it. */
static struct err *search(struct slim_plan *p)
{
	VEC_EACH (const struct elf_segment, s, &p->elf.segments) {
		uint64_t end = s->offset + s->filesz;
		for (uint64_t at = s->offset + -s->vaddr % PAGE; s->type == ELF_PT_LOAD && at < end;
			at += PAGE) {
			ARENA(tmp);
			char h[BUNDLE_MAGIC];
			struct bundle b;
			struct str head = {.p = h};
			TRY(bytes_peek(p->src, h, sizeof(h), at, &head.n));
			if (!bundle_is(head))
				continue;
			struct err *e = bundle_open(&tmp, p->src, at, end, &b);
			if (!e)
				return walk(p, at, end, false);
			/* bytes that merely look like one */
			if (e->code != E_BUNDLE && e->code != E_LIMIT)
				return e;
			err_free(e);
		}
	}
	return NULL;
}

static bool meets(const struct elf_section *s, uint64_t offset, uint64_t size)
{
	return size &&
	       (offset < s->offset ? s->offset - offset < size : offset - s->offset < s->size);
}

/* Finds the bundles of a file of the host. If anything else in the file overlaps them, something may need these bytes.
 * (bundle_walk() refuses entries of one bundle that share bytes.) */
static struct err *find_bundles(struct slim_plan *p)
{
	const struct elf *e = &p->elf;
	VEC_EACH (const struct elf_section, s, &e->sections) {
		if (!str_eq(s->name, S(".hip_fatbin")) || s->type != ELF_PROGBITS || !s->size)
			continue;
		if (p->section)
			return err_new(E_SLIM, "it has several sections .hip_fatbin");
		if (s->offset > p->src->size || s->size > p->src->size - s->offset)
			return err_new(E_ELF, ".hip_fatbin is not inside the file");
		p->section = (size_t)(s - e->sections.v);
		TRY(walk(p, s->offset, s->offset + s->size, true));
		bool shared = meets(s, 0, ELF_EHDR) ||
			      meets(s, e->phoff, ELF_PHDR * e->segments.n) ||
			      meets(s, e->shoff, ELF_SHDR * e->sections.n);
		VEC_EACH (const struct elf_section, x, &e->sections)
			shared |= x != s && x->type && x->type != ELF_NOBITS &&
				  meets(s, x->offset, x->size);
		if (p->changed && shared)
			return err_new(E_SLIM, "something else lies over .hip_fatbin");
	}
	return e->sections.n ? NULL : search(p);
}

struct err *slim_read(struct arena *a, const struct bytes *src, const struct slim_keep *keep,
	struct slim_plan *ret)
{
	char bytes[64];
	struct str head = {.p = bytes};
	*ret = (struct slim_plan){.a = a, .src = src, .keep = keep, .after = src->size};
	TRY(bytes_peek(src, bytes, sizeof(bytes), 0, &head.n));
	if (bundle_is(head))
		return walk(ret, 0, src->size, true);
	if (!elf_is(head))
		return NULL;
	TRY(elf_open(a, src, &ret->elf));
	if (ret->elf.type == ELF_REL && ret->elf.machine != ELF_AMDGPU)
		TRY(slim_offload_read(ret));
	if (ret->elf.machine != ELF_AMDGPU)
		return ret->unlinked ? NULL : find_bundles(ret);
	if (keep->strip)
		TRY(slim_strip(a, src, &ret->object));
	if (ret->object.cut) {
		ret->changed = true;
		ret->after = ret->object.cut + ret->object.tail.n;
		ret->stripped = src->size - ret->after;
	}
	return NULL;
}

/* ---- objects read out ---- */

struct object_walk {
	slim_object_fn *fn;
	void *user;
	size_t bundle;
	const struct bundle_entry *entries;
};

static struct err *give_object(
	void *user, const struct bundle_span *s, struct str part, uint64_t at)
{
	const struct object_walk *w = user;
	return w->fn(w->user, w->bundle, &w->entries[s->id], &part, at);
}

struct err *slim_objects(const struct slim_plan *p, slim_object_fn *fn, void *user)
{
	for (size_t i = 0; i < p->bundles.n; i++) {
		ARENA(tmp);
		const struct bundle *b = &p->bundles.v[i].old;
		struct object_walk w = {
			.fn = fn, .user = user, .bundle = i, .entries = b->entries.v};
		struct bundle_reader r = {
			.spans = bundle_spans(&tmp, b), .fn = give_object, .user = &w};
		if (r.spans.n)
			TRY(bundle_read(p->src, b, &r));
	}
	return NULL;
}

/* ---- holes ---- */

struct err *slim_punch(const struct slim_plan *p, int fd, uint64_t *ret_freed)
{
	static const char none[8];
	*ret_freed = 0;
	if (p->changed && p->unlinked)
		return err_new(E_SLIM, "an object that is not linked yet cannot have holes");
	VEC_EACH (const struct slim_bundle, b, &p->bundles)
		if (b->changed && b->old.encoding != BUNDLE_RAW)
			return err_new(E_SLIM, "compressed bundles cannot have holes");
	VEC_EACH (const struct slim_bundle, b, &p->bundles) {
		VEC_EACH (const struct bundle_entry, e, &b->old.entries) {
			uint64_t at = b->old.offset;
			if (!e->size || slim_keeps(p->keep, e->target))
				continue;
			*ret_freed += e->size;
			if (fd < 0)
				continue;
			/* the code goes before its entry: the next run completes one that was killed between them */
			if (!fs_try_punch(fd, at + e->offset, e->size))
				return err_errno("cannot make a hole");
			TRY(fs_pwrite(fd, none, sizeof(none), at + e->at + sizeof(none)));
		}
	}
	return NULL;
}

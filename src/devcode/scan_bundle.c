/* Bundles in an image, back to back in a section or anywhere in its data, and the objects in each. Compressed bundles
 * are decoded only when something inside is asked for, object by object, so that at most one object is held beside the
 * decoder's window. */
#include "devcode/scan.h"

#include "base/hash.h"
#include "base/pool.h"
#include "formats/le.h"

/* ---- objects of compressed bundles ---- */

struct object_decoding {
	struct scan *s;
	struct bundle_reader reader;
	struct object_bytes bytes; /* the current object, as far as it was decoded */
	struct hash *md5; /* hash of the decoded bundle, to compare with the header's; or NULL */
};

static struct err *take_part(
	void *user, const struct bundle_span *span, struct str part, uint64_t at)
{
	struct object_decoding *d = user;
	(void)at;
	TRY(object_bytes_add(&d->bytes, span->size, part));
	if (d->bytes.n < span->size)
		return NULL;
	struct bytes src = bytes_mem((struct str){d->bytes.p, d->bytes.n});
	src.budget = d->bytes.budget;
	object_look(d->s, &src, &d->s->file->objects.v[span->id]);
	d->bytes.n = 0;
	return NULL;
}

static struct err *take_piece(void *user, const void *p, size_t n, uint64_t at, bool *stop)
{
	struct object_decoding *d = user;
	if (d->md5)
		hash_add(d->md5, p, n);
	return bundle_reader_piece(&d->reader, p, n, at, stop);
}

static void decoding_done(struct object_decoding *d)
{
	object_bytes_free(&d->bytes);
	hash_free(d->md5);
}

static struct err *look_compressed(
	struct scan *s, const struct bytes *src, const struct bundle *b, size_t first)
{
	ARENA(tmp);
	CLEANUP(decoding_done)
	struct object_decoding d = {.s = s, .bytes.budget = src->budget};
	struct bundle_spans spans = {.v = arena_array(&tmp, b->entries.n + 1, sizeof(*spans.v))};
	size_t object = first;
	VEC_EACH (const struct bundle_entry, e, &b->entries) {
		if (e->target.n && e->size)
			spans.v[spans.n++] = (struct bundle_span){e->offset, e->size, object};
		object += e->target.n > 0;
	}
	VEC_SORT(&spans, offset_order);
	if (s->flags & DEVCODE_HASH)
		d.md5 = hash_new(HASH_MD5);
	d.reader = (struct bundle_reader){
		.spans = spans, .fn = take_part, .user = &d, .whole = d.md5 != NULL};
	TRY(bundle_decode(src, b, take_piece, &d));
	if (!d.md5)
		return NULL;
	struct digest md5 = hash_end(d.md5);
	d.md5 = NULL;
	if (le64(md5.b) != b->hash)
		scan_say(s, "bundle-hash-mismatch",
			"the hash in the header of bundle %u is not that of its content",
			s->file->bundles);
	return NULL;
}

/* ---- objects of raw bundles ---- */

static void look_raw(struct scan *s, const struct bytes *src, struct code_object *o)
{
	struct bytes part =
		bytes_sub(src, o->place.bundle - (src->base - s->base) + o->place.offset, o->size);
	if (o->encoding == DEVCODE_RAW)
		object_look(s, &part, o);
}

/* A share of the objects for one thread, with an arena and findings of its own. */
struct object_share {
	struct scan s;
	struct devcode out;
	struct arena a;
	const struct bytes *src;
	size_t at, end;
};

/* Stops at the first object that needs a finding; look_shared() goes on from there. */
static struct err *look_share(struct arena *tmp, void *user)
{
	(void)tmp;
	struct object_share *x = user;
	for (; x->at < x->end; x->at++) {
		struct code_object *o = &x->s.file->objects.v[x->at], before = *o;
		look_raw(&x->s, x->src, o);
		if (x->out.findings.n) {
			*o = before;
			break;
		}
	}
	return NULL;
}

/* Looks at all objects of a file. Several threads take those that need no finding; the rest follows in file order, so
 * that the findings are in order, too. */
static void look_shared(struct scan *s, const struct bytes *src, size_t first)
{
	enum { SHARE = 64, THREADS = 8 };
	ARENA(tmp);
	struct code_object *v = s->file->objects.v;
	size_t n = s->file->objects.n, shares = (n - first) / SHARE + 1;
	struct object_share *x = arena_array(&tmp, shares, sizeof(*x));
	for (size_t i = 0; i < shares; i++) {
		size_t at = first + i * SHARE;
		x[i] = (struct object_share){
			.s = *s, .src = src, .at = at, .end = at + SHARE < n ? at + SHARE : n};
		x[i].out.targets = s->out->targets;
		x[i].s.a = &x[i].a;
		x[i].s.out = &x[i].out;
	}
	unsigned cpus = cpu_count();
	if (shares > 3 && cpus > 1)
		err_free(pool_each(
			cpus < THREADS ? cpus : THREADS, x, shares, sizeof(*x), look_share));
	for (size_t i = first, bundle = first; i < n; i++) {
		struct object_share *mine = &x[(i - first) / SHARE];
		if (i >= mine->at)
			look_raw(s, src, &v[i]);
		if (i + 1 == n || v[i + 1].bundle != v[i].bundle) {
			object_compare(s, bundle, i + 1);
			bundle = i + 1;
		}
	}
	for (size_t i = 0; i < shares; i++)
		arena_join(s->a, &x[i].a);
}

struct bundle_walker {
	struct scan *s;
	const struct bytes *src;
	bool later; /* objects are left to look_shared(), once all bundles are known */
};

/* Adds the objects of one bundle, and looks into them as s->flags demand. */
static struct err *scan_bundle(const struct bundle_walker *w, const struct bundle *b)
{
	struct scan *s = w->s;
	const struct bytes *src = w->src;
	size_t first = s->file->objects.n;
	double total = 0;
	VEC_EACH (struct bundle_entry, e, &b->entries) {
		total += (double)e->size;
		if (!e->target.n)
			continue;
		struct code_object *o;
		TRY(object_add(s, src, e->target, &o));
		o->encoding = (enum devcode_encoding)b->encoding;
		o->size = o->stored = e->size;
		o->place = (struct code_place){.bundle = src->base - s->base + b->offset,
			.length = b->stored,
			.entry = e->at,
			.offset = e->offset};
	}
	for (size_t k = first; k < s->file->objects.n; k++) {
		struct code_object *o = &s->file->objects.v[k];
		if (!w->later)
			look_raw(s, src, o);
		/* its share of the compressed bundle is in proportion to the decoded sizes */
		if (b->encoding != BUNDLE_RAW && total > 0)
			o->stored = (uint64_t)((double)b->stored * ((double)o->size / total));
	}
	if (b->encoding != BUNDLE_RAW && s->flags & ~(unsigned)DEVCODE_INNER)
		TRY(look_compressed(s, src, b, first));
	if (!w->later)
		object_compare(s, first, s->file->objects.n);
	s->file->bundles++;
	return NULL;
}

static struct err *found(void *user, const struct bundle *b)
{
	struct bundle_walker *w = user;
	struct err *e = scan_bundle(w, b);
	if (e && (e->code == E_BUNDLE || e->code == E_LIMIT)) {
		scan_damage(w->s, "bundle-damaged",
			err_wrap(e, "cannot decode the bundle at offset %llu",
				(unsigned long long)b->offset));
		w->s->file->bundles++;
		e = NULL;
	}
	return e;
}

struct err *scan_bundles(
	struct scan *s, const struct bytes *src, uint64_t offset, uint64_t end, struct str where)
{
	/* names and resources are collected in file order; a source without a file may be usable by one thread only */
	bool share =
		src->fd >= 0 && !s->out->taker && !(s->flags & (DEVCODE_NAMES | DEVCODE_RESOURCES));
	struct bundle_walker w = {.s = s, .src = src, .later = share};
	uint64_t stop = offset;
	size_t first = s->file->objects.n;
	struct err *e = bundle_walk(src, &stop, end, found, &w);
	if (w.later)
		look_shared(s, src, first);
	if (e && (e->code == E_IO || e->code == E_CANCELLED))
		return e;
	if (e) {
		scan_damage(s, "bundle-damaged", e);
		return scan_search(s, src, stop + 8, end, false);
	}
	if (stop >= end)
		return NULL;
	scan_say(s, "bundle-unrecognised",
		"%.*s: no offload bundle at offset %llu, %llu bytes are left unread", STR(where),
		(unsigned long long)stop, (unsigned long long)(end - stop));
	return scan_search(s, src, stop, end, false);
}

/* The first four bytes of each magic, as one little-endian word. */
enum { RAW = 0x4c435f5f, CCOB = 0x424f4343, ELF = 0x464c457f };

enum { STEP = 8 };

/* The offset of the next place, from i on, where a bundle or an object could begin; above n - STEP if there is none. A cheap
 * filter: opening it decides. */
static size_t next_candidate(const char *p, size_t i, size_t n)
{
	for (; i + STEP <= n; i += STEP) {
		const char *q = p + i;
		uint32_t word = le32(q);
		if ((word == RAW && !memcmp(q, "__CLANG_", 8)) ||
			(word == ELF && !memcmp(q, "\177ELF\2\1\1", 7)) ||
			(word == CCOB && q[4] >= 1 && q[4] <= 3 && !q[5] && q[6] >= 0 &&
				q[6] <= 1 && !q[7]))
			break;
	}
	return i;
}

/* Bytes that merely look like a bundle or an object (the magic as a string constant) are no finding. */
static struct err *pass_text(struct err *e)
{
	if (!e || e->code == E_IO || e->code == E_CANCELLED)
		return e;
	err_free(e);
	return NULL;
}

/* Scans a code object in an array. Nothing but its own tables tells how long it is. */
static struct err *try_object(
	struct scan *s, const struct bytes *src, uint64_t at, uint64_t end, uint64_t *ret_next)
{
	ARENA(tmp);
	struct elf e;
	struct bytes rest = bytes_sub(src, at, end - at);
	struct err *err = elf_open(&tmp, &rest, &e);
	if (err)
		return pass_text(err);
	uint64_t size = elf_extent(&e);
	if (e.machine != ELF_AMDGPU || size > rest.size)
		return NULL;
	rest.size = size;
	*ret_next = at + (size + 7) / 8 * 8;
	size_t first = s->file->objects.n;
	unsigned flags = s->flags;
	s->flags |= DEVCODE_KERNELS;
	err = scan_object(s, &rest);
	s->flags = flags;
	for (size_t i = first; i < s->file->objects.n; i++)
		s->file->objects.v[i].inner = true;
	return err;
}

static struct err *try_bundle(
	struct scan *s, const struct bytes *src, uint64_t at, uint64_t end, uint64_t *ret_next)
{
	ARENA(tmp);
	struct bundle b;
	struct bundle_walker w = {.s = s, .src = src};
	struct err *e = bundle_open(&tmp, src, at, end, &b);
	if (e || !b.entries.n)
		return pass_text(e);
	*ret_next = at + (b.stored + 7) / 8 * 8;
	return found(&w, &b);
}

struct err *scan_search(
	struct scan *s, const struct bytes *src, uint64_t offset, uint64_t end, bool objects)
{
	enum { MAX_TRIES = 4096, CHUNK = 64 << 10 };
	ARENA(tmp);
	end = end < src->size ? end : src->size;
	offset = round_up(offset, STEP);
	uint64_t all = offset < end ? end - offset : 0;
	char *p = arena_raw(&tmp, all < CHUNK ? (size_t)all : CHUNK);
	for (unsigned tries = 0; tries < MAX_TRIES && offset + STEP <= end;) {
		uint64_t left = end - offset, at;
		size_t n;
		TRY(bytes_peek(src, p, (size_t)(left < CHUNK ? left : CHUNK), offset, &n));
		size_t i = next_candidate(p, 0, n);
		at = offset + i;
		offset = i + STEP > n ? at : at + STEP;
		if (i + STEP > n)
			continue;
		tries++;
		if (p[i] == 'C' || p[i] == '_')
			TRY(try_bundle(s, src, at, end, &offset));
		else if (objects)
			TRY(try_object(s, src, at, end, &offset));
	}
	return NULL;
}

/* Random access to a deflated member without a file of its own: the member is unpacked once from end to end, while the
 * state of the decoder is kept at every block's beginning; a block that is asked for is unpacked again from there, and
 * the last few are kept. See zip.h.
 *
 * Unpacking twice costs less than writing it down: of a library of 1388 MB, the 780 MB that its device code and
 * symbols take 0.7 s, the file 2.5 to 4 s, which are mostly spent on new pages. */
#include <libdeflate.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "formats/zip_format.h"

enum {
	RING = 32, /* pieces on their way from one thread to the other: 6 ms of unpacking */
	CACHED = 16 << 10,
	SLOTS = 4,        /* blocks that are kept */
	BLOCK = 20,       /* log2 of the least bytes of a block */
	POINTS = 384,     /* at most; 87 KiB each */
	MARKED = 16 << 20 /* bytes of all marks, at most */
};

/* What is written last of a state is at its end, where usually half of the bytes hold nothing. */
struct point {
	uint64_t taken;
	size_t n;
	struct inflate_state s;
};

struct slot {
	uint64_t block, used;
	char *bytes; /* NULL: empty */
};

struct mark {
	uint64_t at;
	size_t n, have;
	char *p;
};

struct zip_view {
	struct inflater *f, *second; /* second: NULL before somebody read forward */
	bool threaded;
	uint64_t last;  /* block that was unpacked */
	unsigned shift; /* log2 of the bytes of a block */
	struct point **points;
	size_t n;
	uint64_t clock;
	struct slot slots[SLOTS];
	struct arena a; /* of the marks: in order, and those before `whole` have all their bytes */
	VEC(struct mark) marks;
	size_t whole;
	uint64_t seen, known,
		taken; /* bytes that passed; marks are known up to here; memory of them */
};

/* ---- the first pass ---- */

struct zip_ring {
	pthread_mutex_t lock;
	pthread_cond_t news;
	char *pieces;
	size_t n[RING], room; /* room: for so many pieces */
	uint64_t made, taken; /* pieces */
	bool end, stop;
	bool more;     /* the one who unpacks may find something else to do */
	struct err *e; /* of fn */
	uint32_t crc;
	const struct zip_pass *pass;
	struct zip_view *v;
};

static char *piece_of(const struct zip_ring *r, uint64_t i)
{
	return r->pieces + i % r->room * INFLATE_PIECE;
}

/* False: there is no more room. */
static bool add_mark(struct zip_view *v, uint64_t at, size_t want)
{
	uint64_t left = v->f->m->size - at, cost;
	struct mark k = {.at = at, .n = want < left ? want : (size_t)left};
	cost = k.n + 2 * sizeof(k);
	struct err *e = v->taken + cost > MARKED ? err_new(E_LIMIT, "too many marks")
						 : budget_memory(v->f->z->src.budget, cost);
	if (e) {
		err_free(e);
		return false;
	}
	v->taken += cost;
	k.p = arena_raw(&v->a, k.n + 1);
	*VEC_PUSH(&v->a, &v->marks) = k;
	return true;
}

/* The marks in the next bytes, and the bytes of those that are not whole. */
static void mark(struct zip_view *v, const struct zip_pass *pass, const char *p, size_t n)
{
	uint64_t at = v->seen;
	bool room = v->known == at;
	for (size_t i = 0, want; room && (i = pass->mark(p, i, n, &want)) < n; i++) {
		room = add_mark(v, at + i, want);
		v->known = at + i;
	}
	v->seen += n;
	v->known = room ? v->seen : v->known;
	for (size_t i = v->whole; i < v->marks.n; i++) {
		struct mark *k = &v->marks.v[i];
		uint64_t from = k->at + k->have - at, left = n - from;
		size_t more = k->n - k->have < left ? k->n - k->have : (size_t)left;
		memcpy(k->p + k->have, p + from, more);
		k->have += more;
		v->whole += v->whole == i && k->have == k->n;
	}
}

static void use(struct zip_ring *r)
{
	uint64_t i = r->taken;
	size_t n = r->n[i % RING];
	bool stop = false;
	const struct zip_pass *p = r->pass;
	for (size_t at = 0, part; at < n; at += part) { /* what is in the first cache yet */
		part = n - at < CACHED ? n - at : CACHED;
		r->crc = libdeflate_crc32(r->crc, piece_of(r, i) + at, part);
		if (p->mark)
			mark(r->v, p, piece_of(r, i) + at, part);
	}
	struct err *e = n && p->fn ? p->fn(p->user, piece_of(r, i), n, &stop) : NULL;
	pthread_mutex_lock(&r->lock);
	r->taken++;
	r->e = e;
	r->stop = e || stop;
	pthread_cond_signal(&r->news);
	pthread_mutex_unlock(&r->lock);
}

bool zip_ring_use(struct zip_ring *r)
{
	pthread_mutex_lock(&r->lock);
	bool there = r->made != r->taken && !r->stop;
	pthread_mutex_unlock(&r->lock);
	if (there)
		use(r);
	return there;
}

/* Waits for the other thread's news, or does something else meanwhile; the lock is held before and after. */
static void await(struct zip_ring *r, bool *more, bool user)
{
	if (!*more) {
		pthread_cond_wait(&r->news, &r->lock);
		return;
	}
	pthread_mutex_unlock(&r->lock);
	*more = r->pass->idle(r->pass->user, user ? r : NULL);
	pthread_mutex_lock(&r->lock);
}

static void *user_thread(void *arg)
{
	struct zip_ring *r = arg;
	bool more = r->pass->idle;
	for (;;) {
		pthread_mutex_lock(&r->lock);
		while (r->made == r->taken && !r->end)
			await(r, &more, true);
		bool done = r->stop || (r->made == r->taken && r->end);
		pthread_mutex_unlock(&r->lock);
		if (done)
			return NULL;
		use(r);
	}
}

/* Waits for a free piece; false when no more are wanted. */
static bool next_piece(struct zip_ring *r)
{
	pthread_mutex_lock(&r->lock);
	while (r->made - r->taken == r->room && !r->stop)
		await(r, &r->more, false);
	bool wanted = !r->stop;
	pthread_mutex_unlock(&r->lock);
	return wanted;
}

static void pass_on(struct zip_ring *r, size_t n, bool end)
{
	pthread_mutex_lock(&r->lock);
	if (n)
		r->n[r->made++ % RING] = n;
	r->end = end;
	pthread_cond_signal(&r->news);
	pthread_mutex_unlock(&r->lock);
}

static struct err *add_point(struct zip_view *v)
{
	struct inflater *f = v->f;
	if (f->made & (((uint64_t)1 << v->shift) - 1) || f->made == f->m->size)
		return NULL;
	TRY(budget_memory(f->z->src.budget, sizeof(struct point)));
	size_t n = offsetof(struct inflate_state, tmp_out_buffer) + (size_t)f->s.tmp_out_valid;
	struct point *p = v->points[v->n++] = xmalloc(offsetof(struct point, s) + n);
	p->taken = f->taken - f->s.avail_in;
	p->n = n;
	memcpy(&p->s, &f->s, n);
	p->s.avail_in = 0;
	return NULL;
}

static struct err *unpack_all(struct zip_view *v, struct zip_ring *r, bool threaded)
{
	size_t n = INFLATE_PIECE;
	while (n == INFLATE_PIECE && next_piece(r)) {
		uint64_t i = r->made;
		TRY(add_point(v));
		TRY(inflater_next(v->f, piece_of(r, i), INFLATE_PIECE, &n));
		pass_on(r, n, n < INFLATE_PIECE);
		if (!threaded && n)
			use(r);
	}
	return NULL;
}

static struct err *first_pass(struct zip_view *v, struct zip_ring *r)
{
	pthread_t thread;
	bool threaded = v->threaded && pthread_create(&thread, NULL, user_thread, r) == 0;
	struct err *e = unpack_all(v, r, threaded);
	if (threaded) {
		pass_on(r, 0, true);
		pthread_join(thread, NULL);
	}
	return err_join(e, r->e);
}

struct err *zip_view_open(const struct zip *z, const struct zip_member *m,
	const struct zip_pass *pass, struct zip_view **ret)
{
	*ret = NULL;
	CLEANUP(zip_view_close) struct zip_view *v = xmalloc(sizeof(*v));
	*v = (struct zip_view){.shift = BLOCK, .threaded = pass->threaded};
	TRY(inflater_open(z, m, &v->f));
	while (m->size >> v->shift >= POINTS)
		v->shift++;
	v->points = xmalloc((POINTS + 1) * sizeof(struct point *));
	size_t room = v->threaded ? RING : 1;
	struct zip_ring r = {.lock = PTHREAD_MUTEX_INITIALIZER,
		.news = PTHREAD_COND_INITIALIZER,
		.pieces = xmalloc(room * INFLATE_PIECE),
		.room = room,
		.more = v->threaded && pass->idle,
		.pass = pass,
		.v = v};
	bool look = pass->fn || m->method == ZIP_DEFLATE;
	struct err *e = look ? first_pass(v, &r) : NULL;
	if (!e && look && !r.stop)
		e = inflater_end(v->f, r.crc);
	free(r.pieces);
	if (!e && !r.stop) {
		*ret = v;
		v = NULL;
	}
	return e;
}

/* ---- reading ---- */

/* The slot of a block, or else the one that was used longest ago: then *ret_there is false. */
static struct slot *slot_of(struct zip_view *v, uint64_t block, bool *ret_there)
{
	struct slot *s = v->slots;
	for (struct slot *i = v->slots; i < v->slots + SLOTS; i++) {
		*ret_there = i->bytes && i->block == block;
		if (*ret_there)
			return i;
		s = i->used < s->used ? i : s;
	}
	return s;
}

struct fill { /* a block on its way into a slot */
	struct zip_view *v;
	struct inflater *f;
	struct slot *s;
	uint64_t block;
	struct err *e;
};

static struct err *fill(struct zip_view *v, struct inflater *f, struct slot *s, uint64_t block)
{
	size_t room = (size_t)1 << v->shift, got;
	s->block = UINT64_MAX;
	if (!s->bytes) {
		TRY(budget_memory(f->z->src.budget, room));
		s->bytes = xmalloc(room);
	}
	memcpy(&f->s, &v->points[block]->s, v->points[block]->n);
	f->taken = v->points[block]->taken;
	f->made = block << v->shift;
	TRY(inflater_next(f, s->bytes, room, &got));
	s->block = block;
	return NULL;
}

static void *fill_next(void *arg)
{
	struct fill *n = arg;
	n->e = fill(n->v, n->f, n->s, n->block);
	return NULL;
}

/* Who reads forward gets the block behind too: another thread unpacks it meanwhile. */
static struct err *block_at(struct zip_view *v, uint64_t block, struct slot **ret)
{
	bool there;
	pthread_t thread;
	struct slot *s = *ret = slot_of(v, block, &there);
	if (there)
		return NULL;
	bool ahead = v->threaded && block == v->last + 1 && block + 1 < v->n;
	s->used = ++v->clock;
	v->last = block;
	struct fill n = {.v = v, .s = slot_of(v, block + 1, &there), .block = block + 1};
	ahead = ahead && !there;
	if (ahead && !v->second)
		TRY(inflater_open(v->f->z, v->f->m, &v->second));
	n.f = v->second;
	ahead = ahead && pthread_create(&thread, NULL, fill_next, &n) == 0;
	struct err *e = fill(v, v->f, s, block);
	if (ahead) {
		pthread_join(thread, NULL);
		v->last = block + 1;
		n.s->used = ++v->clock;
		err_free(n.e); /* it will be met again */
	}
	return e;
}

/* The first mark from there on; marks.n: there is none. */
static size_t mark_from(const struct zip_view *v, uint64_t at)
{
	size_t low = 0, high = v->marks.n;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (v->marks.v[middle].at < at)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool next_mark(const struct bytes *src, uint64_t *offset)
{
	const struct zip_view *v = src->user;
	uint64_t at = src->base + *offset;
	size_t i = mark_from(v, at);
	if (i == v->marks.n && v->known < v->f->m->size)
		return false;
	at = i < v->marks.n ? v->marks.v[i].at - src->base : src->size;
	*offset = at < src->size ? at : src->size;
	return true;
}

static struct err *read_view(const struct bytes *src, void *p, size_t n, uint64_t offset)
{
	struct zip_view *v = src->user;
	uint64_t at = src->base + offset;
	size_t i = mark_from(v, at);
	if (i < v->marks.n && v->marks.v[i].at == at && n <= v->marks.v[i].n) {
		memcpy(p, v->marks.v[i].p, n);
		return NULL;
	}
	for (size_t done = 0, k; done < n; done += k) {
		struct slot *s;
		uint64_t in = (at + done) & (((uint64_t)1 << v->shift) - 1);
		TRY(block_at(v, (at + done) >> v->shift, &s));
		s->used = ++v->clock;
		k = ((size_t)1 << v->shift) - (size_t)in;
		k = k < n - done ? k : n - done;
		memcpy((char *)p + done, s->bytes + in, k);
	}
	return NULL;
}

struct bytes zip_view_src(struct zip_view *v)
{
	const struct zip *z = v->f->z;
	if (v->f->m->method == ZIP_STORED)
		return bytes_sub(&z->src, v->f->m->data, v->f->m->size);
	return (struct bytes){.read = read_view,
		.next_mark = v->seen ? next_mark : NULL,
		.size = v->f->m->size,
		.fd = -1,
		.user = v,
		.budget = z->src.budget};
}

void zip_view_close(struct zip_view **view)
{
	struct zip_view *v = *view;
	if (!v)
		return;
	uint64_t memory = v->n * sizeof(struct point) + v->taken;
	for (size_t i = 0; i < v->n; i++)
		free(v->points[i]);
	for (size_t i = 0; i < SLOTS; i++) {
		memory += v->slots[i].bytes ? (uint64_t)1 << v->shift : 0;
		free(v->slots[i].bytes);
	}
	if (v->f)
		budget_return(v->f->z->src.budget, memory);
	free(v->points);
	arena_free(&v->a);
	inflater_freep(&v->f);
	inflater_freep(&v->second);
	free(v);
}

/* Random access to a deflated member without a temporary file. The member is unpacked once from end to end, with a
 * checkpoint of the decoder's state at the beginning of every block; a block that is read later is unpacked again
 * from its checkpoint, and the last few are kept. See zip.h.
 *
 * Unpacking twice costs less than writing a file: for a library of 1388 MB, the 780 MB of its device code and symbols
 * take 0.7 s, the file 2.5 to 4 s, most of which goes into new pages. */
#include <pthread.h>

#include "formats/zip_format.h"

enum {
	RING = 32,         /* pieces between the two threads: 6 ms of unpacking */
	BLOCKS = 4,        /* number of blocks that are kept */
	BLOCK_SHIFT = 20,  /* log2 of a block's bytes, at least */
	CHECKPOINTS = 384, /* at most; 87 KiB each */
};

/* A saved decoder. The output buffer is at the end of the decoder's state; only its used part is saved. */
struct checkpoint {
	uint64_t taken;
	size_t n;
	struct inflate_state s;
};

struct block {
	uint64_t number, used;
	char *bytes; /* NULL: empty */
};

struct zip_view {
	struct inflater *f;
	unsigned shift; /* log2 of the bytes of a block */
	struct checkpoint **checkpoints;
	size_t n;
	uint64_t clock;
	struct block blocks[BLOCKS];
};

/* ---- the first pass ---- */

struct handover { /* queue of pieces between the thread that unpacks and the one that calls fn */
	struct zip_view *v;
	const struct zip_pass *pass;
	pthread_mutex_t lock;
	pthread_cond_t news;
	char *pieces;
	size_t n[RING], room; /* bytes of each piece; capacity in pieces */
	uint64_t made, used;  /* pieces so far */
	bool end, stop;
	struct err *e; /* the error of fn */
};

static char *piece_of(const struct handover *h, uint64_t i)
{
	return h->pieces + i % h->room * INFLATE_PIECE;
}

static void use_piece(struct handover *h)
{
	size_t n = h->n[h->used % RING];
	const char *p = piece_of(h, h->used);
	bool stop = false;
	struct err *e = NULL;
	if (h->pass->fn)
		e = h->pass->fn(h->pass->user, p, n, &stop);
	pthread_mutex_lock(&h->lock);
	h->used++;
	h->e = e;
	h->stop = e || stop;
	pthread_cond_signal(&h->news);
	pthread_mutex_unlock(&h->lock);
}

static void *use_pieces(void *handover)
{
	struct handover *h = handover;
	for (;;) {
		pthread_mutex_lock(&h->lock);
		while (h->made == h->used && !h->end)
			pthread_cond_wait(&h->news, &h->lock);
		bool done = h->stop || h->made == h->used;
		pthread_mutex_unlock(&h->lock);
		if (done)
			return NULL;
		use_piece(h);
	}
}

/* Unpacks piece by piece, with a checkpoint at the beginning of each block. */
static struct err *unpack_pieces(struct handover *h, bool threaded)
{
	struct zip_view *v = h->v;
	struct inflater *f = v->f;
	for (size_t n = INFLATE_PIECE; n == INFLATE_PIECE;) {
		pthread_mutex_lock(&h->lock);
		while (h->made - h->used == h->room && !h->stop)
			pthread_cond_wait(&h->news, &h->lock);
		bool stop = h->stop;
		pthread_mutex_unlock(&h->lock);
		if (stop)
			return NULL;
		if (!(f->made & (((uint64_t)1 << v->shift) - 1)) && f->made != f->m->size) {
			TRY(budget_memory(f->z->src.budget, sizeof(struct checkpoint)));
			size_t used = offsetof(struct inflate_state, tmp_out_buffer) +
				      (size_t)f->s.tmp_out_valid;
			struct checkpoint *c = v->checkpoints[v->n++] =
				xmalloc(offsetof(struct checkpoint, s) + used);
			c->taken = f->taken - f->s.avail_in;
			c->n = used;
			memcpy(&c->s, &f->s, used);
			c->s.avail_in = 0;
		}
		TRY(inflater_next(f, piece_of(h, h->made), INFLATE_PIECE, &n));
		pthread_mutex_lock(&h->lock);
		if (n)
			h->n[h->made++ % RING] = n;
		pthread_cond_signal(&h->news);
		pthread_mutex_unlock(&h->lock);
		if (!threaded && n)
			use_piece(h);
	}
	return NULL;
}

struct err *zip_view_open(const struct zip *z, const struct zip_member *m,
	const struct zip_pass *pass, struct zip_view **ret)
{
	*ret = NULL;
	CLEANUP(zip_view_close) struct zip_view *v = xmalloc(sizeof(*v));
	struct handover h = {.v = v,
		.pass = pass,
		.lock = PTHREAD_MUTEX_INITIALIZER,
		.news = PTHREAD_COND_INITIALIZER,
		.room = pass->threaded ? RING : 1};
	*v = (struct zip_view){.shift = BLOCK_SHIFT};
	TRY(inflater_open(z, m, &v->f));
	while (m->size >> v->shift >= CHECKPOINTS)
		v->shift++;
	v->checkpoints = xmalloc((CHECKPOINTS + 1) * sizeof(struct checkpoint *));
	if (pass->fn || m->method == ZIP_DEFLATE) {
		pthread_t thread;
		CLEANUP(bytes_freep) char *pieces = xmalloc(h.room * INFLATE_PIECE);
		h.pieces = pieces;
		bool threaded =
			pass->threaded && pthread_create(&thread, NULL, use_pieces, &h) == 0;
		struct err *e = unpack_pieces(&h, threaded);
		if (threaded) {
			pthread_mutex_lock(&h.lock);
			h.end = true;
			pthread_cond_signal(&h.news);
			pthread_mutex_unlock(&h.lock);
			pthread_join(thread, NULL);
		}
		TRY(err_join(e, h.e));
		if (h.stop)
			return NULL;
		TRY(inflater_end(v->f));
	}
	*ret = v;
	v = NULL;
	return NULL;
}

/* ---- reading ---- */

/* Finds a block among those that are kept, or unpacks it again in place of the least recently used one. */
static struct err *block_at(struct zip_view *v, uint64_t number, struct block **ret)
{
	struct inflater *f = v->f;
	struct block *b = v->blocks;
	size_t room = (size_t)1 << v->shift, got;
	for (struct block *i = v->blocks; i < v->blocks + BLOCKS; i++) {
		b = i->used < b->used ? i : b;
		if (!i->bytes || i->number != number)
			continue;
		*ret = i;
		return NULL;
	}
	*ret = b;
	b->number = UINT64_MAX;
	if (!b->bytes) {
		TRY(budget_memory(f->z->src.budget, room));
		b->bytes = xmalloc(room);
	}
	memcpy(&f->s, &v->checkpoints[number]->s, v->checkpoints[number]->n);
	f->taken = v->checkpoints[number]->taken;
	f->made = number << v->shift;
	TRY(inflater_next(f, b->bytes, room, &got));
	b->number = number;
	return NULL;
}

static struct err *read_view(const struct bytes *src, void *p, size_t n, uint64_t offset)
{
	struct zip_view *v = src->user;
	uint64_t at = src->base + offset;
	for (size_t done = 0, k; done < n; done += k) {
		struct block *b;
		uint64_t in = (at + done) & (((uint64_t)1 << v->shift) - 1);
		TRY(block_at(v, (at + done) >> v->shift, &b));
		b->used = ++v->clock;
		k = ((size_t)1 << v->shift) - (size_t)in;
		k = k < n - done ? k : n - done;
		memcpy((char *)p + done, b->bytes + in, k);
	}
	return NULL;
}

struct bytes zip_view_src(struct zip_view *v)
{
	const struct zip *z = v->f->z;
	if (v->f->m->method == ZIP_STORED)
		return bytes_sub(&z->src, v->f->m->data, v->f->m->size);
	return (struct bytes){.read = read_view,
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
	uint64_t memory = v->n * sizeof(struct checkpoint);
	for (size_t i = 0; i < v->n; i++)
		free(v->checkpoints[i]);
	for (size_t i = 0; i < BLOCKS; i++) {
		memory += v->blocks[i].bytes ? (uint64_t)1 << v->shift : 0;
		free(v->blocks[i].bytes);
	}
	if (v->f)
		budget_return(v->f->z->src.budget, memory);
	free(v->checkpoints);
	inflater_freep(&v->f);
	free(v);
}

/* All members of a wheel in one pass: unpacked, checksummed, hashed, and when one is an ELF file or
 * device code, parsed while its bytes are at hand. Members are jobs of a pool, largest first. */
#include <malloc.h>
#include <stdlib.h>

#include "base/pool.h"
#include "base/progress.h"
#include "formats/pe.h"
#include "verify/exam.h"

enum {
	IN_MEMORY = 1 << 22, /* zip_stream() gives smaller members in one piece */
	KEPT = 16 << 10,     /* memory that goes with any library */
	PAIRED = 1 << 20,    /* the most bytes that wait to be hashed beside others, and of those */
	MOST_THREADS = 16,   /* unless more are asked for: each takes IN_MEMORY */
};

/* What is left to do: members from the largest to the smallest. Threads take the largest; who waits for room for more
 * of a large one has time for the smallest. */
struct work {
	struct job *v;
	_Atomic uint64_t left; /* of v: the first << 32, and the one behind the last */
	struct pool *pool;
	struct progress *progress;
};

struct job {
	struct exam *x;
	struct exam_member *m;
	struct work *work;
	bool threaded;         /* one thread unpacks, another takes */
	struct job *big;       /* whose thread does this one while it waits for pieces, or NULL */
	struct zip_ring *ring; /* of that */
	struct beside *beside; /* or NULL */
};

struct beside { /* bytes of another member that are to be hashed together with those of this one */
	struct hash *hash;
	struct str left;
};

struct pass { /* one member on its way */
	struct job *job;
	struct hash *hash;
	bool first;              /* nothing of it was seen yet */
	bool keep;               /* worth parsing */
	bool image;              /* an ELF file or PE image */
	bool big;                /* it comes in pieces */
	_Atomic(struct err *) e; /* of other members that were done meanwhile */
};

static bool comes_in_pieces(const struct zip_member *m)
{
	return m->size > IN_MEMORY || m->stored > IN_MEMORY;
}

static struct err *parse(const struct pass *s, const struct bytes *src)
{
	struct exam_member *m = s->job->m;
	const struct verify_options *o = s->job->x->o;
	unsigned flags = o->require.n || o->device_code || m->kpack ? DEVCODE_KERNELS : 0;
	struct err *e = budget_memory(src->budget, KEPT);
	if (!e && m->elf_magic)
		e = wheel_elf_read(&m->a, src, m->zip->name, &m->facts, &m->elf);
	if (e && e->code != E_ELF && e->code != E_LIMIT)
		return e;
	m->odd = e;
	m->elf = m->elf && !e;
	m->device.unknown = true;
	e = devcode_scan_src(&m->a, src, m->zip->name, flags, &m->device);
	if (!e && s->image && m->device.findings.n)
		e = kpack_host_read(&m->a, src, &m->host);
	if (e && (e->code == E_IO || e->code == E_NOSPACE || e->code == E_CANCELLED))
		return e;
	m->device_bad = e;
	return NULL;
}

/* The largest that are left come first, or else the smallest, up to so many bytes. */
static struct job *next(struct work *w, bool largest, uint64_t most)
{
	uint64_t now = atomic_load(&w->left), then;
	struct job *j;
	do {
		then = largest ? now + (UINT64_C(1) << 32) : now - 1;
		if (now >> 32 == (uint32_t)now)
			return NULL;
		j = &w->v[largest ? now >> 32 : (uint32_t)then];
		if (j->m->zip->size > most)
			return NULL;
	} while (!atomic_compare_exchange_weak(&w->left, &now, then));
	return j;
}

static struct err *run(struct job *j);

/* Hashing two members side by side takes as long as one of them (hash.h). So what is unpacked while a large one's thread
 * waits is hashed with the pieces that came meanwhile, and else with the smallest that are left. */
static struct err *add_hash(struct pass *s, struct str bytes)
{
	struct job *j = s->job, *k;
	struct beside mine = {s->hash, bytes}, *b = j->beside ? j->beside : &mine;
	if (j->beside) {
		size_t n = b->left.n < bytes.n ? b->left.n : bytes.n;
		n = hash_add_two(s->hash, b->hash, bytes.p, b->left.p, n);
		b->left = str_sub(b->left, n, b->left.n);
		bytes = str_sub(bytes, n, bytes.n);
	} else if (j->ring) {
		j->big->beside = b;
		while (zip_ring_use(j->ring)) {
		}
		j->big->beside = NULL;
	} else if (!j->threaded && bytes.n <= PAIRED && hash_pairs()) {
		while (b->left.n >= HASH_BLOCK && (k = next(j->work, false, PAIRED))) {
			k->beside = b;
			TRY(run(k));
		}
	}
	bytes = b == &mine ? mine.left : bytes;
	hash_add(s->hash, bytes.p, bytes.n);
	return NULL;
}

static struct err *take(void *user, const void *p, size_t n, bool *stop)
{
	(void)stop;
	struct pass *s = user;
	struct exam_member *m = s->job->m;
	struct str bytes = {.p = p, .n = n};
	progress_add(s->job->work->progress, n, m->zip->name);
	TRY(add_hash(s, bytes));
	if (s->first) {
		m->elf_magic = str_starts(bytes, S("\177ELF"));
		m->kpack = kpack_is(bytes);
		s->image = m->elf_magic || pe_is(bytes);
		s->keep = s->image || m->kpack || bundle_is(bytes);
	}
	s->first = false;
	if (!s->keep || s->big)
		return NULL;
	struct bytes src = bytes_mem(bytes);
	src.budget = s->job->x->zip.src.budget;
	return parse(s, &src);
}

static void hash_freep(struct hash **h)
{
	hash_free(*h);
}

static bool idle(void *user, struct zip_ring *ring)
{
	struct pass *s = user;
	struct work *w = s->job->work;
	/* large ones are mostly hashed with pieces, but are not to outlast these by much */
	struct job *j = NULL;
	if (!atomic_load(&s->e) && ring && hash_pairs())
		j = next(w, true, s->job->m->zip->size / 16);
	if (!atomic_load(&s->e) && !j)
		j = next(w, false, UINT64_MAX);
	if (j && ring) {
		j->big = s->job;
		j->ring = ring;
	}
	struct err *e = j ? run(j) : NULL, *none = NULL;
	if (e && !atomic_compare_exchange_strong(&s->e, &none, e))
		err_free(e);
	return j;
}

/* Members until there are no more, or something fails for good: then the other threads end, too. */
static struct err *drain(struct arena *tmp, void *user)
{
	(void)tmp;
	struct work *w = user;
	struct err *e = NULL;
	for (struct job *j; !e && (j = next(w, true, UINT64_MAX));)
		e = run(j);
	if (e)
		atomic_store(&w->left, 0);
	return e;
}

static struct err *pass(struct job *j, struct pass *s, struct zip_view **ret)
{
	const struct zip *z = &j->x->zip;
	struct zip_pass p = {take, s, j->threaded, idle, devcode_mark};
	if (!s->big)
		return zip_stream(z, j->m->zip, take, s);
	struct err *e = zip_view_open(z, j->m->zip, &p, ret);
	if (j->threaded) /* its other thread has ended */
		pool_add(j->work->pool, drain, j->work);
	return err_join(e, atomic_load(&s->e));
}

static struct err *unpack(struct job *j)
{
	struct exam_member *m = j->m;
	CLEANUP(hash_freep) struct hash *hash = hash_new(HASH_SHA256);
	CLEANUP(zip_view_close) struct zip_view *view = NULL;
	struct pass s = {.job = j, .hash = hash, .first = true, .big = comes_in_pieces(m->zip)};
	TRY(pass(j, &s, &view));
	m->digest = hash_end(hash);
	hash = NULL;
	m->read = true;
	if (!s.keep || !s.big)
		return NULL;
	struct bytes src = zip_view_src(view);
	return parse(&s, &src);
}

static struct err *run(struct job *j)
{
	struct err *e = unpack(j);
	if (!e || (e->code != E_ZIP && e->code != E_LIMIT))
		return e;
	j->m->bad = e;
	return NULL;
}

static struct err *run_threaded(struct arena *tmp, void *job)
{
	struct job *j = job;
	TRY(run(j));
	return drain(tmp, j->work);
}

static int by_size(const void *x, const void *y)
{
	const struct job *a = x, *b = y;
	uint64_t n = a->m->zip->size, k = b->m->zip->size;
	return n != k ? (n < k) - (n > k) : (a->m > b->m) - (a->m < b->m);
}

static void report(struct exam *x, struct exam_member *m)
{
	if (m->bad)
		exam_say(x, V_ZIP_CONTENT, m->zip->name, "%s", m->bad->msg);
	if (m->elf)
		*VEC_PUSH(x->a, &x->elfs) = m->facts;
	if (!m->odd)
		return;
	bool library = str_contains(m->zip->name, S(".so"));
	exam_say(x, library ? V_ELF_BROKEN : V_ELF_ODD, m->zip->name, "%s", err_root(m->odd)->msg);
}

/* A member that takes one thread longer than all of them need together gets two. */
static struct err *run_all(struct work *w, size_t n, uint64_t total, unsigned jobs)
{
	unsigned cpus = cpu_count(), threads = jobs                  ? jobs
					       : cpus < MOST_THREADS ? cpus
								     : MOST_THREADS;
	size_t big = 0;
	mallopt(M_MMAP_THRESHOLD,
		4 * IN_MEMORY); /* the next member has the pages of the last one */
	mallopt(M_TRIM_THRESHOLD, 4 * IN_MEMORY);
	while (big < n && big + 1 <= threads / 2 && w->v[big].m->zip->size > total / threads &&
		comes_in_pieces(w->v[big].m->zip))
		w->v[big++].threaded = true;
	atomic_store(&w->left, (uint64_t)big << 32 | n);
	w->pool = pool_new(threads);
	for (size_t i = 0; i < big; i++)
		pool_add(w->pool, run_threaded, &w->v[i]);
	for (size_t i = 2 * big; i < threads; i++)
		pool_add(w->pool, drain, w);
	return pool_end(w->pool);
}

struct err *check_members(struct exam *x)
{
	size_t n = 0;
	uint64_t total = 0;
	x->members = arena_array(x->a, x->zip.members.n + 1, sizeof(*x->members));
	struct work w = {0};
	struct job *jobs = w.v = arena_array(x->a, x->zip.members.n + 1, sizeof(*jobs));
	for (; x->n < x->zip.members.n; x->n++) {
		struct exam_member *m = &x->members[x->n];
		m->zip = &x->zip.members.v[x->n];
		m->skip = m->zip->dir || m->zip->unsafe;
		total += m->skip ? 0 : m->zip->size;
		if (!m->skip)
			jobs[n++] = (struct job){.x = x, .m = m, .work = &w};
	}
	qsort(jobs, n, sizeof(*jobs), by_size);
	w.progress = progress_begin(S("Verifying"), x->path, UNIT_BYTES, total);
	struct err *e = run_all(&w, n, total, x->o->jobs);
	progress_end(w.progress);
	for (size_t i = 0; i < x->n && !e; i++)
		report(x, &x->members[i]);
	return e;
}

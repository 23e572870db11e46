/* All members of a wheel in one pass: unpacked, checksummed, hashed, and when one is an ELF file or
 * device code, parsed while its bytes are at hand. Members are jobs of a pool, largest first. */
#include <stdlib.h>

#include "base/pool.h"
#include "base/progress.h"
#include "formats/pe.h"
#include "verify/exam.h"

enum {
	IN_MEMORY = 1 << 22, /* zip_stream() gives smaller members in one piece */
	KEPT = 16 << 10,     /* memory that goes with any library */
	MOST_THREADS = 16,   /* unless more are asked for: each takes IN_MEMORY */
};

struct job {
	struct exam *x;
	struct exam_member *m;
	struct progress *progress;
};

struct pass { /* one member on its way */
	struct job *job;
	struct hash *hash;
	bool first; /* nothing of it was seen yet */
	bool keep;  /* worth parsing */
	bool image; /* an ELF file or PE image */
	bool big;   /* it comes in pieces */
};

static bool comes_in_pieces(const struct zip_member *m)
{
	return m->size > IN_MEMORY || m->stored > IN_MEMORY;
}

static struct err *parse(const struct pass *s, const struct elf_src *src)
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

static struct err *take(void *user, const void *p, size_t n, bool *stop)
{
	(void)stop;
	struct pass *s = user;
	struct exam_member *m = s->job->m;
	struct str bytes = {.p = p, .n = n};
	hash_add(s->hash, p, n);
	progress_add(s->job->progress, n, m->zip->name);
	if (s->first) {
		m->elf_magic = str_starts(bytes, S("\177ELF"));
		m->kpack = kpack_is(bytes);
		s->image = m->elf_magic || pe_is(bytes);
		s->keep = s->image || m->kpack || bundle_is(bytes);
	}
	s->first = false;
	if (!s->keep || s->big)
		return NULL;
	struct elf_src src = elf_src_mem(bytes);
	src.budget = s->job->x->zip.src.budget;
	return parse(s, &src);
}

static void hash_freep(struct hash **h)
{
	hash_free(*h);
}

static struct err *unpack(struct job *j)
{
	struct exam_member *m = j->m;
	const struct zip *z = &j->x->zip;
	bool big = comes_in_pieces(m->zip);
	CLEANUP(hash_freep) struct hash *hash = hash_new(HASH_SHA256);
	CLEANUP(zip_view_close) struct zip_view *view = NULL;
	struct pass s = {.job = j, .hash = hash, .first = true, .big = big};
	if (big)
		TRY(zip_view_open(z, m->zip,
			&(struct zip_pass){take, &s, j->x->o->jobs != 1, devcode_mark}, &view));
	else
		TRY(zip_stream(z, m->zip, take, &s));
	m->digest = hash_end(hash);
	hash = NULL;
	m->read = true;
	if (!s.keep || !big)
		return NULL;
	struct elf_src src = zip_view_src(view);
	return parse(&s, &src);
}

static struct err *run(struct arena *tmp, void *job)
{
	(void)tmp;
	struct job *j = job;
	struct err *e = unpack(j);
	if (!e || (e->code != E_ZIP && e->code != E_LIMIT))
		return e;
	j->m->bad = e;
	return NULL;
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

struct err *check_members(struct exam *x)
{
	size_t n = 0;
	uint64_t total = 0;
	x->members = arena_array(x->a, x->zip.members.n + 1, sizeof(*x->members));
	struct job *jobs = arena_array(x->a, x->zip.members.n + 1, sizeof(*jobs));
	for (; x->n < x->zip.members.n; x->n++) {
		struct exam_member *m = &x->members[x->n];
		m->zip = &x->zip.members.v[x->n];
		m->skip = m->zip->dir || m->zip->unsafe;
		total += m->skip ? 0 : m->zip->size;
		if (!m->skip)
			jobs[n++] = (struct job){.x = x, .m = m};
	}
	qsort(jobs, n, sizeof(*jobs), by_size);
	struct progress *p = progress_begin(S("Verifying"), x->path, UNIT_BYTES, total);
	for (size_t i = 0; i < n; i++)
		jobs[i].progress = p;
	unsigned threads = cpu_count() < MOST_THREADS ? cpu_count() : MOST_THREADS;
	struct pool *pool = pool_new(x->o->jobs ? x->o->jobs : threads);
	size_t big = 0;
	while (big < n && comes_in_pieces(jobs[big].m->zip)) /* one at a time */
		pool_add(pool, run, &jobs[big++]);
	pool_add_each(pool, jobs + big, n - big, sizeof(*jobs), run);
	struct err *e = pool_end(pool);
	progress_end(p);
	for (size_t i = 0; i < x->n && !e; i++)
		report(x, &x->members[i]);
	return e;
}

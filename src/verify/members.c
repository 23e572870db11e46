/* Reads all members of a wheel in one pass: they are unpacked, checksummed, hashed, and parsed if they are ELF files or
 * device code, while their bytes are at hand. Members are jobs of a pool, the largest first. */
#include "base/pool.h"
#include "base/progress.h"
#include "verify/exam.h"

enum {
	IN_MEMORY = 1 << 22, /* zip_stream() gives smaller members in one piece */
	KEPT = 16 << 10,     /* bytes charged for the facts about each library */
	MOST_THREADS = 16,   /* unless the user demands more: each takes IN_MEMORY */
};

struct member_pass { /* a member that is being read */
	struct exam *x;
	struct exam_member *m;
	struct progress *progress;
	struct hash *hash;
	bool pieces;   /* it is read in pieces */
	bool threaded; /* one thread unpacks it, another one hashes it */
	bool seen;     /* its first bytes were examined */
	bool keep;     /* it is worth parsing */
	bool image;    /* an ELF file or PE image */
};

static struct err *parse_member(const struct member_pass *s, const struct bytes *src)
{
	struct exam_member *m = s->m;
	const struct verify_options *o = s->x->o;
	unsigned flags = o->require.n || o->device_code || m->kpack ? DEVCODE_KERNELS : 0;
	flags |= DEVCODE_INNER; /* as inspect does: the same code counts for both */
	struct err *e = budget_memory(src->budget, KEPT);
	if (!e && m->elf_magic)
		e = wheel_elf_read(&m->a, src, m->zip->name, &m->facts, &m->elf);
	if (!e && m->elf)
		e = torch_symbols(&m->a, src, &m->facts);
	if (e && e->code != E_ELF && e->code != E_LIMIT)
		return e;
	m->odd = e;
	m->elf = m->elf && !e;
	struct kpack archive = {0};
	e = devcode_scan_src(&m->code, src, m->zip->name, flags, &m->device);
	if (!e && s->image && m->device.findings.n)
		e = kpack_host_read(&m->code, src, &m->host);
	if (!e && m->kpack)
		e = kpack_open(&m->code, src, &archive);
	m->archs = archive.archs;
	if (e && (e->code == E_IO || e->code == E_NOSPACE || e->code == E_CANCELLED))
		return e;
	m->device_bad = e;
	return NULL;
}

static struct err *take_bytes(void *user, const void *p, size_t n, bool *stop)
{
	(void)stop;
	struct member_pass *s = user;
	struct exam_member *m = s->m;
	struct str bytes = {.p = p, .n = n};
	progress_add(s->progress, n, m->zip->name);
	hash_add(s->hash, p, n);
	if (!s->seen) {
		m->elf_magic = str_starts(bytes, S("\177ELF"));
		m->kpack = kpack_is(bytes);
		s->image = m->elf_magic || pe_is(bytes);
		s->keep = s->image || m->kpack || bundle_is(bytes) || archive_is(bytes);
		s->seen = true;
	}
	if (!s->keep || s->pieces)
		return NULL;
	struct bytes src = bytes_mem(bytes);
	src.budget = s->x->zip.src.budget;
	return parse_member(s, &src);
}

static struct err *check_member(struct arena *tmp, void *pass)
{
	(void)tmp;
	struct member_pass *s = pass;
	const struct zip *z = &s->x->zip;
	const struct zip_pass zp = {take_bytes, s, s->threaded};
	CLEANUP(zip_view_close) struct zip_view *view = NULL;
	s->hash = hash_new(HASH_SHA256);
	struct err *e = s->pieces ? zip_view_open(z, s->m->zip, &zp, &view)
				  : zip_stream(z, s->m->zip, take_bytes, s);
	if (!e && s->pieces && s->keep) {
		struct bytes src = zip_view_src(view);
		e = parse_member(s, &src);
	}
	struct digest d = hash_end(s->hash);
	if (e && e->code != E_ZIP && e->code != E_LIMIT)
		return e;
	s->m->bad = e;
	s->m->read = !e;
	s->m->digest = d;
	return NULL;
}

static int by_size(const void *x, const void *y)
{
	const struct member_pass *a = x, *b = y;
	uint64_t n = a->m->zip->size, k = b->m->zip->size;
	return n != k ? (n < k) - (n > k) : (a->m > b->m) - (a->m < b->m);
}

struct err *check_members(struct exam *x)
{
	size_t n = 0;
	uint64_t total = 0;
	unsigned cpus = cpu_count(), threads = x->o->jobs ? x->o->jobs : cpus;
	threads = x->o->jobs || threads < MOST_THREADS ? threads : MOST_THREADS;
	x->members = arena_array(x->a, x->zip.members.n + 1, sizeof(*x->members));
	struct member_pass *v = arena_array(x->a, x->zip.members.n + 1, sizeof(*v));
	for (; x->n < x->zip.members.n; x->n++) {
		struct exam_member *m = &x->members[x->n];
		m->zip = &x->zip.members.v[x->n];
		m->skip = m->zip->dir || m->zip->unsafe;
		if (m->skip)
			continue;
		total += m->zip->size;
		v[n++] = (struct member_pass){.x = x, .m = m};
	}
	struct progress *progress = progress_begin(S("Verifying"), x->path, UNIT_BYTES, total);
	for (size_t i = 0; i < n; i++) {
		const struct zip_member *z = v[i].m->zip;
		v[i].progress = progress;
		v[i].pieces = z->size > IN_MEMORY || z->stored > IN_MEMORY;
		/* a member that keeps one thread busy for longer than all threads need for all members */
		v[i].threaded = v[i].pieces && threads > 1 && z->size > total / threads;
	}
	qsort(v, n, sizeof(*v), by_size);
	struct pool *pool = pool_new(threads);
	for (size_t i = 0; i < n; i++)
		pool_add(pool, check_member, &v[i]);
	struct err *e = pool_end(pool);
	progress_end(progress);
	for (size_t i = 0; i < x->n && !e; i++) {
		const struct exam_member *m = &x->members[i];
		bool library = str_contains(m->zip->name, S(".so"));
		if (m->bad)
			exam_say(x, V_ZIP_CONTENT, m->zip->name, "%s", m->bad->msg);
		if (m->elf)
			*VEC_PUSH(x->a, &x->elfs) = m->facts;
		if (m->odd)
			exam_say(x, library ? V_ELF_BROKEN : V_ELF_ODD, m->zip->name, "%s",
				err_root(m->odd)->msg);
	}
	return e;
}

/* Writes zip archives: deterministic, parallel, ZIP64 exactly where a value does not fit.
 *
 * Members are cut into units; all threads work on these, and one more thread writes finished units in order. The
 * bytes of waiting units are limited. A small member is one unit: read, hashed, checksummed and compressed in one
 * pass. A big one is cut into chunks that are compressed separately and joined, so that one library does not keep all
 * CPUs waiting; meanwhile one more unit hashes all of it. Results depend on the content only. Members of other
 * archives are copied by the writing thread.
 *
 * libdeflate has no flush, so the chunks of a big member are finished streams; they are joined by clearing the
 * "final" bit of the last block, which deflate_walk.c finds, and adding an empty stored block, which ends at a byte
 * boundary (RFC 1951, 3.2.3 and 3.2.4).
 *
 * Headers of big members are reserved, and filled in when their sizes are known. A deflated member is never larger
 * than its content (else it is stored), so the members that need ZIP64 are known from the start. */
#include <libdeflate.h>
#include <pthread.h>
#include <time.h>

#include "base/fs.h"
#include "base/hash.h"
#include "base/pool.h"
#include "base/proc.h"
#include "base/progress.h"
#include "formats/zip_format.h"

enum { LEVEL = 6, PIECE = 1 << 20, CHUNK_SIZE = 2 << 20 };
/* Jobs are begun until their content is that of AHEAD chunks for each thread, or MOST_WAITING. The last one may go beyond
 * that by two chunks, which makes the 68 MiB of zip.h. */
enum { AHEAD = 4, MOST_WAITING = 64 << 20 };

struct packed { /* a member on its way into the archive */
	const struct zip_input *in;
	uint64_t size, stored;
	uint64_t header; /* offset of the local header */
	uint32_t crc;
	uint16_t method;
	bool big;
	struct hash *running; /* hash of a big member, until its hash unit is written */
	uint32_t hashed;      /* its CRC, until then */
	struct digest digest;
};

enum pack_work { WHOLE, CHUNK, HASH, COPY };

struct pack_unit {
	enum pack_work work;
	struct packed *member;
	uint64_t from, n; /* part of the content */
	char *out;        /* malloc'ed result, to be written in order; NULL for HASH and COPY */
	size_t out_n;
};

/* A job for the pool: consecutive units, which share a compressor. */
struct pack_job {
	struct writer *w;
	struct pack_unit *v;
	size_t n;
	uint64_t bytes; /* bytes of content in this job */
	bool begun, done;
	struct err *e;
};

/* ---- threads: compressing and hashing ---- */

/* Reads part of an input's content, or of a member's compressed bytes; E_IO if the file has become shorter. */
static struct err *read_input(const struct zip_input *in, void *p, size_t n, uint64_t from)
{
	if (in->member) {
		TRY_CTX(bytes_read(&in->zip->src, p, n, in->member->data + from),
			"cannot copy '%.*s'", STR(in->name));
	} else if (in->path.n) {
		CLEANUP(fd_closep) int fd = -1;
		TRY(fs_open(in->path, &fd));
		TRY_CTX(fs_pread(fd, p, n, from), "cannot read '%.*s' to pack it", STR(in->path));
	} else if (n) {
		memcpy(p, in->content.p + from, n);
	}
	return NULL;
}

static void deflate_freep(struct libdeflate_compressor **c)
{
	libdeflate_free_compressor(*c);
}

static struct err *compressor(struct libdeflate_compressor **ret)
{
	*ret = libdeflate_alloc_compressor(LEVEL);
	return *ret ? NULL : err_new(E_LIMIT, "not enough memory to compress");
}

static struct err *pack_whole(struct libdeflate_compressor *c, struct pack_unit *u)
{
	struct packed *m = u->member;
	CLEANUP(bytes_freep) char *raw = xmalloc(u->n + 1);
	TRY(read_input(m->in, raw, u->n, 0));
	m->digest = hash_bytes(HASH_SHA256, raw, u->n);
	m->crc = libdeflate_crc32(0, raw, u->n);
	m->method = ZIP_DEFLATE;
	u->out = xmalloc(u->n + 1);
	/* Compresses into less room than the content takes: what does not shrink is stored. */
	if (u->n)
		u->out_n = libdeflate_deflate_compress(c, raw, u->n, u->out, u->n - 1);
	if (!u->out_n) {
		free(u->out);
		u->out = raw;
		u->out_n = u->n;
		raw = NULL;
		m->method = ZIP_STORED;
	}
	return NULL;
}

/* A chunk that others follow becomes an unfinished stream. */
static struct err *pack_chunk(
	struct arena *tmp, struct libdeflate_compressor *c, struct pack_unit *u)
{
	enum { SPARE = 8 }; /* deflate_last_block() reads that far, and the empty block takes 5 */
	struct packed *m = u->member;
	size_t n = (size_t)u->n, room = libdeflate_deflate_compress_bound(NULL, n) + SPARE;
	uint64_t begin, end;
	CLEANUP(bytes_freep) char *raw = xmalloc(n);
	TRY(read_input(m->in, raw, n, u->from));
	if (m->method == ZIP_STORED) {
		u->out = raw;
		u->out_n = n;
		raw = NULL;
		return NULL;
	}
	char *out = u->out = xmalloc(room);
	u->out_n = libdeflate_deflate_compress(c, raw, n, out, room - SPARE);
	if (!u->out_n)
		return err_new(E_INTERNAL, "a chunk outgrew the bound of libdeflate");
	if (u->from + u->n == m->size)
		return NULL;
	memset(out + u->out_n, 0, SPARE);
	if (!deflate_last_block(tmp, out, u->out_n, &begin, &end))
		return err_new(E_INTERNAL, "a deflated chunk cannot be read again");
	out[begin / 8] = (char)((unsigned char)out[begin / 8] & ~(1u << begin % 8));
	/* three header bits of an empty stored block, zeros up to the byte, LEN and NLEN */
	u->out_n = (size_t)((end + 3 + 7) / 8);
	if ((end + 7) / 8 < u->out_n)
		out[u->out_n - 1] = 0;
	memcpy(out + u->out_n, "\0\0\xff\xff", 4);
	u->out_n += 4;
	return NULL;
}

static struct err *hash_all(struct arena *tmp, struct packed *m)
{
	char *p = arena_alloc(tmp, PIECE);
	m->running = hash_new(HASH_SHA256);
	for (uint64_t at = 0; at < m->size; at += PIECE) {
		size_t n = m->size - at < PIECE ? (size_t)(m->size - at) : PIECE;
		TRY(read_input(m->in, p, n, at));
		TRY(cancel_check());
		hash_add(m->running, p, n);
		m->hashed = libdeflate_crc32(m->hashed, p, n);
	}
	return NULL;
}

/* Fills in out and out_n of each unit and, depending on its work, the member's crc, method and digest. */
static struct err *run_units(struct arena *tmp, const struct pack_job *j)
{
	CLEANUP(deflate_freep) struct libdeflate_compressor *c = NULL;
	TRY(compressor(&c));
	for (size_t i = 0; i < j->n; i++) {
		struct arena_mark mark = arena_mark(tmp);
		struct pack_unit *u = &j->v[i];
		TRY(cancel_check());
		TRY(u->work == WHOLE       ? pack_whole(c, u)
			: u->work == CHUNK ? pack_chunk(tmp, c, u)
					   : hash_all(tmp, u->member));
		arena_rewind(tmp, mark);
	}
	return NULL;
}

/* Chooses the method of a big member by samples of its content: data that is already compressed is stored. */
static struct err *probe(struct packed *m)
{
	enum { SAMPLE = 1 << 16, SAMPLES = 8 };
	ARENA(tmp);
	CLEANUP(deflate_freep) struct libdeflate_compressor *c = NULL;
	TRY(compressor(&c));
	char *raw = arena_alloc(&tmp, SAMPLE), *out = arena_alloc(&tmp, SAMPLE);
	size_t sum = 0, n = m->size < SAMPLE ? (size_t)m->size : SAMPLE;
	for (unsigned i = 0; i < SAMPLES; i++) {
		TRY(read_input(m->in, raw, n, (m->size - n) / (SAMPLES - 1) * i));
		size_t got = libdeflate_deflate_compress(c, raw, n, out, n);
		sum += got ? got : n;
	}
	m->method = sum > n * SAMPLES / 100 * 98 ? ZIP_STORED : ZIP_DEFLATE;
	return NULL;
}

/* ---- headers ---- */

struct writer {
	struct arena *a;
	struct zip_limits lim;
	struct fs_out out;
	struct packed *members;
	size_t n;
	uint32_t date; /* DOS date and time */
	unsigned threads;
	struct pack_unit *units;
	VEC(struct pack_job) jobs; /* in the order in which they are written */
	struct pool *pool;
	pthread_mutex_t lock;
	pthread_cond_t news; /* a job is done */
	atomic_bool stop;
	struct progress *progress;
};

static void job_free(struct pack_job *j)
{
	for (size_t i = 0; i < j->n; i++) {
		free(j->v[i].out);
		j->v[i].out = NULL;
	}
	err_freep(&j->e);
}

static void writer_done(struct writer *w)
{
	VEC_EACH (struct pack_job, j, &w->jobs)
		job_free(j);
	for (size_t i = 0; i < w->n; i++)
		hash_free(w->members[i].running);
	fs_out_abandon(&w->out);
	progress_end(w->progress);
}

/* MS-DOS date and time: two-second steps since 1980, in UTC so that no time zone gets into the bytes. */
static uint32_t dos_time(int64_t epoch)
{
	const int64_t first = 315532800, last = 4354819198; /* 1980-01-01, 2107-12-31 23:59:58 */
	time_t t = (time_t)(epoch < first ? first : epoch > last ? last : epoch);
	struct tm tm;
	gmtime_r(&t, &tm);
	return (uint32_t)(tm.tm_year - 80) << 25 | (uint32_t)(tm.tm_mon + 1) << 21 |
	       (uint32_t)tm.tm_mday << 16 | (uint32_t)tm.tm_hour << 11 | (uint32_t)tm.tm_min << 5 |
	       (uint32_t)tm.tm_sec / 2;
}

/* The value of a 32-bit field: all ones if the true value is in the ZIP64 extra field. */
static uint64_t or_ones(uint64_t value, bool wide)
{
	return wide ? 0xffffffff : value;
}

/* A member's local or central header. Its ZIP64 field has the values that do not fit, in this order; in a local header,
 * both sizes or none (4.5.3). As stored <= size in what we compress, size alone decides whether the latter is there,
 * before stored is known. */
static void put_header(struct writer *w, struct buf *b, const struct packed *m, bool central)
{
	const uint64_t values[] = {m->size, m->stored, m->header}, most = w->lim.size;
	bool sizes = m->size >= most || m->stored >= most;
	const bool wide[] = {central ? m->size >= most : sizes, central ? m->stored >= most : sizes,
		central && m->header >= most};
	unsigned extra = 8u * wide[0] + 8u * wide[1] + 8u * wide[2];
	unsigned need = extra ? 45 : m->method == ZIP_DEFLATE ? 20 : 10;
	buf_le(b, central ? ZIP_CENTRAL : ZIP_LOCAL, 4);
	if (central)
		buf_le(b, 3 << 8 | (need < 20 ? 20 : need), 2); /* made by: Unix */
	buf_le(b, need, 2);
	buf_le(b, zip_ascii(m->in->name) ? 0 : ZIP_FLAG_UTF8, 2);
	buf_le(b, m->method, 2);
	buf_le(b, w->date, 4);
	buf_le(b, m->crc, 4);
	buf_le(b, or_ones(m->stored, wide[1]), 4);
	buf_le(b, or_ones(m->size, wide[0]), 4);
	buf_le(b, m->in->name.n, 2);
	buf_le(b, extra ? extra + 4 : 0, 2);
	if (central) {
		buf_le(b, 0, 2 + 2 + 2); /* comment, disk, internal attributes */
		buf_le(b, (uint64_t)(0100000 | m->in->mode) << 16, 4);
		buf_le(b, or_ones(m->header, wide[2]), 4);
	}
	buf_add(b, m->in->name);
	if (!extra)
		return;
	buf_le(b, ZIP_EXTRA64, 2);
	buf_le(b, extra, 2);
	for (unsigned i = 0; i < 3; i++)
		if (wide[i])
			buf_le(b, values[i], 8);
}

static void put_end(struct writer *w, struct buf *b, uint64_t start)
{
	uint64_t n = w->n, size = b->n;
	bool many = n >= w->lim.count;
	bool wide = many || size >= w->lim.size || start >= w->lim.size;
	if (wide) {
		buf_le(b, ZIP_END64, 4);
		buf_le(b, ZIP_END64_SIZE - 12, 8);
		buf_le(b, 3 << 8 | 45, 2);
		buf_le(b, 45, 2);
		buf_le(b, 0, 8); /* disks */
		buf_le(b, n, 8);
		buf_le(b, n, 8);
		buf_le(b, size, 8);
		buf_le(b, start, 8);
		buf_le(b, ZIP_LOCATOR64, 4);
		buf_le(b, 0, 4);
		buf_le(b, start + size, 8);
		buf_le(b, 1, 4);
	}
	buf_le(b, ZIP_END, 4);
	buf_le(b, 0, 4); /* disks */
	buf_le(b, many ? 0xffff : n, 2);
	buf_le(b, many ? 0xffff : n, 2);
	buf_le(b, or_ones(size, size >= w->lim.size), 4);
	buf_le(b, or_ones(start, start >= w->lim.size), 4);
	buf_le(b, 0, 2);
}

/* ---- members ---- */

static struct err *input_check(struct writer *w, struct packed *m, struct map *names)
{
	const struct zip_input *in = m->in;
	const char *problem = zip_name_problem(in->name);
	if (!problem && in->name.p[in->name.n - 1] == '/')
		problem = "is that of a folder";
	if (!problem && utf8_end(in->name) < in->name.n)
		problem = "is not valid UTF-8";
	if (problem)
		return err_new(E_ZIP, "cannot pack '%.*s': the name %s", STR(in->name), problem);
	if (!map_put(names, in->name, m))
		return err_new(E_ZIP, "cannot pack '%.*s': the name occurs twice", STR(in->name));
	struct stat st = {0};
	if (in->member) {
		*m = (struct packed){.in = in,
			.size = in->member->size,
			.crc = in->member->crc,
			.method = in->member->method};
		return in->member->unsafe
			       ? err_new(E_ZIP, "cannot copy '%.*s': it is not safe to read",
					 STR(in->name))
			       : NULL;
	}
	if (in->path.n)
		TRY_CTX(fs_stat(in->path, &st), "cannot pack '%.*s'", STR(in->name));
	if (in->path.n && !S_ISREG(st.st_mode))
		return err_new(
			E_ZIP, "cannot pack '%.*s': it is not a regular file", STR(in->path));
	m->size = in->path.n ? (uint64_t)st.st_size : in->content.n;
	m->big = m->size > 2 * w->lim.chunk;
	return NULL;
}

static struct err *write_header(struct writer *w, struct packed *m)
{
	ARENA(tmp);
	BUF(b, &tmp);
	put_header(w, &b, m, false);
	if (w->out.offset == m->header)
		fs_out_write(&w->out, b.p, b.n);
	else
		TRY_CTX(fs_pwrite(w->out.fd, b.p, b.n, m->header), "cannot write '%s'",
			w->out.path);
	return NULL;
}

/* Writes a member's bytes as its input has them. */
static struct err *write_as_is(struct writer *w, const struct packed *m)
{
	ARENA(tmp);
	char *p = arena_alloc(&tmp, PIECE);
	for (uint64_t at = 0; at < m->stored; at += PIECE) {
		size_t n = m->stored - at < PIECE ? (size_t)(m->stored - at) : PIECE;
		TRY(read_input(m->in, p, n, at));
		fs_out_write(&w->out, p, n);
		progress_add(w->progress, m->in->member ? n : 0, m->in->name);
	}
	return NULL;
}

static struct err *write_unit(struct writer *w, struct pack_unit *u)
{
	struct packed *m = u->member;
	if (u->work != HASH && u->from == 0) {
		m->header = w->out.offset;
		m->stored = u->work == WHOLE  ? u->out_n
			    : u->work == COPY ? m->in->member->stored
					      : 0;
		TRY(write_header(w, m));
	}
	if (u->work == COPY)
		return write_as_is(w, m);
	if (u->work == CHUNK)
		m->stored += u->out_n;
	if (u->out_n)
		fs_out_write(&w->out, u->out, u->out_n);
	progress_add(w->progress, u->work == HASH ? 0 : u->n, m->in->name);
	if (u->work != HASH)
		return NULL;
	m->crc = m->hashed;
	m->digest = hash_end(m->running);
	m->running = NULL;
	if (m->method == ZIP_DEFLATE && m->stored >= m->size) { /* it did not shrink */
		fs_out_cut(&w->out, w->out.offset - m->stored);
		m->stored = m->size;
		m->method = ZIP_STORED;
		TRY(write_as_is(w, m));
	}
	return write_header(w, m);
}

/* ---- the queue ---- */

/* Appends a unit; small ones share a job, to share the cost of a compressor. */
static void add_unit(struct writer *w, struct pack_unit unit)
{
	enum { JOB = 1 << 18 };
	struct pack_job *last = w->jobs.n ? &w->jobs.v[w->jobs.n - 1] : NULL;
	struct pack_unit *u = last ? last->v + last->n : w->units;
	bool alone = unit.work != WHOLE || !last || last->v->work != WHOLE;
	*u = unit;
	if (alone || last->bytes + unit.n > JOB) {
		last = VEC_PUSH(w->a, &w->jobs);
		*last = (struct pack_job){.w = w, .v = u};
	}
	last->n++;
	last->bytes += unit.work == HASH || unit.work == COPY ? 0 : unit.n;
}

static struct err *run_job(struct arena *tmp, void *job)
{
	struct pack_job *j = job;
	struct writer *w = j->w;
	struct err *e = atomic_load(&w->stop) ? NULL : run_units(tmp, j);
	pthread_mutex_lock(&w->lock);
	j->e = e;
	j->done = true;
	pthread_cond_signal(&w->news);
	pthread_mutex_unlock(&w->lock);
	return NULL;
}

static void begin(struct writer *w, struct pack_job *j)
{
	if (!j->begun && j->v->work != COPY)
		pool_add(w->pool, run_job, j);
	j->begun = true;
}

static struct err *run_queue(struct writer *w)
{
	uint64_t waiting = 0, most = w->lim.chunk * AHEAD * w->threads;
	size_t next = 0;
	most = most < MOST_WAITING ? most : MOST_WAITING;
	VEC_EACH (struct pack_job, j, &w->jobs) {
		for (; next < w->jobs.n && waiting < most; next++) {
			struct pack_job *n = &w->jobs.v[next], *hash = n;
			/* Hashing a member takes as long as compressing many chunks, and its unit is written behind
			 * them, so it is started first. */
			while (!n->v->from && hash->v->work == CHUNK)
				hash++;
			begin(w, hash);
			begin(w, n);
			waiting += n->bytes;
		}
		TRY(cancel_check());
		if (pool_is_alone(w->pool))
			TRY(pool_wait(w->pool));
		pthread_mutex_lock(&w->lock);
		while (!j->done && j->v->work != COPY)
			pthread_cond_wait(&w->news, &w->lock);
		pthread_mutex_unlock(&w->lock);
		struct err *e = j->e;
		j->e = NULL;
		for (size_t i = 0; i < j->n && !e; i++)
			e = write_unit(w, &j->v[i]);
		job_free(j);
		TRY(e);
		waiting -= j->bytes;
	}
	return NULL;
}

/* Cuts members into units, and packs them. */
static struct err *pack(struct writer *w, size_t from, size_t to)
{
	const uint64_t chunk = w->lim.chunk;
	size_t n = 0;
	for (size_t i = from; i < to; i++)
		n += 2 + (w->members[i].big ? w->members[i].size / chunk : 0);
	w->units = arena_array(w->a, n, sizeof(*w->units));
	w->jobs.n = 0;
	for (struct packed *m = w->members + from; m < w->members + to; m++) {
		struct pack_unit u = {.work = CHUNK, .member = m};
		if (m->big)
			TRY(probe(m));
		for (; m->big && u.from < m->size; u.from += u.n) {
			u.n = m->size - u.from < chunk ? m->size - u.from : chunk;
			add_unit(w, u);
		}
		u = (struct pack_unit){.member = m, .n = m->size};
		u.work = m->in->member ? COPY : m->big ? HASH : WHOLE;
		add_unit(w, u);
	}
	w->pool = pool_new(w->threads + 1); /* this thread counts, but only waits and writes */
	struct err *e = run_queue(w);
	atomic_store(&w->stop, true);
	e = err_join(e, pool_end(w->pool));
	atomic_store(&w->stop, false);
	return e;
}

struct err *zip_write(struct arena *a, const struct zip_writer *zw, struct zip_output *ret)
{
	CLEANUP(writer_done)
	struct writer w = {.a = a,
		.out = {.fd = -1, .dir = -1},
		.lock = PTHREAD_MUTEX_INITIALIZER,
		.news = PTHREAD_COND_INITIALIZER};
	MAP(names, a);
	uint64_t total = 0;
	w.lim.size = zw->limits.size ? zw->limits.size : 0xffffffff;
	w.lim.count = zw->limits.count ? zw->limits.count : 0xffff;
	w.lim.chunk = zw->limits.chunk ? zw->limits.chunk : CHUNK_SIZE;
	w.threads = zw->jobs ? zw->jobs : cpu_count();
	w.threads = w.threads < ZIP_THREADS ? w.threads : ZIP_THREADS;
	w.date = zw->time ? zw->time : dos_time(zw->epoch);
	w.members = arena_array(a, zw->n + 1, sizeof(*w.members));
	for (; w.n < zw->n; w.n++) {
		w.members[w.n].in = &zw->v[w.n];
		TRY(input_check(&w, &w.members[w.n], &names));
		total += zw->v[w.n].member ? zw->v[w.n].member->stored : w.members[w.n].size;
	}
	TRY(fs_out_open(&w.out, zw->path, 0644));
	w.progress = progress_begin(S("Packing"), path_base(zw->path), UNIT_BYTES, total);
	TRY(pack(&w, 0, w.n));
	struct zip_output *outs = arena_array(a, zw->n + 1, sizeof(*outs));
	for (size_t i = 0; i < zw->n; i++)
		outs[i] = (struct zip_output){
			.size = w.members[i].size,
			.stored = w.members[i].stored,
			.crc = w.members[i].crc,
			.sha256 = zw->v[i].member ? zw->v[i].sha256
						  : digest_base64url(a, &w.members[i].digest),
		};
	if (zw->last) {
		struct zip_input *in = NEW(a, struct zip_input);
		TRY(zw->last(a, zw->user, outs, in));
		w.members[w.n].in = in;
		TRY(input_check(&w, &w.members[w.n], &names));
		w.n++;
		TRY(pack(&w, w.n - 1, w.n));
	}
	if (ret && zw->n)
		memcpy(ret, outs, zw->n * sizeof(*outs));
	BUF(central, a);
	uint64_t start = w.out.offset;
	for (size_t i = 0; i < w.n; i++)
		put_header(&w, &central, &w.members[i], true);
	put_end(&w, &central, start);
	fs_out_write(&w.out, central.p, central.n);
	return fs_out_commit(&w.out);
}

/* Writing zip archives: deterministic, parallel, ZIP64 exactly where a value does not fit.
 *
 * Members are cut into units (zip_pack.h), a batch of units is worked on by all threads, then
 * written in order; memory is bounded by the batch. Headers of big members are reserved and filled
 * in when their sizes are known: a deflated member is never larger than its content (else it is
 * stored), so whether it needs ZIP64 is known from the start. */
#include <string.h>
#include <time.h>

#include "base/fs.h"
#include "base/map.h"
#include "base/pool.h"
#include "base/proc.h"
#include "base/progress.h"
#include "formats/zip_pack.h"

struct writer {
	struct arena *a;
	const struct zip_writer *w;
	struct zip_limits lim;
	struct fs_out out;
	struct zip_packed *members;
	size_t n;
	uint32_t date; /* DOS date and time */
	VEC(struct zip_unit) batch;
	struct progress *progress;
};

static void writer_done(struct writer *w)
{
	VEC_EACH (struct zip_unit, u, &w->batch)
		zip_unit_free(u);
	for (size_t i = 0; i < w->n; i++)
		hash_free(w->members[i].running);
	fs_out_abandon(&w->out);
	progress_end(w->progress);
}

/* Two-second steps since 1980, in UTC so that no time zone gets into the bytes. */
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

/* The value of a 32-bit field whose true value is in the ZIP64 extra field when it does not fit. */
static uint64_t or_mark(uint64_t value, bool wide)
{
	return wide ? 0xffffffff : value;
}

/* The fields that local and central header share, from "version needed" to the name's length. */
static void put_common(struct writer *w, struct buf *b, const struct zip_packed *m, unsigned need)
{
	buf_le(b, need, 2);
	buf_le(b, zip_ascii(m->in->name) ? 0 : ZIP_FLAG_UTF8, 2);
	buf_le(b, m->method, 2);
	buf_le(b, w->date, 4);
	buf_le(b, m->crc, 4);
}

static unsigned version_needed(const struct zip_packed *m, bool wide)
{
	return wide ? 45 : m->method == ZIP_DEFLATE ? 20 : 10;
}

/* 4.5.3: in a local header the ZIP64 field has both sizes; stored <= size, so size decides. */
static void put_local(struct writer *w, struct buf *b, const struct zip_packed *m)
{
	bool wide = m->size >= w->lim.size;
	buf_le(b, ZIP_LOCAL, 4);
	put_common(w, b, m, version_needed(m, wide));
	buf_le(b, or_mark(m->stored, wide), 4);
	buf_le(b, or_mark(m->size, wide), 4);
	buf_le(b, m->in->name.n, 2);
	buf_le(b, wide ? 20 : 0, 2);
	buf_add(b, m->in->name);
	if (!wide)
		return;
	buf_le(b, ZIP_EXTRA64, 2);
	buf_le(b, 16, 2);
	buf_le(b, m->size, 8);
	buf_le(b, m->stored, 8);
}

/* In a central header it has exactly those values that do not fit, in this order. */
static void put_central(struct writer *w, struct buf *b, const struct zip_packed *m)
{
	const uint64_t values[] = {m->size, m->stored, m->header};
	bool wide[3];
	unsigned extra = 0;
	for (unsigned i = 0; i < 3; i++)
		extra += (wide[i] = values[i] >= w->lim.size) ? 8 : 0;
	unsigned need = version_needed(m, extra > 0);
	buf_le(b, ZIP_CENTRAL, 4);
	buf_le(b, 3 << 8 | (need < 20 ? 20 : need), 2); /* made by: Unix */
	put_common(w, b, m, need);
	buf_le(b, or_mark(m->stored, wide[1]), 4);
	buf_le(b, or_mark(m->size, wide[0]), 4);
	buf_le(b, m->in->name.n, 2);
	buf_le(b, extra ? extra + 4 : 0, 2);
	buf_le(b, 0, 2 + 2 + 2); /* comment, disk, internal attributes */
	buf_le(b, (uint64_t)(0100000 | m->in->mode) << 16, 4);
	buf_le(b, or_mark(m->header, wide[2]), 4);
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
	buf_le(b, or_mark(size, size >= w->lim.size), 4);
	buf_le(b, or_mark(start, start >= w->lim.size), 4);
	buf_le(b, 0, 2);
}

/* ---- members ---- */

static struct err *input_check(struct writer *w, struct zip_packed *m, struct map *names)
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
	if (in->path.n)
		TRY_CTX(fs_stat(in->path, &st), "cannot pack '%.*s'", STR(in->name));
	if (in->path.n && !S_ISREG(st.st_mode))
		return err_new(E_ZIP, "cannot pack '%.*s': it is no regular file", STR(in->path));
	m->size = in->path.n ? (uint64_t)st.st_size : in->content.n;
	m->big = m->size > 2 * w->lim.chunk;
	return NULL;
}

static struct err *write_header(struct writer *w, struct zip_packed *m)
{
	ARENA(tmp);
	BUF(b, &tmp);
	put_local(w, &b, m);
	if (w->out.offset == m->header) {
		fs_out_write(&w->out, b.p, b.n);
		return NULL;
	}
	TRY_CTX(fs_pwrite(w->out.fd, b.p, b.n, m->header), "cannot write '%s'", w->out.path);
	return NULL;
}

/* Deflating did not help after all: the content as it is takes its place. */
static struct err *store_instead(struct writer *w, struct zip_packed *m)
{
	enum { PIECE = 1 << 20 };
	ARENA(tmp);
	char *p = arena_alloc(&tmp, PIECE);
	uint64_t data = w->out.offset - m->stored;
	fs_out_cut(&w->out, data);
	m->stored = m->size;
	m->method = ZIP_STORED;
	for (uint64_t at = 0; at < m->size; at += PIECE) {
		size_t n = m->size - at < PIECE ? (size_t)(m->size - at) : PIECE;
		TRY(zip_input_read(m->in, p, n, at));
		fs_out_write(&w->out, p, n);
	}
	return NULL;
}

static struct err *write_unit(struct writer *w, struct zip_unit *u)
{
	struct zip_packed *m = u->member;
	bool first = u->work != ZIP_PACK_HASH && u->from == 0;
	if (first) {
		m->header = w->out.offset;
		m->stored = u->work == ZIP_PACK_WHOLE ? u->out_n : 0;
		TRY(write_header(w, m));
	}
	if (u->work == ZIP_PACK_CHUNK)
		m->stored += u->out_n;
	if (u->out_n)
		fs_out_write(&w->out, u->out, u->out_n);
	progress_add(w->progress, u->work == ZIP_PACK_HASH ? 0 : u->n, m->in->name);
	if (u->work != ZIP_PACK_HASH || u->from + u->n < m->size)
		return NULL;
	m->digest = hash_end(m->running);
	m->running = NULL;
	if (m->method == ZIP_DEFLATE && m->stored >= m->size)
		TRY(store_instead(w, m));
	return write_header(w, m);
}

/* Small members share a job, so that each does not pay for a compressor of its own. */
static struct zip_job *cut_jobs(struct writer *w, size_t *ret_n)
{
	enum { JOB = 1 << 18 };
	struct zip_job *jobs = arena_array(w->a, w->batch.n + 1, sizeof(*jobs));
	uint64_t sum = JOB;
	*ret_n = 0;
	VEC_EACH (struct zip_unit, u, &w->batch) {
		if (sum >= JOB || u->n >= JOB) {
			jobs[(*ret_n)++] = (struct zip_job){.v = u};
			sum = 0;
		}
		jobs[*ret_n - 1].n++;
		sum += u->n;
	}
	return jobs;
}

static struct err *flush_batch(struct writer *w)
{
	size_t n;
	struct zip_job *jobs = cut_jobs(w, &n);
	TRY(pool_each(w->w->jobs, jobs, n, sizeof(*jobs), zip_job_run));
	VEC_EACH (struct zip_unit, u, &w->batch) {
		TRY(write_unit(w, u));
		zip_unit_free(u);
	}
	w->batch.n = 0;
	return cancel_check();
}

/* Chunk by chunk, in batches of at most room bytes; behind the chunks of a batch comes their hash. */
static struct err *pack_big(struct writer *w, struct zip_packed *m, uint64_t room)
{
	TRY(zip_pack_probe(m));
	m->running = hash_new(HASH_SHA256);
	for (uint64_t from = 0, to; from < m->size; from = to) {
		to = m->size - from < room ? m->size : from + room;
		for (uint64_t at = from; at < to; at += w->lim.chunk) {
			uint64_t n = to - at < w->lim.chunk ? to - at : w->lim.chunk;
			*VEC_PUSH(w->a, &w->batch) = (struct zip_unit){
				.work = ZIP_PACK_CHUNK, .member = m, .from = at, .n = n};
		}
		*VEC_PUSH(w->a, &w->batch) = (struct zip_unit){
			.work = ZIP_PACK_HASH, .member = m, .from = from, .n = to - from};
		TRY(flush_batch(w));
	}
	return NULL;
}

/* Members from..to; a batch is what keeps all threads busy for a while, in whole chunks. */
static struct err *pack(struct writer *w, size_t from, size_t to)
{
	unsigned jobs = w->w->jobs ? w->w->jobs : cpu_count();
	uint64_t room = w->lim.chunk * 4 * jobs, sum = 0;
	for (size_t i = from; i < to; i++) {
		struct zip_packed *m = &w->members[i];
		if (m->big) {
			TRY(flush_batch(w));
			TRY(pack_big(w, m, room));
			sum = 0;
			continue;
		}
		*VEC_PUSH(w->a, &w->batch) =
			(struct zip_unit){.work = ZIP_PACK_WHOLE, .member = m, .n = m->size};
		sum += m->size;
		if (sum < room && w->batch.n < 4096)
			continue;
		TRY(flush_batch(w));
		sum = 0;
	}
	return flush_batch(w);
}

static struct err *write_last(struct writer *w, const struct zip_output *outs, struct map *names)
{
	struct zip_input *in = NEW(w->a, struct zip_input);
	TRY(w->w->last(w->a, w->w->user, outs, in));
	w->members[w->n].in = in;
	TRY(input_check(w, &w->members[w->n], names));
	w->n++;
	return pack(w, w->n - 1, w->n);
}

struct err *zip_write(struct arena *a, const struct zip_writer *zw, struct zip_output *ret)
{
	CLEANUP(writer_done) struct writer w = {.a = a, .w = zw, .out.fd = -1};
	MAP(names, a);
	uint64_t total = 0;
	w.lim.size = zw->limits.size ? zw->limits.size : 0xffffffff;
	w.lim.count = zw->limits.count ? zw->limits.count : 0xffff;
	w.lim.chunk = zw->limits.chunk ? zw->limits.chunk : 4 << 20;
	w.date = dos_time(zw->epoch);
	w.members = arena_array(a, zw->n + 1, sizeof(*w.members));
	for (; w.n < zw->n; w.n++) {
		w.members[w.n].in = &zw->v[w.n];
		TRY(input_check(&w, &w.members[w.n], &names));
		total += w.members[w.n].size;
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
			.sha256 = digest_base64url(a, &w.members[i].digest),
		};
	if (zw->last)
		TRY(write_last(&w, outs, &names));
	if (ret && zw->n)
		memcpy(ret, outs, zw->n * sizeof(*outs));
	BUF(central, a);
	uint64_t start = w.out.offset;
	for (size_t i = 0; i < w.n; i++)
		put_central(&w, &central, &w.members[i]);
	put_end(&w, &central, start);
	fs_out_write(&w.out, central.p, central.n);
	return fs_out_commit(&w.out);
}

/* Reads and writes the stamps of jobs; see job.h. A stamp is text with one file a line: "in SIZE MTIME SHA256 PATH". */
#include "jobs/job.h"

#include <inttypes.h>

#include "base/buf.h"
#include "base/fs.h"

struct stamped_file {
	uint64_t size;
	int64_t mtime;      /* ns; 0 = do not trust it */
	bool recent;        /* written within a second of being hashed */
	struct digest hash; /* n = 0: there is no such file */
};

static bool stat_file(struct str path, struct stamped_file *ret)
{
	struct stat st;
	*ret = (struct stamped_file){0};
	if (!fs_try_stat(path, &st))
		return false;
	ret->size = (uint64_t)st.st_size;
	ret->mtime = (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec;
	return S_ISREG(st.st_mode);
}

/* Current size, mtime and hash of a file. Each file is hashed once in a build. */
static struct stamped_file file_now(struct stamps *s, struct str path)
{
	struct stamped_file k;
	if (!stat_file(path, &k))
		return k;
	pthread_mutex_lock(&s->lock);
	struct stamped_file *old = map_get(&s->seen, path);
	bool hit = old && old->size == k.size && old->mtime == k.mtime;
	if (hit)
		k = *old;
	pthread_mutex_unlock(&s->lock);
	if (hit)
		return k;
	k.recent = k.mtime > cached_now() - 1000000000;
	struct err *e = hash_file(HASH_SHA256, path, &k.hash);
	if (e) {
		err_free(e);
		return (struct stamped_file){0};
	}
	pthread_mutex_lock(&s->lock);
	struct stamped_file *copy = NEW(s->seen.a, struct stamped_file);
	*copy = k;
	map_put(&s->seen, str_dup(s->seen.a, path), copy);
	pthread_mutex_unlock(&s->lock);
	return k;
}

/* Removes a number and the space after it from the line. */
static bool take_number(struct str *line, uint64_t *ret)
{
	struct str digits;
	return str_cut(*line, ' ', &digits, line) && str_u64(digits, 10, ret);
}

/* Does a file have its old content? line: "SIZE MTIME SHA256 PATH". A file that was absent ("-") must still be absent.
 * output: the output of the job, which replaces PATH and must exist; or "". */
static bool unchanged(struct stamps *s, struct str line, struct str output)
{
	ARENA(tmp);
	struct str hash, path;
	struct stamped_file now;
	uint64_t size, mtime;
	if (!take_number(&line, &size) || !take_number(&line, &mtime) ||
		!str_cut(line, ' ', &hash, &path))
		return false;
	bool was = !str_eq(hash, S("-"));
	if (was && hash.n != 64)
		return false;
	if (output.n)
		path = output;
	if (!stat_file(path, &now))
		return !was && !output.n;
	if (!was && output.n)
		return false;
	if (mtime && now.size == size && now.mtime == (int64_t)mtime)
		return true;
	if (now.size != size)
		return false;
	now = file_now(s, path);
	return now.hash.n ? str_eq(digest_hex(&tmp, now.hash), hash) : !was;
}

static bool take_cost(struct str text, struct job_cost *io)
{
	uint64_t us, cpu, memory;
	if (!take_number(&text, &us) || !take_number(&text, &cpu) || !str_u64(text, 10, &memory))
		return false;
	*io = (struct job_cost){
		.seconds = (double)us / 1e6, .cpu = (double)cpu / 1e6, .memory = memory};
	return true;
}

/* The lines with which each stamp of these values begins. */
static struct str stamp_head(struct arena *a, const struct stamp_key *k)
{
	return str_fmt(a, "rocsmith stamp 1\ncommand %.*s\n", STR(digest_hex(a, k->command)));
}

bool stamp_fresh(struct stamps *s, const struct stamp_key *k, struct job_cost *ret)
{
	ARENA(tmp);
	struct str text = {0}, line, word, rest, head = stamp_head(&tmp, k);
	err_free(fs_read_opt(&tmp, k->file, 64 << 20, &text));
	/* a stamp that was cut short lacks its last line */
	bool good = str_starts(text, head) && str_ends(text, S("\nend\n"));
	text = str_sub(text, head.n, text.n - S("end\n").n);
	unsigned lines = 0;
	for (; good && str_next(&text, '\n', &line); lines++) {
		str_cut(line, ' ', &word, &rest);
		if (str_eq(word, S("cost")))
			good = take_cost(rest, ret);
		else if (str_eq(word, S("out")))
			good = unchanged(s, rest, k->output);
		else
			good = str_eq(word, S("in")) && unchanged(s, rest, S(""));
	}
	return good && lines >= 2; /* the cost and the output, at least */
}

bool stamp_last(struct str file, struct job_cost *io)
{
	ARENA(tmp);
	struct str text = {0}, line, word, rest;
	err_free(fs_read_opt(&tmp, file, 64 << 20, &text));
	while (str_next(&text, '\n', &line)) {
		str_cut(line, ' ', &word, &rest);
		if (str_eq(word, S("cost")))
			return take_cost(rest, io);
	}
	return false;
}

/* Adds the line of a file. Only we write outputs, so a recent mtime of an output is trusted. */
static void add_file(struct buf *b, const char *word, const struct stamped_file *k, struct str path)
{
	bool trusted = !k->recent || str_eq(str_from(word), S("out"));
	struct str hex = k->hash.n ? digest_hex(b->a, k->hash) : S("-");
	buf_fmt(b, "%s %" PRIu64 " %" PRId64 " %.*s %.*s\n", word, k->size, trusted ? k->mtime : 0,
		STR(hex), STR(path));
}

struct err *stamp_write(struct stamps *s, const struct stamp_key *k, const struct strs *inputs,
	const struct job_cost *cost)
{
	ARENA(tmp);
	BUF(b, &tmp);
	struct stamped_file out = file_now(s, k->output);
	if (!out.hash.n)
		return err_new(E_IO, "cannot read '%.*s' back", STR(k->output));
	buf_add(&b, stamp_head(&tmp, k));
	buf_fmt(&b, "cost %.0f %.0f %" PRIu64 "\n", cost->seconds * 1e6, cost->cpu * 1e6,
		cost->memory);
	add_file(&b, "out", &out, S("-"));
	VEC_EACH (struct str, path, inputs) {
		struct stamped_file in = file_now(s, *path);
		if (str_chr(*path, '\n') == path->n)
			add_file(&b, "in", &in, *path);
	}
	buf_fmt(&b, "end\n");
	return fs_write(k->file, buf_str(&b), 0644);
}

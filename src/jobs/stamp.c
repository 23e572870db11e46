/* Reads and writes the stamps of jobs; see job.h. A stamp is text with one file a line: "in SIZE MTIME SHA256 PATH". */
#include "jobs/job.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "base/buf.h"
#include "base/fs.h"
#include "base/map.h"
#include "base/vec.h"

#define STAMP_HEAD "rocsmith stamp 1"

struct stamped_file {
	uint64_t size;
	int64_t mtime;      /* ns; 0 = do not trust it */
	bool recent;        /* written within a second of being hashed */
	struct digest hash; /* n = 0: there is no such file */
};

struct stamps {
	pthread_mutex_t lock;
	struct arena a;
	struct map seen; /* path -> struct stamped_file */
};

struct stamps *stamps_new(void)
{
	struct stamps *s = xmalloc(sizeof(*s));
	*s = (struct stamps){.lock = PTHREAD_MUTEX_INITIALIZER};
	s->seen.a = &s->a;
	return s;
}

void stamps_freep(struct stamps **s)
{
	if (!*s)
		return;
	arena_free(&(*s)->a);
	free(*s);
	*s = NULL;
}

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
	struct timespec now;
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
	clock_gettime(CLOCK_REALTIME, &now);
	k.recent = k.mtime > ((int64_t)now.tv_sec - 1) * 1000000000 + now.tv_nsec;
	struct err *e = hash_file(HASH_SHA256, path, &k.hash);
	if (e) {
		err_free(e);
		return (struct stamped_file){0};
	}
	pthread_mutex_lock(&s->lock);
	struct stamped_file *copy = NEW(&s->a, struct stamped_file);
	*copy = k;
	map_put(&s->seen, str_dup(&s->a, path), copy);
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
	return now.hash.n ? str_eq(digest_hex(&tmp, &now.hash), hash) : !was;
}

static bool take_cost(struct str text, struct stamp_cost *io)
{
	uint64_t us, cpu, memory;
	if (!take_number(&text, &us) || !take_number(&text, &cpu) || !str_u64(text, 10, &memory))
		return false;
	*io = (struct stamp_cost){
		.seconds = (double)us / 1e6, .cpu = (double)cpu / 1e6, .memory = memory};
	return true;
}

bool stamp_fresh(struct stamps *s, const struct stamp_key *k, struct stamp_cost *ret)
{
	ARENA(tmp);
	struct str text, line, word, rest;
	struct err *e = fs_read_opt(&tmp, k->file, 64 << 20, &text);
	if (e || !text.p) {
		err_free(e);
		return false;
	}
	/* a stamp that was cut short lacks its last line */
	if (!str_next(&text, '\n', &line) || !str_eq(line, S(STAMP_HEAD)) ||
		!str_ends(text, S("\nend\n")))
		return false;
	text.n -= 4;
	unsigned lines = 0;
	while (str_next(&text, '\n', &line)) {
		bool good;
		if (!line.n)
			continue;
		str_cut(line, ' ', &word, &rest);
		if (str_eq(word, S("command")))
			good = str_eq(rest, digest_hex(&tmp, &k->command));
		else if (str_eq(word, S("cost")))
			good = take_cost(rest, ret);
		else if (str_eq(word, S("out")))
			good = unchanged(s, rest, k->output);
		else
			good = str_eq(word, S("in")) && unchanged(s, rest, S(""));
		if (!good)
			return false;
		lines++;
	}
	return lines >= 3;
}

bool stamp_last(struct str file, struct stamp_cost *io)
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
	struct str hex = k->hash.n ? digest_hex(b->a, &k->hash) : S("-");
	buf_fmt(b, "%s %" PRIu64 " %" PRId64 " %.*s %.*s\n", word, k->size, trusted ? k->mtime : 0,
		STR(hex), STR(path));
}

struct err *stamp_write(struct stamps *s, const struct stamp_key *k, const struct strs *inputs,
	const struct stamp_cost *cost)
{
	ARENA(tmp);
	ARENA(hexes);
	BUF(b, &tmp);
	struct stamped_file out = file_now(s, k->output);
	if (!out.hash.n)
		return err_new(E_IO, "cannot read '%.*s' back", STR(k->output));
	buf_fmt(&b, STAMP_HEAD "\ncommand %.*s\n", STR(digest_hex(&hexes, &k->command)));
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

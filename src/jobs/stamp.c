/* Stamps of build steps; see job.h. Text, one file a line: "in SIZE MTIME SHA256 PATH". */
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

struct known {
	uint64_t size;
	int64_t mtime;      /* ns; 0 = not to be trusted */
	bool recent;        /* written within a second of being hashed */
	struct digest hash; /* n = 0: there is no such file */
};

struct stamps {
	pthread_mutex_t lock;
	struct arena a;
	struct map seen; /* path -> struct known */
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

static bool stat_file(struct str path, struct known *ret)
{
	struct stat st;
	struct err *e = fs_stat(path, &st);
	*ret = (struct known){0};
	if (e) {
		err_free(e);
		return false;
	}
	ret->size = (uint64_t)st.st_size;
	ret->mtime = (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec;
	return S_ISREG(st.st_mode);
}

static int64_t wall_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_REALTIME, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* Size, time and hash of a file as it is now; hashes each file once a build. */
static struct known file_now(struct stamps *s, struct str path)
{
	struct known k;
	if (!stat_file(path, &k))
		return k;
	pthread_mutex_lock(&s->lock);
	struct known *old = map_get(&s->seen, path);
	bool hit = old && old->size == k.size && old->mtime == k.mtime;
	if (hit)
		k = *old;
	pthread_mutex_unlock(&s->lock);
	if (hit)
		return k;
	k.recent = k.mtime > wall_ns() - 1000000000;
	struct err *e = hash_file(HASH_SHA256, path, &k.hash);
	if (e) {
		err_free(e);
		return (struct known){0};
	}
	pthread_mutex_lock(&s->lock);
	struct known *copy = NEW(&s->a, struct known);
	*copy = k;
	map_put(&s->seen, str_dup(&s->a, path), copy);
	pthread_mutex_unlock(&s->lock);
	return k;
}

/* A number and the space behind it, off the line. */
static bool take_number(struct str *line, uint64_t *ret)
{
	struct str digits;
	return str_cut(*line, ' ', &digits, line) && str_u64(digits, 10, ret);
}

/* "SIZE MTIME SHA256 PATH": has the file, path or the one named there, its old content? One that
 * was not there ("-") must not be there; what a job made must. */
static bool unchanged(struct stamps *s, struct str line, struct str output)
{
	ARENA(tmp);
	struct str hash, path;
	struct known now;
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

static bool parse_cost(struct str line, struct stamp_cost *ret)
{
	uint64_t us, cpu;
	if (!take_number(&line, &us) || !take_number(&line, &cpu) ||
		!str_u64(line, 10, &ret->memory))
		return false;
	ret->seconds = (double)us / 1e6;
	ret->cpu = (double)cpu / 1e6;
	return true;
}

static bool check_line(
	struct stamps *s, const struct stamp_key *k, struct str line, struct stamp_cost *cost)
{
	ARENA(tmp);
	struct str word, rest;
	str_cut(line, ' ', &word, &rest);
	if (str_eq(word, S("command")))
		return str_eq(rest, digest_hex(&tmp, &k->command));
	if (str_eq(word, S("cost")))
		return parse_cost(rest, cost);
	if (str_eq(word, S("out")))
		return unchanged(s, rest, k->output);
	return str_eq(word, S("in")) && unchanged(s, rest, S(""));
}

bool stamp_fresh(struct stamps *s, const struct stamp_key *k, struct stamp_cost *ret)
{
	ARENA(tmp);
	struct str text, line;
	struct err *e = fs_read_opt(&tmp, k->file, 64 << 20, &text);
	if (e || !text.p) {
		err_free(e);
		return false;
	}
	/* A stamp that was cut short lacks its last line. */
	if (!str_next(&text, '\n', &line) || !str_eq(line, S(STAMP_HEAD)) ||
		!str_ends(text, S("\nend\n")))
		return false;
	text.n -= 4;
	unsigned lines = 0;
	while (str_next(&text, '\n', &line)) {
		if (!line.n)
			continue;
		if (!check_line(s, k, line, ret))
			return false;
		lines++;
	}
	return lines >= 3;
}

/* Outputs are written by us alone, so their time counts however recent it is. */
static void add_file(struct buf *b, const char *word, const struct known *k, struct str path)
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
	struct known out = file_now(s, k->output);
	if (!out.hash.n)
		return err_new(E_IO, "cannot read '%.*s' back", STR(k->output));
	buf_fmt(&b, STAMP_HEAD "\ncommand %.*s\n", STR(digest_hex(&hexes, &k->command)));
	buf_fmt(&b, "cost %.0f %.0f %" PRIu64 "\n", cost->seconds * 1e6, cost->cpu * 1e6,
		cost->memory);
	add_file(&b, "out", &out, S("-"));
	VEC_EACH (struct str, path, inputs) {
		struct known in = file_now(s, *path);
		if (str_chr(*path, '\n') == path->n)
			add_file(&b, "in", &in, *path);
	}
	buf_fmt(&b, "end\n");
	return fs_write(k->file, buf_str(&b), 0644);
}

/* Compares the file at an output's path with the one we made: by signature if that is conclusive, else by content; and an
 * original with the one that was replaced. Paths of outputs and originals. */
#include <errno.h>
#include <time.h>
#include <xxhash.h>

#include "base/fs.h"
#include "base/hash.h"
#include "changes/manifest.h"

enum { CONTENT_LIMIT = 1 << 30 };

bool sum_eq(const struct sum *a, const struct sum *b)
{
	return memcmp(a->b, b->b, sizeof(a->b)) == 0;
}

bool sum_none(const struct sum *s)
{
	static const struct sum none;
	return sum_eq(s, &none);
}

unsigned base_ups(struct str output, struct str *ret_rest)
{
	unsigned n = 0;
	for (; str_starts(output, S("../")); n++)
		output = str_sub(output, 3, output.n);
	*ret_rest = output;
	return n;
}

struct str base_path(struct arena *a, struct str base, struct str output)
{
	struct str rest, path = path_join(a, base, output);
	return base_ups(output, &rest) ? path_clean(a, path) : path;
}

struct str base_slot(struct arena *a, struct str journal, const char *folder, struct str output)
{
	struct str rest;
	unsigned n = base_ups(output, &rest);
	if (n)
		return str_fmt(a, "%.*s/%s.up/%u/%.*s", STR(journal), folder, n, STR(rest));
	return str_fmt(a, "%.*s/%s/%.*s", STR(journal), folder, STR(output));
}

struct str base_original(struct arena *a, struct str journal, struct str output)
{
	return base_slot(a, journal, "originals", output);
}

static uint64_t nanoseconds(const struct timespec *t)
{
	return (uint64_t)t->tv_sec * 1000000000u + (uint64_t)t->tv_nsec;
}

struct sig sig_of(const struct stat *st)
{
	return (struct sig){
		.size = (uint64_t)st->st_size,
		.mtime = nanoseconds(&st->st_mtim),
		.ctime = nanoseconds(&st->st_ctim),
		.ino = (uint64_t)st->st_ino,
	};
}

bool sig_eq(const struct sig *a, const struct sig *b)
{
	return a->ino && a->size == b->size && a->mtime == b->mtime && a->ctime == b->ctime &&
	       a->ino == b->ino;
}

uint64_t sig_now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_REALTIME_COARSE, &t);
	return nanoseconds(&t);
}

uint64_t sig_exact(int fd)
{
	struct stat st;
	uint64_t before = 0, start = sig_now();
	for (unsigned i = 0; i < 4; i++) {
		if (!fs_try_touch(fd, &st))
			return 0;
		struct sig now = sig_of(&st);
		if (now.ctime <= before || now.mtime != now.ctime)
			return 0;
		before = now.ctime;
	}
	/* if the clock ticked, the tick may explain the different times */
	return sig_now() == start ? st.st_dev : 0;
}

bool sig_unsure(const struct stat *st, uint64_t start, uint64_t exact)
{
	/* a time without a fraction suggests a file system whose resolution is one or two seconds */
	uint64_t ctime = sig_of(st).ctime, step = ctime % 1000000000u ? 0 : 2000000000u;
	return (!exact || st->st_dev != exact) && ctime + step >= start;
}

struct sum sum_of(struct str text)
{
	XXH128_canonical_t x;
	struct sum s = {0};
	XXH128_canonicalFromHash(&x, XXH3_128bits(text.p, text.n));
	memcpy(s.b, x.digest, sizeof(x.digest));
	return s;
}

static bool sum_is_of(const struct sum *s, struct str text)
{
	struct sum fast = sum_of(text);
	if (sum_eq(s, &fast))
		return true;
	struct digest d = hash_bytes(HASH_SHA256, text.p, text.n);
	return memcmp(s->b, d.b, sizeof(s->b)) == 0;
}

struct sum sum_of_file(struct str path)
{
	ARENA(tmp);
	struct str text;
	CLEANUP(err_freep) struct err *e = fs_read(&tmp, path, CONTENT_LIMIT, &text);
	return e ? (struct sum){0} : sum_of(text);
}

struct err *sum_of_original(struct str path, struct sum *ret)
{
	ARENA(tmp);
	struct str text;
	TRY(fs_read(&tmp, path, CONTENT_LIMIT, &text));
	struct digest d = hash_bytes(HASH_SHA256, text.p, text.n);
	memcpy(ret->b, d.b, sizeof(ret->b));
	return NULL;
}

struct err *original_check(const struct manifest *m, const struct made *e)
{
	ARENA(tmp);
	struct sum sum;
	struct str path = base_original(&tmp, m->journal, e->output);
	if (!fs_present(path))
		return err_hint(err_new(E_CORRUPT,
					"the original of '%.*s', which rocsmith replaced, is gone",
					STR(e->output)),
			"put the original file back in its place, for example from version "
			"control");
	TRY(sum_of_original(path, &sum));
	if (sum_eq(&sum, &e->original))
		return NULL;
	return err_hint(
		err_new(E_CORRUPT,
			"'%.*s' is not the file that rocsmith replaced: it was changed since",
			STR(path)),
		"look at it; if it is right, put it in its place: mv %.*s %.*s",
		STR(str_shell(&tmp, path)),
		STR(str_shell(&tmp, base_path(&tmp, path_dir(m->journal), e->output))));
}

bool sum_is_of_file(const struct sum *s, struct str path)
{
	ARENA(tmp);
	struct str text;
	CLEANUP(err_freep) struct err *e = fs_read(&tmp, path, CONTENT_LIMIT, &text);
	return !e && sum_is_of(s, text);
}

static bool same_text(struct arena *tmp, struct str text, struct str path)
{
	struct str other;
	CLEANUP(err_freep) struct err *e = fs_read(tmp, path, CONTENT_LIMIT, &other);
	return !e && str_eq(text, other);
}

struct err *made_content(
	const struct manifest *m, struct str base, const struct made *e, enum content *ret)
{
	ARENA(tmp);
	struct str path = base_path(&tmp, base, e->output), text, target;
	struct str source = path_join(&tmp, m->root, e->source);
	struct str original = base_original(&tmp, m->journal, e->output);
	struct stat st, kept;
	bool link = e->kind == MADE_LINK;
	*ret = CONTENT_NONE;
	if (!(link ? fs_try_lstat : fs_try_stat)(path, &st))
		return errno == ENOENT || errno == ENOTDIR
			       ? NULL
			       : err_errno("cannot look at '%.*s'", STR(path));
	struct sig now = sig_of(&st);
	*ret = CONTENT_MADE;
	if (sig_eq(&now, &e->sig) || (!now.size && e->sig.size && S_ISREG(st.st_mode)))
		return NULL;
	*ret = CONTENT_OTHER;
	if (link) {
		CLEANUP(err_freep) struct err *one = fs_readlink(&tmp, path, &text);
		CLEANUP(err_freep) struct err *other = fs_readlink(&tmp, source, &target);
		if (!one && !other && str_eq(text, target))
			*ret = CONTENT_MADE;
		return NULL;
	}
	if (!S_ISREG(st.st_mode))
		return NULL;
	bool replaced = e->replaced && fs_try_stat(original, &kept);
	if (replaced && kept.st_ino == st.st_ino && kept.st_dev == st.st_dev) {
		*ret = CONTENT_ORIGINAL;
		return NULL;
	}
	TRY(fs_read(&tmp, path, CONTENT_LIMIT, &text));
	/* a copy has a stored sum only if its signature was inconclusive */
	bool copy = e->kind == MADE_COPY;
	if (sum_is_of(&e->hash, text) ||
		(copy ? same_text(&tmp, text, source) : sum_is_of(&e->before, text)))
		*ret = CONTENT_MADE;
	else if (!copy && replaced && sum_is_of(&e->original, text))
		*ret = CONTENT_ORIGINAL;
	return NULL;
}

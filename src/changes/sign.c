/* After the writing: the signatures by which the next run will know that nothing changed.
 *
 * A file changed twice within one tick of the kernel's clock shows the same times, so what we wrote
 * is looked at only when that tick is over, unless the file system is exact (sig_exact). What we read
 * is as it was when it was read; where that was within a tick of its last change it is read again
 * now.
 */
#include <string.h>
#include <time.h>

#include "base/fs.h"
#include "base/pool.h"
#include "base/vec.h"
#include "changes/apply_int.h"

static uint64_t exact_now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_REALTIME, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Until the clock of file times has passed this moment; it may lag by more than a tick. */
static void wait_a_tick(uint64_t start)
{
	const struct timespec step = {.tv_nsec = 250000};
	for (unsigned i = 0; i < 200 && sig_now() <= start; i++)
		(void)nanosleep(&step, NULL);
}

/* A signature that could hide a change is none: the next run looks at the content. */
static struct err *sign_put(struct arena *tmp, void *put)
{
	(void)tmp;
	struct put *p = put;
	struct stat st;
	if (p->failed || p->error || p->made.sig.ino)
		return NULL;
	p->made.before = (struct sum){0};
	if (!(p->made.kind == MADE_LINK ? fs_try_lstat : fs_try_stat)(p->path, &st))
		return NULL;
	struct sig now = sig_of(&st);
	bool expected = p->made.kind == MADE_LINK || now.size == p->made.sig.size;
	bool same = p->what != PUT_NOTHING || sig_eq(&now, &p->there);
	p->unsure = expected && same && sig_unsure(&st, sig_now(), p->s->view.exact);
	if (expected && same && !p->unsure)
		p->made.sig = now;
	return NULL;
}

/* The source of a copy may be gone by then. */
static struct err *sign_at_last(struct arena *tmp, void *put)
{
	struct put *p = put;
	TRY(sign_put(tmp, put));
	if (p->unsure && p->made.kind == MADE_COPY)
		p->made.hash = sum_of_file(p->path);
	return NULL;
}

/* ---- what was read ---- */

static struct str full(struct arena *a, const struct apply *p, struct str path)
{
	return str_eq(path, S(".")) ? p->s->root : path_join(a, p->s->root, path);
}

/* As the view notes it: relative to root where it is inside. */
static struct str noted_name(struct arena *a, const struct apply *p, struct str path)
{
	struct str rel = path_rel(a, path, p->s->root);
	return path_is_inside(rel) ? rel : path;
}

/* Sources that became originals, and originals that came back. */
static void find_moved(struct arena *a, struct apply *p, struct map *moved)
{
	struct str base = p->s->base, journal = p->s->journal;
	VEC_EACH (const struct put, put, &p->puts) {
		if (!put->done || !(put->keep_original || put->was_original))
			continue;
		struct str to = base_original(a, journal, put->made.output);
		struct str *name = NEW(a, struct str);
		*name = noted_name(p->a, p, to);
		map_put(moved, noted_name(a, p, put->path), name);
	}
	for (size_t i = 0; i < p->t->removed.n; i++) {
		struct str output = p->t->removed.v[i];
		struct str *name = NEW(a, struct str);
		*name = noted_name(p->a, p, base_path(a, base, output));
		map_put(moved, noted_name(a, p, base_original(a, journal, output)), name);
	}
}

/* A new name changes ctime only. */
static void follow(struct arena *a, const struct apply *p, struct seen *s, struct str to)
{
	struct stat st;
	s->path = to;
	if (!fs_try_stat(full(a, p, to), &st))
		return;
	struct sig now = sig_of(&st);
	bool same = now.size == s->sig.size && now.mtime == s->sig.mtime;
	s->racy = s->racy || !same || now.ino != s->sig.ino;
	if (same)
		s->sig = now;
}

/* What was read within a tick of its last change. */
static void read_again(struct arena *a, const struct apply *p, struct seen *s)
{
	struct stat st;
	struct str path = full(a, p, s->path);
	uint64_t start = sig_now();
	if (sum_none(&s->hash) || !fs_try_stat(path, &st))
		return;
	struct sig now = sig_of(&st);
	if (sum_is_of_file(&s->hash, path) && sig_eq(&now, &s->sig))
		s->racy = sig_unsure(&st, start, p->s->view.exact);
}

static void sign_dir(struct arena *a, const struct apply *p, struct seen *s)
{
	struct stat st;
	struct str path = full(a, p, s->path);
	const struct sig *before = map_get(&p->touched, path);
	if (!before || !fs_try_stat(path, &st))
		return;
	bool others = !sig_eq(before, &s->sig);
	s->sig = sig_of(&st);
	s->racy = others || sig_unsure(&st, sig_now(), p->s->view.exact);
}

static void follow_moved(struct apply *p)
{
	ARENA(tmp);
	MAP(moved, &tmp);
	find_moved(&tmp, p, &moved);
	VEC_EACH (struct seen, s, &p->next.seen) {
		struct arena_mark mark = arena_mark(&tmp);
		const struct str *to = s->kind == SEEN_FILE ? map_get(&moved, s->path) : NULL;
		if (to)
			follow(&tmp, p, s, *to);
		arena_rewind(&tmp, mark);
	}
}

static void sign_seen(struct apply *p)
{
	ARENA(tmp);
	VEC_EACH (struct seen, s, &p->next.seen) {
		struct arena_mark mark = arena_mark(&tmp);
		if (s->kind == SEEN_DIR)
			sign_dir(&tmp, p, s);
		else if (s->kind == SEEN_FILE && s->racy)
			read_again(&tmp, p, s);
		arena_rewind(&tmp, mark);
	}
}

/* What earlier runs knew of the sources of outputs that stay. */
static void add_kept(struct apply *p, struct map *noted)
{
	if (!p->s->old || !p->kept_sources.n)
		return;
	VEC_EACH (const struct seen, s, &p->s->old->seen)
		if (s->kind == SEEN_FILE && map_get(&p->kept_sources, s->path) &&
			map_put(noted, s->path, p))
			*VEC_PUSH(p->a, &p->next.seen) = *s;
}

/* The sources of plain copies, unless the engine read them too. */
static void add_copied(struct apply *p)
{
	ARENA(tmp);
	MAP(noted, &tmp);
	VEC_EACH (const struct seen, s, &p->next.seen)
		if (s->kind == SEEN_FILE)
			map_put(&noted, s->path, p);
	add_kept(p, &noted);
	VEC_EACH (const struct put, put, &p->puts) {
		if (put->made.kind != MADE_COPY || !put->from.p)
			continue;
		struct seen s = {.kind = SEEN_FILE, .sig = sig_of(&put->like)};
		s.path = noted_name(p->a, p, put->from);
		s.racy = sig_unsure(&put->like, put->looked, p->s->view.exact);
		if (map_get(&noted, s.path))
			continue;
		*VEC_PUSH(p->a, &p->next.seen) = s;
	}
}

static bool some_unsure(const struct apply *p)
{
	VEC_EACH (const struct put, put, &p->puts)
		if (put->unsure)
			return true;
	return false;
}

struct err *sign_all(struct apply *p, bool wrote)
{
	uint64_t written = exact_now();
	view_noted(&p->s->view, p->a, &p->next);
	add_copied(p);
	TRY(put_each(p, sign_put));
	follow_moved(p);
	bool again = some_unsure(p);
	if (wrote && (again || !p->s->view.exact))
		wait_a_tick(written);
	if (again)
		TRY(put_each(p, sign_at_last));
	sign_seen(p);
	return NULL;
}

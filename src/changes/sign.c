/* Takes the signatures of outputs and sources after writing, so that the next run can see whether anything changed.
 *
 * A file that is changed twice within one tick of the kernel's clock shows the same times. So we stat our outputs
 * only after that tick, unless the file system is exact (sig_exact). A source's signature is the one it had when it
 * was read; a source read within a tick of its last change is read again now.
 */
#include <time.h>

#include "base/fs.h"
#include "changes/apply_int.h"

/* A signature that could hide a change is not recorded; the next run then compares the content. */
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

/* A copy without a signature gets a sum instead: by the next run its source may be gone. */
static struct err *sign_at_last(struct arena *tmp, void *put)
{
	struct put *p = put;
	TRY(sign_put(tmp, put));
	if (p->unsure && p->made.kind == MADE_COPY)
		p->made.hash = sum_of_file(p->path);
	return NULL;
}

/* ---- sources ---- */

static struct str full_path(struct arena *a, const struct apply *p, struct str path)
{
	return str_eq(path, S(".")) ? p->s->root : path_join(a, p->s->root, path);
}

/* Gives sources that became originals, and originals that were restored, their new names. A rename changes only ctime,
 * so if the rest of the signature is the same, it is replaced by the present one. */
static void follow_moved(struct apply *p)
{
	ARENA(tmp);
	MAP(moved, &tmp); /* old name -> struct str *: the new one */
	const struct view *v = &p->s->view;
	struct str journal = p->s->journal;
	VEC_EACH (const struct put, put, &p->puts) {
		if (!put->done || !(put->keep_original || put->was_original))
			continue;
		struct str *name = NEW(&tmp, struct str);
		*name = view_name(v, base_original(p->a, journal, put->made.output));
		map_put(&moved, view_name(v, put->path), name);
	}
	VEC_EACH (const struct str, output, &p->t->removed) {
		struct str *name = NEW(&tmp, struct str);
		*name = view_name(v, base_path(p->a, p->s->base, *output));
		map_put(&moved, view_name(v, base_original(&tmp, journal, *output)), name);
	}
	VEC_EACH (struct seen, s, &p->next.seen) {
		struct arena_mark mark = arena_mark(&tmp);
		const struct str *to = s->kind == SEEN_FILE ? map_get(&moved, s->path) : NULL;
		struct stat st;
		if (to)
			s->path = *to;
		if (to && fs_try_stat(full_path(&tmp, p, *to), &st)) {
			struct sig now = sig_of(&st);
			bool same = now.size == s->sig.size && now.mtime == s->sig.mtime;
			s->racy = s->racy || !same || now.ino != s->sig.ino;
			s->sig = same ? now : s->sig;
		}
		arena_rewind(&tmp, mark);
	}
}

/* Gives folders that we changed their present signature, but marks those that someone else changed too as racy. Reads
 * files again that were read within a tick of their last change. */
static void sign_seen(struct apply *p)
{
	ARENA(tmp);
	VEC_EACH (struct seen, s, &p->next.seen) {
		if (s->kind != SEEN_DIR && !(s->kind == SEEN_FILE && s->racy))
			continue;
		struct arena_mark mark = arena_mark(&tmp);
		struct str path = full_path(&tmp, p, s->path);
		const struct sig *before = s->kind == SEEN_DIR ? map_get(&p->touched, path) : NULL;
		uint64_t start = sig_now();
		struct stat st;
		if (before && fs_try_stat(path, &st)) {
			bool others = !sig_eq(before, &s->sig);
			s->sig = sig_of(&st);
			s->racy = others || sig_unsure(&st, sig_now(), p->s->view.exact);
		} else if (s->kind == SEEN_FILE && !sum_none(&s->hash) && fs_try_stat(path, &st)) {
			struct sig now = sig_of(&st);
			if (sum_is_of_file(&s->hash, path) && sig_eq(&now, &s->sig))
				s->racy = sig_unsure(&st, start, p->s->view.exact);
		}
		arena_rewind(&tmp, mark);
	}
}

/* Adds the sources of plain copies, and those of earlier outputs that stay, with the signatures of the earlier run;
 * skips sources that the caller read itself. */
static void add_other_sources(struct apply *p)
{
	ARENA(tmp);
	MAP(noted, &tmp);
	VEC_EACH (const struct seen, s, &p->next.seen)
		if (s->kind == SEEN_FILE)
			map_put(&noted, s->path, p);
	if (p->s->old && p->kept_sources.n)
		VEC_EACH (const struct seen, s, &p->s->old->seen)
			if (s->kind == SEEN_FILE && map_get(&p->kept_sources, s->path) &&
				map_put(&noted, s->path, p))
				*VEC_PUSH(p->a, &p->next.seen) = *s;
	VEC_EACH (const struct put, put, &p->puts) {
		if (put->made.kind != MADE_COPY || !put->from.p)
			continue;
		struct seen s = {.kind = SEEN_FILE, .sig = sig_of(&put->like)};
		s.path = view_name(&p->s->view, put->from);
		s.racy = sig_unsure(&put->like, put->looked, p->s->view.exact);
		if (!map_get(&noted, s.path))
			*VEC_PUSH(p->a, &p->next.seen) = s;
	}
}

struct err *sign_all(struct apply *p, bool wrote)
{
	const struct timespec step = {.tv_nsec = 250000};
	struct timespec t;
	clock_gettime(CLOCK_REALTIME, &t);
	uint64_t written = (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
	view_noted(&p->s->view, p->a, &p->next);
	add_other_sources(p);
	TRY(put_each(p, sign_put));
	follow_moved(p);
	bool again = false;
	VEC_EACH (const struct put, put, &p->puts)
		again = again || put->unsure;
	/* wait until the clock for file times has passed `written`; it may lag by more than a tick */
	bool wait = wrote && (again || !p->s->view.exact);
	for (unsigned i = 0; wait && i < 200 && sig_now() <= written; i++)
		(void)nanosleep(&step, NULL);
	if (again)
		TRY(put_each(p, sign_at_last));
	sign_seen(p);
	return NULL;
}

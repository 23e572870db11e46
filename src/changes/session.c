/* Opens a session (lock, manifest, view), and checks quickly whether anything changed since the last run. */
#include <time.h>

#include "base/fs.h"
#include "base/pool.h"
#include "base/proc.h"
#include "base/progress.h"
#include "changes/manifest.h"

enum { SHARES = 8, LEAST_SHARE = 512 };

struct str changes_journal(struct arena *a, struct str dir, struct str name)
{
	return path_join(a, dir, name.n ? name : S(".rocsmith"));
}

bool changes_made(struct str journal)
{
	ARENA(tmp);
	return fs_exists(path_join(&tmp, journal, S("hipify.manifest")));
}

/* Waits in small steps, so that Ctrl-C takes effect. A restore may remove the journal after we create it and before we
 * open the lock in it; then we create it again. */
struct err *base_lock(struct str journal, bool shared, int *ret_fd)
{
	const struct timespec step = {.tv_nsec = 20000000};
	ARENA(tmp);
	struct str path = path_join(&tmp, journal, S("hipify.lock"));
	bool noted = false;
	for (unsigned gone = 0;;) {
		TRY(fs_check_own(journal));
		struct err *e = shared ? NULL : fs_mkdirs(journal);
		e = e ? e : fs_lock(path, shared ? FS_LOCK_SHARED : FS_LOCK_NOW, ret_fd);
		if (e && shared && (e->code == E_NOENT || e->code == E_PERM)) {
			err_freep(&e); /* there is no journal to read, or we may not lock it */
			*ret_fd = -1;
		}
		if (!e || (e->code != E_LOCKED && (e->code != E_NOENT || gone++ > 100)))
			return e;
		if (!noted && e->code == E_LOCKED) {
			progress_note(
				S("Waiting"), "for another run on '%.*s'", STR(path_dir(journal)));
			noted = true;
		}
		err_free(e);
		TRY(cancel_check());
		(void)nanosleep(&step, NULL);
	}
}

/* ---- opening ---- */

/* A killed run can have staged only outputs that its intent names. A folder that is gone or no longer writable does not
 * stop the cleanup of the others. */
struct err *session_tidy(const struct manifest *m, struct str base)
{
	ARENA(tmp);
	VEC_EACH (const struct made, e, &m->made) {
		struct arena_mark mark = arena_mark(&tmp);
		struct err *no = NULL;
		if (e->kind == MADE_TEXT || e->kind == MADE_COPY || e->kind == MADE_LINK)
			no = fs_remove(fs_temp_name(&tmp, base_path(&tmp, base, e->output)));
		arena_rewind(&tmp, mark);
		if (no && no->code != E_NOENT && no->code != E_PERM)
			return no;
		err_free(no);
	}
	return NULL;
}

struct err *session_open(struct arena *a, const struct change_request *o, struct session *ret)
{
	*ret = (struct session){.a = a, .request = o, .lock = -1, .source_lock = -1};
	ret->root = path_abs(a, o->dir);
	if (o->in_place || o->out.n)
		ret->base = path_abs(a, o->in_place ? o->dir : o->out);
	if (!fs_is_dir(ret->root))
		return err_new(E_NOENT, "no folder '%.*s'", STR(o->dir));
	if (!o->in_place && ret->base.n && path_is_below(ret->root, ret->base))
		return err_new(E_USAGE, "the output folder '%.*s' contains the sources of '%.*s'",
			STR(o->out), STR(o->dir));
	bool shared = o->look_only || fs_writes_forbidden();
	TRY(fs_guard(ret->root, &ret->tree));
	if (ret->base.n) {
		if (!shared)
			TRY(fs_make_output(ret->base));
		TRY(fs_guard(ret->base, &ret->out));
		ret->journal = changes_journal(a, ret->base, o->journal);
		TRY(base_lock(ret->journal, shared, &ret->lock));
		TRY(manifest_read(a, ret->journal, &ret->old));
	}
	bool other = ret->old && (ret->old->kind == BASE_IN_PLACE) != o->in_place;
	if (other && o->in_place)
		return err_hint(
			err_new(E_USAGE, "'%.*s' is an output folder of rocsmith", STR(o->dir)),
			"translate the folder that it was made from: '%.*s'", STR(ret->old->root));
	if (other)
		return err_hint(err_new(E_USAGE,
					"'%.*s' was translated in place, it cannot be an output "
					"folder",
					STR(o->out)),
			"choose another folder with -o");
	if (ret->old && !ret->old->complete && !shared)
		TRY(session_tidy(ret->old, ret->base));
	/* the view hides outputs made in root: in place, base's manifest lists them; for an overlay, root's own */
	struct manifest *made = ret->old;
	if (!o->in_place) {
		struct str journal = changes_journal(a, ret->root, S(""));
		TRY(base_lock(journal, true, &ret->source_lock));
		TRY(manifest_read(a, journal, &made));
	}
	view_open(&ret->view, ret->root, made);
	TRY(fs_guard_sources(ret->root, &ret->view.guard));
	if (ret->base.n && !o->in_place)
		strs_add(a, &ret->view.hidden, ret->base);
	ret->view.exact = ret->base.n && !shared ? sig_exact(ret->lock) : 0;
	return NULL;
}

void session_close(struct session *s)
{
	view_close(&s->view);
	/* a run that failed before it wrote down its intent leaves no journal */
	if (s->lock >= 0 && !s->request->look_only && !fs_writes_forbidden() &&
		!changes_made(s->journal)) {
		err_free(fs_remove(path_join(s->a, s->journal, S(".gitignore"))));
		err_free(fs_remove(path_join(s->a, s->journal, S("hipify.lock"))));
		err_free(fs_remove_empty(s->journal));
	}
	fd_closep(&s->lock);
	fd_closep(&s->source_lock);
	fs_unguardp(&s->out);
	fs_unguardp(&s->tree);
}

/* ---- is the last run still current? ---- */

/* The part of the manifest's records, those of files read and then those of outputs, that one thread checks. */
struct record_share {
	const struct session *s;
	int root, base; /* fds */
	size_t from, to;
	bool changed;
};

static bool seen_same(const struct record_share *l, const struct seen *s)
{
	ARENA(tmp);
	struct stat st;
	bool there = fs_try_stat_in(l->root, s->path, true, &st);
	struct str path = path_join(&tmp, l->s->root, s->path);
	if (s->kind == SEEN_PROBE) /* a probe counted our own outputs as absent */
		return there != s->absent || (there && view_hides(&l->s->view, path));
	struct sig now = {0};
	if (there)
		now = sig_of(&st);
	if (!sig_eq(&now, &s->sig))
		return false;
	if (!s->racy || sum_none(&s->hash))
		return !s->racy;
	return sum_is_of_file(&s->hash, path);
}

static bool made_same(const struct record_share *l, const struct made *m)
{
	struct stat st;
	enum content content;
	if (m->kind == MADE_DIR)
		return true;
	if (!fs_try_stat_in(l->base, m->output, m->kind != MADE_LINK, &st))
		return false;
	struct sig now = sig_of(&st);
	if (l->s->request->worked_in || sig_eq(&now, &m->sig))
		return true;
	CLEANUP(err_freep) struct err *e = made_content(l->s->old, l->s->base, m, &content);
	return !e && content == CONTENT_MADE && now.size == m->sig.size;
}

static struct err *check_share(struct arena *tmp, void *user)
{
	(void)tmp;
	struct record_share *l = user;
	const struct manifest *m = l->s->old;
	for (size_t i = l->from; i < l->to && !l->changed; i++)
		l->changed = i < m->seen.n ? !seen_same(l, &m->seen.v[i])
					   : !made_same(l, &m->made.v[i - m->seen.n]);
	return NULL;
}

struct err *session_current(
	struct session *s, struct change_set *ret, struct str *ret_report, bool *yes)
{
	const struct manifest *m = s->old;
	CLEANUP(fd_closep) int root = -1;
	CLEANUP(fd_closep) int base = -1;
	struct record_share v[SHARES];
	*yes = false;
	if (!m || !m->complete || !str_eq(m->identity, s->request->identity) ||
		!str_eq(m->root, s->root))
		return NULL;
	TRY(fs_open(s->root, &root));
	TRY(fs_open(s->base, &base));
	size_t all = m->seen.n + m->made.n, n = all / LEAST_SHARE + 1;
	n = n > SHARES ? SHARES : n;
	for (size_t i = 0; i < n; i++)
		v[i] = (struct record_share){.s = s,
			.root = root,
			.base = base,
			.from = all * i / n,
			.to = all * (i + 1) / n};
	TRY(pool_each(s->request->jobs, v, n, sizeof(*v), check_share));
	*yes = true;
	for (size_t i = 0; i < n; i++)
		*yes = *yes && !v[i].changed;
	if (!*yes)
		return NULL;
	VEC_EACH (const struct change, f, &m->changes) {
		struct change *copy = VEC_PUSH(s->a, ret);
		*copy = *f;
		if (f->status == CHANGE_OK)
			copy->status = CHANGE_SKIPPED;
	}
	*ret_report = m->report;
	return NULL;
}

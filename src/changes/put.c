/* Writes one output in three steps: examine the present file, stage the new content beside it, rename it into place. */
#include <errno.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/proc.h"
#include "changes/apply_int.h"

enum { CONTENT_LIMIT = 1 << 30 };

/* ---- examining ---- */

/* The output's path as the user knows it, below the folder of the request. */
static struct str shown_path(struct arena *tmp, const struct put *p)
{
	const struct change_request *o = p->s->request;
	return path_join(tmp, o->in_place ? o->dir : o->out, p->made.output);
}

/* Does the present file already have the right content? */
static bool has_content(struct arena *tmp, const struct put *p)
{
	struct str there, want = p->text;
	bool link = p->made.kind == MADE_LINK;
	if (p->is_link != link)
		return false;
	uint64_t size = p->made.kind == MADE_TEXT ? want.n : (uint64_t)p->like.st_size;
	if (!link && p->there.size != size)
		return false;
	CLEANUP(err_freep)
	struct err *e = link ? fs_readlink(tmp, p->path, &there)
			     : fs_read(tmp, p->path, CONTENT_LIMIT, &there);
	CLEANUP(err_freep) struct err *source = NULL;
	if (!e && p->made.kind == MADE_COPY)
		source = fs_read(tmp, p->from, CONTENT_LIMIT, &want);
	return !e && !source && str_eq(there, want);
}

/* Compares the present file with what earlier runs made and this run wants. */
static struct err *examine_file(struct arena *tmp, struct put *p)
{
	enum content content = CONTENT_OTHER;
	const struct change_request *o = p->s->request;
	const struct made *old = p->old && p->old->kind != MADE_FOUND ? p->old : NULL;
	/* signatures and sums may show, without reading, that the file is what the last run made and this run wants */
	bool same = p->old && p->old->kind == p->made.kind && sig_eq(&p->there, &p->old->sig);
	if (same && (p->made.kind == MADE_TEXT ? sum_eq(&p->made.hash, &p->old->hash)
					       : p->made.kind == MADE_COPY && p->same_source))
		return NULL;
	if (old)
		TRY(made_content(p->s->old, p->s->base, old, &content));
	if (has_content(tmp, p)) {
		if (content == CONTENT_OTHER && !old)
			p->made.kind = MADE_FOUND;
		return NULL;
	}
	p->what = PUT_OVER;
	p->was_original = content == CONTENT_ORIGINAL;
	/* after a kill it may have either content named by the intent; a copy has no stored sum */
	if (content == CONTENT_MADE && old)
		p->made.before = sig_eq(&p->there, &old->sig) && !sum_none(&old->hash)
					 ? old->hash
					 : sum_of_file(p->path);
	if (content != CONTENT_OTHER)
		return NULL;
	/* someone else's file, or ours but edited since */
	if (!old && !o->in_place)
		return err_hint(err_new(o->failure, "'%.*s' is there and was not made by rocsmith",
					STR(shown_path(tmp, p))),
			"choose another folder with -o, or remove the file");
	p->keep_aside = old && !(old->replaced && str_eq(p->made.output, p->made.source));
	p->keep_original = !p->keep_aside;
	if (p->keep_original)
		TRY(sum_of_original(p->path, &p->made.original));
	p->made.replaced = p->made.replaced || p->keep_original;
	return NULL;
}

static struct err *examine(struct arena *tmp, struct put *p)
{
	struct stat st;
	if (p->made.kind == MADE_TEXT)
		p->made.hash = sum_of(p->text);
	if (p->old && p->old->replaced) { /* keep the record of an original while it exists */
		p->made.original = p->old->original;
		p->made.replaced = fs_present(base_original(tmp, p->s->journal, p->made.output));
	}
	p->what = PUT_NEW;
	bool there = fs_try_lstat(p->path, &st);
	int why = errno;
	/* In place a file keeps its mode. In an overlay a translation gets the mode of the source tree's file at the
	 * same path, less the umask; a new file gets that of its source. Nobody may read a result who may not read
	 * its source. */
	struct stat like, source;
	bool text = p->made.kind == MADE_TEXT, in_place = p->s->request->in_place;
	bool known = text && fs_try_stat(base_path(tmp, p->s->root, p->made.source), &source);
	if (text && in_place && there && S_ISREG(st.st_mode))
		p->mode = (st.st_mode & 0777) | FS_EXACT;
	else if (text && !in_place &&
		 fs_try_stat(base_path(tmp, p->s->root, p->made.output), &like))
		p->mode = like.st_mode & 0777;
	else if (known)
		p->mode = (source.st_mode & 0666) | 0600;
	if (known)
		p->mode &= ~(0044u & ~source.st_mode);
	/* root restores the group of what is replaced, see put_stage() */
	gid_t group = there && in_place && geteuid() == 0 ? st.st_gid : getegid();
	if (known && !(source.st_mode & 0004) && source.st_gid != group)
		p->mode &= ~0040u;
	errno = why;
	if (!there)
		return errno == ENOENT || errno == ENOTDIR
			       ? NULL
			       : err_errno("cannot look at '%.*s'", STR(p->path));
	p->there = sig_of(&st);
	p->what = PUT_NOTHING;
	p->is_link = S_ISLNK(st.st_mode);
	p->uid = st.st_uid;
	p->gid = st.st_gid;
	if (!p->is_link && !S_ISREG(st.st_mode))
		return err_new(p->s->request->failure, "'%.*s' is in the way and is not a file",
			STR(shown_path(tmp, p)));
	TRY(examine_file(tmp, p));
	bool open = known && !p->is_link && st.st_mode & ~source.st_mode & 0044;
	if (p->what == PUT_NOTHING && p->made.kind == MADE_TEXT && open)
		p->what = PUT_OVER;
	return NULL;
}

struct err *put_examine(struct arena *tmp, void *put)
{
	struct put *p = put;
	if (!p->error)
		p->error = examine(tmp, p);
	return NULL;
}

/* ---- staging ---- */

/* A missing source or an unusable folder fails only this output. A full disk stops the run, before anything is
 * changed. */
struct err *put_stage(struct arena *tmp, void *put)
{
	struct put *p = put;
	TRY(cancel_check());
	if (p->error || p->what == PUT_NOTHING)
		return NULL;
	struct str staged = fs_temp_name(tmp, p->path);
	struct err *e;
	struct stat like = p->like;
	/* ninja and make take what was built from the old file for that of an older one: the new one is of now */
	if (p->s->request->worked_in && p->what == PUT_OVER)
		(void)clock_gettime(CLOCK_REALTIME, &like.st_mtim);
	if (p->made.kind == MADE_LINK)
		e = fs_symlink_new(p->text, staged);
	else if (p->made.kind == MADE_COPY)
		e = fs_copy(p->from, staged, &like);
	else
		e = fs_write(staged, p->text, p->mode | FS_LOOSE);
	/* keep the owner, as writing into the old file would; only root can, and only root needs to */
	bool own = e || p->made.kind != MADE_TEXT || p->what != PUT_OVER ||
		   (p->uid == geteuid() && p->gid == getegid());
	if (!own && geteuid() == 0)
		(void)fs_try_chown(staged, p->uid, p->gid);
	if (!e)
		return NULL;
	e = err_wrap(e, "cannot write '%.*s'", STR(p->path));
	if (e->code != E_NOENT && e->code != E_PERM && fs_is_dir(path_dir(p->path)))
		return e;
	p->error = e;
	return put_abandon(tmp, put);
}

struct err *put_abandon(struct arena *tmp, void *put)
{
	const struct put *p = put;
	if (p->what != PUT_NOTHING && !p->done)
		err_free(fs_remove(fs_temp_name(tmp, p->path)));
	return NULL;
}

/* ---- putting in place ---- */

/* Gives the file at path a second name; copies it if the file system refuses the link. */
static struct err *second_name(struct arena *tmp, const struct put *p, struct str to)
{
	struct stat st;
	TRY(fs_mkdirs(path_dir(to)));
	struct err *e = fs_link(p->path, to);
	if (!e)
		return NULL;
	err_free(e);
	struct str copy = base_slot(tmp, p->s->journal, "new", p->made.output);
	TRY(fs_mkdirs(path_dir(copy)));
	TRY(fs_stat(p->path, &st));
	TRY(fs_copy(p->path, copy, &st));
	if (geteuid() == 0)
		(void)fs_try_chown(copy, st.st_uid, st.st_gid);
	return fs_move(copy, to, true);
}

/* An unused name in kept/. */
static struct str kept_name(struct arena *tmp, const struct put *p)
{
	struct str first = base_slot(tmp, p->s->journal, "kept", p->made.output);
	struct str name = first;
	for (unsigned i = 2; fs_present(name); i++)
		name = str_fmt(tmp, "%.*s.%u", STR(first), i);
	return name;
}

/* The file that is replaced is saved before: in kept/ if it is an edited output, else as the original. */
static struct err *replace(struct arena *tmp, struct put *p)
{
	struct stat st;
	struct sig now = {0};
	struct str original = base_original(tmp, p->s->journal, p->made.output);
	if (p->what == PUT_OVER && fs_try_lstat(p->path, &st))
		now = sig_of(&st);
	if (p->what == PUT_OVER && !sig_eq(&now, &p->there))
		return err_hint(err_new(p->s->request->failure,
					"'%.*s' was changed by somebody while rocsmith was "
					"at work",
					STR(shown_path(tmp, p))),
			"run again");
	if (p->keep_aside)
		TRY(second_name(tmp, p, kept_name(tmp, p)));
	if (p->keep_original && fs_present(original)) {
		struct str aside = kept_name(tmp, p);
		TRY(fs_mkdirs(path_dir(aside)));
		TRY(fs_move(original, aside, true));
	}
	if (p->keep_original)
		TRY(second_name(tmp, p, original));
	return fs_move(fs_temp_name(tmp, p->path), p->path, p->what == PUT_OVER);
}

struct err *put_commit(struct arena *tmp, void *put)
{
	struct put *p = put;
	TRY(cancel_check());
	if (p->error || p->what == PUT_NOTHING)
		return NULL;
	p->error = replace(tmp, p);
	p->done = !p->error;
	return put_abandon(tmp, put);
}

struct err *put_each(const struct apply *p, pool_fn *fn)
{
	pool_add_each(p->pool, p->puts.v, p->puts.n, sizeof(*p->puts.v), fn);
	return pool_wait(p->pool);
}

/* ---- by folder ---- */

struct put_batch {
	pool_fn *fn;
	struct put *v;
	size_t n;
};

static struct err *do_batch(struct arena *tmp, void *batch)
{
	const struct put_batch *b = batch;
	for (size_t i = 0; i < b->n; i++) {
		struct arena_mark mark = arena_mark(tmp);
		TRY(b->fn(tmp, &b->v[i]));
		arena_rewind(tmp, mark);
	}
	return NULL;
}

static int largest_first(const void *x, const void *y)
{
	const struct put_batch *a = x, *b = y;
	return a->n != b->n ? (a->n < b->n) - (a->n > b->n) : (a->v > b->v) - (a->v < b->v);
}

struct err *put_by_folder(const struct apply *p, pool_fn *fn)
{
	VEC(struct put_batch) list = {0};
	struct put_batch *b = NULL;
	unsigned jobs = p->s->request->jobs ? p->s->request->jobs : cpu_count();
	size_t most = p->puts.n / jobs + 1;
	VEC_EACH (struct put, put, &p->puts) {
		if (!b || b->n == most || !str_eq(path_dir(b->v->path), path_dir(put->path))) {
			b = VEC_PUSH(p->a, &list);
			*b = (struct put_batch){.fn = fn, .v = put};
		}
		b->n++;
	}
	VEC_SORT(&list, largest_first);
	VEC_EACH (struct put_batch, batch, &list)
		pool_add(p->pool, do_batch, batch);
	return pool_wait(p->pool);
}

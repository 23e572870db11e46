/* Writes the commits of a checkout as the files of a queue; see queue.h. */
#include "base/fs_stage.h"
#include "recipe/queue.h"

struct saving {
	struct arena *a;
	struct queue *q;
	struct str dir; /* a folder that becomes QUEUE/PATCHSET */
};

/* Copies what a set has besides the folders that are written anew. */
static struct err *keep_other(void *user, struct fs_entry *e)
{
	ARENA(tmp);
	const struct saving *w = user;
	struct str from = path_join(&tmp, path_join(&tmp, w->q->dir, w->q->patchset), e->path);
	struct str to = path_join(&tmp, w->dir, e->path), text;
	VEC_EACH (const struct queue_repo, r, &w->q->repos)
		e->prune = e->prune || str_eq(e->path, path_join(&tmp, r->name, S("base"))) ||
			   str_eq(e->path, path_join(&tmp, r->name, S("hipified")));
	if (e->prune)
		return NULL;
	if (S_ISDIR(e->st.st_mode))
		return fs_mkdirs(to);
	if (S_ISREG(e->st.st_mode))
		return fs_copy(from, to, &e->st);
	if (!S_ISLNK(e->st.st_mode))
		return err_hint(err_new(E_IO,
					"'%.*s' is no file, folder or link, and cannot be kept "
					"where the set is written anew",
					STR(from)),
			"move it out of the queue");
	TRY(fs_readlink(&tmp, from, &text));
	return fs_symlink_new(text, to);
}

static struct err *save_set(
	const struct saving *w, struct queue_repo *r, const char *set, struct str range)
{
	struct arena *a = w->a;
	struct proc_result p;
	struct str dir = path_join(a, path_join(a, w->dir, r->name), str_from(set));
	struct strs names;
	TRY(QUEUE_RUN(a, r, &p, "format-patch", "-p", QUEUE_DIFF, "--zero-commit", "--no-signature",
		"-N", "--no-thread", "--no-attach", "--no-cover-letter", "--no-to", "--no-cc",
		"--no-add-header", "--no-from", "--no-notes", "--no-encode-email-headers",
		"--subject-prefix=PATCH", "--suffix=.patch", "--no-base", "-o", dir.p, range.p));
	if (!p.out.n)
		return NULL;
	TRY(fs_list(a, dir, &names));
	struct str series = str_fmt(a, "%.*s\n", STR(str_join(a, &names, S("\n"))));
	return fs_write(path_join(a, dir, S("series")), series, 0644);
}

static struct err *save_repo(const struct saving *w, struct queue_repo *r)
{
	struct arena *a = w->a;
	struct proc_result p;
	struct str base = r->base, hip = r->hipify, range = str_fmt(a, "%.*s..HEAD", STR(base));
	if (!base.n)
		return err_hint(err_new(E_USAGE, "the commit of upstream in '%.*s' is not known",
					STR(r->git.dir)),
			"name it with --base");
	TRY(queue_clean(a, r));
	TRY(QUEUE_RUN(a, r, &p, "rev-list", "--merges", "--max-count=1", range.p));
	if (p.out.n)
		return err_hint(err_new(E_USAGE, "'%.*s' has a merge above '%.*s': '%.*s'",
					STR(r->git.dir), STR(base), STR(str_trim(p.out))),
			"a queue is a line of commits: git -C %.*s rebase %.*s",
			STR(str_shell(a, r->git.dir)), STR(base));
	if (!hip.n)
		return save_set(w, r, "base", range);
	/* the commit of the translation itself is no patch */
	TRY(QUEUE_RUN(a, r, &p, "log", "-1", "--format=%s", hip.p));
	bool own = !str_starts(p.out, S("DO NOT SUBMIT: HIPIFY"));
	range = str_fmt(a, "%.*s..%.*s%s", STR(base), STR(hip), own ? "" : "^");
	TRY(save_set(w, r, "base", range));
	return save_set(w, r, "hipified", str_fmt(a, "%.*s..HEAD", STR(hip)));
}

struct err *queue_save(struct arena *a, struct queue *q)
{
	struct saving w = {.a = a, .q = q};
	CLEANUP(fs_tempdirp) struct str scratch = {0};
	if (!q->patchset.n)
		TRY(queue_version(a, q->tree, &q->patchset));
	if (!q->patchset.n || q->patchset.p[0] == '.' || !path_is_inside(q->patchset))
		return err_hint(
			err_new(E_USAGE, "'%.*s' has no version that names a set of patches",
				STR(q->tree)),
			"name the set with --patchset");
	struct fs_stage stage = {.place = path_join(a, q->dir, q->patchset)};
	queue_repos(a, q);
	TRY(queue_meet(a, q));
	if (fs_writes_forbidden()) {
		TRY(fs_tempdir(a, S(""), &scratch));
		stage.tree = path_join(a, scratch, S("tree"));
	} else {
		TRY(fs_stage_begin(a, &stage));
	}
	w.dir = stage.tree;
	struct err *e = fs_mkdirs(w.dir);
	if (!e && fs_is_dir(stage.place))
		e = fs_walk(stage.place, keep_other, &w);
	for (size_t i = 0; i < q->repos.n && !e; i++)
		e = save_repo(&w, &q->repos.v[i]);
	struct queue made = {.tree = q->tree, .dir = path_dir(w.dir), .patchset = path_base(w.dir)};
	e = e ? e : queue_open(a, &made);
	VEC_EACH (struct queue_patch, p, &made.patches) {
		p->state = S("saved");
		*VEC_PUSH(a, &q->patches) = *p;
	}
	q->hash = made.hash;
	if (scratch.n)
		return e;
	if (!e && q->patches.n)
		e = fs_sync_all(w.dir);
	if (!e && q->patches.n)
		e = fs_stage_commit(&stage, S(""));
	return err_join(e, fs_stage_end(&stage));
}

/* Finds out which patches of a queue a tree has, applies the others by git am, and takes them back; see queue.h. */
#include "base/buf.h"
#include "base/fs.h"
#include "base/progress.h"
#include "recipe/queue.h"
#include "source/checkout.h"

#define COMMITTER "rocsmith@localhost"
/* The refs by which a repository remembers runs; see queue.h. */
#define REFS "refs/worktree/rocsmith/"
enum { MAX_NEXT = 64, MAX_MAIL = 64 << 20, MAX_DETAIL = 8000 };

static bool is_waiting(const struct queue_patch *p)
{
	return str_eq(p->state, S("waiting"));
}

static bool is_busy(struct arena *a, const struct queue_repo *r)
{
	return fs_present(path_join(a, r->gitdir, S("rebase-apply"))) ||
	       fs_present(path_join(a, r->gitdir, S("rebase-merge")));
}

/* ---- repositories ---- */

/* The object that a word means, or "". */
static struct err *find_object(
	struct arena *a, struct queue_repo *r, struct str word, struct str *ret)
{
	struct proc_result p;
	TRY(QUEUE_TRY(a, r, &p, "rev-parse", "-q", "--verify", word.p));
	*ret = p.status ? S("") : str_dup(a, str_trim(p.out));
	return NULL;
}

/* The commit that a word of the user, or a submodule's pin, means. */
static struct err *need_commit(
	struct arena *a, struct queue_repo *r, struct str word, struct str *ret)
{
	if (str_starts(word, S("-")))
		TRY(git_check_ref(word));
	TRY(find_object(a, r, str_fmt(a, "%.*s^{commit}", STR(word)), ret));
	return ret->n ? NULL
		      : err_hint(err_new(E_USAGE, "'%.*s' has no commit '%.*s'", STR(r->git.dir),
					 STR(word)),
				"fetch it first: git -C %.*s fetch origin %.*s",
				STR(str_shell(a, r->git.dir)), STR(str_shell(a, word)));
}

/* Sets *io to "" unless it is an ancestor of the commit. */
static struct err *need_ancestor(
	struct arena *a, struct queue_repo *r, struct str commit, struct str *io)
{
	struct proc_result p = {.status = 1};
	if (io->n)
		TRY(QUEUE_TRY(a, r, &p, "merge-base", "--is-ancestor", io->p, commit.p));
	*io = p.status ? S("") : *io;
	return NULL;
}

struct err *queue_clean(struct arena *a, struct queue_repo *r)
{
	struct proc_result p;
	struct str dir = str_shell(a, r->git.dir);
	if (is_busy(a, r))
		return err_hint(
			err_new(E_USAGE, "a 'git am' or 'git rebase' is not finished in '%.*s'",
				STR(r->git.dir)),
			"'rocsmith patch apply TREE QUEUE' with --continue, --skip or --abort ends "
			"one of rocsmith; others: git -C %.*s status",
			STR(dir));
	TRY(QUEUE_RUN(a, r, &p, "status", "--porcelain", "--untracked-files=no",
		"--ignore-submodules=all"));
	if (!p.out.n)
		return NULL;
	return err_hint(err_detail(err_new(E_USAGE, "'%.*s' has changes that are not committed",
					   STR(r->git.dir)),
				str_sub(p.out, 0, 2000)),
		"commit them, or put them aside: git -C %.*s stash", STR(dir));
}

/* Refuses to go back to a commit, or to the base, if that lost work of somebody else: commits that were not made by
 * queue_go(), and changed files outside of a git am. */
static struct err *check_own(struct arena *a, struct queue_repo *r, struct str before)
{
	struct proc_result p;
	struct str base, who, dir = str_shell(a, r->git.dir);
	TRY(find_object(a, r, S(REFS "base"), &base));
	base = base.n ? base : before;
	TRY(QUEUE_RUN(a, r, &p, "log", "--no-show-signature", "--format=%ce", "HEAD", "--not",
		before.p, base.p));
	while (str_next(&p.out, '\n', &who))
		if (!str_eq(who, S(COMMITTER)))
			return err_hint(
				err_new(E_USAGE, "'%.*s' has commits of others since the last run",
					STR(r->git.dir)),
				"to keep them: git -C %.*s update-ref -d " REFS "running; to "
				"go back without them: git -C %.*s reset --hard %.*s",
				STR(dir), STR(dir), STR(before));
	if (fs_present(path_join(a, r->gitdir, S("rebase-apply"))) ||
		fs_present(path_join(a, r->gitdir, S("index.lock"))))
		return NULL;
	const struct str ours[] = {before, base}; /* a killed git may be there, and HEAD not yet */
	for (size_t i = 0; i < 2; i++) {
		TRY(QUEUE_TRY(a, r, &p, "diff", "--quiet", "--no-ext-diff", "--no-textconv",
			"--ignore-submodules=all", ours[i].p));
		if (!p.status)
			return NULL;
	}
	return queue_clean(a, r);
}

/* The lock of the run is held, so the locks of git are nobody's. */
static struct err *go_back(struct arena *a, struct queue_repo *r, struct str before)
{
	static const char *const left[] = {"index.lock", "HEAD.lock"};
	struct proc_result p;
	for (size_t i = 0; i < sizeof(left) / sizeof(*left); i++)
		TRY(fs_remove_tree(path_join(a, r->gitdir, str_from(left[i]))));
	TRY(QUEUE_RUN(a, r, &p, "reset", "--hard", "--quiet", before.p));
	TRY(fs_remove_tree(path_join(a, r->gitdir, S("rebase-apply"))));
	return QUEUE_RUN(a, r, &p, "update-ref", "-d", REFS "running");
}

/* Takes back what a killed run was at. */
static struct err *mend(struct arena *a, struct queue_repo *r, bool killed)
{
	static const char *const refs[] = {"running", "before", "base", "after"};
	struct str before;
	for (size_t i = 0; i < sizeof(refs) / sizeof(*refs); i++)
		TRY(fs_remove(str_fmt(a, "%.*s/" REFS "%s.lock", STR(r->gitdir), refs[i])));
	if (killed) /* only then is it nobody's: any git that deletes a ref takes it */
		TRY(fs_remove(path_join(a, r->gitdir, S("packed-refs.lock"))));
	TRY(find_object(a, r, S(REFS "running"), &before));
	TRY(before.n ? check_own(a, r, before) : NULL);
	return before.n ? go_back(a, r, before) : NULL;
}

static struct err *meet_repo(struct arena *a, const struct queue *q, struct queue_repo *r)
{
	struct proc_result p;
	struct str tree = str_shell(a, q->tree), path = str_shell(a, r->path), real, top;
	*r = (struct queue_repo){.path = r->path, .name = r->name};
	r->git = (struct git){.dir = r->path.n ? path_join(a, q->tree, r->path) : q->tree};
	if (!fs_present(path_join(a, r->git.dir, S(".git")))) {
		struct err *e = err_new(E_USAGE, "'%.*s' is not a git checkout", STR(r->git.dir));
		return r->path.n ? err_hint(e,
					   "initialise the submodule: git -C %.*s submodule update "
					   "--init --recursive %.*s",
					   STR(tree), STR(path))
				 : e;
	}
	if (r->path.n && fs_real(a, r->git.dir, &real) && fs_real(a, q->tree, &top) &&
		!str_eq(real, path_join(a, top, r->path)))
		return err_new(E_USAGE, "a link leads from the submodule '%.*s' to '%.*s'",
			STR(r->git.dir), STR(real));
	strs_add(a, &r->git.setenv, S("GIT_COMMITTER_NAME=rocsmith"));
	strs_add(a, &r->git.setenv, S("GIT_COMMITTER_EMAIL=" COMMITTER));
	TRY(QUEUE_RUN(a, r, &p, "rev-parse", "--absolute-git-dir"));
	r->gitdir = str_sub(p.out, 0, str_chr(p.out, '\n'));
	if (q->mends)
		TRY(mend(a, r, q->killed));
	TRY(need_commit(a, r, S("HEAD"), &r->now));
	TRY(find_object(a, r, S("refs/tags/THEROCK_HIPIFY_DIFFBASE^{commit}"), &r->hipify));
	r->at = r->now;
	return need_ancestor(a, r, r->now, &r->hipify);
}

/* The commit that 'rocsmith checkout' took, by the lock file beside the tree, is the base if nothing else says it. */
static struct err *locked_base(struct arena *a, struct queue_repo *r)
{
	struct checkout_lock lock;
	TRY(checkout_lock_read(a, path_join(a, path_dir(r->git.dir), S("rocsmith.lock")), &lock));
	const struct checkout_project *p = checkout_find(&lock, path_base(r->git.dir));
	if (p)
		TRY(find_object(a, r, str_fmt(a, "%.*s^{commit}", STR(p->commit)), &r->base));
	return need_ancestor(a, r, r->now, &r->base);
}

struct err *queue_meet(struct arena *a, struct queue *q)
{
	struct queue_repo *root = q->repos.v;
	struct str word = q->onto.n ? q->onto : q->base;
	VEC_EACH (struct queue_repo, r, &q->repos) {
		struct queue_repo *up = root;
		TRY(meet_repo(a, q, r));
		for (struct queue_repo *i = root; i < r; i++)
			if (path_is_below(r->path, i->path))
				up = i;
		struct str rel = up->path.n ? path_rel(a, r->path, up->path) : r->path;
		if (r != root && up->base.n)
			TRY(find_object(
				a, up, str_fmt(a, "%.*s:%.*s", STR(up->base), STR(rel)), &r->base));
		else if (r == root && word.n)
			TRY(need_commit(a, r, word, &r->base));
		for (int i = 0; r == root && i < 2 && !r->base.n; i++) {
			TRY(find_object(a, r,
				i ? S("refs/tags/THEROCK_UPSTREAM_DIFFBASE^{commit}")
				  : S(REFS "base^{commit}"),
				&r->base));
			TRY(need_ancestor(a, r, r->now, &r->base));
		}
		if (r == root && !r->base.n)
			TRY(locked_base(a, r));
		if (q->onto.n && r->base.n)
			TRY(need_commit(a, r, r->base, &r->at));
		r->hipify = q->onto.n ? S("") : r->hipify;
	}
	return NULL;
}

/* ---- looking ---- */

/* Writes the commits that changed files of the patches, the last ones, with their diffs. */
static struct err *write_log(
	struct arena *a, const struct queue *q, struct queue_repo *r, struct str file)
{
	struct proc_result p;
	struct str line, path;
	BUF(input, a);
	buf_fmt(&input, "%.*s\n--\n", STR(r->at));
	VEC_EACH (const struct queue_patch, i, &q->patches) {
		if (!str_eq(i->repo, r->path))
			continue;
		r->git.input = i->text;
		TRY_CTX(QUEUE_RUN(a, r, &p, "apply", "--numstat", "-z"),
			"cannot read the patch '%.*s'", STR(i->file));
		while (str_next(&p.out, 0, &line)) { /* ADDED, REMOVED and PATH, between tabs */
			path = str_sub(line, str_rchr(line, '\t') + 1, line.n);
			if (path.n && str_chr(path, '\n') == path.n)
				buf_fmt(&input, "%.*s\n", STR(path));
		}
	}
	r->git.input = buf_str(&input);
	return QUEUE_RUN(a, r, &p, "log", "-n", "2000", "--no-merges", "--full-diff", "-p",
		QUEUE_DIFF, "--no-show-signature", "--format=commit %H",
		str_fmt(a, "--output=%.*s", STR(file)).p, "--stdin");
}

/* Has a commit, as "<EMAIL> DATE SUBJECT", the author, date and subject of the mail? A long subject goes on in another
 * line of the mail. */
static bool is_mail_of(struct str mail, struct str commit)
{
	static const char *const keys[] = {"\nFrom: ", "\nDate: ", "\nSubject: [PATCH] "};
	mail = str_sub(mail, 0, str_find(mail, S("\n\n")));
	for (size_t i = 0; i < 3; i++) {
		struct str key = str_from(keys[i]);
		struct str value = str_sub(mail, str_find(mail, key) + key.n, mail.n);
		value = str_sub(value, 0, str_chr(value, '\n'));
		if (i == 0)
			value = str_sub(value, str_rchr(value, '<'), value.n);
		if (!value.n || !str_starts(commit, value))
			return false;
		commit = str_sub(commit, value.n + 1, commit.n);
	}
	return true;
}

/* Sets the states that commits give: by patch ids, else, above the base, by the author's words. */
static struct err *find_commits(struct arena *a, struct queue *q, struct queue_repo *r)
{
	CLEANUP(fs_tempdirp) struct str dir = {0};
	struct proc_result p;
	struct str line, id, commit, text, range, mails, rest;
	MAP(ids, a);
	TRY(fs_tempdir(a, S(""), &dir));
	struct str log = path_join(a, dir, S("log"));
	TRY(write_log(a, q, r, log));
	TRY(fs_map(log, &text));
	r->git.input = text;
	struct err *e = text.n ? QUEUE_RUN(a, r, &p, "patch-id", "--stable") : NULL;
	rest = text.n && !e ? p.out : S("");
	fs_unmap(&text);
	TRY(e);
	while (str_next(&rest, '\n', &line))
		if (str_cut(line, ' ', &id, &commit))
			map_put(&ids, id, str_z(a, commit));
	range = str_fmt(a, "%.*s..%.*s", STR(r->base), STR(r->at));
	TRY(QUEUE_RUN(a, r, &p, "log", "-n", "2000", "--no-merges", "--no-show-signature",
		"--format=%H <%ae> %aD %s", r->base.n ? range.p : r->at.p));
	mails = p.out;
	VEC_EACH (struct queue_patch, i, &q->patches) {
		if (!str_eq(i->repo, r->path))
			continue;
		r->git.input = i->text;
		TRY(QUEUE_RUN(a, r, &p, "patch-id", "--stable"));
		const char *same = map_get(&ids, str_sub(p.out, 0, str_chr(p.out, ' ')));
		i->commit = same ? str_from(same) : S("");
		i->state = same ? S("applied") : S("waiting");
		struct str old = i->commit; /* NUL-terminated */
		TRY(need_ancestor(a, r, r->base, r->base.n ? &old : &(struct str){0}));
		if (same && r->base.n && old.n)
			i->state = S("upstream");
		for (rest = mails; !same && str_next(&rest, '\n', &line);)
			if (str_cut(line, ' ', &commit, &line) && is_mail_of(i->text, line)) {
				i->state = S("merged");
				i->commit = commit;
			}
		bool translated = r->hipify.n || q->repos.v[0].hipify.n;
		if (is_waiting(i) && i->hipified != translated)
			i->state = translated ? S("translated") : S("untranslated");
	}
	return NULL;
}

/* Reads the queue anew, and compares it with the tree. */
static struct err *look(struct arena *a, struct queue *q)
{
	TRY(queue_open(a, q));
	TRY(queue_meet(a, q));
	VEC_EACH (struct queue_repo, r, &q->repos)
		TRY(find_commits(a, q, r));
	return NULL;
}

/* Tries the waiting patches of a repository one after the other, with an index and a store of objects in dir. */
static struct err *try_patches(
	struct arena *a, struct queue *q, struct queue_repo *r, struct str dir)
{
	struct queue_repo own = *r;
	struct proc_result p, merge;
	struct str tree = r->at;
	TRY(QUEUE_RUN(a, r, &p, "rev-parse", "--git-path", "objects"));
	struct str objects = path_join(a, r->git.dir, str_trim(p.out));
	struct str others = str_fmt(a, "GIT_ALTERNATE_OBJECT_DIRECTORIES=%.*s", STR(objects));
	strs_fmt(a, &own.git.setenv, "GIT_INDEX_FILE=%.*s/index", STR(dir));
	strs_fmt(a, &own.git.setenv, "GIT_OBJECT_DIRECTORY=%.*s", STR(dir));
	strs_add(a, &own.git.setenv, others);
	TRY(QUEUE_RUN(a, &own, &p, "read-tree", tree.p));
	VEC_EACH (struct queue_patch, i, &q->patches) {
		if (!str_eq(i->repo, r->path) || !is_waiting(i))
			continue;
		own.git.input = i->text;
		TRY(QUEUE_TRY(a, &own, &p, "apply", "--cached"));
		merge = p;
		if (p.status) {
			own.git.input = i->text;
			TRY(QUEUE_TRY(a, &own, &merge, "apply", "--cached", "--3way"));
		}
		bool gone = str_contains(p.err, S("does not exist in index"));
		i->state = !p.status       ? S("fits")
			   : !merge.status ? S("merges")
			   : gone          ? S("gone")
					   : S("conflict");
		i->detail = merge.status ? str_trim(p.err) : S("");
		if (merge.status)
			TRY(QUEUE_RUN(a, &own, &p, "read-tree", tree.p));
		else
			TRY(QUEUE_RUN(a, &own, &p, "write-tree"));
		tree = merge.status ? tree : str_dup(a, str_trim(p.out));
	}
	return NULL;
}

struct err *queue_look(struct arena *a, struct queue *q)
{
	TRY(look(a, q));
	VEC_EACH (struct queue_repo, r, &q->repos) {
		CLEANUP(fs_tempdirp) struct str dir = {0};
		TRY(fs_tempdir(a, S(""), &dir));
		TRY(try_patches(a, q, r, dir));
	}
	return NULL;
}

/* ---- applying ---- */

/* Runs git am. At a conflict, which is not an error, *ret_mail is the patch, and *ret_why what git says. */
static struct err *run_am(struct arena *a, struct queue *q, struct queue_repo *r, const char *word,
	struct queue_patch *ret_stopped)
{
	struct proc_result p = {0}, diff;
	struct str next, state = path_join(a, r->gitdir, S("rebase-apply"));
	struct err *e = NULL;
	uint64_t n = 0;
	BUF(mails, a);
	VEC_EACH (const struct queue_patch, i, &q->patches)
		if (!word && str_eq(i->repo, r->path) && is_waiting(i))
			buf_add(&mails, i->text);
	r->git.input = buf_str(&mails);
	if (word)
		e = QUEUE_RUN(a, r, &p, "am", word);
	else if (mails.n)
		e = QUEUE_RUN(a, r, &p, "am", "--3way", "--keep-non-patch", "--keep-cr",
			"--committer-date-is-author-date", "--no-gpg-sign", "--no-scissors");
	if (!e || e->code == E_CANCELLED || e->code == E_NOSPACE || !fs_is_dir(state))
		return e;
	err_free(e);
	TRY(fs_read(a, path_join(a, state, S("next")), MAX_NEXT, &next));
	(void)str_u64(str_trim(next), 10, &n);
	struct str mail = str_fmt(a, "%.*s/%04u", STR(state), (unsigned)n);
	TRY(fs_read(a, mail, MAX_MAIL, &ret_stopped->text));
	TRY(QUEUE_RUN(a, r, &diff, "diff", "--no-ext-diff", "--no-textconv"));
	ret_stopped->detail = str_sub(diff.out.n ? diff.out : str_trim(p.err), 0, MAX_DETAIL);
	return NULL;
}

/* Prepares all repositories, so that a kill from here on leads back to where they are. */
static struct err *begin(struct arena *a, struct queue *q)
{
	struct proc_result p;
	VEC_EACH (struct queue_repo, r, &q->repos)
		TRY(queue_clean(a, r));
	VEC_EACH (struct queue_repo, r, &q->repos) {
		struct str now = r->now, base = r->base.n ? r->base : now;
		r->git.input = str_fmt(a,
			"update " REFS "before %.*s\nupdate " REFS "running %.*s\n"
			"update " REFS "base %.*s\ndelete " REFS "after\n",
			STR(now), STR(now), STR(base));
		TRY(QUEUE_RUN(a, r, &p, "update-ref", "--stdin"));
		if (!str_eq(r->at, now))
			TRY(QUEUE_RUN(a, r, &p, "checkout", "--quiet", "--detach", r->at.p));
	}
	return NULL;
}

/* Takes all repositories back to where the last run found them. */
static struct err *undo(struct arena *a, struct queue *q, struct str marker)
{
	struct proc_result p;
	struct str before, after;
	size_t n = 0;
	queue_repos(a, q);
	for (int go = 0; go < 2 - fs_writes_forbidden(); go++)
		VEC_EACH (struct queue_repo, r, &q->repos) {
			TRY(meet_repo(a, q, r));
			TRY(find_object(a, r, S(REFS "before"), &before));
			TRY(find_object(a, r, S(REFS "after"), &after));
			if (!before.n)
				continue;
			n++;
			TRY(after.n ? queue_clean(a, r) : check_own(a, r, before));
			if (after.n && !str_eq(after, r->now))
				return err_new(E_USAGE,
					"'%.*s' has moved on since the patches were applied",
					STR(r->git.dir));
			if (!go)
				continue;
			TRY(fs_write(marker, S(""), 0644));
			r->git.input = str_fmt(a,
				"update " REFS "running %.*s\ndelete " REFS "after\n", STR(before));
			TRY(QUEUE_RUN(a, r, &p, "update-ref", "--stdin"));
			TRY(go_back(a, r, before));
			TRY(QUEUE_RUN(a, r, &p, "update-ref", "-d", REFS "before"));
		}
	return n ? NULL
		 : err_new(E_USAGE, "no patches of a queue were applied to '%.*s'", STR(q->tree));
}

struct err *queue_go(struct arena *a, struct queue *q, enum queue_how how)
{
	static const char *const words[] = {
		[QUEUE_CONTINUE] = "--continue", [QUEUE_SKIP] = "--skip", [QUEUE_UNDO] = NULL};
	CLEANUP(fd_closep) int lock = -1;
	struct str marker; /* it tells that a run did not come to its end */
	struct queue_repo *first = &(struct queue_repo){.path = S("")};
	struct queue_patch stopped = {0};
	struct proc_result p;
	bool any = how != QUEUE_APPLY || q->onto.n;
	TRY(meet_repo(a, q, first));
	q->mends = !fs_writes_forbidden();
	if (q->mends)
		TRY(fs_lock(path_join(a, first->gitdir, S("rocsmith.lock")), FS_LOCK_NOW, &lock));
	marker = path_join(a, first->gitdir, S("rocsmith-busy"));
	q->killed = fs_present(marker);
	if (how == QUEUE_UNDO) {
		TRY(undo(a, q, marker));
		return q->mends ? fs_remove(marker) : NULL;
	}
	TRY(look(a, q));
	first = q->repos.v;
	struct queue_repo *end = first + q->repos.n;
	while (how != QUEUE_APPLY && first < end && !is_busy(a, first))
		first++;
	if (first == end)
		return err_new(
			E_USAGE, "no patch has stopped at a conflict in '%.*s'", STR(q->tree));
	VEC_EACH (const struct queue_patch, i, &q->patches)
		any = any || is_waiting(i);
	if (!any)
		return NULL;
	TRY(fs_write(marker, S(""), 0644));
	if (how == QUEUE_APPLY)
		TRY(begin(a, q));
	for (struct queue_repo *r = first; r < end && !stopped.text.n; r++)
		TRY(run_am(a, q, r, r == first ? words[how] : NULL, &stopped));
	VEC_EACH (struct queue_repo, r, &q->repos) {
		r->git.input = str_fmt(a, "delete " REFS "running\n%s",
			is_busy(a, r) ? "" : "update " REFS "after HEAD\n");
		TRY(QUEUE_RUN(a, r, &p, "update-ref", "--stdin"));
	}
	TRY(fs_remove(marker));
	q->onto = q->base = S("");
	TRY(look(a, q));
	VEC_EACH (struct queue_patch, i, &q->patches)
		if (stopped.text.n && str_eq(str_trim(i->text), str_trim(stopped.text))) {
			i->state = S("conflict");
			i->detail = stopped.detail;
		}
	return NULL;
}

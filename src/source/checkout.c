/* Checks out projects by git; see checkout.h. */
#include "source/checkout.h"

#include <fcntl.h>
#include <limits.h>
#include <unistd.h>

#include "archive/git.h"
#include "archive/index.h"
#include "base/fs.h"
#include "base/map.h"
#include "base/pool.h"
#include "base/progress.h"
#include "source/fetch_int.h"

enum { TRIES = 3, LEVELS = 16, MODULES = 4096, MAX_VERSION = 4096, MAX_GIVEN = 16 << 20 };

/* A repository to fill: a project or one of its submodules. */
struct repository {
	const struct checkout_request *r;
	struct checkout_project *p;
	struct checkout_lock *lock; /* the one in ROOT */
	struct str dir, url;
	struct str commit; /* a submodule's; the project's is in p */
	struct str twin;   /* the place where the same may lie on this machine, or "" */
	bool local;        /* the URL is the user's, and may be a path */
};

/* ---- fetching ---- */

/* The n-th place to fetch a URL from instead: the twin's, then names below --mirror; "" = there are no more. */
static struct str mirror_of(struct arena *a, const struct repository *o, unsigned n)
{
	static const char *const forms[] = {"%.*s/%.*s.git", "%.*s/%.*s"};
	struct str m = o->r->mirror, path = o->url, base;
	size_t scheme = str_find(path, S("://"));
	if (o->twin.n && fs_present(path_join(a, o->twin, S(".git"))) && n-- == 0)
		return str_fmt(a, "file://%.*s", STR(o->twin));
	if (scheme < path.n) {
		path = str_sub(path, scheme + 3, path.n);
		path = str_sub(path, str_chr(path, '/') + 1, path.n);
	} else if (path.n && path.p[0] != '/') {
		path = str_sub(path, str_chr(path, ':') + 1, path.n);
	}
	if (str_ends(path, S(".git")))
		path.n -= 4;
	base = path_base(path);
	for (size_t i = 0; i < 4 && m.n; i++) {
		struct str name = i < 2 ? path : base;
		struct str at = str_fmt(a, forms[i % 2], STR(m), STR(name));
		bool remote = str_contains(m, S("://"));
		if ((remote ? i < 2 : path_is_inside(name) && fs_is_dir(at)) && n-- == 0)
			return remote ? at : str_fmt(a, "file://%.*s", STR(path_abs(a, at)));
	}
	return S("");
}

struct git_wish {
	struct str dir;
	const char *ref,
		*module; /* a submodule of known commit, which git is to fill; NULL = the ref */
	bool all;        /* all branches: an old server gives nobody a commit by its name */
};

/* Fetches from a mirror, or, if that is "", from the URL. */
static struct err *get_from(
	struct arena *a, const struct repository *o, struct git_wish *w, struct str mirror)
{
	struct git g = {.dir = w->dir, .local = o->local || mirror.n};
	struct proc_result r;
	const char *depth =
		w->all ? "2147483647" : str_fmt(a, "%u", o->r->depth ? o->r->depth : 1).p;
	if (mirror.n)
		strs_fmt(a, &g.config, "url.%.*s.insteadOf=%.*s", STR(mirror), STR(o->url));
	if (w->module)
		return git_run(a, &g, &r, "submodule", "--quiet", "update", "--checkout",
			"--no-recommend-shallow", "--depth", depth, "--", w->module, NULL);
	g.progress = o->p->name;
	struct err *e = git_run(a, &g, &r, "fetch", "--progress", "--force",
		"--no-recurse-submodules", o->r->tags ? "--tags" : "--no-tags", "--depth", depth,
		"origin", w->all ? "+refs/heads/*:refs/remotes/origin/*" : w->ref, NULL);
	w->all = w->all ||
		 (e && e->detail && str_contains(str_from(e->detail), S("unadvertised object")));
	return e;
}

/* Fetches from each mirror, then from the URL, which gets more than one try if the network fails. */
static struct err *get(struct arena *a, const struct repository *o, struct git_wish wish)
{
	struct err *e = NULL, *missed = NULL; /* missed: why no mirror has it */
	struct str mirror;
	bool here = o->local && (str_starts(o->url, S("/")) || str_starts(o->url, S("file:///")));
	for (unsigned n = 0; (mirror = mirror_of(a, o, n)).n; n++) {
		struct err *no = get_from(a, o, &wish, mirror);
		if (!no) {
			err_free(missed);
			return NULL;
		}
		missed = err_join(
			missed, err_wrap(no, "cannot get it from the mirror '%.*s'", STR(mirror)));
	}
	if (o->r->offline && !here)
		return missed ? missed
			      : err_new(E_NET,
					"'%.*s' is not on this machine, and --offline forbids to "
					"fetch it",
					STR(o->url));
	for (unsigned tries = 0; tries < TRIES; tries++) {
		err_free(e);
		e = cancel_check();
		if (!e) {
			sleep(tries);
			e = get_from(a, o, &wish, S(""));
		}
		if (!e || (e->code != E_NET && e->code != E_TOOL_FAILED))
			break;
	}
	if (e)
		return err_join(e, missed);
	err_free(missed);
	return NULL;
}

/* ---- submodules ---- */
struct module_job {
	const struct repository *parent;
	struct repository o;
	struct checkout_module m; /* its path is below the parent */
	struct str name;
	struct progress *bar;
	struct err *e;
};

static bool has_commit(struct arena *a, struct str dir, struct str commit)
{
	struct git g = {.dir = dir};
	struct proc_result r;
	CLEANUP(err_freep) struct err *e = NULL;
	if (!fs_present(path_join(a, dir, S(".git"))))
		return false;
	e = git_run(a, &g, &r, "rev-parse", "--verify", "HEAD", NULL);
	if (e || !str_eq(str_trim(r.out), commit))
		return false;
	/* git writes HEAD of a new clone before its files, and the index after them */
	e = git_run(a, &g, &r, "rev-parse", "--git-path", "index", NULL);
	return !e && fs_exists(path_join(a, dir, str_trim(r.out)));
}

/* Author and committer of what git makes. */
static void sign_as_rocsmith(struct arena *a, struct git *g)
{
	STRS_ADD(a, &g->setenv, S("GIT_AUTHOR_NAME=rocsmith"),
		S("GIT_AUTHOR_EMAIL=rocsmith@localhost"), S("GIT_COMMITTER_NAME=rocsmith"),
		S("GIT_COMMITTER_EMAIL=rocsmith@localhost"));
}

/* Moves changes of a repository's files to refs/rocsmith/kept. What git does not know stays where it is: --force of git's
 * own commands would replace it. */
static struct err *keep_changes(struct arena *a, struct str dir)
{
	struct git g = {.dir = dir};
	struct proc_result r;
	sign_as_rocsmith(a, &g);
	TRY_CTX(git_run(a, &g, &r, "stash", "create", NULL), "cannot keep the changes in '%.*s'",
		STR(dir));
	struct str kept = str_dup(a, str_trim(r.out));
	if (!kept.n)
		return NULL;
	TRY(git_run(a, &g, &r, "update-ref", "refs/rocsmith/kept", kept.p, NULL));
	return git_run(a, &g, &r, "reset", "--quiet", "--hard", NULL);
}

static struct err *get_module(struct arena *tmp, void *user)
{
	struct module_job *j = user;
	const struct repository *o = &j->o;
	if (!has_commit(tmp, o->dir, j->m.commit)) {
		struct err *e = git_check_url(o->url, o->local);
		if (!e && o->r->force && fs_present(path_join(tmp, o->dir, S(".git"))))
			e = keep_changes(tmp, o->dir);
		e = e ? e
		      : get(tmp, o,
				(struct git_wish){
					.dir = j->parent->dir, .module = str_z(tmp, j->m.path)});
		if (e)
			j->e = err_wrap(e,
				"cannot get the submodule '%.*s' of '%.*s': commit %.*s of %.*s, "
				"which commit %.*s pins",
				STR(j->m.path), STR(j->parent->dir), STR(j->m.commit), STR(o->url),
				STR(j->parent->commit.n ? j->parent->commit : o->p->commit));
	}
	progress_add(j->bar, 1, j->m.path);
	return cancel_check();
}

/* A URL of .gitmodules, which may be relative to its parent's: gitmodules(5). */
static struct str absolute_url(struct arena *a, struct str base, struct str url, bool *io_local)
{
	bool relative = str_starts(url, S("./")) || str_starts(url, S("../"));
	*io_local = *io_local && relative;
	while (str_ends(base, S("/")))
		base.n--;
	for (; str_starts(url, S("../")); url = str_sub(url, 3, url.n))
		base = str_sub(base, 0, str_rchr(base, '/'));
	if (str_starts(url, S("./")))
		url = str_sub(url, 2, url.n);
	return relative ? str_fmt(a, "%.*s/%.*s", STR(base), STR(url)) : url;
}

struct module_jobs VEC_OF(struct module_job);

/* The submodules of the commit that is checked out in o, `level` repositories below the project's own. */
static struct err *list_modules(
	struct arena *a, const struct repository *o, unsigned level, struct module_jobs *ret)
{
	MAP(names, a); /* by path */
	MAP(urls, a);  /* by name */
	struct git g = {.dir = o->dir};
	struct proc_result tree, config;
	struct str entry, info, path, key, value;
	struct module_jobs links = {0};
	*ret = (struct module_jobs){0};
	TRY(git_run(a, &g, &tree, "ls-tree", "-r", "-z", "HEAD", NULL));
	while (str_next(&tree.out, 0, &entry)) {
		(void)str_cut(entry, '\t', &info, &path);
		if (!str_starts(info, S("160000 commit ")))
			continue;
		if (level > LEVELS || o->p->submodules.n + links.n == MODULES)
			return err_new(E_LIMIT, "'%.*s' has too many submodules", STR(o->dir));
		*VEC_PUSH(a, &links) = (struct module_job){
			.parent = o, .o = *o, .m = {path, S(""), str_sub(info, 14, info.n)}};
	}
	if (!links.n)
		return NULL;
	TRY(git_try(a, &g, &config, "config", "--blob", "HEAD:.gitmodules", "-z", "--get-regexp",
		"^submodule\\..*\\.(path|url)$", NULL));
	while (str_next(&config.out, 0, &entry)) { /* git takes the last of several entries, too */
		if (!str_cut(entry, '\n', &key, &value))
			continue;
		bool url = str_ends(key, S(".url"));
		struct str *pair = arena_array(a, 2, sizeof(*pair));
		pair[0] = str_sub(key, 10, key.n - (url ? 4 : 5));
		pair[1] = value;
		(void)map_put(url ? &urls : &names, pair[!url], &pair[url]);
	}
	VEC_EACH (struct module_job, j, &links) {
		const struct str *name = map_get(&names, j->m.path);
		const struct str *url = name ? map_get(&urls, *name) : NULL;
		if (!url || !path_is_inside(j->m.path) || !path_is_inside(*name)) {
			progress_warn(
				"'%.*s' is a submodule without an entry in .gitmodules: left out",
				STR(j->m.path));
			continue;
		}
		j->name = *name;
		j->o.commit = j->m.commit;
		j->o.dir = path_join(a, o->dir, j->m.path);
		j->o.twin = o->twin.n ? path_join(a, o->twin, j->m.path) : S("");
		j->o.url = j->m.url = absolute_url(a, o->url, *url, &j->o.local);
		*VEC_PUSH(a, ret) = *j;
	}
	return NULL;
}

/* Fetches the submodules, and theirs; adds those that are there to the project, parents first. */
static struct err *get_modules(struct arena *a, const struct repository *o, unsigned level)
{
	struct module_jobs jobs;
	struct git g = {.dir = o->dir, .local = true};
	struct proc_result r;
	TRY(list_modules(a, o, level, &jobs));
	if (!jobs.n)
		return NULL;
	TRY(git_believe_modules(a, o->dir, 0));
	TRY(git_run(a, &g, &r, "rev-parse", "--git-path", "modules", NULL));
	struct str stores = path_join(a, o->dir, str_trim(r.out));
	VEC_EACH (const struct module_job, j, &jobs) {
		struct str store = path_join(a, stores, j->name);
		struct str dot = path_join(a, j->o.dir, S(".git")), text;
		struct git s = {.dir = store};
		strs_fmt(a, &s.setenv, "GIT_DIR=%.*s", STR(store));
		if (fs_is_file(dot)) { /* "gitdir: PATH"; the submodule may have had another name */
			TRY(fs_read(a, dot, PATH_MAX, &text));
			store = path_join(a, j->o.dir, str_trim(str_sub(text, 8, text.n)));
		}
		bool whole = fs_exists(path_join(a, store, S("index")));
		if (whole && !fs_present(dot)) /* git takes it up again, with its configuration */
			TRY(git_run(a, &s, &r, "rev-parse", "--git-dir", NULL));
		/* a clone that was killed has no index yet, or is half removed: git fails on it */
		if (whole)
			continue;
		TRY(fs_remove_tree(path_join(a, stores, j->name)));
		if (fs_is_file(dot))
			TRY(fs_remove_tree(j->o.dir));
		TRY(fs_mkdirs(j->o.dir));
	}
	TRY(git_run(a, &g, &r, "submodule", "--quiet", "init", NULL));
	TRY(git_run(a, &g, &r, "submodule", "--quiet", "sync", NULL));
	struct progress *bar = progress_begin(
		S("Fetching"), human_count(a, jobs.n, "submodule"), UNIT_ITEMS, jobs.n);
	VEC_EACH (struct module_job, j, &jobs)
		j->bar = bar;
	unsigned threads = o->r->jobs ? o->r->jobs : 4;
	struct err *e = pool_each(threads, jobs.v, jobs.n, sizeof(*jobs.v), get_module);
	progress_end(bar);
	VEC_EACH (struct module_job, j, &jobs) {
		struct str below = path_rel(a, j->o.dir, path_join(a, o->r->root, o->p->name));
		e = err_join(e, j->e);
		if (j->e)
			continue;
		*VEC_PUSH(a, &o->p->submodules) =
			(struct checkout_module){below, j->m.url, j->m.commit};
		e = err_join(e, get_modules(a, &j->o, level + 1));
	}
	return e;
}

/* ---- a project ---- */

/* Refuses a work tree with changes of the user's, or keeps them. */
static struct err *guard_changes(struct arena *a, const struct repository *o, bool with_modules)
{
	struct git g = {.dir = o->dir};
	struct proc_result r;
	TRY_CTX(git_run(a, &g, &r, "status", "--porcelain", "--untracked-files=no",
			with_modules ? "--ignore-submodules=none" : "--ignore-submodules=all",
			NULL),
		"cannot look for changes in '%.*s'", STR(o->dir));
	if (!r.out.n)
		return NULL;
	if (!o->r->force) {
		struct err *e = err_detail(
			err_new(E_SOURCE, "'%.*s' has changes that are not committed", STR(o->dir)),
			str_sub(r.out, 0, utf8_fit(r.out, 2000, 2000)));
		return err_hint(e, "commit them, or --force: it keeps them in refs/rocsmith/kept");
	}
	return keep_changes(a, o->dir);
}

/* Finds pointer files of Git LFS, which git leaves in place of the contents if git-lfs is not set up. */
static struct err *check_lfs(struct arena *a, const struct repository *o)
{
	struct git g = {.dir = o->dir};
	struct proc_result r;
	strs_add(a, &g.setenv, S("GIT_LITERAL_PATHSPECS=0"));
	TRY(git_try(a, &g, &r, "grep", "-q", "filter=lfs", "--", "*.gitattributes", NULL));
	if (r.status)
		return NULL;
	TRY(git_try(a, &g, &r, "grep", "-I", "-l", "^version https://git-lfs", NULL));
	if (r.status)
		return NULL;
	return err_hint(
		err_detail(err_new(E_SOURCE, "'%.*s' holds pointers of Git LFS instead of files",
				   STR(o->dir)),
			str_sub(r.out, 0, utf8_fit(r.out, 2000, 2000))),
		"install git-lfs, then: git lfs install && git -C %.*s lfs pull",
		STR(str_shell(a, o->dir)));
}

static struct err *rev(struct arena *a, struct git *g, const char *what, struct str *ret)
{
	struct proc_result r;
	TRY(git_run(a, g, &r, "rev-parse", "--verify", what, NULL));
	*ret = str_dup(a, str_trim(r.out));
	return NULL;
}

/* Makes the folder a repository, or looks at the one that is there. *ret_ours: its files may be replaced. */
static struct err *open_repository(
	struct arena *a, const struct repository *o, struct str marker, bool *ret_ours)
{
	static const char *const locks[] = {
		"index.lock", "HEAD.lock", "shallow.lock", "config.lock"};
	struct git g = {.dir = o->dir};
	struct proc_result r;
	struct str dot = path_join(a, o->dir, S(".git"));
	struct strs names = {0};
	struct str left; /* the marker of a run that did not come to its end */
	TRY(fs_read_opt(a, marker, MAX_VERSION, &left));
	*ret_ours = str_eq(left, S("files"));
	if (fs_is_dir(o->dir))
		TRY(fs_list(a, o->dir, &names));
	bool made = fs_exists(path_join(a, dot, S("HEAD")));
	if (!made && !left.p && names.n > fs_present(dot))
		return err_new(E_SOURCE,
			"'%.*s' is no git checkout with a folder .git of its own, and is not empty",
			STR(o->dir));
	/* we hold the lock of ROOT, so a killed run left these */
	for (size_t i = 0; i < sizeof(locks) / sizeof(locks[0]) && left.p; i++)
		TRY(fs_remove(path_join(a, dot, str_from(locks[i]))));
	if (!made) {
		*ret_ours = true;
		TRY(fs_mkdirs(dot));
		TRY(fs_write(marker, S("files"), 0644));
	}
	/* a killed git may have left HEAD and little else, which it completes */
	if (!made || left.p) {
		g.dir = S(""); /* with a folder of the name .git, git does not look for another */
		TRY(git_run(a, &g, &r, "init", "--quiet", "--template=", "--initial-branch=main",
			str_z(a, o->dir), NULL));
		g.dir = o->dir;
	}
	TRY(git_believe_modules(a, o->dir, 0));
	if (!*ret_ours)
		TRY(guard_changes(a, o, !left.p));
	TRY(fs_mkdirs(path_join(a, dot, S("info"))));
	TRY(fs_write(
		path_join(a, dot, S("info/exclude")), S("/.rocsmith*\n"), 0644 | FS_IF_CHANGED));
	TRY(fs_write(marker, *ret_ours ? S("files") : S("submodules"), 0644));
	return git_run(a, &g, &r, "config", "remote.origin.url", str_z(a, o->url), NULL);
}

/* Takes out of ROOT's lock what is no longer true once this project is at another commit: its own entry, and for torch also those
 * of neighbours that came from the old one. So a run that fails, or is killed, leaves no lock with commits of two refs. */
static struct err *forget_old(struct arena *a, const struct repository *o)
{
	struct checkout_lock left = {0};
	const struct checkout_project *old = checkout_find(o->lock, o->p->name);
	if (!old || str_eq(old->commit, o->p->commit))
		return NULL;
	VEC_EACH (const struct checkout_project, p, &o->lock->projects) {
		if (p == old)
			continue;
		if (!str_eq(old->name, S("torch")) || str_eq(p->pinned_by, S("--ref")))
			*VEC_PUSH(a, &left.projects) = *p;
		else if (!strs_has(&o->r->targets, p->name))
			progress_warn("'%.*s' is that of another torch: the lock has it no longer",
				STR(p->name));
	}
	*o->lock = left;
	return checkout_lock_write(a, o->r->root, o->lock);
}

/* Brings a project's folder to its commit, and completes p. */
static struct err *get_project(struct arena *a, const struct repository *o)
{
	struct git g = {.dir = o->dir};
	struct proc_result r;
	struct checkout_project *p = o->p;
	struct str marker = path_join(a, o->dir, S(".git/rocsmith-incomplete"));
	struct checkout_lock was = *o->lock;
	struct str want = p->commit, tree = p->tree, text;
	bool ours, here = false;
	CLEANUP(fs_unguardp) struct fs_tree *guard = NULL;
	TRY(fs_make_output(o->dir));
	TRY(fs_guard(o->dir, &guard)); /* its links may be a stranger's */
	TRY(open_repository(a, o, marker, &ours));
	if (want.n) {
		TRY(git_try(a, &g, &r, "cat-file", "-e", str_z(a, want), NULL));
		here = r.status == 0;
	}
	if (!here || o->r->tags)
		TRY_CTX(get(a, o,
				(struct git_wish){
					.dir = o->dir, .ref = str_z(a, want.n ? want : p->ref)}),
			"cannot fetch '%.*s' of %.*s", STR(want.n ? want : p->ref), STR(o->url));
	if (!want.n)
		TRY(rev(a, &g, "FETCH_HEAD^{commit}", &p->commit));
	TRY(forget_old(a, o));
	TRY(fs_write(marker, S("files"), 0644));
	/* without --force, git also keeps files of the user's that are in the way */
	struct err *e = git_run(a, &g, &r, "checkout", "--quiet", "--detach",
		ours ? "--force" : "--no-overwrite-ignore", str_z(a, p->commit), NULL);
	if (e && !ours && e->code == E_SOURCE) { /* files were in the way: git did nothing */
		e = err_join(e, fs_write(marker, S("submodules"), 0644));
		e = err_join(e, checkout_lock_write(a, o->r->root, &was));
	}
	if (e)
		return err_wrap(e, "cannot check out '%.*s'", STR(o->dir));
	TRY(fs_write(marker, S("submodules"),
		0644)); /* from here on, changes of the files are the user's */
	TRY(rev(a, &g, "HEAD^{tree}", &p->tree));
	if (tree.n && !str_eq(tree, p->tree))
		return err_new(E_HASH,
			"the files of '%.*s' are not those of the lock: %.*s, not %.*s",
			STR(p->name), STR(p->tree), STR(tree));
	p->hipified = p->tables = S("");
	p->submodules.n = 0;
	if (!o->r->without_submodules)
		TRY(get_modules(a, o, 0));
	TRY(check_lfs(a, o));
	if (fs_is_file(path_join(a, o->dir, S("version.txt")))) {
		TRY(fs_read_below(a, o->dir, S("version.txt"), MAX_VERSION, &text));
		p->version = str_trim(text);
	}
	return fs_remove(marker);
}

static void put_project(struct arena *a, struct checkout_lock *io, const struct checkout_project *p)
{
	struct checkout_project *at = checkout_find(io, p->name);
	*(at ? at : VEC_PUSH(a, &io->projects)) = *p;
}

/* Reads a lock file or a manifest, which may be a URL. */
static struct err *read_given(
	struct arena *a, const struct checkout_request *r, struct checkout_lock *ret)
{
	struct index_job job = {0};
	struct archive_items one = {0};
	struct str text, file = r->lock.n ? r->lock : r->manifest, at = file;
	CLEANUP(fs_tempdirp) struct str dir = {0};
	if (!r->lock.n && str_contains(file, S("://"))) {
		TRY(git_check_url(file, false));
		if (r->offline)
			return err_new(E_USAGE, "--offline forbids to fetch '%.*s'", STR(file));
		TRY(fs_tempdir(a, S(""), &dir));
		at = path_join(a, dir, S("manifest.json"));
		*VEC_PUSH(a, &one) = (struct archive_item){.file = path_base(at), .url = file};
		TRY_CTX(index_fetch(a, &job, &one, dir), "cannot fetch the manifest '%.*s'",
			STR(file));
	}
	TRY(fs_read(a, at, MAX_GIVEN, &text));
	return (r->lock.n ? checkout_lock_parse : checkout_manifest_parse)(a, text, file, ret);
}

struct err *checkout_run(
	struct arena *a, const struct checkout_request *r, struct checkout_lock *ret)
{
	struct checkout_lock given = {0};
	CLEANUP(fd_closep) int lock = -1;
	bool dry = fs_writes_forbidden(), file = r->lock.n || r->manifest.n;
	if (file)
		TRY(read_given(a, r, &given));
	if (!dry) {
		TRY(fs_make_output(r->root));
		TRY(progress_lock(path_join(a, r->root, S(".rocsmith.lock")), &lock,
			"checks out into '%.*s'", STR(r->root)));
		(void)fcntl(lock, F_SETFD, 0); /* git's processes hold it, too, if we are killed */
	}
	TRY(checkout_lock_read(a, path_join(a, r->root, S("rocsmith.lock")), ret));
	TABLE_EACH (checkout_known, k) { /* torch is first: it has the pins */
		struct checkout_project p = {.name = str_from(k->name)};
		if (!strs_has(&r->targets, p.name))
			continue;
		TRY(checkout_resolve(
			a, r, file ? &given : NULL, checkout_find(ret, S("torch")), &p));
		if (k == checkout_known_table() && r->expect.n && !str_eq(r->expect, p.ref))
			return err_new(E_SOURCE, "torch's ref is '%.*s', not '%.*s'", STR(p.ref),
				STR(r->expect));
		struct repository o = {.r = r, .p = &p, .lock = ret, .url = p.origin};
		o.dir = path_join(a, r->root, p.name);
		o.twin = r->twin.n ? path_join(a, r->twin, p.name) : S("");
		o.local = str_eq(p.origin, r->origin) ||
			  (file && !str_contains(r->manifest, S("://")));
		if (!dry)
			TRY(get_project(a, &o));
		put_project(a, ret, &p);
		if (!dry)
			TRY(checkout_lock_write(a, r->root, ret));
	}
	/* the TheRock that the set is for is known, whether its sources are wanted or not */
	const struct checkout_project *rock = checkout_find(&given, S("therock"));
	if (rock && !strs_has(&r->targets, rock->name))
		put_project(a, ret, rock);
	return NULL;
}

struct err *checkout_commit(
	struct arena *a, struct str dir, const char *message, struct checkout_project *io)
{
	const char *tag = message ? "THEROCK_HIPIFY_DIFFBASE" : "THEROCK_UPSTREAM_DIFFBASE";
	for (size_t i = 0; i <= io->submodules.n; i++) {
		struct git g = {.dir = i ? path_join(a, dir, io->submodules.v[i - 1].path) : dir};
		struct proc_result r;
		if (message) {
			TRY(git_run(a, &g, &r, "log", "-1", "--format=%cI", NULL));
			struct str date = str_trim(r.out);
			sign_as_rocsmith(a, &g);
			strs_fmt(a, &g.setenv, "GIT_AUTHOR_DATE=%.*s", STR(date));
			strs_fmt(a, &g.setenv, "GIT_COMMITTER_DATE=%.*s", STR(date));
			TRY(git_run(a, &g, &r, "add", "-A", NULL));
			TRY(git_try(a, &g, &r, "diff", "--cached", "--quiet", NULL));
			if (r.status)
				TRY(git_run(a, &g, &r, "commit", "--quiet", "-m", message, NULL));
		}
		TRY(git_run(a, &g, &r, "tag", "-f", "--no-sign", tag, NULL));
		if (message && !i)
			TRY(rev(a, &g, "HEAD^{tree}", &io->hipified));
	}
	return NULL;
}

/* ---- sources of a build ---- */

static struct err *get_locked(struct fetch *f)
{
	const struct source_spec *s = &f->r->spec;
	struct checkout_lock lock;
	if (!fs_is_file(s->path))
		return err_new(E_NOENT, "there is no lock file '%.*s'", STR(s->path));
	TRY(checkout_lock_read(f->a, s->path, &lock));
	const struct checkout_project *p = checkout_find(&lock, s->package);
	if (!p)
		return err_new(
			E_SOURCE, "'%.*s' has no entry for '%.*s'", STR(s->path), STR(s->package));
	f->tree.package = p->name;
	f->tree.version = str_sub(p->commit, 0, 12);
	f->tree.upstream = p->version;
	f->tree.mirror = p->origin;
	f->tree.files.n = 0;
	/* git's tree hash covers the files, and the commits of the submodules */
	*VEC_PUSH(f->a, &f->tree.files) =
		(struct source_file){.name = p->commit, .sha256 = p->tree};
	return NULL;
}

/* Copies what it can from the folder beside the lock, which stays as it is. */
static struct err *fill_locked(struct fetch *f, struct str scratch, struct str dir)
{
	const struct source_spec *s = &f->r->spec;
	struct checkout_lock lock;
	struct checkout_request r = {.lock = s->path, .twin = path_dir(s->path)};
	r.root = path_join(f->a, scratch, S("git"));
	strs_add(f->a, &r.targets, s->package);
	TRY(checkout_run(f->a, &r, &lock));
	return fs_rename(path_join(f->a, r.root, s->package), dir);
}

const struct fetch_kind fetch_git = {.get = get_locked, .fill = fill_locked};

/* rocsmith checkout: the sources of PyTorch and its neighbours, at commits that belong together. */
#include "archive/git.h"
#include "base/fs.h"
#include "cli/opt.h"
#include "hipify/hipify.h"
#include "source/checkout.h"
#include "term/out.h"
#include "term/table.h"

struct checkout_args {
	struct common common;
	struct checkout_request q;
	struct str manifest_out;
	bool submodules, hipify, commit;
};
#define ARGS struct checkout_args

const struct opt cmd_checkout_opts[] = {
	{OPT_ARGUMENT("TARGET", OPT_POS, q.twin, "torch, or more: torch,torchvision,triton,apex"),
		.flags = OPT_REQUIRED},
	{OPT_VALUE("root", OPT_PATH, q.root, "DIR", "folder of the checkouts (default: this one)")},
	{OPT_VALUE(
		"ref", OPT_STR, q.ref, "REF", "branch, tag or commit of torch, or of one target")},
	{OPT_VALUE("origin", OPT_STR, q.origin, "URL", "repository that has it")},
	{OPT_VALUE("lock", OPT_PATH, q.lock, "FILE", "take all commits from a rocsmith.lock")},
	{OPT_VALUE("manifest", OPT_PATH, q.manifest, "FILE|URL",
		"take them from a manifest of TheRock")},
	{OPT_VALUE(
		"expect-ref", OPT_STR, q.expect, "REF", "refuse a lock for another ref of torch")},
	{OPT_FLAG("require", q.require, "refuse neighbours that torch does not pin")},
	{OPT_FLAG("release", q.release, "triton: the release branch instead of the pinned commit")},
	{OPT_VALUE("depth", OPT_UINT, q.depth, "N", "commits of history (default: 1)")},
	{OPT_FLAG("tags", q.tags, "fetch all tags, too")},
	{OPT_VALUE(
		"mirror", OPT_STR, q.mirror, "DIR|URL", "copies of the repositories to try first")},
	{OPT_FLAG("offline", q.offline,
		"use folders, --mirror and repositories of this machine only")},
	{OPT_FLAG("submodules", submodules, "fetch submodules (default); --no-submodules: none")},
	{OPT_FLAG("hipify", hipify, "translate torch in place, as its own script would")},
	{OPT_FLAG("commit", commit, "also commit the translation, with TheRock's tags")},
	{OPT_FLAG("force", q.force, "replace changed files; refs/rocsmith/kept has them")},
	{OPT_VALUE("manifest-out", OPT_PATH, manifest_out, "FILE", "write a manifest for TheRock")},
	OPT_LAST,
};

/* The words of TARGET, each of which is known. */
static struct err *read_targets(struct arena *a, struct checkout_request *q)
{
	struct strs known = {0};
	TABLE_EACH (checkout_known, k)
		strs_add(a, &known, str_from(k->name));
	q->targets = str_split(a, q->twin, ',');
	q->twin = S("");
	VEC_EACH (const struct str, word, &q->targets) {
		if (strs_has(&known, *word))
			continue;
		struct err *e = err_new(E_USAGE,
			"'%.*s' is none of the projects that can be checked out", STR(*word));
		err_near(e, *word, &known);
		return e->hints ? e
				: err_hint(e, "they are: %.*s", STR(str_join(a, &known, S(", "))));
	}
	return q->targets.n ? NULL : err_new(E_USAGE, "no target is given");
}

/* Refuses options that would have no effect, and mirrors that git could not use. */
static struct err *check_options(struct checkout_request *q)
{
	bool torch = strs_has(&q->targets, S("torch")), url = str_contains(q->mirror, S("://"));
	if (q->lock.n && q->manifest.n)
		return err_new(E_USAGE, "--lock and --manifest name the same commits twice");
	if ((q->ref.n || q->origin.n) && !torch && q->targets.n > 1)
		return err_new(E_USAGE, "--ref and --origin are those of torch, which is none of "
					"these targets, or of a single target");
	if (q->expect.n && !torch)
		return err_new(
			E_USAGE, "--expect-ref is about torch, which is none of these targets");
	if (str_contains(q->mirror, S("=")))
		return err_new(E_USAGE, "git cannot use a mirror with '=' in its name");
	if (url)
		return git_check_url(q->mirror, true);
	return !q->mirror.n || fs_is_dir(q->mirror)
		       ? NULL
		       : err_new(E_NOENT, "there is no folder '%.*s'", STR(q->mirror));
}

/* Translates torch in place, with TheRock's tags and commit around it if they are wanted. */
static struct err *translate(
	struct arena *a, const struct checkout_args *o, struct checkout_project *p)
{
	struct str dir = path_join(a, o->q.root, p->name);
	struct hipify_tree tree = {0};
	struct hipify_options h = {.dir = dir, .in_place = true, .jobs = o->common.jobs};
	if (o->commit)
		TRY(checkout_commit(a, dir, NULL, p));
	if (hipify_is_checkout(dir)) {
		h.mode = HIPIFY_TORCH;
		hipify_options_complete(a, &h);
		TRY_CTX(hipify_run(a, &h, &tree), "cannot translate '%.*s'", STR(dir));
		p->tables = str_dup(a, tree.torch.identity);
		hipify_tree_free(&tree);
	}
	if (!o->commit)
		return NULL;
	TRY(checkout_commit(a, dir, "DO NOT SUBMIT: HIPIFY", p));
	return fs_remove_tree(path_join(a, dir, S(".rocsmith"))); /* git has the originals now */
}

struct err *cmd_checkout(struct arena *a, void *args)
{
	static const struct column columns[] = {
		{COLUMN("Project", "name")},
		{COLUMN("Ref", "ref")},
		{COLUMN("Commit", "commit")},
		{COLUMN("Version", "version")},
		{COLUMN("Pinned by", "pinned_by")},
		{0},
	};
	struct checkout_args *o = args;
	struct checkout_lock lock;
	bool dry = fs_writes_forbidden();
	o->q.root = path_abs(a, o->q.root.n ? o->q.root : S("."));
	o->q.without_submodules = strs_has(&o->common.given, S("submodules")) && !o->submodules;
	o->q.jobs = o->common.jobs;
	TRY(read_targets(a, &o->q));
	TRY(check_options(&o->q));
	TRY(checkout_run(a, &o->q, &lock));
	VEC_EACH (struct checkout_project, p, &lock.projects)
		if (!dry && (o->commit || o->hipify) && strs_has(&o->q.targets, p->name))
			TRY(translate(a, o, p));
	if (!dry)
		TRY(checkout_lock_write(a, o->q.root, &lock));
	if (!dry && o->manifest_out.n)
		TRY(fs_write(o->manifest_out, checkout_manifest(a, &lock), 0644));
	if (show_made(&o->common, checkout_lock_fields, &lock))
		return NULL;
	table_show(a, checkout_lock_fields, "projects", columns, &lock);
	return NULL;
}

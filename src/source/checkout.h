/* Checks out PyTorch and its neighbours from git: the commits that belong together, whole, and the same again later.
 *
 * ROOT/torch, ROOT/torchvision, ... are git work trees, ROOT/rocsmith.lock says what is in them. Where a project's sources
 * are comes from the first that knows it: the request's own ref and origin; a lock or manifest; for triton the pin in
 * torch's .ci/docker, for the others the file related_commits of torch; data/branches.yaml by torch's ref. There is no
 * default behind that.
 *
 * related_commits (ROCm/pytorch): lines of six fields, os|source|project|branch|commit|origin; "#" begins a comment.
 * A manifest (TheRock, schema_version 1) has {repo, commit, branch, version} under the names of checkout_known.
 *
 * A folder that somebody changed is refused, unless `force` keeps the changes in refs/rocsmith/kept; files that git does not
 * know are never replaced. A run that is killed
 * is continued by the next one: a file in .git says that the work tree is ours to complete. Submodules are fetched one
 * by one, each with three tries; one that fails does not stop the others. A lock on ROOT, which git's processes inherit, is
 * held meanwhile. Repositories, refs and pins are checked as archive/git.h says; nothing of the project is run.
 */
#pragma once

#include "base/vec.h"
#include "formats/json_fields.h"

struct checkout_known { /* data/branches.yaml explains the columns of both */
	const char *name, *manifest, *related, *origin;
};
struct checkout_branch {
	const char *project, *torch, *origin, *branch;
};
TABLE(checkout_known);
TABLE(checkout_branch);

struct checkout_module {
	struct str path, url, commit; /* path: below the project, also that of a nested one */
};

struct checkout_project {
	struct str name, origin, ref, commit;
	struct str tree; /* git's hash of the commit's files */
	struct str
		hipified;   /* the tree hash of the commit that checkout_commit() made; "" = none */
	struct str tables;  /* the fingerprint of the translation's tables; "" = not translated */
	struct str version; /* the text of version.txt; "" = it has none */
	struct str pinned_by; /* the origin of the commit: "--ref", "related_commits:3" */
	VEC(struct checkout_module) submodules;
};

struct checkout_lock {
	VEC(struct checkout_project) projects;
};
extern const struct json_field checkout_lock_fields[];

struct checkout_request {
	struct strs targets;
	struct str root, ref, origin; /* ref and origin: of torch, or of the only target */
	struct str lock, manifest;    /* files, or a manifest's URL; at most one */
	struct str expect;            /* E_SOURCE unless torch's ref is this one */
	struct str mirror;    /* a folder or URL below which copies of the repositories are */
	struct str twin;      /* a folder with a checkout of the same, to copy from */
	unsigned depth, jobs; /* depth: commits of history; 0 = 1 */
	bool without_submodules, release, require, tags, offline, force;
};

/* Checks out the targets into r->root, and adds them to *ret, the lock that is there. In a dry run, it only says what
 * would be had. The lock file is true after each target. E_USAGE, E_SOURCE, E_NET, E_SYNTAX, E_HASH; an error of one submodule names
 * it, its commit, its URL and who pins it. */
MUST_USE struct err *checkout_run(
	struct arena *a, const struct checkout_request *r, struct checkout_lock *ret);
/* Makes the tags THEROCK_UPSTREAM_DIFFBASE (before a translation: `message` NULL) in the project and all its submodules, or
 * commits what changed since with this message, and tags THEROCK_HIPIFY_DIFFBASE; sets io->hipified. */
MUST_USE struct err *checkout_commit(
	struct arena *a, struct str dir, const char *message, struct checkout_project *io);

/* ---- pins.c, lock.c ---- */
struct checkout_project *checkout_find(const struct checkout_lock *l, struct str name);
/* The lock at path; an empty one if there is no file. */
MUST_USE struct err *checkout_lock_read(
	struct arena *a, struct str path, struct checkout_lock *ret);
MUST_USE struct err *checkout_lock_write(
	struct arena *a, struct str root, const struct checkout_lock *l);
MUST_USE struct err *checkout_manifest_parse(
	struct arena *a, struct str text, struct str path, struct checkout_lock *ret);
MUST_USE struct err *checkout_lock_parse(
	struct arena *a, struct str text, struct str path, struct checkout_lock *ret);
struct str checkout_manifest(struct arena *a, const struct checkout_lock *l);
/* Sets origin, ref and commit from the lines for this project, which must agree; if there are none, leaves them "".
 * E_SYNTAX, with its place, for any line that is wrong. */
MUST_USE struct err *checkout_related_parse(struct arena *a, struct str text, struct str path,
	struct str project, struct checkout_project *io);
/* Finds origin, ref or commit, and pinned_by of a target. given: the lock or manifest, or NULL; torch: the torch that it
 * belongs to, checked out in ROOT/torch, or NULL. */
MUST_USE struct err *checkout_resolve(struct arena *a, const struct checkout_request *r,
	const struct checkout_lock *given, const struct checkout_project *torch,
	struct checkout_project *io);

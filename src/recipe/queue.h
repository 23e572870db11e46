/* Queues of a user's own patches for git checkouts, in files that a person keeps:
 *
 *     QUEUE/PATCHSET/REPO/base/NNNN-TITLE.patch      for the sources as they are published
 *     QUEUE/PATCHSET/REPO/hipified/NNNN-TITLE.patch  for the sources after their translation to HIP
 *     .../series                                     their names in order, one a line; without it by name
 *
 * PATCHSET is a version ("2.14.0"), REPO the name of the tree's folder, or the path of a submodule in it: the layout of
 * TheRock's external-builds/pytorch/patches, until that was removed in 2025. A patch is one mail of git format-patch, at
 * most 64 MiB; a queue has at most 10,000. Patches that move a submodule, name a binary file without its content, or
 * have CRLF in their headers are E_SOURCE.
 *
 * The program git applies them (git am --3way; archive/git.h). The committer is rocsmith at the author's date, so the
 * same patches give the same commits. At a conflict the tree stays as git am leaves it. Each repository remembers in
 * refs/worktree/rocsmith/ the commit before and after the last run, its base (upstream's commit), and, while git am works, the
 * commit to go back to: so a killed run is undone and made again by the next.
 */
#pragma once

#include "archive/git.h"
#include "base/map.h"
#include "base/vec.h"
#include "changes/changes.h"
#include "formats/json_fields.h"

/* The state of a patch is one of these words:
 *     saved         written by queue_save()
 *     waiting       not in the tree
 *     applied       the tree has a commit with the same changes (by git's patch id)
 *     merged        the tree has a commit with its author, date and subject, and other changes
 *     upstream      the base has the same changes
 *     fits, merges, conflict, gone    so it would go: as it is, by a three-way merge, not; it changes a file that is gone
 *     untranslated, translated        left out: made for the other side of the translation */
struct queue_patch {
	struct str repo,
		file; /* the path of the repository in the tree; of the patch below PATCHSET */
	struct str sha256, state, commit, detail;
	struct str text;
	bool hipified;
};

struct queue_repo {
	struct str path, name;        /* in the tree, "" = the tree itself; REPO */
	struct str now, base, hipify; /* commits: HEAD; upstream's; of the translation, or "" */
	struct str at;                /* the commit that the patches go on */
	struct git git;
	struct str gitdir;
};

struct queue {
	struct str tree, dir,
		patchset;      /* dir: QUEUE; patchset "" = the tree's version, or the only one */
	struct str base, onto; /* words for commits of --base and --onto, or "" */
	bool mends;            /* a killed run is undone first */
	bool killed;           /* the last run did not come to its end */
	struct str hash;       /* over all patches in their order */
	struct map *
		texts; /* absolute path -> struct str *: what queue_changes() made, the view's `over` */
	VEC(struct queue_repo) repos; /* the tree, then submodules with patches */
	VEC(struct queue_patch) patches;
};
extern const struct json_field queue_fields[]; /* "rocsmith.queue/1" */

/* Reads the patches; git is not run. E_SOURCE; E_USAGE if there are several sets, or the queue is for a repository that
 * the tree does not have. */
MUST_USE struct err *queue_open(struct arena *a, struct queue *q);
/* Writes the commits above the base, of the tree and of its submodules, as QUEUE/PATCHSET, all at once; what else lies
 * there stays. The base is q->base, that of the last run, the tag THEROCK_UPSTREAM_DIFFBASE, or what ../rocsmith.lock says; a submodule's base is
 * the commit that the base of its parent has; the tag THEROCK_HIPIFY_DIFFBASE is the translation. E_USAGE if a tree is not clean,
 * for merges, or without a base. Without commits nothing is written. */
MUST_USE struct err *queue_save(struct arena *a, struct queue *q);
/* Sets the states of all patches. The tree is not changed: the objects that git makes go to a scratch folder. */
MUST_USE struct err *queue_look(struct arena *a, struct queue *q);

/* APPLY puts the waiting patches on HEAD, or, with q->onto, on that commit, where HEAD then is detached; submodules with
 * patches go to the commit that it names for them. CONTINUE and SKIP finish the patch that stopped at a conflict, and
 * go on; so states are as queue_look() sets them, and "conflict". UNDO takes the last run back, finished or not, and
 * needs no q->dir. E_USAGE for a tree that is not clean, or has moved on. */
enum queue_how { QUEUE_APPLY, QUEUE_CONTINUE, QUEUE_SKIP, QUEUE_UNDO };
MUST_USE struct err *queue_go(struct arena *a, struct queue *q, enum queue_how how);

/* The same for the copy that a build makes, where git is not needed: adds the changed files to the set, and to q->texts.
 * Patches that the sources have are left out. E_SOURCE for one that does not fit; E_SYNTAX if it renames a file, changes
 * a mode or is binary. */
MUST_USE struct err *queue_changes(struct arena *a, const struct queue *q, bool hipified,
	struct view *view, struct change_set *ret);

/* ---- private to recipe/ ---- */
/* How diffs are written, so that patch ids agree. */
#define QUEUE_DIFF                                                                                 \
	"--full-index", "--binary", "--no-renames", "--no-ext-diff", "--no-textconv", "-U3",       \
		"--src-prefix=a/", "--dst-prefix=b/"
#define QUEUE_RUN(a, r, ret, ...) git_run((a), &(r)->git, (ret), __VA_ARGS__, NULL)
#define QUEUE_TRY(a, r, ret, ...) git_try((a), &(r)->git, (ret), __VA_ARGS__, NULL)
/* The version in the tree's version.txt, or "". */
MUST_USE struct err *queue_version(struct arena *a, struct str tree, struct str *ret);
/* Sets q->repos to the tree and its submodules, as far as these are there. */
void queue_repos(struct arena *a, struct queue *q);
/* Finds the folders and commits of all repositories. */
MUST_USE struct err *queue_meet(struct arena *a, struct queue *q);
/* E_USAGE if a repository has changes that are not committed, or an unfinished git am. */
MUST_USE struct err *queue_clean(struct arena *a, struct queue_repo *r);

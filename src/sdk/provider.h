/* Inside of sdk/: the contract of a provider, and the files that describe an SDK on disk.
 *
 * Folder FS_DATA "sdk/NAME" (a fresh install is made in "sdk/.NAME.new" and renamed when complete):
 *     sdk.json          the manifest, written last: without it there is no SDK
 *     root/             the tree
 *     records/PACKAGE   the files of a package, one a line; written when all of them are in place
 *     damaged           names of packages that a check found damaged
 *     probe.json        which GPU targets compile
 * The lock is FS_DATA "sdk/NAME.lock"; it outlives a removal.
 *
 * A provider knows its own names and how to open its SDKs. One that installs also turns a spec into
 * items and puts them into a tree; the engine (install.c) does locking, resuming, parallel
 * unpacking, records, repair and the manifest for all of them alike. In the order of an install:
 *
 *     borrow    only before a preview: gives an empty folder what resolving reads of the cache, so
 *               that the cache itself is not changed.
 *     resolve   spec -> items with name, version, url, size, sha256, in any order. Writes nothing
 *               but the provider's own cache. Sets index_date, mirror and notes (accepted
 *               exceptions).
 *     fetch     items (those that the engine still needs) -> item.path, verified against sha256,
 *               resumable.
 *     unpack    one verified item -> files below root, each added to the record; runs no code of
 *               the item, writes nothing outside of root. Called from several threads, one item
 *               each.
 *     finish    after all items: links and files that the items' scripts would have made.
 *
 * What follows fits as it is: index wheels (resolve = the simple index, unpack = zip), tarballs
 * (one item) and CI artifacts (items = archives by name). layout.c finds what is in any tree.
 */
#pragma once

#include "archive/item.h"
#include "sdk/sdk.h"

/* Stands in the manifest for what we made ourselves (links, /opt/rocm): a package of that name. */
#define SDK_MADE "=made"

struct sdk_job {
	const struct sdk_spec *spec; /* complete: see sdk_complete() */
	struct str name;             /* of the SDK */
	struct str cache;            /* the providers' folder, shared by all SDKs */
	struct strs components;      /* all that the tree shall have */
	struct str root;             /* tree to fill */
	struct str index_date, mirror;
	struct strs notes;
	struct archive_items items; /* all that the tree shall consist of */
	struct buf *made;           /* record of what belongs to no item: see SDK_MADE */
};

/* One item on its way into a tree. */
struct sdk_unpack {
	const struct archive_item *item;
	struct str root;
	struct strs gpus;   /* leave out kernels of others; none: leave out nothing */
	struct buf *record; /* lines are added with record_add() */
	bool partial;       /* returned: something was left out */
	uint64_t holes;     /* returned: bytes of the files that take no room */
};

struct sdk_provider {
	const char *name, *summary;
	const char *const *suites; /* the first is the usual one; NULL: it has none */
	/* Is this a name of one of our SDKs? Then it is what is set in ret. */
	bool (*parse)(struct str word, struct sdk_spec *ret);
	struct err *(*open)(struct arena *a, const struct sdk_spec *spec, struct sdk *ret);
	/* NULL in a provider whose trees are made by others: */
	struct err *(*borrow)(struct arena *a, const struct sdk_job *j, struct str dir);
	struct err *(*resolve)(struct arena *a, struct sdk_job *j);
	struct err *(*fetch)(struct arena *a, struct sdk_job *j, const struct archive_items *need);
	struct err *(*unpack)(struct arena *tmp, struct sdk_unpack *u);
	struct err *(*finish)(struct arena *a, struct sdk_job *j);
};

extern const struct sdk_provider sdk_debian, sdk_prefix;
/* The spec with its provider's name and usual suite where it leaves them open, and the provider;
 * E_USAGE when there is none of that name. */
MUST_USE struct err *sdk_complete(const struct sdk_spec *spec, struct sdk_spec *ret,
	const struct sdk_provider **ret_provider);

/* ---- record.c: what a package put into the tree ---- */
struct sdk_record { /* a line: type, size, mtime, sha256 or target, path; separated by tabs */
	char type;  /* 'f' file, 'l' symbolic link */
	uint64_t size;
	int64_t mtime;
	struct str value, path; /* value: sha256 of a file, target of a link */
};

struct sdk_package {
	struct str name, version, sha256;
	struct str record;     /* sha256 of its record file */
	struct strs gpus;      /* only kernels of these were unpacked; none: all there are */
	uint64_t files, bytes; /* bytes: without the holes that others left */
};

enum { RECORD_MAX = 256 << 20 };

/* The file of a package's record in an SDK's folder, and its first line: what it is the record of.
 */
struct str record_path(struct arena *a, struct str dir, struct str package);
struct str record_head(struct arena *a, const struct sdk_package *p);
/* Sets gpus, and bytes to the size of holes; false when it is of another version. */
bool record_is(struct arena *a, struct str text, struct sdk_package *io);
void record_add(struct buf *b, const struct sdk_record *r);
/* The next entry of *rest; false at the end or at a line that is none (*ret_bad). */
bool record_next(struct str *rest, struct sdk_record *ret, bool *ret_bad);
enum record_state { RECORD_OK, RECORD_MISSING, RECORD_CHANGED };
/* Compares one line with the tree; deep = by content, else by size and time. */
MUST_USE struct err *record_compare(
	struct str root, const struct sdk_record *r, bool deep, enum record_state *ret);
/* Names of packages that are damaged, by a quick look (deep = false) or by content; findings may be
 * NULL. */
MUST_USE struct err *sdk_find_damage(struct arena *a, struct str dir, bool deep,
	struct strs *ret_packages, struct findings *ret);

/* ---- manifest.c: the receipt of an SDK's folder ---- */
#define SDK_RECEIPT "sdk.json"
struct sdk_manifest {
	struct str provider, suite, prefix, mirror, index_date, clang_version;
	struct strs components, notes;
	VEC(struct sdk_package) packages;
};

/* ret->provider is empty when there is no manifest. */
MUST_USE struct err *sdk_manifest_read(struct arena *a, struct str dir, struct sdk_manifest *ret);
struct str sdk_manifest_text(struct arena *a, const struct sdk_manifest *m);
const struct sdk_package *sdk_manifest_package(const struct sdk_manifest *m, struct str name);
/* The GPUs for which all packages are complete; none: all. */
struct strs sdk_manifest_gpus(struct arena *a, const struct sdk_manifest *m);
struct str sdk_manifest_fingerprint(struct arena *a, const struct sdk_manifest *m);

/* ---- store.c: installed SDKs ---- */
struct str sdk_name(struct arena *a, const struct sdk_spec *spec); /* of a complete spec */
struct str sdk_dir(struct arena *a, struct str name);
struct str sdk_stage(struct arena *a, struct str name); /* where a fresh one is made */
MUST_USE struct err *sdk_lock(struct arena *a, struct str name, int *ret_fd);
/* Has it all packages of the component? A newer rocsmith may know more of them. */
MUST_USE struct err *sdk_has_component(
	struct arena *a, const struct sdk_manifest *m, struct str component, bool *ret);
/* The components of a spec, with those that every installed SDK has. */
struct strs sdk_wanted(struct arena *a, const struct sdk_spec *spec);
/* A tree of ours: layout and runner. */
MUST_USE struct err *sdk_open_tree(struct arena *a, struct str root, struct sdk *ret);
/* An installed one; E_SDK with the command to run when it is not there or lacks a component. */
MUST_USE struct err *sdk_open_installed(
	struct arena *a, const struct sdk_spec *spec, struct sdk *ret);

/* ---- gpus.c ---- */
/* Processors of targets, or of products, for `sdk install --gpu`; none for "all". E_GFX. */
MUST_USE struct err *gpus_parse(struct arena *a, const struct strs *words, struct strs *ret);
/* Of such lists, where none means all. */
bool gpus_cover(const struct strs *have, const struct strs *want);
/* Is a file of a ROCm package for one of them, or for none in particular? */
bool gpus_want_file(const struct strs *gpus, struct str path);
/* Takes the code of other GPUs out of a library; how many bytes of it are holes then. */
uint64_t gpus_thin(int fd, uint64_t size, const struct strs *gpus);

/* ---- layout.c ---- */
/* Finds clang, device libraries, headers, libraries, versions. sdk->root is set ("" = the machine
 * itself); prefix is the ROCm prefix inside, e.g. "/opt/rocm" or "/usr". E_SDK tells what is
 * missing. */
MUST_USE struct err *layout_find(struct arena *a, struct str prefix, struct sdk *sdk);
/* "2.43" of "... version 2.43." with the mark "version "; "" when there is none. */
struct str version_after(struct str text, struct str mark);
/* Asks clang for its version; needs sdk->runner. */
MUST_USE struct err *layout_clang_version(struct arena *a, const struct sdk *sdk, struct str *ret);

/* ---- tree.c: what is ours in a tree; path is relative to root, its folders are made ---- */
/* E_ARCHIVE where packages put something else in the place of a folder; the root is guarded meanwhile. */
MUST_USE struct err *tree_folder(struct arena *a, struct str root, struct str path);
MUST_USE struct err *tree_link(
	struct arena *a, struct str root, struct str path, struct str target);
MUST_USE struct err *tree_file(struct arena *a, struct str root, struct str path, struct str text);

/* ---- opt_rocm.c: /opt/rocm inside a tree that has ROCm among all else ---- */
/* Makes (or completes) root/opt/rocm from the records of ROCm's packages in dir/records. Links that
 * no longer lead anywhere are removed, the others are added to the record `made`. */
MUST_USE struct err *opt_rocm_make(
	struct arena *a, struct str dir, const struct sdk_manifest *m, struct buf *made);

/* ---- deb.c: Debian packages; archive/unpack.h tells what is refused ---- */
/* Unpacks the data member of u->item->path below u->root and adds its files to u->record, whose
 * arena is another one than tmp. E_ARCHIVE when the package is damaged or hostile. */
MUST_USE struct err *deb_unpack(struct arena *tmp, struct sdk_unpack *u);

/* ---- sandbox.c ---- */
/* Which way to run programs of a tree works here; SDK_NORUN when none does. */
enum sdk_runner sandbox_choose(struct arena *a, const struct sdk *sdk);
/* A path inside -> as this machine sees it. */
struct str sdk_outside(struct arena *a, const struct sdk *sdk, struct str path);

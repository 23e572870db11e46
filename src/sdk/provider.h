/* Inside of sdk/: the contract of a provider, and the files that describe an SDK on disk.
 *
 * An SDK is a staged folder (base/fs_stage.h) FS_DATA "sdk/NAME":
 *     sdk.json          its receipt
 *     root/             the tree
 *     records/PACKAGE   the file list of a package; written when all its files are in place
 *     damaged           names of packages that a check found damaged
 *     probe.json        which GPU targets compile
 * Beside it: "sdk/.NAME.new/", in which a fresh tree is made (its content survives a failed install, which the
 * next one continues) and an SDK that is removed goes away; and "sdk/NAME.lock", which outlives a removal.
 *
 * A provider knows its own names and how to open its SDKs. One that installs also turns a spec into items and
 * puts them into a tree; the engine (install.c) does locking, resuming, parallel unpacking, file lists,
 * repair and the receipt for all of them alike. In the order of an install:
 *
 *     borrow    only before a preview: gives an empty folder what resolving reads of the cache, so that the
 *               cache itself does not change.
 *     resolve   spec -> items with name, version, url, size, sha256, in any order. Writes nothing but the
 *               provider's own cache. Sets index_date, mirror and notes (accepted exceptions).
 *     fetch     items (those that the engine still needs) -> item.path, verified against sha256, resumable.
 *     unpack    one verified item -> files below root, each added to the file list; runs no code of the item,
 *               writes nothing outside of root. Called from several threads, one item each.
 *     finish    after all items: links and files that the items' scripts would have made.
 *
 * More providers fit as it is: index wheels (resolve = the simple index, unpack = zip), tarballs (one item) and
 * CI artifacts (items = archives by name). layout.c finds its way in any tree.
 */
#pragma once

#include "archive/item.h"
#include "sdk/sdk.h"

/* The package, in the receipt, of what we made ourselves (links, /opt/rocm). */
#define SDK_MADE "=made"

struct sdk_job {
	const struct sdk_spec *spec; /* complete: see sdk_complete() */
	struct str name;             /* of the SDK */
	struct str cache;            /* the providers' folder, shared by all SDKs */
	struct strs components;      /* all that the tree will have */
	struct str root;             /* tree to fill */
	struct str index_date, mirror;
	struct strs notes;
	struct archive_items items; /* all that the tree will consist of */
	struct buf *made;           /* file list of what belongs to no item: see SDK_MADE */
};

/* One item on its way into a tree. */
struct sdk_unpack {
	const struct archive_item *item;
	struct str root;
	struct strs gpus;  /* leave out kernels of all others; none: leave out nothing */
	struct buf *files; /* the file list: lines are added with file_list_add() */
	bool partial;      /* returned: something was left out */
	uint64_t holes;    /* returned: bytes of the files that take no room */
};

struct sdk_provider {
	const char *name, *summary;
	const char *const *suites; /* the first is the usual one; NULL: it has none */
	/* Is this a name of one of our SDKs? If so, ret gets suite or prefix from it. */
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
/* Fills in the provider's name and usual suite where the spec leaves them open, and finds the provider;
 * E_USAGE when there is none of that name. */
MUST_USE struct err *sdk_complete(const struct sdk_spec *spec, struct sdk_spec *ret,
	const struct sdk_provider **ret_provider);

/* ---- file_list.c: the files that a package put into the tree ---- */
struct sdk_file {  /* a line: type, size, mtime, sha256 or target, path; separated by tabs */
	char type; /* 'f' file, 'l' symbolic link */
	uint64_t size;
	int64_t mtime;
	struct str value, path; /* value: sha256 of a file, target of a link */
};

struct sdk_package {
	struct str name, version, sha256;
	struct str list_sha256; /* hash of its file list */
	struct strs gpus;       /* only kernels of these were unpacked; none: of all there are */
	uint64_t files, bytes;  /* bytes: without the holes that kernels of other GPUs left */
};

enum { FILE_LIST_MAX = 256 << 20 };

struct str file_list_path(struct arena *a, struct str dir, struct str package); /* dir: the SDK's */
/* The first line of a file list: version and hash of the package; its GPUs and holes if it is partial. */
struct str file_list_head(struct arena *a, const struct sdk_package *p);
/* Is this the list of that version? Sets gpus, and bytes to the size of holes. */
bool file_list_is(struct arena *a, struct str text, struct sdk_package *io);
void file_list_add(struct buf *b, const struct sdk_file *f);
/* The next entry of *rest; false at the end, or at a line that is none (*ret_bad). */
bool file_list_next(struct str *rest, struct sdk_file *ret, bool *ret_bad);
enum file_state { FILE_OK, FILE_MISSING, FILE_CHANGED };
/* Compares one line with the tree; deep = by content, else by size and mtime. */
MUST_USE struct err *file_list_compare(
	struct str root, const struct sdk_file *f, bool deep, enum file_state *ret);
/* Names of packages that are damaged, by a quick look (deep = false) or by content; findings may be NULL. */
MUST_USE struct err *sdk_find_damage(struct arena *a, struct str dir, bool deep,
	struct strs *ret_packages, struct findings *ret);

/* ---- receipt.c: what an SDK consists of ---- */
#define SDK_RECEIPT "sdk.json"

struct sdk_receipt {
	struct str provider, suite, prefix, mirror, index_date, clang_version;
	struct strs components, notes;
	VEC(struct sdk_package) packages;
};

/* ret->provider is empty when there is none. E_CORRUPT. */
MUST_USE struct err *sdk_receipt_read(struct arena *a, struct str dir, struct sdk_receipt *ret);
struct str sdk_receipt_text(struct arena *a, const struct sdk_receipt *m);
const struct sdk_package *sdk_receipt_package(const struct sdk_receipt *m, struct str name);
/* The GPUs for which all packages are complete; none: all. */
struct strs sdk_receipt_gpus(struct arena *a, const struct sdk_receipt *m);
struct str sdk_receipt_fingerprint(struct arena *a, const struct sdk_receipt *m);
/* The processors that words of `sdk install --gpu` name (targets, products); none for "all". E_GFX. */
MUST_USE struct err *gpus_parse(struct arena *a, const struct strs *words, struct strs *ret);
/* Does one such list cover the other? None means all. */
bool gpus_cover(const struct strs *have, const struct strs *want);

/* ---- store.c: installed SDKs ---- */
struct str sdk_name(struct arena *a, const struct sdk_spec *spec); /* of a complete spec */
struct str sdk_dir(struct arena *a, struct str name);
struct str sdk_stage(struct arena *a, struct str name); /* the hidden folder beside that */
/* Keeps other installs and removals of this SDK away; waits for one that runs. */
MUST_USE struct err *sdk_lock(struct arena *a, struct str name, int *ret_fd);
/* Has it all packages of the component? A newer rocsmith may know more of them. */
MUST_USE struct err *sdk_has_component(
	struct arena *a, const struct sdk_receipt *m, struct str component, bool *ret);
/* The components of a spec, with those that every installed SDK has. */
struct strs sdk_wanted(struct arena *a, const struct sdk_spec *spec);
/* Layout and runner of a tree of ours. */
MUST_USE struct err *sdk_open_tree(struct arena *a, struct str root, struct sdk *ret);
/* Opens an installed SDK; E_SDK, with the command to run, when it is not there or lacks a component. */
MUST_USE struct err *sdk_open_installed(
	struct arena *a, const struct sdk_spec *spec, struct sdk *ret);

/* ---- layout.c ---- */
/* Finds clang, device libraries, headers, libraries, versions. sdk->root is set ("" = the machine itself);
 * prefix is the ROCm prefix inside, e.g. "/opt/rocm" or "/usr". E_SDK names what is missing. */
MUST_USE struct err *layout_find(struct arena *a, struct str prefix, struct sdk *sdk);
/* The number behind a mark: "2.43" in "... version 2.43." for the mark "version "; "" when there is none. */
struct str version_after(struct str text, struct str mark);
/* Asks clang for its version; needs sdk->runner. */
MUST_USE struct err *layout_clang_version(struct arena *a, const struct sdk *sdk, struct str *ret);

/* ---- opt_rocm.c: what we add to a tree; path is relative to root, its folders are made ---- */
/* E_ARCHIVE where packages have something else in the place of a folder; the caller guards the root. */
MUST_USE struct err *tree_folder(struct arena *a, struct str root, struct str path);
MUST_USE struct err *tree_link(
	struct arena *a, struct str root, struct str path, struct str target);
MUST_USE struct err *tree_file(struct arena *a, struct str root, struct str path, struct str text);
/* Makes (or completes) root/opt/rocm from the file lists of ROCm's packages. Links that no longer lead
 * anywhere are removed, the others are added to the list `made`. */
MUST_USE struct err *opt_rocm_make(
	struct arena *a, struct str dir, const struct sdk_receipt *m, struct buf *made);

/* ---- deb.c: Debian packages; archive/unpack.h says what is refused ---- */
/* Unpacks the data member of u->item->path below u->root and adds its files to u->files, whose arena is
 * another one than tmp. E_ARCHIVE when the package is damaged or hostile. */
MUST_USE struct err *deb_unpack(struct arena *tmp, struct sdk_unpack *u);
/* Is a file of a ROCm package for one of these GPUs, or for none in particular? */
bool gpus_want_file(const struct strs *gpus, struct str path);
/* Takes the code of other GPUs out of a library; returns how many bytes of it became holes. */
uint64_t gpus_thin(int fd, uint64_t size, const struct strs *gpus);

/* ---- sandbox.c ---- */
/* The way to run programs of a tree that works here; SDK_NORUN when none does. */
enum sdk_runner sandbox_choose(struct arena *a, const struct sdk *sdk);
/* A path inside -> as this machine sees it. */
struct str sdk_outside(struct arena *a, const struct sdk *sdk, struct str path);

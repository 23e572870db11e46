/* The internals of sdk/: the contract of a provider, and the files that describe an SDK on disk.
 *
 * An SDK is a staged folder (base/fs_stage.h) FS_DATA "sdk/NAME":
 *     sdk.json          its receipt
 *     root/             the tree
 *     records/PACKAGE   the file list of a package, written after its last file
 *     damaged           names of packages that a check found damaged
 *     probe.json        the GPU targets that compile
 * Beside it are "sdk/.NAME.new/", in which a fresh tree is made (the tree of a failed install stays, and the next one
 * continues it), and "sdk/NAME.lock", which outlives a removal. Who uses an SDK holds its folder (fs_hold).
 *
 * A provider parses its own SDK names and opens its SDKs. One that installs also resolves a spec to items and unpacks
 * them into a tree; the engine (install.c) handles locking, resuming, parallel unpacking, file lists, repair and the
 * receipt for every provider. The functions, in the order of an install:
 *
 *     borrow    only before a preview: fills an empty folder with the part of the cache that resolve reads, so that the
 *               cache itself does not change.
 *     resolve   spec -> items with name, version, url, size, sha256, in any order. Writes nothing but the
 *               provider's own cache. Sets index_date, mirror and notes (accepted exceptions).
 *     fetch     items that the engine still needs -> item.path, verified against sha256, resumable.
 *     unpack    one verified item -> files below root, each added to the file list; runs no code of the item,
 *               writes nothing outside of root. Called from several threads, one item each.
 *     finish    after all items: makes links and files that the items' scripts would have made.
 *     open_tree finds compilers and libraries in the filled tree, as a build will.
 *
 * debian.c, amd.c, artifacts.c and prefix.c have the rows. layout.c handles any tree.
 */
#pragma once

#include "archive/item.h"
#include "archive/unpack.h"
#include "sdk/sdk.h"

/* The receipt's package for files that we made ourselves (links, /opt/rocm). */
#define SDK_MADE "=made"

struct sdk_job {
	const struct sdk_spec *spec;   /* complete: see sdk_complete() */
	struct str name;               /* the SDK's name */
	struct str cache;              /* the providers' folder, shared by all SDKs */
	struct strs components;        /* all components that the tree will have */
	struct str root;               /* the tree to fill */
	const struct strs *gpus;       /* the processors that the tree will serve; empty = all */
	struct str index_date, mirror; /* mirror: at first the one of an install before, or "" */
	struct str config;             /* pip's, once it was asked: see index_job */
	struct strs notes;
	struct archive_items items; /* all items that the tree will consist of */
	struct buf *made;           /* the file list of SDK_MADE: files that belong to no item */
};

/* An item to unpack into a tree. */
struct sdk_unpack {
	const struct archive_item *item;
	struct str root;
	struct strs gpus;  /* leave out the kernels of other GPUs; empty = leave out nothing */
	struct buf *files; /* the file list, to which file_list_add() adds lines */
	bool partial;      /* returned: something was left out */
	uint64_t holes;    /* returned: bytes of the files that are holes */
};

struct sdk_receipt;
struct sdk_provider {
	const char *name;
	const char *const *suites; /* the first is the default; NULL = any word */
	bool view;                 /* its trees get the view /opt/rocm */
	bool by_hand;              /* only a user can install it, who names its files */
	const char *again;         /* the command that installs a suite, up to its name */
	/* Is this the name of an SDK of this provider? If so, sets ret's prefix. NULL = NAME:SUITE or NAME-SUITE */
	bool (*parse)(struct str word, struct sdk_spec *ret);
	struct err *(*open)(struct arena *a, const struct sdk_spec *spec,
		struct sdk *ret); /* NULL = by its receipt */
	/* NULL in a provider whose trees are not made by rocsmith: */
	struct err *(*open_tree)(struct arena *a, struct str root, struct sdk *ret);
	/* Does a tree with these packages have a component? NULL = any that there is. */
	struct err *(*has)(
		struct arena *a, const struct sdk_receipt *m, struct str component, bool *ret);
	struct err *(*borrow)(struct arena *a, const struct sdk_job *j, struct str dir);
	struct err *(*resolve)(struct arena *a, struct sdk_job *j);
	struct err *(*fetch)(struct arena *a, struct sdk_job *j, const struct archive_items *need);
	struct err *(*unpack)(struct arena *tmp, struct sdk_unpack *u);
	struct err *(*finish)(struct arena *a, struct sdk_job *j); /* may be NULL */
};

extern const struct sdk_provider sdk_debian, sdk_rocm_wheels, sdk_tarball, sdk_artifacts,
	sdk_prefix;
/* Fills in the provider's name and default suite if the spec leaves them empty, and finds the provider; E_USAGE if
 * there is none of that name. */
MUST_USE struct err *sdk_complete(const struct sdk_spec *spec, struct sdk_spec *ret,
	const struct sdk_provider **ret_provider);

/* ---- data/debian_root.yaml ---- */
struct sandbox_names {
	const char *const *unset, *const *split, *const *own;
};
const struct sandbox_names *sandbox_names_table(void); /* one row */
struct debian_link {
	const char *path, *const *targets;
	bool always;
};
struct debian_file {
	const char *path, *text;
};
struct debian_names {
	const char *const *folders, *const *left_out, *const *merged;
};
const struct debian_names *debian_names_table(void); /* one row */
TABLE(debian_link);
TABLE(debian_file);
struct view_group {
	const char *from, *to;
};
TABLE(view_group);
struct layout_names {
	const char *const *clangs, *const *device_libs, *const *lib_dirs, *const *host_libs;
};
const struct layout_names *layout_names_table(
	void); /* one row; lists of rows end with an empty one */

/* ---- file_list.c: the files that a package put into the tree ---- */
struct sdk_file {  /* a line: type, size, mtime, sha256 or target, path; separated by tabs */
	char type; /* 'f' file, 'l' symbolic link */
	uint64_t size;
	int64_t mtime;
	struct str value, path; /* value: sha256 of a file, target of a link */
};

struct sdk_package {
	struct str name, version, sha256;
	struct str list_sha256; /* the hash of its file list */
	struct strs gpus;       /* only their kernels were unpacked; empty = all kernels */
	uint64_t files, bytes;  /* bytes: without the holes that kernels of other GPUs left */
};

enum { FILE_LIST_MAX = 256 << 20 };

struct str file_list_path(struct arena *a, struct str dir, struct str package); /* dir: the SDK's */
/* The first line of a file list: the package's version and hash, and, if it is partial, its GPUs and holes. */
struct str file_list_head(struct arena *a, const struct sdk_package *p);
/* Is this the list of the package's version? Sets gpus, and sets bytes to the size of the holes. */
bool file_list_is(struct arena *a, struct str text, struct sdk_package *io);
void file_list_add(struct buf *b, const struct sdk_file *f);
/* The next entry of *rest; false at the end, or at a malformed line (*ret_bad). */
bool file_list_next(struct str *rest, struct sdk_file *ret, bool *ret_bad);
enum file_state { FILE_OK, FILE_MISSING, FILE_CHANGED };
/* Compares one line with the tree; deep = by content, else by size and mtime. */
MUST_USE struct err *file_list_compare(
	struct str root, const struct sdk_file *f, bool deep, enum file_state *ret);
/* The names of damaged packages, found by size and mtime (deep = false) or by content; findings may be NULL. */
MUST_USE struct err *sdk_find_damage(struct arena *a, struct str dir, bool deep,
	struct strs *ret_packages, struct findings *ret);

/* ---- receipt.c: the contents of an SDK ---- */
#define SDK_RECEIPT "sdk.json"

struct sdk_receipt {
	struct str provider, suite, prefix, mirror, index_date, clang_version;
	struct strs components, notes;
	VEC(struct sdk_package) packages;
};

/* Leaves ret->provider empty if there is no receipt. E_CORRUPT if it is damaged. */
MUST_USE struct err *sdk_receipt_read(struct arena *a, struct str dir, struct sdk_receipt *ret);
struct str sdk_receipt_text(struct arena *a, const struct sdk_receipt *m);
const struct sdk_package *sdk_receipt_package(const struct sdk_receipt *m, struct str name);
/* The GPUs for which every package has its kernels; empty = all GPUs. */
struct strs sdk_receipt_gpus(struct arena *a, const struct sdk_receipt *m);
struct str sdk_receipt_fingerprint(struct arena *a, const struct sdk_receipt *m);
/* The processors named by the words of `sdk install --gpu` (targets, products); empty for "all". E_GFX if unknown. */
MUST_USE struct err *gpus_parse(struct arena *a, const struct strs *words, struct strs *ret);
/* Does `have` include all of `want`? An empty list means all GPUs. */
bool gpus_cover(const struct strs *have, const struct strs *want);

/* ---- store.c: installed SDKs ---- */
struct str sdk_name(struct arena *a, const struct sdk_spec *spec); /* the name of a complete spec */
struct str sdk_dir(struct arena *a, struct str name);
struct str sdk_stage(struct arena *a, struct str name); /* the hidden folder beside sdk_dir() */
/* Locks this SDK against other installs and removals, waiting for one that runs. */
MUST_USE struct err *sdk_lock(struct arena *a, struct str name, int *ret_fd);
/* Does the receipt list all of Debian's packages of the component? A newer rocsmith may require more packages. */
MUST_USE struct err *sdk_has_component(
	struct arena *a, const struct sdk_receipt *m, struct str component, bool *ret);
/* The components of a spec, plus those that every installed SDK has. */
struct strs sdk_wanted(struct arena *a, const struct sdk_spec *spec);
/* Sets layout and runner for a tree with the view /opt/rocm. */
MUST_USE struct err *sdk_open_tree(struct arena *a, struct str root, struct sdk *ret);
/* Opens an installed SDK; E_SDK, with a command as the remedy, if it is missing or lacks a component. */
MUST_USE struct err *sdk_open_installed(struct arena *a, const struct sdk_provider *provider,
	const struct sdk_spec *spec, struct sdk *ret);

/* ---- layout.c ---- */
enum { NEWEST_LLVM = 99 }; /* versions that are looked for, from here down */
/* Finds clang, device libraries, headers, libraries, versions. The caller sets sdk->root ("" = the machine
 * itself); prefix is the ROCm prefix inside it, e.g. "/opt/rocm" or "/usr". E_SDK names what is missing. */
MUST_USE struct err *layout_find(struct arena *a, struct str prefix, struct sdk *sdk);
/* The version number after a mark: "2.43" in "... version 2.43." for the mark "version "; "" if there is none. */
struct str version_after(struct str text, struct str mark);
/* Runs clang to get its version; needs sdk->runner. */
MUST_USE struct err *layout_clang_version(struct arena *a, const struct sdk *sdk, struct str *ret);

/* ---- opt_rocm.c: our additions to a tree; path is relative to root, missing folders are made ---- */
/* E_ARCHIVE if a package has put something else where the folder should be; the caller guards the root. */
MUST_USE struct err *tree_folder(struct arena *a, struct str root, struct str path);
MUST_USE struct err *tree_link(
	struct arena *a, struct str root, struct str path, struct str target);
MUST_USE struct err *tree_file(struct arena *a, struct str root, struct str path, struct str text);
/* Makes (or completes) root/opt/rocm from the file lists of ROCm's packages. Removes dangling links; adds the
 * others to the list `made`. */
MUST_USE struct err *opt_rocm_make(
	struct arena *a, struct str dir, const struct sdk_receipt *m, struct buf *made);

/* ---- deb.c: Debian packages; archive/unpack.h lists the members that are refused ---- */
/* Unpacks the data member of u->item->path below u->root and adds its files to u->files, whose
 * arena is not tmp. E_ARCHIVE if the package is damaged or hostile. */
MUST_USE struct err *deb_unpack(struct arena *tmp, struct sdk_unpack *u);
/* Is a ROCm package's file for one of these GPUs, or for no particular GPU? */
bool gpus_want_file(const struct strs *gpus, struct str path);
/* Removes the code of other GPUs from a library; returns the number of bytes that became holes. */
uint64_t gpus_thin(int fd, uint64_t size, const struct strs *gpus);

/* Adds a file to u->files, thinned for u->gpus: struct unpack_job's told, with a struct sdk_unpack. */
MUST_USE struct err *sdk_note_file(void *user, const struct unpack_file *f);

/* ---- amd.c: steps that artifacts.c shares ---- */
MUST_USE struct err *amd_borrow(struct arena *a, const struct sdk_job *j, struct str dir);
MUST_USE struct err *amd_fetch(
	struct arena *a, struct sdk_job *j, const struct archive_items *need);
/* Sets the size of a file, and its hash if none is known. */
MUST_USE struct err *local_item(struct arena *a, struct archive_item *io);
MUST_USE struct err *tarball_open_tree(struct arena *a, struct str root, struct sdk *ret);

struct devel_link { /* a link of the devel tree to a file of a device wheel; both relative */
	struct str relpath, target;
};
struct devel_links { /* .devel_links/GPU.json of that wheel */
	struct str version;
	VEC(struct devel_link) links;
};
extern const struct json_field devel_links_fields[];

/* ---- prefix.c ---- */
/* Opens a ROCm tree at this path; its programs run directly, or, where they need the loader of a root folder above it, in
 * that. */
MUST_USE struct err *prefix_open(struct arena *a, struct str path, struct sdk *ret);

/* ---- sdk_json.c ---- */
extern const struct json_field sdk_target_fields[]; /* struct sdk_target */

/* ---- sandbox.c ---- */
/* The first way to run the tree's programs that works on this machine, or SDK_NORUN. */
enum sdk_runner sandbox_choose(struct arena *a, const struct sdk *sdk);

/* Fetches a project's sources if the user does not have them in a folder.
 *
 * One word names them:
 *     DIR                             a folder that the user has
 *     debian:SUITE/PACKAGE[=VERSION]  a source package of Debian; VERSION is upstream's ("2.6.0") or
 *                                     the full one ("2.6.0+dfsg-7"); the default is the suite's newest
 *     sdist:NAME==VERSION             a source distribution from the package index that pip uses
 *     NAME-VERSION.tar.gz, .zip       a source distribution that the user has
 *     git:LOCK#NAME                   a project of a lock file (source/checkout.h), whatever its folder beside it holds now
 *
 * Sources are unpacked and, if wanted, patched into a staged folder (base/fs_stage.h), FS_CACHE
 * "source/NAME-VERSION-HASH". HASH, a whole sha256, covers everything that the folder was made from. No code of the project
 * is run. Every byte is checked against a hash from the archive's signed index (Debian) or the package
 * index (sdist). Archives are not trusted: see archive/unpack.h. Beside the folders are
 *     NAME-VERSION-HASH.json  the receipt
 *     words/HASH              the folder for a word, so that the same word leads to it next time
 *     files/                  the archives
 *     apt-SUITE/              see archive/apt.h
 *     .new/                   the hidden folder in which trees are made
 *     lock                    held during fetching and unpacking
 */
#pragma once

#include "base/vec.h"
#include "formats/json_fields.h"

enum source_kind { SOURCE_DIR, SOURCE_DEBIAN, SOURCE_SDIST, SOURCE_GIT };
extern const char *const source_kinds[]; /* "dir", "debian", "sdist", "git"; NULL-terminated */

struct source_spec {
	enum source_kind kind;
	struct str text;             /* as the user typed it */
	struct str suite;            /* the Debian suite */
	struct str package, version; /* version "" = the newest */
	struct str path; /* absolute: the folder, the user's sdist or lock file; else "" */
};

/* E_USAGE for any other word. Does not check that the folder or file exists. */
MUST_USE struct err *source_spec_parse(struct arena *a, struct str word, struct source_spec *ret);

struct source_request {
	struct source_spec spec;
	bool patches; /* apply the patches of a Debian package (debian/patches/series) */
	bool refresh; /* look up the archive's current version instead of reusing the last one */
	struct str mirror, keyring; /* Debian only; "" = those of this machine's apt */
	struct str python; /* the Python whose pip configures the package index; "" = python3 */
};

struct source_file {
	struct str name, sha256;
	uint64_t size;
};

struct source_tree {
	struct str dir;              /* absolute */
	struct str kind;             /* a word of source_kinds */
	struct str from;             /* the word that the user typed */
	struct str package, version; /* "" for the user's own folder */
	struct str upstream;         /* the version without Debian's additions: "2.6.0" */
	struct str mirror, index_date;
	VEC(struct source_file) files; /* the archives that it was made from */
	struct strs patches;           /* applied, in this order */
	struct strs notes;             /* accepted exceptions, one sentence each */
};

/* The JSON form of a source tree, without dir, for other documents to include. */
extern const struct json_field source_tree_fields[];

/* Finds the folder, or fetches and makes it, which in a dry run is E_SOURCE. If the folder is made, its notes are also
 * shown as progress notes. E_SOURCE, E_NET, E_HASH, E_ARCHIVE, E_NOENT. */
MUST_USE struct err *source_fetch(
	struct arena *a, const struct source_request *r, struct source_tree *ret);

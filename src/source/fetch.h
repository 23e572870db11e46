/* Fetches a project's sources for users who do not have them in a folder.
 *
 * One word names them:
 *     DIR                             a folder that the user has
 *     debian:SUITE/PACKAGE[=VERSION]  a source package of Debian; VERSION is upstream's ("2.6.0") or
 *                                     the whole ("2.6.0+dfsg-7"), without one the suite's newest
 *     sdist:NAME==VERSION             a source distribution from the package index that pip uses
 *     NAME-VERSION.tar.gz, .zip       a source distribution that the user has
 * A git checkout will be one more kind.
 *
 * Sources are unpacked and, if wanted, patched into a staged folder (base/fs_stage.h), FS_CACHE
 * "source/NAME-VERSION-HASH". HASH covers everything that the folder was made of. Nothing of a project is run
 * on the way. Every byte is checked against a hash from the archive's signed index (Debian) or the package
 * index (sdist); archives are not trusted: see archive/unpack.h. Beside the folders lie
 *     NAME-VERSION-HASH.json  the receipt
 *     words/HASH              the folder that a word led to, so that it leads there next time, too
 *     files/                  the archives
 *     apt-SUITE/              see archive/apt.h
 *     .new/                   the hidden folder in which trees are made
 *     lock                    held while something is fetched or made
 */
#pragma once

#include "base/vec.h"
#include "formats/json_fields.h"

enum source_kind { SOURCE_DIR, SOURCE_DEBIAN, SOURCE_SDIST };
extern const char *const source_kinds[]; /* "dir", "debian", "sdist"; NULL-terminated */

struct source_spec {
	enum source_kind kind;
	struct str text;             /* as the user typed it */
	struct str suite;            /* the Debian suite */
	struct str package, version; /* version "" = the newest */
	struct str path;             /* absolute: the folder, or the user's sdist; else "" */
};

/* E_USAGE for a word that is none of these. Whether its folder or file exists is not checked. */
MUST_USE struct err *source_spec_parse(struct arena *a, struct str word, struct source_spec *ret);

struct source_request {
	struct source_spec spec;
	bool patches; /* apply the patches of a Debian package (debian/patches/series) */
	bool refresh; /* ask the archive for its current version, instead of that of the last time */
	struct str mirror, keyring; /* for Debian; "" = as this machine's apt has it */
	struct str python;          /* its pip knows the package index; "" = python3 */
};

struct source_file {
	struct str name, sha256;
	uint64_t size;
};

struct source_tree {
	struct str dir;              /* absolute */
	struct str kind;             /* a word of source_kinds */
	struct str from;             /* the word that the user typed */
	struct str package, version; /* "" for a folder of the user's */
	struct str upstream;         /* the version without what Debian adds: "2.6.0" */
	struct str mirror, index_date;
	VEC(struct source_file) files; /* the archives that it was made of */
	struct strs patches;           /* applied, in this order */
	struct strs notes;             /* accepted exceptions, one sentence each */
};

/* The JSON form of a source tree, without dir, for other documents to include. */
extern const struct json_field source_tree_fields[];

/* Finds the folder, or fetches and makes it; in a dry run, where it cannot, E_SOURCE. When the folder is made,
 * its notes are also reported as progress. E_SOURCE, E_NET, E_HASH, E_ARCHIVE, E_NOENT. */
MUST_USE struct err *source_fetch(
	struct arena *a, const struct source_request *r, struct source_tree *ret);

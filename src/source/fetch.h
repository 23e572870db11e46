/* Getting a project's sources without the user having a folder.
 *
 * Where sources are is one word:
 *     DIR                             a folder that the user has
 *     debian:SUITE/PACKAGE[=VERSION]  a source package of Debian; VERSION is upstream's ("2.6.0") or
 *                                     the whole ("2.6.0+dfsg-7"), without one the suite's newest
 *     sdist:NAME==VERSION             a source distribution from the package index that pip uses
 *     NAME-VERSION.tar.gz, .zip       a source distribution that lies here
 * A git checkout will be one more kind.
 *
 * What is fetched ends as a folder FS_CACHE "source/NAME-VERSION-HASH", unpacked and, where that is
 * wanted, patched. HASH is one over everything that made it. Nothing of a project is run on the way.
 * Every byte is checked by a hash of the archive's signed index (Debian) or of the package index
 * (sdist); archives are not trusted: see archive/unpack.h. Beside the folders:
 *     NAME-VERSION-HASH.json  what it was made of; written last: without it there is no such folder
 *     words/HASH              the name of what a word has given, so that it gives the same next time
 *     files/                  the archives
 *     apt-SUITE/              see archive/apt.h
 *     lock                    held while something is made
 */
#pragma once

#include "base/vec.h"
#include "formats/json_fields.h"

enum source_kind { SOURCE_DIR, SOURCE_DEBIAN, SOURCE_SDIST };
extern const char *const source_kinds[]; /* "dir", "debian", "sdist"; NULL-terminated */

struct source_spec {
	enum source_kind kind;
	struct str text;             /* as the user typed it */
	struct str suite;            /* of Debian */
	struct str package, version; /* version "" = the newest */
	struct str path;             /* absolute: the folder, or an sdist that lies here; else "" */
};

/* E_USAGE for a word that is none of these. What it names need not be there. */
MUST_USE struct err *source_spec_parse(struct arena *a, struct str word, struct source_spec *ret);

struct source_request {
	struct source_spec spec;
	bool patches; /* of a Debian package: apply its patches (debian/patches/series) */
	bool refresh; /* ask the archive for what it has now, and not for what it had last time */
	struct str mirror, keyring; /* of Debian; "" = as this machine's apt has it */
	struct str python;          /* whose pip knows the package index; "" = python3 */
};

struct source_file {
	struct str name, sha256;
	uint64_t size;
};

struct source_tree {
	struct str dir;              /* absolute */
	struct str kind;             /* a word of source_kinds */
	struct str from;             /* the word that the user typed */
	struct str package, version; /* "" of a folder that the user has */
	struct str upstream;         /* the version without what Debian adds: "2.6.0" */
	struct str mirror, index_date;
	VEC(struct source_file) files; /* that it was made of */
	struct strs patches;           /* applied, in this order */
	struct strs notes;             /* accepted exceptions, one sentence each */
};

/* Its JSON form, without dir: a part of other documents. */
extern const struct json_field source_tree_fields[];

/* The folder; fetches what is not there. Where writing is forbidden and it would have to, E_SOURCE
 * says so. Notes are also told as progress when the folder is made. E_SOURCE, E_NET, E_HASH,
 * E_ARCHIVE, E_NOENT. */
MUST_USE struct err *source_fetch(
	struct arena *a, const struct source_request *r, struct source_tree *ret);

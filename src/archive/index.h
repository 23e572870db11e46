/* Files of Python package indexes: lists, downloads, metadata.
 *
 * A Python, 3.9 or newer with its standard library only, does the work (index.py); no code of a project is run. It
 * speaks the simple API: PEP 503 (HTML), 691 (JSON), 592 (yanked), 658 and 714 (metadata files). Proxy, certificates,
 * trusted hosts and time limits are those of pip's configuration, logins those of ~/.netrc or of the address, which
 * are never shown. Addresses are http or https. Limits: 256 MiB for a page, 30,000 files of a project,
 * 32 GiB for a file, 16 MiB for its metadata.
 *
 * Errors of all: E_TOOL_MISSING without Python, E_TOOL_FAILED if it or its pip fails, E_NET after three tries, E_USAGE
 * if an address is none, or an index is given as a page of files, or the reverse.
 */
#pragma once

#include "archive/item.h"
#include "base/err.h"
#include "base/proc.h"

/* The places to ask. Both lists empty = pip's own index, its further ones, and its --find-links. */
struct index_job {
	struct str python; /* a program, or a version such as "3.12"; "" = python3 */
	struct strs urls;  /* simple indexes; a folder serves, too */
	struct strs
		links; /* asked before them: folders, or pages, that have files of many projects */
	/* Kept between calls that share it, so that pip is asked for its configuration once; "" at first. NULL = ask each time. */
	struct str *config;
};

/* A project that no place has, and what each of them answered; 403 and 404 mean the same, since AMD's indexes answer
 * the first. */
struct index_missing {
	struct str project, why;
};

struct index_missings VEC_OF(struct index_missing);

/* Adds all wheels and source distributions of each project in the first place that has any, in the order of its page;
 * the projects that no place has are added to ret_missing. */
MUST_USE struct err *index_lists(struct arena *a, const struct index_job *job,
	const struct strs *projects, struct archive_items *ret, struct index_missings *ret_missing);
/* The files of one project; E_NOENT, with the reason, if no place has it. */
MUST_USE struct err *index_list(struct arena *a, const struct index_job *job, struct str project,
	struct archive_items *ret);
/* Sets the sizes that are unknown, by asking for each. */
MUST_USE struct err *index_sizes(
	struct arena *a, const struct index_job *job, struct archive_items *io);
/* The METADATA of a wheel: the file beside it, or out of it, of which only the pieces needed are read. The PKG-INFO of a
 * source distribution. */
struct index_metadata {
	struct str text, why; /* why: it has none */
};
struct index_metadatas VEC_OF(struct index_metadata);
/* Reads them for all files, in their order. E_HASH. */
MUST_USE struct err *index_metadata(struct arena *a, const struct index_job *job,
	const struct archive_items *files, struct index_metadatas *ret);
/* Downloads the items (url, file, size, sha256) into the folder dir, which exists and is locked by the caller, with
 * progress, and sets their path. Files that are there stay; partial ones are continued. An item without a sha256 gets
 * the one that came, if it came by https, from this machine, or from a folder. E_HASH, E_NOSPACE, E_NOENT. */
MUST_USE struct err *index_fetch(
	struct arena *a, const struct index_job *job, struct archive_items *io, struct str dir);

struct index_sdist {
	struct str package, version;
	struct archive_item file; /* returned */
	struct str note;          /* returned: why its authors withdrew it, or "" */
};

/* Downloads the source distribution of a version into the folder dir. E_NOENT names other versions, E_HASH. */
MUST_USE struct err *index_sdist(
	struct arena *a, const struct index_job *job, struct str dir, struct index_sdist *io);

/* The answer of index.py: the fields are those of the job that was done. */
struct index_answer {
	struct archive_items files;
	struct index_missings missing;
	struct index_metadatas metadata;
	struct str text, config, error, kind;
};
/* Reads an answer; what it says of an error is the error. */
MUST_USE struct err *index_answer_parse(struct arena *a, struct str text, struct index_answer *ret);
extern const struct str index_driver; /* index.py */

/* Begins a command of a Python's pip, in the user's environment but for what would send its work elsewhere. */
struct proc pip_command(struct arena *a, struct str python);

/* Releases: wheels as a package index, staged, promoted as a whole, and published.
 *
 * A set is what is released together: wheels whose requirements on each other hold. A store is a folder that has sets by
 * their content, and streams (data/streams.yaml), each an index for pip of the sets that were promoted into it:
 *
 *     STORE/rocsmith-store.json        the mark of a store; a folder without it is none
 *     STORE/files/SHA256/NAME.whl      wheels, with their METADATA (.metadata) and provenance beside them; never changed
 *     STORE/sets/ID.json               rocsmith.set/1: its wheels; the id is the hash of that text
 *     STORE/staged/STREAM.json         the set that will be promoted next; no index shows it
 *     STORE/states/ID.json             rocsmith.stream/1: a stream's sets, and the state before; the id is its hash
 *     STORE/quarantine/ID.json         why a set must not be promoted any more
 *     STORE/STREAM/                    stream.json (its state), simple/ (the index), index.html (for people)
 *
 * All that pip sees of a stream is one folder, which is made beside it and exchanged with it by one rename: there is no
 * moment at which a part of a set is visible, and none without an index. Whoever is killed before leaves files that no
 * index names, and that the next run uses. One run at a time changes a store; others wait. What lies in a store is
 * believed only as far as hashes go, and no link in it is followed.
 *
 * Sources: PEP 503, 592, 629, 658, 691, 700, 714, 740; in-toto Statement v1, SLSA provenance v1.
 */
#pragma once

#include "verify/verify.h"
#include "web/web.h"

enum { RELEASE_WHEELS = 5000, RELEASE_TEXT = 16 << 20 };
/* MiB; Amazon S3 takes 5 GiB at once, and parts of 5 MiB to 5 GiB */
enum { RELEASE_PART = 256, RELEASE_LEAST_PART = 5, RELEASE_MOST_PART = 5120 };

struct release_wheel {           /* a wheel or a source distribution */
	struct str file, sha256; /* its name (first, for str_order()), and its content's hash */
	uint64_t size;
	struct str project, version; /* in PEP 503's spelling; as METADATA has it */
	struct strs gpus;            /* targets that every file with device code serves */
	struct str origin;           /* the hash of the wheel that this one is, renamed; or "" */
	struct str path;             /* its place */
	struct str state;            /* fs_exact_state() of the file with this hash */
	struct str metadata;         /* METADATA */
	struct dist_headers headers; /* its headers, from release_describe() */
	struct str metadata_sha256, provenance_sha256; /* in a store's set: what lies beside it */
	struct str requires_python;
	struct str provenance; /* PEP 740's document, or "" */
	struct str statement;  /* the in-toto statement that a store gets beside it, or "" */
	struct str yanked;     /* the reason; .p NULL: it is not */
	int64_t time;          /* its upload: the time of the file */
};

struct release_set VEC_OF(struct release_wheel);

/* ---- read.c ---- */
/* Reads wheels, and those in folders and in the folders in there; every member of a wheel is listed in its RECORD.
 * E_WHEEL, E_ZIP, E_LIMIT; E_NOENT for a folder without any. */
MUST_USE struct err *release_read(
	struct arena *a, const struct strs *paths, struct release_set *ret);
/* Fills in a wheel from its METADATA. E_SYNTAX, E_WHEEL. */
MUST_USE struct err *release_describe(struct arena *a, struct release_wheel *io);
/* "cp312" -> "3.12"; "" for tags such as py3. */
struct str release_python(struct arena *a, struct str tag);
/* Does its tag fit a Python, "3.12"? The Pythons that tags of the set name: "3.12", or "" if none names any. */
bool release_fits(struct arena *a, const struct release_wheel *w, struct str python);
struct strs release_pythons(struct arena *a, const struct release_set *set);
/* "gfx1100", "gfx110x" or "all" for the device wheel of that name; "" for other wheels, as amd-rocm-device-libs-instinct is. */
struct str release_device(struct str project);

/* ---- sdist.c ---- */
bool release_is_sdist(struct str file);
/* The project and version that the name of a wheel or source distribution has. E_WHEEL. */
MUST_USE struct err *release_file_name(
	struct arena *a, struct str file, struct str *ret_name, struct str *ret_version);
/* Will its metadata be the same when it is installed (PEP 643)? Only then an index may offer it beside the file. */
bool release_is_static(const struct release_wheel *w);
/* Looks into a source distribution; *ret: its PKG-INFO. E_WHEEL, E_ARCHIVE, E_LIMIT for a bomb. */
MUST_USE struct err *release_read_sdist(struct arena *a, struct str path, struct str *ret);
/* The file with other versions in its name, PKG-INFO and texts; io gets its name and metadata. "": none of them changes. */
MUST_USE struct err *release_rename_sdist(
	struct arena *a, const struct wheel_request *q, struct release_wheel *io, struct str *ret);

/* ---- check.c ---- */
/* Adds findings about a set: two files of one name, requirements between its wheels that do not hold, device wheels that
 * an extra or a wheel requires and that are missing. `beside`: what else the index has, for the order of versions. */
void release_check(struct arena *a, const struct release_set *set, const struct release_set *beside,
	struct findings *ret);
/* The projects that some wheel certainly requires and that the set lacks, sorted. */
struct strs release_lacks(struct arena *a, const struct release_set *set);
/* Sorts wheels by project and version; for `order`, a wheel comes behind those that it requires. */
void release_sort(struct arena *a, struct release_set *io, bool order);

/* ---- site.c ---- */
/* Writes an index into a folder: simple/ (HTML and JSON) and index.html. up: the way from there to the folder files/. */
MUST_USE struct err *release_site(
	struct arena *a, const struct release_set *set, struct str dir, struct str up);
/* The projects of a set, and the pages of one; up: the way from the page to the folder files/. */
struct strs release_projects(struct arena *a, const struct release_set *set);
struct str release_page(
	struct arena *a, const struct release_set *set, struct str project, struct str up);
struct str release_json(
	struct arena *a, const struct release_set *set, struct str project, struct str up);
/* The page of all projects, and the one for people. */
struct str release_root(struct arena *a, const struct release_set *set, bool json);
struct str release_people(struct arena *a, const struct release_set *set);
/* "SHA256/NAME", as it is written in an address: '+' is %2B. */
struct str release_address(struct arena *a, const struct release_wheel *w);
/* Puts a wheel, and what belongs beside it, into the folder files/: it has its hash, is synced, and was not there
 * before or is right. */
MUST_USE struct err *release_put(struct arena *a, const struct release_wheel *w, struct str files);
MUST_USE struct err *release_put_all(
	struct arena *a, const struct release_set *set, struct str files);

struct release_index {
	struct strs paths, yank; /* yank: "FILE=REASON" */
	struct str site;
	bool complete; /* it is an error if the index lacks other projects */
	/* returned */
	struct release_set wheels;
	struct strs projects, lacks;
	struct findings findings;
	bool refused; /* nothing was written */
};
/* Makes or replaces SITE, a folder that an earlier call made: files/, simple/, index.html. */
MUST_USE struct err *release_index(struct arena *a, struct release_index *io);
extern const struct json_field release_index_fields[]; /* rocsmith.index/1 */

/* ---- gate.c ---- */
struct release_proof { /* the evidence for a GPU and a Python */
	struct str gpu, python;
	struct str
		by; /* the files of evidence with their hashes, or "waived by NAME until DATE: REASON" */
	bool waived;
};
struct release_proofs VEC_OF(struct release_proof);
struct release_gate {
	struct strs evidence; /* files, rocsmith.test/1 */
	struct str waivers;   /* a file; "" = none */
	struct str today;     /* "2026-11-29" */
	/* returned */
	struct release_proofs proofs;
	struct findings findings;
};
/* Is there a passed test, or a waiver, of each GPU that the set serves and each Python? Evidence counts for wheels whose
 * hashes it has, or those they were renamed from, and for GPUs that its tests saw ("cpu": a set without device code); a shard of a
 * run only if all its other shards are there. A failed test of one of its wheels is an error whatever else there is. */
MUST_USE struct err *release_judge(
	struct arena *a, const struct release_set *set, struct release_gate *io);

/* ---- store.c, promote.c ---- */
struct release_stream { /* data/streams.yaml */
	const char *name, *about;
	bool gate;
};
TABLE(release_stream);

enum release_action { RELEASE_FORWARD, RELEASE_BACK, RELEASE_LAST_GOOD, RELEASE_QUARANTINE };
struct release_request {
	struct strs wheels;           /* stage: wheels and folders */
	struct str place;             /* STORE/STREAM; for stage STORE alone means the stream dev */
	bool add;                     /* stage: to what is staged already */
	struct verify_options verify; /* stage */
	struct str to;        /* promote: another stream; "" = what is staged for that of `place` */
	struct strs versions; /* promote: "OLD=NEW" */
	struct str
		set; /* promote: the beginning of the id of the set that is meant; "" = the newest */
	struct release_gate gate; /* promote */
	enum release_action action;
	struct str reason; /* the reason of a quarantine */
	unsigned jobs;
};
struct release_done {
	struct str store, stream, set; /* set: its id */
	struct str action; /* "staged", "promoted", "unchanged", "rolled back", "quarantined" */
	struct strs sets;  /* the sets of the stream, the newest last */
	struct release_set wheels; /* the wheels of the set */
	struct release_proofs proofs;
	struct findings findings;
	bool refused; /* nothing that pip sees was changed */
};
extern const struct json_field release_done_fields[]; /* rocsmith.release/1 */
/* Puts wheels that `verify` passes into a store, which is made if it is named with a stream. */
MUST_USE struct err *release_stage(
	struct arena *a, const struct release_request *q, struct release_done *ret);
MUST_USE struct err *release_promote(
	struct arena *a, const struct release_request *q, struct release_done *ret);

struct release_state { /* rocsmith.stream/1 */
	struct str stream;
	struct strs sets;    /* ids, the newest last */
	struct str previous; /* the id of the state before; "" = none */
	struct str time;
	struct release_proofs proofs;
};
struct release_store {
	struct str dir, stream;
	int lock;
	struct fs_tree *guard;
};
/* The row of a stream; E_USAGE, with a hint. */
MUST_USE struct err *release_row(
	struct arena *a, struct str name, const struct release_stream **ret);
/* Opens STORE/STREAM; with `make`, it is made. An empty stream is one without sets. E_USAGE if there is no store. */
MUST_USE struct err *release_open(
	struct arena *a, struct str place, bool make, struct release_store *ret);
/* Waits for the lock and guards the folder; nothing in a dry run. */
MUST_USE struct err *release_lock(struct arena *a, struct release_store *io);
void release_close(struct release_store *s);
/* *ret_id: "" if the stream has no state yet. */
MUST_USE struct err *release_state(struct arena *a, const struct release_store *s,
	struct str stream, struct release_state *ret, struct str *ret_id);
/* The state of the stream that the store was opened with; E_USAGE, with a hint, if it has no set yet. */
MUST_USE struct err *release_filled(
	struct arena *a, const struct release_store *s, struct release_state *ret);
/* The state of that id; E_CORRUPT if it is one of another stream: who follows it would change that, wherever it is. */
MUST_USE struct err *release_state_read(struct arena *a, const struct release_store *s,
	struct str stream, struct str id, struct release_state *ret);
/* The id of the set that is staged; E_USAGE if there is none. */
MUST_USE struct err *release_staged(
	struct arena *a, const struct release_store *s, struct str *ret_id);
/* Why a set is in quarantine; "" if it is not. */
MUST_USE struct err *release_quarantined(
	struct arena *a, const struct release_store *s, struct str id, struct str *ret_why);
/* Writes DIR/ID.json; and a set, whose id follows from it. In a dry run only the id is told. */
MUST_USE struct err *release_write(struct arena *a, const struct release_store *s, const char *dir,
	struct str id, struct str text);
MUST_USE struct err *release_save(struct arena *a, const struct release_store *s,
	const struct release_set *set, struct str *ret_id);
/* The wheels of a set, yanked if it is in quarantine; the reason of that in *ret_why, or "". */
MUST_USE struct err *release_load(struct arena *a, const struct release_store *s, struct str id,
	struct release_set *io, struct str *ret_why);
/* All wheels that a stream shows. */
MUST_USE struct err *release_shown(struct arena *a, const struct release_store *s,
	const struct release_state *state, struct release_set *ret);
/* Makes a state that of its stream: this is the one step that pip sees. */
MUST_USE struct err *release_switch(
	struct arena *a, const struct release_store *s, const struct release_state *state);

/* ---- publish.c ---- */
struct release_upload { /* a file at its destination */
	struct str key, path, sha256;
	const char *type; /* its media type */
	uint64_t size;
	const struct release_wheel *wheel; /* or NULL */
	bool done;                         /* it was there already */
};
struct release_uploads VEC_OF(struct release_upload);
struct release_publish {
	struct str place, to; /* STORE/STREAM; a folder, s3://BUCKET/PREFIX or https://HOST/... */
	struct str index_url; /* the index that pip reads; "" = it follows from `to` */
	struct str python;
	bool unread; /* do not read back */
	unsigned
		part; /* MiB: larger files are sent to a bucket in parts of that size; 0 = RELEASE_PART */
	/* returned */
	struct release_uploads uploads; /* in their order: files, then pages */
	uint64_t bytes;                 /* their sum, without those that were there */
	struct strs read;               /* "NAME==VERSION", as pip got it */
};
MUST_USE struct err *release_publish(struct arena *a, struct release_publish *io);
extern const struct json_field release_publish_fields[]; /* rocsmith.publish/1 */

/* ---- remote.c ---- */
/* Has the object store this content under the key? */
MUST_USE struct err *remote_has(
	struct arena *a, const struct web *r, const struct release_upload *u, bool *ret);
struct remote_parts { /* how files are sent to a bucket */
	const struct web *web;
	uint64_t size;      /* a file that is larger is sent in parts of so many bytes */
	struct str scratch; /* a folder that has room for a part */
};
/* The file is whole in the store, or not there. E_NET also if the store has something else in the end. */
MUST_USE struct err *remote_put(
	struct arena *a, const struct remote_parts *p, const struct release_upload *u);
/* Ends the uploads in parts that killed runs left under the prefix: a store keeps them, unseen, and charges for them. Those of
 * the last 24 hours may be somebody's who still sends, and stay. */
MUST_USE struct err *remote_tidy(struct arena *a, const struct web *r);
/* Reads a small object; ret->p is NULL if there is none. */
MUST_USE struct err *remote_get(
	struct arena *a, const struct web *r, struct str key, struct str *ret);
/* Uploads a wheel to an index server, as twine does. */
MUST_USE struct err *remote_post(
	struct arena *a, const struct web *r, const struct release_wheel *w);

/* ---- provenance.c ---- */
/* The in-toto statement of a wheel, SLSA provenance v1, from the record that a build leaves beside it (FILE.whl.json) or, of
 * a renamed one, from its origin; "" if there is neither. Unsigned: signing is another program's work. */
MUST_USE struct err *release_statement(
	struct arena *a, const struct release_wheel *w, struct str record, struct str *ret);
/* PEP 740's provenance document of the attestations beside a wheel, FILE.whl.*.attestation, as twine takes them; "" if
 * there are none. Their form and subject are checked, not their signatures. E_SYNTAX; E_HASH if one is about another file. */
MUST_USE struct err *release_attested(
	struct arena *a, const struct release_wheel *w, struct str *ret);

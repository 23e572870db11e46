/* Wheels as archives: unpacking one, packing a tree, changing version and tags, comparing bytes.
 *
 * The same content is written as the same bytes: members by name, then those of the dist-info folder, then a new
 * RECORD; modes 0644 and 0755, one timestamp for all; no folders, links, data descriptors or signatures of an old
 * RECORD. Wheels that are read are not trusted: zip_open() must find no mistake, RECORD must list every file once with
 * its sha256 and size and nothing else (one without any hash is used with a warning, and its files get their hashes), the dist-info folder must fit the file's name, and the wheel must not unpack to
 * more than WHEEL_BOMB bytes or WHEEL_RATIO times its size, whichever is larger. E_ZIP, E_WHEEL, E_LIMIT.
 *
 * Memory stays below 256 MiB: members, and the bytes of their names, are limited (WHEEL_MEMBERS, WHEEL_NAMES); texts of
 * dist-info have at most WHEEL_TEXT bytes, RECORD WHEEL_NAMES; each reading thread takes 8 MiB, and there are at most
 * WHEEL_THREADS; zip.h says what writing takes. Sources: the binary distribution format and its RECORD, PEP 427, PEP
 * 440 for local versions.
 */
#pragma once

#include "wheel/wheel.h"

enum { WHEEL_MEMBERS = 50000, WHEEL_NAMES = 8 << 20, WHEEL_TEXT = 4 << 20, WHEEL_BOMB = 1 << 30 };
enum { WHEEL_RATIO = 200, WHEEL_THREADS = 16 };

struct wheel_member {
	const struct zip_member *zip;
	struct str sha256; /* in the form of RECORD; "" for RECORD itself and its signatures */
};

struct wheel { /* an open wheel */
	struct wheel_name name;
	struct str info; /* its dist-info folder */
	struct zip zip;
	VEC(struct wheel_member) members; /* files, in the wheel's order */
	uint64_t size;                    /* bytes of all of them, without RECORD */
};

/* Unpacks only RECORD, unless that has no hashes. ret must not move afterwards. */
MUST_USE struct err *wheel_open(struct arena *a, struct str path, struct wheel *ret);
void wheel_close(struct wheel *w);
/* Reads a file of the dist-info folder ("METADATA") and its headers. E_WHEEL when it is missing. */
MUST_USE struct err *wheel_headers(struct arena *a, const struct wheel *w, const char *file,
	struct str *ret_text, struct dist_headers *ret);
/* Is this RECORD or one of its signatures? A new RECORD replaces all of them. */
bool wheel_is_record(struct str info, struct str name);
/* Takes the n bytes at offset `at` of a member's content; an empty one has one piece of 0 bytes. */
typedef struct err *wheel_take(
	void *user, const struct wheel_member *m, const void *p, size_t n, uint64_t at);
/* Unpacks all members, in parallel, gives their content to take (may be NULL), and compares it with RECORD: E_WHEEL. */
MUST_USE struct err *wheel_check(
	const struct wheel *w, unsigned jobs, const char *verb, wheel_take *take, void *user);

struct wheel_inputs {
	VEC(struct zip_input);
	struct str info; /* the dist-info folder */
	uint64_t size;   /* bytes of their content; set by wheel_under_name() */
	uint64_t budget; /* limit of all members' stored bytes; 0: none */
};

/* The bill of materials of a wheel: itself, and its libraries and programs with their hashes. */
MUST_USE struct err *wheel_sbom(struct arena *a, struct str name, struct str version,
	const struct wheel_inputs *files, struct str *ret);
/* Makes rocsmith's bill of materials anew, for the current files, if one was copied from another wheel. */
MUST_USE struct err *wheel_sbom_renew(struct arena *a, struct wheel_inputs *w);

/* Writes a wheel of these members, which it sorts, and its RECORD; calls wheel_sbom_renew(). `how` has path, epoch
 * and jobs; above the budget, E_LIMIT names the largest members. */
MUST_USE struct err *wheel_write(
	struct arena *a, struct wheel_inputs *in, const struct zip_writer *how);

/* ---- versions ---- */
struct wheel_rename { /* a version gets another text: "7.13.0rc2", "7.13.0" */
	struct str old, now;
};
struct wheel_renames VEC_OF(struct wheel_rename);
struct wheel_version_file { /* data/wheel_versions.yaml */
	const char *glob, *why;
};
TABLE(wheel_version_file);
/* Reads "OLD=NEW"; E_USAGE, E_SYNTAX. */
MUST_USE struct err *wheel_renames_read(
	struct arena *a, const struct strs *words, struct wheel_renames *ret);
/* Adds what follows from a whole version that becomes another: with 1.0+rocm7.12.0rc1 and 1.0+rocm7.12.0 also 7.12.0rc1,
 * which requirements on ROCm name, becomes 7.12.0. */
void wheel_renames_local(
	struct arena *a, struct str old, struct str now, struct wheel_renames *ret);
/* The text with other versions; the text itself if it names none of them. */
struct str wheel_with_versions(
	struct arena *a, struct str text, const struct wheel_renames *renames);
/* Does a text name a version, as a whole one or in a local version? */
bool wheel_names_version(struct str text, struct str version);
/* Is a member one whose text names versions? METADATA is none of them. */
bool wheel_has_versions(struct arena *a, struct str member);

/* ---- the commands of `rocsmith wheel` ---- */
struct wheel_request {
	struct str from, to;
	bool force; /* an existing result may be replaced */
	unsigned jobs;
	int64_t epoch; /* see wheel_epoch() */
	uint32_t time; /* in the form of zip_member.time; 0: epoch counts */
	/* Changes for retag; .p is NULL for parts that stay. "" removes build number and local version; "+TAG.TAG" adds
	 * tags, "-TAG.TAG" removes them. */
	struct str build, local, python, abi, platform;
	/* Other versions, in the wheel's own and in what it requires exactly of the projects (normalised; NULL: ROCm's, and
	 * those of which it requires a local version). */
	struct wheel_renames renames;
	const struct strs *projects;
};

struct wheel_done {
	/* paths of the input and of the result, which a dry run does not write */
	struct str source, path;
	size_t members;
	uint64_t size; /* bytes of the members' content, without RECORD */
};

/* All three write the whole result or nothing. E_USAGE when it exists and force is not set. In the last two `to` is a
 * folder, or a path that ends in the name that the wheel has to have. wheel_unpack() writes TO/NAME-VERSION, first as a
 * hidden folder beside it, which the next run removes after a kill. Nothing is synced. */
MUST_USE struct err *wheel_unpack(
	struct arena *a, const struct wheel_request *q, struct wheel_done *ret);
/* The name comes from the folder NAME-VERSION.dist-info, tags and build number from its WHEEL. */
MUST_USE struct err *wheel_pack(
	struct arena *a, const struct wheel_request *q, struct wheel_done *ret);
/* Members keep their compressed bytes. Another version changes METADATA, with what it requires exactly of builds for the
 * old local version, the texts of data/wheel_versions.yaml, and the names of the dist-info and data folders. */
MUST_USE struct err *wheel_retag(
	struct arena *a, const struct wheel_request *q, struct wheel_done *ret);
/* The text of WHEEL for a name; pure: of Root-Is-Purelib. */
struct str wheel_text(struct arena *a, const struct wheel_name *n, struct str pure);
/* Adds its lines for the build number and the tags. */
void wheel_add_tags(struct buf *b, const struct wheel_name *n);
/* A member's name after OLD.dist-info and OLD.data are renamed to NOW.dist-info and NOW.data. */
struct str wheel_renamed(struct arena *a, struct str name, struct str old, struct str now);
/* The path at which an installer puts a member, below site-packages: "torch/x.so" for
 * "torch-1.data/platlib/torch/x.so"; `elsewhere` if it goes to another folder. */
struct str wheel_installed(struct str name, struct str elsewhere);

/* The steps of retag, for other code that makes a wheel from one: the name that q asks for; the path of the new wheel;
 * and its members, in w's order, without RECORD: copies, and the texts that had to change. */
MUST_USE struct err *wheel_new_name(
	struct arena *a, const struct wheel_request *q, struct wheel_name *n);
MUST_USE struct err *wheel_place(struct arena *a, const struct wheel_request *q,
	const struct wheel_name *n, struct str *ret);
MUST_USE struct err *wheel_under_name(struct arena *a, const struct wheel_request *q,
	const struct wheel *w, const struct wheel_name *n, struct wheel_inputs *ret);

/* METADATA with another version ("": the same) and other requirements. */
struct str wheel_new_metadata(struct arena *a, const struct wheel_request *q, struct str text,
	const struct dist_headers *h, struct str version);

struct wheel_change { /* how a member differs */
	struct str name;
	struct strs differs; /* only-first, only-second, content, compression, time, mode, header */
};

struct wheel_comparison {
	struct str path, other; /* other = "": `path` was packed again */
	bool same;              /* byte for byte */
	struct strs differs;    /* differences of the archives as a whole: order, other */
	VEC(struct wheel_change) members;
};

/* Compares `from` with the wheel `to`. Without `to` it is compared with itself, unpacked and packed again in a scratch
 * folder (if epoch is below 0, with the time of its first member). */
MUST_USE struct err *wheel_compare(
	struct arena *a, const struct wheel_request *q, struct wheel_comparison *ret);

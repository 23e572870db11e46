/* Wheels as archives: unpacking one, packing a tree, changing version and tags, comparing bytes.
 *
 * What is written has the same bytes for the same content: members by name, behind them those of the
 * dist-info folder, RECORD (always made anew) the last; modes 0644 and 0755, one time for all; no
 * folders, links, data descriptors or signatures of an old RECORD.
 * What is read is not trusted: zip_open() finds nothing wrong with the file, RECORD lists every file once
 * with its sha256 and size and nothing else, the dist-info folder fits the file's name, and it unpacks
 * to no more than WHEEL_BOMB bytes or WHEEL_RATIO times its size. E_ZIP, E_WHEEL, E_LIMIT.
 * Memory stays below 256 MiB: members, and the bytes of their names, are counted (WHEEL_MEMBERS,
 * WHEEL_NAMES), texts of dist-info are WHEEL_TEXT long at most, RECORD WHEEL_NAMES; a thread that reads has 8 MiB, and there
 * are WHEEL_THREADS at most; zip.h says what writing takes.
 * Sources: the binary distribution format and its RECORD, PEP 427, PEP 440 for local versions.
 */
#pragma once

#include "wheel/wheel.h"

enum {
	WHEEL_MEMBERS = 50000,
	WHEEL_NAMES = 8 << 20,
	WHEEL_TEXT = 4 << 20,
	WHEEL_BOMB = 1 << 30,
	WHEEL_RATIO = 200,
	WHEEL_THREADS = 16,
};

struct wheel_member {
	const struct zip_member *zip;
	struct str sha256; /* as RECORD has it; "" for RECORD itself and its signatures */
};

struct wheel { /* opened */
	struct wheel_name name;
	struct str info; /* its dist-info folder */
	struct zip zip;
	VEC(struct wheel_member) members; /* files, in the wheel's order */
	uint64_t size;                    /* of them all, but for RECORD */
};

/* Nothing is unpacked but RECORD. ret must stay where it is. */
MUST_USE struct err *wheel_open(struct arena *a, struct str path, struct wheel *ret);
void wheel_close(struct wheel *w);
/* A file of its dist-info folder ("METADATA") and its headers. E_WHEEL when it is missing. */
MUST_USE struct err *wheel_headers(struct arena *a, const struct wheel *w, const char *file,
	struct str *ret_text, struct dist_headers *ret);
/* RECORD, or what may sign it: what another RECORD takes the place of. */
bool wheel_is_record(struct str info, struct str name);
/* The n bytes at offset `at` of a member's content; an empty one has one piece of none. */
typedef struct err *wheel_take(
	void *user, const struct wheel_member *m, const void *p, size_t n, uint64_t at);
/* Unpacks all members, in parallel, gives what is in them to take (may be NULL), and compares it with
 * RECORD: E_WHEEL. */
MUST_USE struct err *wheel_check(
	const struct wheel *w, unsigned jobs, const char *verb, wheel_take *take, void *user);

struct wheel_inputs {
	struct zip_input *v;
	size_t n, cap;
	struct str info; /* the dist-info folder */
};

/* The bill of materials of a wheel: itself, and its libraries and programs with their hashes. */
MUST_USE struct err *wheel_sbom(struct arena *a, struct str name, struct str version,
	const struct wheel_inputs *files, struct str *ret);
/* One of ours that comes from another wheel is made anew, of what is there now. */
MUST_USE struct err *wheel_sbom_renew(struct arena *a, struct wheel_inputs *w);

/* Writes a wheel of these members, without a RECORD among them, which it puts in order; a bill of ours is renewed; how says the rest
 * (path, epoch, jobs; budget, then E_LIMIT names the largest members). */
MUST_USE struct err *wheel_write(struct arena *a, struct zip_input *v, size_t n, struct str info,
	const struct zip_writer *how);

/* ---- what the commands do ---- */
struct wheel_request {
	struct str from, to;
	bool force; /* something that is there already may be replaced */
	unsigned jobs;
	int64_t epoch; /* see wheel_epoch() */
	uint32_t time; /* the same as struct zip_member has it; 0: epoch counts */
	/* Of retag; .p is NULL for what stays. "" takes build number and local version away; "+TAG.TAG" adds tags,
	 * "-TAG.TAG" takes them away. */
	struct str build, local, python, abi, platform;
};

struct wheel_done {
	struct str source, path; /* what was read; what was made, or would have been in a dry run */
	size_t members;
	uint64_t size; /* of the members' content, but for RECORD */
};

/* All three write the whole result or none of it. E_USAGE when it is there already; `to` of the last two
 * is a folder or the very name, ending in .whl, that the wheel has to have.
 * Unpacks into TO/NAME-VERSION, by way of a hidden folder beside it that the next run removes after a
 * kill. Nothing is synced. */
MUST_USE struct err *wheel_unpack(
	struct arena *a, const struct wheel_request *q, struct wheel_done *ret);
/* The folder NAME-VERSION.dist-info decides the name, its WHEEL the tags and the build number. */
MUST_USE struct err *wheel_pack(
	struct arena *a, const struct wheel_request *q, struct wheel_done *ret);
/* Members that stay keep their compressed bytes. Another version changes METADATA and the names of the
 * dist-info and data folders. */
MUST_USE struct err *wheel_retag(
	struct arena *a, const struct wheel_request *q, struct wheel_done *ret);
/* A member's name when OLD.dist-info and OLD.data are called NOW.dist-info and NOW.data. */
struct str wheel_renamed(struct arena *a, struct str name, struct str old, struct str now);
/* Where an installer puts a member: "torch-1.data/platlib/torch/x.so" into "torch"; what goes elsewhere is `elsewhere`. */
struct str wheel_installed(struct str name, struct str elsewhere);

/* Of retag, for whoever makes another wheel out of one: the name that q asks for; where that goes; and what is in it,
 * in w's order, without RECORD: members with their compressed bytes, texts that had to change. */
MUST_USE struct err *wheel_new_name(
	struct arena *a, const struct wheel_request *q, struct wheel_name *n);
MUST_USE struct err *wheel_place(struct arena *a, const struct wheel_request *q,
	const struct wheel_name *n, struct str *ret);
MUST_USE struct err *wheel_under_name(struct arena *a, const struct wheel_request *q,
	const struct wheel *w, const struct wheel_name *n, struct wheel_inputs *ret);

struct wheel_change { /* how a member differs */
	struct str name;
	struct strs differs; /* only-first, only-second, content, compression, time, mode, header */
};

struct wheel_comparison {
	struct str path, other; /* other "" = packing it again */
	bool same;              /* byte for byte */
	struct strs differs;    /* of the archives: order, other */
	VEC(struct wheel_change) members;
};

/* `from` with the wheel `to`. Without `to` it is unpacked and packed again in a scratch folder, with its
 * first member's time when epoch is below 0. */
MUST_USE struct err *wheel_compare(
	struct arena *a, const struct wheel_request *q, struct wheel_comparison *ret);

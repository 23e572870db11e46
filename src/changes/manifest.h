/* What rocsmith did in a folder and what it looked at for that: JOURNAL/hipify.manifest, JOURNAL
 * being BASE/.rocsmith or what the request calls it.
 *
 * Binary, little endian, so that the 20,000 records of an overlay of PyTorch are read in about two
 * milliseconds: a line that names the format, a CRC-32 and the length of the rest, then counted
 * records; texts are length, bytes and a NUL, and are used where they lie. It is written before
 * the outputs (complete = false: what is going to be, so that a killed run leaves nothing that we
 * do not know), and another one is added behind it when all is done: that one counts if it came to
 * its end. A file in BASE that it does not name is not ours. What it says is believed only when this
 * user's rocsmith wrote it: behind the length is a sum of the rest, made with the user's key (HMAC).
 */
#pragma once

#include <sys/stat.h>

#include "changes/changes.h"

/* Tells whether a file or folder changed, without reading it. */
struct sig {
	uint64_t size, mtime, ctime; /* times in nanoseconds */
	uint64_t ino;                /* 0: only the size is known, nothing was looked at yet */
};

/* Tells one content from another: XXH3 of 128 bits and zeros, or, from earlier versions, SHA-256.
 * No proof against forgery: who can write a file here can write the manifest. All zero = none. */
struct sum {
	unsigned char b[32];
};

enum made_kind {
	MADE_TEXT,  /* a translation */
	MADE_COPY,  /* overlay: a file as it is in the sources */
	MADE_LINK,  /* overlay: a symbolic link */
	MADE_DIR,   /* a folder; goes when it is empty */
	MADE_FOUND, /* was there with the right content: not ours, never removed */
};

/* One thing in BASE that we made, or are about to make. */
struct made {
	struct str output, source; /* relative to BASE; to root, where it is inside */
	enum made_kind kind;
	bool replaced;           /* its original is in .rocsmith/originals */
	struct sum hash, before; /* of what we write; of ours that it takes the place of */
	struct sig sig;
};

enum seen_kind { SEEN_FILE, SEEN_DIR, SEEN_PROBE };

/* One thing that the run looked at; a probe is only whether something is there. */
struct seen {
	struct str path; /* relative to root where it is inside, else absolute */
	enum seen_kind kind;
	bool absent;
	bool racy; /* looked at so soon after its last change that sig cannot tell */
	struct sum hash;
	struct sig sig;
};

enum base_kind { BASE_IN_PLACE, BASE_OVERLAY };

struct manifest {
	struct arena *a;
	enum base_kind kind;
	bool complete; /* the run came to its end, with no failure */
	struct str journal;
	struct str identity, root;
	VEC(struct made) made;
	VEC(struct seen) seen;
	struct change_set changes; /* without texts, errors, removed and edited */
	struct str report;         /* the caller's */
	struct sum seal;           /* as it was read, and what it is of */
	struct str body;
	struct map by_output; /* path -> struct made *: call manifest_index() first */
};

/* *ret is NULL when there is none; E_CORRUPT when it cannot be read as one, E_PERM when it is not of
 * this user's rocsmith. */
MUST_USE struct err *manifest_read(struct arena *a, struct str journal, struct manifest **ret);
MUST_USE struct err *manifest_parse(struct arena *a, struct str text, struct manifest *ret);
/* As it is written, but without seal. */
struct str manifest_text(struct arena *a, const struct manifest *m);
/* Synced before it takes the old one's place; which of the two a power failure leaves is open, and
 * with either of them the next run is right. */
MUST_USE struct err *manifest_write(const struct manifest *m);
/* Behind the intent, which is on the disk; not synced, for what it tells can be made again, as can
 * the outputs. */
MUST_USE struct err *manifest_add(const struct manifest *m);
/* In place, but not synced yet: manifest_sync(*ret_path) is to follow. Until then the one before is
 * kept beside it, and read when this one is lost. */
MUST_USE struct err *manifest_put(struct arena *a, const struct manifest *m, struct str *ret_path);
MUST_USE struct err *manifest_sync(struct str path);
void manifest_index(struct manifest *m);
struct made *manifest_made(const struct manifest *m, struct str output); /* NULL: not ours */

/* The sum of a manifest's body with this user's key, which is made when there is none; none when it
 * must not be made. */
MUST_USE struct err *seal_of(struct str body, struct sum *ret);

/* ---- the folder of a manifest (session.c) ---- */
/* The lock alone; waits, and says so. Shared: none (-1) when there is no lock file. */
MUST_USE struct err *base_lock(struct str journal, bool shared, int *ret_fd);
/* Removes what a killed run had staged for the manifest's outputs. */
MUST_USE struct err *session_tidy(const struct manifest *m, struct str base);

/* ---- where things are ---- */
struct str base_file(struct arena *a, struct str journal, const char *name); /* JOURNAL/NAME */
/* Of an output; one above BASE ("../x.h", in place only) is meant by text, not through links. */
struct str base_path(struct arena *a, struct str base, struct str output);
/* JOURNAL/FOLDER/OUTPUT; for outputs above BASE JOURNAL/FOLDER.up/N/REST. */
struct str base_slot(struct arena *a, struct str journal, const char *folder, struct str output);
struct str base_original(struct arena *a, struct str journal, struct str output);
/* Replaces a small file of ours, unless it has that content. Its folder is not synced. */
MUST_USE struct err *base_put(struct str path, struct str text, bool sync);

/* ---- what is there now ---- */
struct sig sig_of(const struct stat *st);
bool sig_eq(const struct sig *a, const struct sig *b);
uint64_t sig_now(void); /* the kernel's clock of file times */
/* The file system of an open file of ours, when its times tell every change from a look before it,
 * as on many since Linux 6.13; else 0. Writes its first byte again. */
uint64_t sig_exact(int fd);
/* Could a change after this look leave the same times? start: sig_now() before it. */
bool sig_unsure(const struct stat *st, uint64_t start, uint64_t exact);
struct sum sum_of(struct str text);
struct sum sum_of_file(struct str path);                   /* none when it cannot be read */
bool sum_is_of_file(const struct sum *s, struct str path); /* false when it cannot be read */
bool sum_eq(const struct sum *a, const struct sum *b);
bool sum_none(const struct sum *s);

enum content { CONTENT_NONE, CONTENT_MADE, CONTENT_ORIGINAL, CONTENT_OTHER };
/* What e->output has: what we made, the original, or somebody else's. An empty file where what we
 * made was not empty is that, torn by a power failure (outputs are not synced). Reads the file only
 * when its signature is another. */
MUST_USE struct err *made_content(
	const struct manifest *m, struct str base, const struct made *e, enum content *ret);

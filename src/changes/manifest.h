/* The manifest, JOURNAL/hipify.manifest: what rocsmith did in a folder, and what it looked at for that. JOURNAL is
 * BASE/.rocsmith, or the name that the request has.
 *
 * It is binary and little endian, so that the 20,000 records of an overlay of PyTorch are read in about two
 * milliseconds: a line that names the format, a CRC-32 and the length of the body, an HMAC of the body made with
 * this user's key, then counted records; texts are length, bytes and a NUL, and are used where they lie.
 *
 * A manifest is written before the outputs (the intent, complete = false), so that a killed run leaves nothing
 * that we do not know, and a second one is appended when all is done; that one counts if it is whole. A file in
 * BASE that the manifest does not name is not ours. It is only used if its HMAC is right.
 */
#pragma once

#include <sys/stat.h>

#include "changes/changes.h"

/* The signature of a file or folder: shows, without reading it, whether it changed. */
struct sig {
	uint64_t size, mtime, ctime; /* times in nanoseconds */
	uint64_t ino;                /* 0: only the size is known so far */
};

/* Identifies a content: XXH3 of 128 bits and zeros, or, from earlier versions, SHA-256. It need not resist forgery:
 * whoever can write a file here can write the manifest as well. All zero = none. */
struct sum {
	unsigned char b[32];
};

enum made_kind {
	MADE_TEXT,  /* a translation */
	MADE_COPY,  /* overlay: a file as it is in the sources */
	MADE_LINK,  /* overlay: a symbolic link */
	MADE_DIR,   /* a folder; goes when it is empty */
	MADE_FOUND, /* already had the right content: not ours, never removed */
};

/* A file, link or folder in BASE that we made, or are about to make. */
struct made {
	struct str output, source; /* output: relative to BASE; source: to root if it is inside */
	enum made_kind kind;
	bool replaced;           /* its original is in .rocsmith/originals */
	struct sum hash, before; /* of our content; of an earlier one of ours that it replaces */
	struct sig sig;
};

enum seen_kind { SEEN_FILE, SEEN_DIR, SEEN_PROBE };

/* A file, folder or probe (a check of existence) that the run looked at. */
struct seen {
	struct str path; /* relative to root if it is inside, else absolute */
	enum seen_kind kind;
	bool absent;
	bool racy; /* looked at so soon after its last change that sig proves nothing */
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
	struct sum seal;           /* the HMAC, as it was read, and the bytes that it covers */
	struct str body;
	struct map by_output; /* path -> struct made *: call manifest_index() first */
};

/* *ret is NULL when there is none. E_CORRUPT when it cannot be read, E_PERM when this user's rocsmith did not write
 * it. */
MUST_USE struct err *manifest_read(struct arena *a, struct str journal, struct manifest **ret);
MUST_USE struct err *manifest_parse(struct arena *a, struct str text, struct manifest *ret);
/* Its bytes, with zeros in the place of the HMAC. */
struct str manifest_text(struct arena *a, const struct manifest *m);
/* Replaces the old one after a sync. A power failure leaves either of the two, and both are right for the next
 * run. */
MUST_USE struct err *manifest_write(const struct manifest *m);
/* Appends to the intent, which is on the disk. Not synced: it can be made again, as can the outputs. */
MUST_USE struct err *manifest_add(const struct manifest *m);
/* Puts an intent in place without a sync; manifest_sync(*ret_path) has to follow. Until then the one before is kept
 * beside it, and read if this one is lost. */
MUST_USE struct err *manifest_put(struct arena *a, const struct manifest *m, struct str *ret_path);
MUST_USE struct err *manifest_sync(struct str path);
void manifest_index(struct manifest *m);
struct made *manifest_made(const struct manifest *m, struct str output); /* NULL: not ours */

/* The HMAC of a body with this user's key, which is made if there is none; in a dry run the result is none then. */
MUST_USE struct err *seal_of(struct str body, struct sum *ret);

/* ---- the folder of a manifest (session.c) ---- */
/* Takes the lock; waits for it, with a note. Shared: -1 when there is no lock file. */
MUST_USE struct err *base_lock(struct str journal, bool shared, int *ret_fd);
/* Removes contents that a killed run had staged for the manifest's outputs. */
MUST_USE struct err *session_tidy(const struct manifest *m, struct str base);

/* ---- where things are ---- */
struct str base_file(struct arena *a, struct str journal, const char *name); /* JOURNAL/NAME */
/* The path of an output. One above BASE ("../x.h", in place only) is resolved as text, not through links. */
struct str base_path(struct arena *a, struct str base, struct str output);
/* JOURNAL/FOLDER/OUTPUT; JOURNAL/FOLDER.up/N/REST for outputs above BASE. */
struct str base_slot(struct arena *a, struct str journal, const char *folder, struct str output);
struct str base_original(struct arena *a, struct str journal, struct str output);
/* Replaces a small file of ours, unless it has that content. Its folder is not synced. */
MUST_USE struct err *base_put(struct str path, struct str text, bool sync);

/* ---- what is there now ---- */
struct sig sig_of(const struct stat *st);
bool sig_eq(const struct sig *a, const struct sig *b);
uint64_t sig_now(void); /* the kernel's clock of file times */
/* The device of an open file of ours, if its file system gives every change another time (many do since Linux 6.13);
 * else 0. Writes the file's first byte again. */
uint64_t sig_exact(int fd);
/* Could a change after this look have left the same times? start: sig_now() before it. */
bool sig_unsure(const struct stat *st, uint64_t start, uint64_t exact);
struct sum sum_of(struct str text);
struct sum sum_of_file(struct str path);                   /* none when it cannot be read */
bool sum_is_of_file(const struct sum *s, struct str path); /* false when it cannot be read */
bool sum_eq(const struct sum *a, const struct sum *b);
bool sum_none(const struct sum *s);

enum content { CONTENT_NONE, CONTENT_MADE, CONTENT_ORIGINAL, CONTENT_OTHER };
/* What lies at e->output: our content, the original, or somebody else's. An empty file counts as ours if ours was
 * not empty: a power failure tears outputs, which are not synced. Reads the file only when its signature
 * differs. */
MUST_USE struct err *made_content(
	const struct manifest *m, struct str base, const struct made *e, enum content *ret);

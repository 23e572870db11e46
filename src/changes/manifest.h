/* The manifest, JOURNAL/hipify.manifest, records what rocsmith did in a folder and which files it read to do so.
 * JOURNAL is BASE/.rocsmith, or BASE/NAME with the request's name.
 *
 * It is binary and little endian, so that the 20,000 records of a PyTorch overlay are read in about two milliseconds.
 * It consists of a line that names the format, a CRC-32 and the length of the body, an HMAC of the body made with
 * this user's key, and counted records. The body has the device and inode of BASE. A text is a length, bytes and a NUL, and is used without a copy.
 *
 * A manifest is written before the outputs (the intent, complete = false), so that a killed run leaves no file
 * unrecorded. A second one is appended at the end of the run and is used if it is whole. A file in BASE that the
 * manifest does not name is not ours. A manifest whose HMAC is wrong is rejected, and so is one that counts for another
 * folder: BASE must be the folder in which it was written, wherever it is now, or a copy of it, in which all outputs
 * that are there have the content that we gave them or found.
 */
#pragma once

#include "changes/changes.h"

/* The signature of a file or folder; it shows a change without reading the content. */
struct sig {
	uint64_t size, mtime, ctime; /* times in nanoseconds */
	uint64_t ino;                /* 0: only the size is known */
};

/* Identifies a file's content: 128-bit XXH3 padded with zeros, for what we made ourselves; SHA-256 for originals, which
 * resists forgery. All zero = none. */
struct sum {
	unsigned char b[32];
};

enum made_kind {
	MADE_TEXT,  /* a translation */
	MADE_COPY,  /* overlay: an unchanged copy of a source file */
	MADE_LINK,  /* overlay: a symbolic link */
	MADE_DIR,   /* a folder, removed when it is empty */
	MADE_FOUND, /* a file that already had the right content: not ours, never removed */
};

/* A file, link or folder in BASE that we made or are about to make. */
struct made {
	/* output: relative to BASE; source: relative to root if inside it */
	struct str output, source;
	enum made_kind kind;
	bool replaced;           /* its original is in .rocsmith/originals */
	struct sum hash, before; /* our content; our earlier content, which it replaces */
	struct sum original;     /* with `replaced`: the original's content */
	struct sig sig;
};

enum seen_kind { SEEN_FILE, SEEN_DIR, SEEN_PROBE };

/* A file that the run read, a folder that it listed, or a probe (a check for existence). */
struct seen {
	struct str path; /* relative to root if inside it, else absolute */
	enum seen_kind kind;
	bool absent;
	bool racy; /* read so soon after its last change that sig proves nothing */
	struct sum hash;
	struct sig sig;
};

enum base_kind { BASE_IN_PLACE, BASE_OVERLAY };

struct manifest {
	struct arena *a;
	enum base_kind kind;
	bool complete; /* the run finished without a failure */
	struct str journal;
	uint64_t device, inode; /* identify BASE as it was then */
	struct str identity, root;
	VEC(struct made) made;
	VEC(struct seen) seen;
	struct change_set changes; /* has no texts, errors, removed or edited */
	struct str report;         /* opaque bytes of the caller */
	struct sum seal;           /* the HMAC as read; body: the bytes that it covers */
	struct str body;
	struct map by_output; /* path -> struct made *; filled by manifest_read() */
};

/* Sets *ret to NULL if there is no manifest. E_CORRUPT if it is damaged, E_PERM if this user's rocsmith did not write
 * it, or wrote it for another folder. */
MUST_USE struct err *manifest_read(struct arena *a, struct str journal, struct manifest **ret);
MUST_USE struct err *manifest_parse(struct arena *a, struct str text, struct manifest *ret);
/* The manifest's bytes, with zeros instead of the HMAC. */
struct str manifest_text(struct arena *a, const struct manifest *m);
/* Replaces the old manifest by fs_write(), unless nothing changed. */
MUST_USE struct err *manifest_write(const struct manifest *m);
/* Appends to the intent, which is already synced. The addition is not: it can be regenerated, as can the outputs. */
MUST_USE struct err *manifest_add(const struct manifest *m);
/* Puts an intent in place without a sync; manifest_sync(*ret_path) must follow. Until then the previous manifest is
 * kept beside it, and is read if the intent is lost. */
MUST_USE struct err *manifest_put(struct arena *a, const struct manifest *m, struct str *ret_path);
MUST_USE struct err *manifest_sync(struct str path);
struct made *manifest_made(const struct manifest *m, struct str output); /* NULL: not ours */

/* The HMAC of a body with this user's key. A missing key is generated; in a dry run the result is none instead. */
MUST_USE struct err *seal_of(struct str body, struct sum *ret);

/* ---- the folder of a manifest (session.c) ---- */
/* Takes the lock, waiting with a note to the user. Shared: *ret_fd is -1 if there is no lock file. */
MUST_USE struct err *base_lock(struct str journal, bool shared, int *ret_fd);
/* Removes the contents that a killed run staged for the manifest's outputs. */
MUST_USE struct err *session_tidy(const struct manifest *m, struct str base);

/* ---- paths ---- */
/* The path of an output. Leading "../" ("../x.h", in place only) is resolved by text, not through links. */
struct str base_path(struct arena *a, struct str base, struct str output);
/* The number of leading "../" of an output, and the rest of its path. */
unsigned base_ups(struct str output, struct str *ret_rest);
/* JOURNAL/FOLDER/OUTPUT; JOURNAL/FOLDER.up/N/REST for outputs above BASE. */
struct str base_slot(struct arena *a, struct str journal, const char *folder, struct str output);
struct str base_original(struct arena *a, struct str journal, struct str output);

/* ---- signatures, sums and contents ---- */
struct sig sig_of(const struct stat *st);
bool sig_eq(const struct sig *a, const struct sig *b);
uint64_t sig_now(void); /* the kernel's clock for file times */
/* The device of an open file of ours if its file system gives each change a distinct time (many do since Linux 6.13),
 * else 0. Rewrites the file's first byte. */
uint64_t sig_exact(int fd);
/* Could a change after this stat have left the same times? start: sig_now() before the stat. */
bool sig_unsure(const struct stat *st, uint64_t start, uint64_t exact);
struct sum sum_of(struct str text);
struct sum sum_of_file(struct str path); /* none if it cannot be read */
MUST_USE struct err *sum_of_original(struct str path, struct sum *ret); /* by SHA-256 */
bool sum_is_of_file(const struct sum *s, struct str path); /* false if it cannot be read */
bool sum_eq(const struct sum *a, const struct sum *b);
bool sum_none(const struct sum *s);

/* E_CORRUPT if the kept original of an output is not the file that was replaced, or is gone. */
MUST_USE struct err *original_check(const struct manifest *m, const struct made *e);

enum content { CONTENT_NONE, CONTENT_MADE, CONTENT_ORIGINAL, CONTENT_OTHER };
/* Classifies the file at e->output: our content, the original, or someone else's. An empty file counts as ours even if
 * ours was not empty: outputs are not synced, so a power failure may empty them. Reads the file only if its
 * signature differs. */
MUST_USE struct err *made_content(
	const struct manifest *m, struct str base, const struct made *e, enum content *ret);

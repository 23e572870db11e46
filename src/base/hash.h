/* Hashes by nettle. Their text form is lower-case hex, or, in RECORD files, base64url without padding. */
#pragma once

#include "base/err.h"

enum hash_kind { HASH_SHA256, HASH_MD5 };

struct hash; /* a running hash; heap, freed by hash_end() or hash_free() */

struct digest {
	unsigned char b[32];
	size_t n; /* 32 for SHA-256, 16 for MD5 */
};

struct hash *hash_new(enum hash_kind kind);
void hash_add(struct hash *h, const void *p, size_t n);
void hash_word(struct hash *h, struct str word); /* with an end: "ab", "c" are not "a", "bc" */
struct digest hash_end(struct hash *h);          /* frees h, too */
void hash_free(struct hash *h);

struct digest hash_bytes(enum hash_kind kind, const void *p, size_t n);
/* HMAC-SHA256 (RFC 2104); neither text is empty. */
struct digest hash_sealed(struct str key, struct str text);
MUST_USE struct err *hash_file(enum hash_kind kind, struct str path, struct digest *ret);
/* Copies a regular file that others may exchange or change at any time; E_HASH unless the copy has this sha256. */
MUST_USE struct err *hash_copy(struct str from, struct str to, struct str sha256);
struct str sha256_hex(struct arena *a, struct str text); /* the hash of a text, as hex */
/* The same of what a file holds. */
MUST_USE struct err *sha256_file(struct arena *a, struct str path, struct str *ret);
struct str digest_hex(struct arena *a, struct digest d);
struct str digest_base64url(struct arena *a, const struct digest *d);
bool sha256_from_base64url(
	struct str text, struct digest *ret); /* false if text is no such digest */
/* Decodes base64 with its padding (RFC 4648); false if it is none. */
bool base64_read(struct arena *a, struct str text, struct str *ret);

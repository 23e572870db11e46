/* Hashes by nettle; see hash.h. It has SHA-NI, is small where it is linked in, and reads no configuration of the machine,
 * which may disable MD5 (FIPS): we need that as a field of a file format, not for security. */
#include "base/hash.h"

#include <nettle/base16.h>
#include <nettle/base64.h>
#include <nettle/hmac.h>
#include <nettle/md5.h>
#include <nettle/nettle-meta.h>
#include <nettle/sha2.h>
#include <stdlib.h>

#include "base/fs_int.h"

static const struct nettle_hash *const kinds[] = {
	[HASH_SHA256] = &nettle_sha256, [HASH_MD5] = &nettle_md5};

struct hash {
	const struct nettle_hash *kind;
	union {
		struct sha256_ctx sha256;
		struct md5_ctx md5;
	} state;
};

struct hash *hash_new(enum hash_kind kind)
{
	struct hash *h = xmalloc(sizeof(*h));
	h->kind = kinds[kind];
	h->kind->init(&h->state);
	return h;
}

void hash_add(struct hash *h, const void *p, size_t n)
{
	h->kind->update(&h->state, n, p);
}

void hash_word(struct hash *h, struct str word)
{
	hash_add(h, word.p, word.n);
	hash_add(h, "", 1);
}

struct digest hash_end(struct hash *h)
{
	struct digest d = {.n = h->kind->digest_size};
	h->kind->digest(&h->state, d.n, d.b);
	hash_free(h);
	return d;
}

void hash_free(struct hash *h)
{
	free(h);
}

struct digest hash_bytes(enum hash_kind kind, const void *p, size_t n)
{
	struct hash *h = hash_new(kind);
	hash_add(h, p, n);
	return hash_end(h);
}

struct digest hash_sealed(struct str key, struct str text)
{
	struct digest d = {.n = SHA256_DIGEST_SIZE};
	struct hmac_sha256_ctx c;
	hmac_sha256_set_key(&c, key.n, (const uint8_t *)key.p);
	hmac_sha256_update(&c, text.n, (const uint8_t *)text.p);
	hmac_sha256_digest(&c, d.n, d.b);
	return d;
}

struct err *hash_file(enum hash_kind kind, struct str path, struct digest *ret)
{
	CLEANUP(fd_closep) int fd = -1;
	struct stat st;
	TRY(fs_open(path, &fd));
	if (fstat(fd, &st) == 0 && S_ISCHR(st.st_mode)) /* /dev/zero never ends */
		return err_new(E_IO, "'%.*s' is not a regular file", STR(path));
	ARENA(tmp);
	enum { CHUNK = 1 << 18 };
	char *p = arena_alloc(&tmp, CHUNK);
	struct hash *h = hash_new(kind);
	struct err *e = NULL;
	ssize_t got;
	while ((got = fs_read_some(fd, p, CHUNK)) > 0)
		hash_add(h, p, (size_t)got);
	if (got < 0)
		e = err_errno("cannot read '%.*s'", STR(path));
	*ret = hash_end(h);
	return e;
}

struct str digest_hex(struct arena *a, struct digest d)
{
	size_t n = BASE16_ENCODE_LENGTH(d.n);
	char *p = arena_alloc(a, n + 1);
	base16_encode_update(p, d.n, d.b);
	return (struct str){.p = p, .n = n};
}

struct err *hash_copy(struct str from, struct str to, struct str sha256)
{
	ARENA(tmp);
	struct str is;
	struct stat st;
	TRY(fs_stat(from, &st));
	if (!S_ISREG(st.st_mode))
		return err_new(E_IO, "'%.*s' is not a regular file", STR(from));
	TRY(fs_copy(from, to, &st));
	TRY(sha256_file(&tmp, to, &is));
	return str_eq(is, sha256)
		       ? NULL
		       : err_new(E_HASH, "'%.*s' was changed: its sha256 is %.*s, not %.*s",
				 STR(from), STR(is), STR(sha256));
}

struct str sha256_hex(struct arena *a, struct str text)
{
	return digest_hex(a, hash_bytes(HASH_SHA256, text.p, text.n));
}

struct err *sha256_file(struct arena *a, struct str path, struct str *ret)
{
	struct digest d;
	TRY(hash_file(HASH_SHA256, path, &d));
	*ret = digest_hex(a, d);
	return NULL;
}

enum { DIGEST_LETTERS = 43 }; /* the length of a SHA-256 in base64 */

bool sha256_from_base64url(struct str text, struct digest *ret)
{
	struct base64_decode_ctx ctx;
	uint8_t b[BASE64_DECODE_LENGTH(DIGEST_LETTERS)];
	size_t n = sizeof(b);
	base64url_decode_init(&ctx);
	if (text.n != DIGEST_LETTERS || !base64_decode_update(&ctx, &n, b, text.n, text.p) ||
		n != sizeof(ret->b)) /* white space or padding is among the letters */
		return false;
	*ret = (struct digest){.n = n};
	memcpy(ret->b, b, n);
	return true;
}

struct str digest_base64url(struct arena *a, const struct digest *d)
{
	struct base64_encode_ctx ctx;
	char *p = arena_alloc(a, BASE64_ENCODE_RAW_LENGTH(d->n) + 1);
	size_t n = (d->n * 8 + 5) / 6;
	base64url_encode_init(&ctx);
	(void)base64_encode_final(&ctx, p + base64_encode_update(&ctx, p, d->n, d->b));
	p[n] = 0; /* the padding begins here */
	return (struct str){.p = p, .n = n};
}

bool base64_read(struct arena *a, struct str text, struct str *ret)
{
	struct base64_decode_ctx ctx;
	size_t n = BASE64_DECODE_LENGTH(text.n);
	uint8_t *p = arena_alloc(a, n + 1);
	base64_decode_init(&ctx);
	if (!base64_decode_update(&ctx, &n, p, text.n, text.p) || !base64_decode_final(&ctx))
		return false;
	*ret = (struct str){.p = (const char *)p, .n = n};
	return true;
}

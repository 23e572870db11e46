/* Hashes by nettle; see hash.h. It has SHA-NI, is small where it is linked in, and reads no configuration of the machine,
 * which may disable MD5 (FIPS): we need that as a field of a file format, not for security. */
#include "base/hash.h"

#include <nettle/base64.h>
#include <nettle/hmac.h>
#include <nettle/md5.h>
#include <nettle/sha2.h>
#include <stdlib.h>

#include "base/fs_int.h"

struct hash {
	enum hash_kind kind;
	union {
		struct sha256_ctx sha256;
		struct md5_ctx md5;
	};
};

struct hash *hash_new(enum hash_kind kind)
{
	struct hash *h = xmalloc(sizeof(*h));
	h->kind = kind;
	if (kind == HASH_MD5)
		md5_init(&h->md5);
	else
		sha256_init(&h->sha256);
	return h;
}

void hash_add(struct hash *h, const void *p, size_t n)
{
	if (h->kind == HASH_MD5)
		md5_update(&h->md5, n, p);
	else
		sha256_update(&h->sha256, n, p);
}

void hash_word(struct hash *h, struct str word)
{
	hash_add(h, word.p, word.n);
	hash_add(h, "", 1);
}

struct digest hash_end(struct hash *h)
{
	struct digest d = {.n = h->kind == HASH_MD5 ? MD5_DIGEST_SIZE : SHA256_DIGEST_SIZE};
	if (h->kind == HASH_MD5)
		md5_digest(&h->md5, d.n, d.b);
	else
		sha256_digest(&h->sha256, d.n, d.b);
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

struct str digest_hex(struct arena *a, const struct digest *d)
{
	static const char digits[] = "0123456789abcdef";
	char *p = arena_alloc(a, d->n * 2 + 1);
	for (size_t i = 0; i < d->n; i++) {
		p[2 * i] = digits[d->b[i] >> 4];
		p[2 * i + 1] = digits[d->b[i] & 15];
	}
	return (struct str){.p = p, .n = d->n * 2};
}

struct err *hash_copy(struct str from, struct str to, struct str sha256)
{
	ARENA(tmp);
	struct digest d;
	struct stat st;
	TRY(fs_stat(from, &st));
	if (!S_ISREG(st.st_mode))
		return err_new(E_IO, "'%.*s' is not a regular file", STR(from));
	TRY(fs_copy(from, to, &st));
	TRY(hash_file(HASH_SHA256, to, &d));
	return str_eq(digest_hex(&tmp, &d), sha256)
		       ? NULL
		       : err_new(E_HASH, "'%.*s' was changed while it was read", STR(from));
}

struct str sha256_hex(struct arena *a, struct str text)
{
	struct digest d = hash_bytes(HASH_SHA256, text.p, text.n);
	return digest_hex(a, &d);
}

static const char set[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

bool sha256_from_base64url(struct str text, struct digest *ret)
{
	unsigned bits = 0;
	*ret = (struct digest){.n = sizeof(ret->b)};
	if (text.n != (8 * sizeof(ret->b) + 5) / 6)
		return false;
	for (size_t i = 0; i < text.n; i++) {
		const char *letter = memchr(set, text.p[i], sizeof(set) - 1);
		if (!letter)
			return false;
		bits = bits << 6 | (unsigned)(letter - set);
		if (i % 4)
			ret->b[i / 4 * 3 + i % 4 - 1] = (unsigned char)(bits >> (6 - 2 * (i % 4)));
	}
	return true;
}

struct str digest_base64url(struct arena *a, const struct digest *d)
{
	size_t n = (d->n * 8 + 5) / 6;
	char *p = arena_alloc(a, n + 1);
	for (size_t i = 0; i < n; i++) {
		size_t bit = i * 6, byte = bit / 8;
		unsigned two = (unsigned)d->b[byte] << 8 | (byte + 1 < d->n ? d->b[byte + 1] : 0u);
		p[i] = set[two >> (10 - bit % 8) & 63];
	}
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

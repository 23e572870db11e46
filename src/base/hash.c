/* Hashes over libcrypto's EVP interface; see hash.h. */
#include "base/hash.h"

#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fs_int.h"

struct hash {
	EVP_MD_CTX *ctx;
};

struct hash *hash_new(enum hash_kind kind)
{
	struct hash *h = xmalloc(sizeof(*h));
	h->ctx = EVP_MD_CTX_new();
	const EVP_MD *md = kind == HASH_SHA256 ? EVP_sha256() : EVP_md5();
	if (!h->ctx || EVP_DigestInit_ex(h->ctx, md, NULL) != 1) {
		fputs("rocsmith: libcrypto has no such hash\n", stderr);
		abort();
	}
	return h;
}

void hash_add(struct hash *h, const void *p, size_t n)
{
	EVP_DigestUpdate(h->ctx, p, n);
}

struct digest hash_end(struct hash *h)
{
	struct digest d = {0};
	unsigned n = 0;
	EVP_DigestFinal_ex(h->ctx, d.b, &n);
	d.n = n;
	hash_free(h);
	return d;
}

void hash_free(struct hash *h)
{
	if (h)
		EVP_MD_CTX_free(h->ctx);
	free(h);
}

struct digest hash_bytes(enum hash_kind kind, const void *p, size_t n)
{
	struct hash *h = hash_new(kind);
	hash_add(h, p, n);
	return hash_end(h);
}

struct err *hash_file(enum hash_kind kind, struct str path, struct digest *ret)
{
	CLEANUP(fd_closep) int fd = -1;
	TRY(fs_open(path, &fd));
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

struct str sha256_hex(struct arena *a, struct str text)
{
	struct digest d = hash_bytes(HASH_SHA256, text.p, text.n);
	return digest_hex(a, &d);
}

struct str digest_base64url(struct arena *a, const struct digest *d)
{
	static const char set[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
	size_t n = (d->n * 8 + 5) / 6;
	char *p = arena_alloc(a, n + 1);
	for (size_t i = 0; i < n; i++) {
		size_t bit = i * 6, byte = bit / 8;
		unsigned two = (unsigned)d->b[byte] << 8 | (byte + 1 < d->n ? d->b[byte + 1] : 0u);
		p[i] = set[two >> (10 - bit % 8) & 63];
	}
	return (struct str){.p = p, .n = n};
}

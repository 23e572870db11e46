/* Hashes by libcrypto; see hash.h. Its plain functions, not the EVP interface: that one reads the
 * machine's configuration and loads providers first, which takes longer than what is hashed here. */
#include "base/hash.h"

#define OPENSSL_SUPPRESS_DEPRECATED
#include <openssl/md5.h>
#include <openssl/sha.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/fs_int.h"

/* libcrypto's archive runs OPENSSL_cpuid_setup() before main(), which asks CPUID eight times; each took 4 to 19 us
 * in a virtual machine. The linker (--wrap) gives it our empty function, and the real one runs before the first hash:
 * without it hashes are right, but slow. */
#ifdef CRYPTO_ARCHIVE
void __real_OPENSSL_cpuid_setup(void);
void __wrap_OPENSSL_cpuid_setup(void);
void __wrap_OPENSSL_cpuid_setup(void)
{
}
#endif

static void setup(void)
{
#ifdef CRYPTO_ARCHIVE
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	pthread_once(&once, __real_OPENSSL_cpuid_setup);
#endif
}

struct hash {
	enum hash_kind kind;
	union {
		SHA256_CTX sha256;
		MD5_CTX md5;
	};
};

struct hash *hash_new(enum hash_kind kind)
{
	setup();
	struct hash *h = xmalloc(sizeof(*h));
	h->kind = kind;
	if (kind == HASH_SHA256)
		SHA256_Init(&h->sha256);
	else
		MD5_Init(&h->md5);
	return h;
}

void hash_add(struct hash *h, const void *p, size_t n)
{
	if (h->kind == HASH_SHA256)
		SHA256_Update(&h->sha256, p, n);
	else
		MD5_Update(&h->md5, p, n);
}

#ifdef HAVE_SHA256_PAIRS
/* What libcrypto's archive has for TLS records: lanes of texts, one word of all states after the other. No header declares
 * it (its own users write it down likewise), so meson asks whether it is there. */
enum { LANES = 8 };
struct lanes {
	_Alignas(32) unsigned h[8][LANES];
};
struct lane {
	const void *p;
	int blocks;
};
void sha256_multi_block(struct lanes *s, const struct lane *v, int fours_of_lanes);
extern unsigned OPENSSL_ia32cap_P[4];

bool hash_pairs(void)
{
	setup();
	return OPENSSL_ia32cap_P[2] >> 29 & 1; /* SHA-NI: OPENSSL_ia32cap(3) */
}

size_t hash_add_two(struct hash *x, struct hash *y, const void *p, const void *q, size_t n)
{
	if (n < HASH_BLOCK || !hash_pairs())
		return 0;
	SHA256_CTX *c[] = {&x->sha256, &y->sha256};
	int blocks = n / HASH_BLOCK < 1 << 20 ? (int)(n / HASH_BLOCK) : 1 << 20;
	struct lane v[LANES] = {{p, blocks}, {q, blocks}};
	struct lanes s = {0};
	if (c[0]->num || c[1]->num)
		return 0;
	n = (size_t)blocks * HASH_BLOCK;
	for (size_t i = 0; i < 16; i++)
		s.h[i / 2][i % 2] = c[i % 2]->h[i / 2];
	sha256_multi_block(&s, v, 1);
	for (size_t i = 0; i < 16; i++)
		c[i % 2]->h[i / 2] = s.h[i / 2][i % 2];
	for (size_t i = 0; i < 2; i++) {
		uint64_t bits = ((uint64_t)c[i]->Nh << 32 | c[i]->Nl) + n * 8;
		c[i]->Nl = (uint32_t)bits;
		c[i]->Nh = (uint32_t)(bits >> 32);
	}
	return n;
}
#else
bool hash_pairs(void)
{
	return false;
}

size_t hash_add_two(struct hash *x, struct hash *y, const void *p, const void *q, size_t n)
{
	(void)x, (void)y, (void)p, (void)q, (void)n;
	return 0;
}
#endif

struct digest hash_end(struct hash *h)
{
	struct digest d = {.n = h->kind == HASH_SHA256 ? SHA256_DIGEST_LENGTH : MD5_DIGEST_LENGTH};
	if (h->kind == HASH_SHA256)
		SHA256_Final(d.b, &h->sha256);
	else
		MD5_Final(d.b, &h->md5);
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
	enum { BLOCK = 64 };
	unsigned char pad[2][BLOCK];
	for (size_t i = 0; i < BLOCK; i++) {
		unsigned char c = i < key.n ? (unsigned char)key.p[i] : 0;
		pad[0][i] = c ^ 0x36;
		pad[1][i] = c ^ 0x5c;
	}
	struct hash *inner = hash_new(HASH_SHA256), *outer = hash_new(HASH_SHA256);
	hash_add(inner, pad[0], BLOCK);
	hash_add(inner, text.p, text.n);
	struct digest d = hash_end(inner);
	hash_add(outer, pad[1], BLOCK);
	hash_add(outer, d.b, d.n);
	return hash_end(outer);
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

/* A store of compiled objects, found by hashes of all that they are made of; see cc/cached.h for what goes into a hash.
 *
 * An entry is looked for in this user's own folder (FS_CACHE/objects), then in a shared place, if there is one: a folder,
 * or a web server that takes PUT (WebDAV, or S3's interface). What the shared place has is kept in the own folder, too.
 * Nothing here fails a build: an entry that cannot be read, or is not what it says, counts as absent.
 *
 * An entry is one file, HH/HEX by its hash, written whole:
 *     rocsmith object 1
 *     key HEX
 *     cost SECONDS CPU MEMORY      what the compile took: microseconds and bytes
 *     said N                       bytes that the compiler printed
 *     object N
 *     sha256 HEX                   of both, as they follow
 *     seal HEX                     HMAC-SHA256 of the lines above, or "-"
 *     (an empty line)
 *
 * An entry is code that will run, so it is believed by whoever could have written it. In a folder that only this user
 * can change (fs_check_way) all are believed. Elsewhere, and on every server, an entry must be sealed with the key of
 * those who share it: a file of 32 bytes or more that nobody else can read.
 *
 * Servers are asked as web/web.h says.
 *
 * Compilers that another build system starts have none of the user's secrets (foreign/secret.c), and each of them would
 * say anew that a server is away. So they read and write only the own folder, and what the shared place is to do they ask
 * of the process that has the cache open: cache_lend() answers them, cache_borrow() asks.
 */
#pragma once

#include "base/hash.h"

struct cache_wish {
	struct str where; /* "local", a folder, "https://...", "s3://..."; "" or "off" = no cache */
	struct str key_file; /* "" = none */
	uint64_t limit;      /* bytes of the own folder; 0 = CACHE_LIMIT */
};
#define CACHE_LIMIT (10ull << 30)

struct cache_entry {
	struct str said, object;
	struct str
		file; /* cache_get() sets it: it holds `object`, and the caller unmaps it with fs_unmap() */
	double seconds, cpu;
	uint64_t memory;
};

struct cache; /* thread-safe; heap */

/* *ret is NULL without a cache. E_USAGE for a place of an unknown kind, or one that needs a key; E_PERM if others can read
 * the key, or change the own folder. */
MUST_USE struct err *cache_open(const struct cache_wish *wish, struct cache **ret);
/* False if there is no such entry. */
bool cache_get(struct arena *a, struct cache *c, const struct digest *key, struct cache_entry *ret);
/* Objects of more than 1 GiB are not kept. */
void cache_put(struct cache *c, const struct digest *key, const struct cache_entry *entry);
/* Lets programs of this user use the cache through a socket in dir, until cache_reclaimp() has waited for those that ask. *ret
 * is NULL, and nobody lends, where no thread can be started. */
struct cache_lent;
MUST_USE struct err *cache_lend(struct cache *c, struct str dir, struct cache_lent **ret);
void cache_reclaimp(struct cache_lent **l);
/* The cache that is lent in dir. own: its cache_own_dir(). Without a lender there is only the own folder. */
struct cache *cache_borrow(struct str own, struct str dir);
struct str cache_own_dir(const struct cache *c); /* as long as the cache is open */
/* Removes what was not used for longest, if the own folder has become too large, and says once what went wrong. */
void cache_closep(struct cache **c);

/* The entry in the bytes of its file. False unless it is whole, is about this key and, if there is a secret, sealed with
 * it. */
bool cache_entry_read(
	struct str secret, const struct digest *key, struct str file, struct cache_entry *ret);

/* Private to cache/: the places of entries, and what a lender does for those that borrow. */
#pragma once

#include <pthread.h>

#include "cache/cache.h"
#include "web/web.h"

struct fs_tree;

struct cache_place {
	struct str dir; /* the folder of entries, or "" */
	struct web server;
	bool sealed; /* others can write there */
};

struct cache {
	struct arena a;
	struct cache_place own, shared;
	struct str lender;     /* the folder of the lender's socket: shared is empty; or "" */
	struct fs_tree *guard; /* guards the shared folder */
	struct str key;
	uint64_t limit;
	pthread_mutex_t lock;
	uint64_t written; /* bytes added to the own folder */
	/* the first error; after one of the shared place, that is not asked again */
	struct err *trouble;
};

/* ---- store.c ---- */
void cache_trouble(struct cache *c, struct err *e); /* for cache_closep(); may be NULL */
void cache_count(struct cache *c, uint64_t bytes);  /* that somebody added to the own folder */
/* Puts an entry of the own folder into the shared place, sealed. */
void cache_share(struct cache *c, const struct digest *key);

/* ---- lend.c ---- */
enum cache_wants { CACHE_FETCH, CACHE_SHARE };
/* Asks the lender whose socket is in dir to do that; false if there is none, or the entry is nowhere. */
bool cache_ask(struct str dir, enum cache_wants what, const struct digest *key);

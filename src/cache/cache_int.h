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
	_Atomic uint64_t written; /* bytes added to the own folder */
	pthread_mutex_t lock;
	/* the first error; after one of the shared place, that is not asked again */
	struct err *trouble;
};

/* ---- store.c ---- */
/* Puts an entry of the own folder into the shared place, sealed. */
void cache_share(struct cache *c, const struct digest *key);

/* ---- ask.c ---- */
#define CACHE_SOCKET "objects.socket"
enum cache_wants { CACHE_FETCH, CACHE_SHARE };
/* One message, on a connection of its own; the answer is one byte, 'y' or 'n'. */
struct cache_request {
	unsigned char what, key[sizeof(((struct digest *)0)->b)];
};

/* A socket whose address is in dir: bound to it, or else connected. -1 with errno. */
int cache_socket(struct str dir, bool binds);
bool cache_socket_is_ours(int fd); /* is the other side a process of this user? */
/* Asks the lender whose socket is in dir to do that; false if there is none, or the entry is nowhere. */
bool cache_ask(struct str dir, enum cache_wants what, const struct digest *key);

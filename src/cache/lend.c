/* Does for other processes what only the one that opened a cache can: see cache.h. Only processes of this user are answered. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/fs.h"
#include "base/pool.h"
#include "cache/cache_int.h"

enum {
	ANSWERING = 8, /* requests at a time: each may wait for a server */
	PATIENCE = 5,  /* seconds, for a request to come */
};

struct cache_lent {
	struct arena a;
	struct cache *c;
	struct pool *pool;
	struct str path;
	int fd;
};

static bool answer(struct cache *c, const struct cache_request *q)
{
	ARENA(tmp);
	struct cache_entry entry;
	struct digest key = {.n = sizeof(key.b)};
	memcpy(key.b, q->key, sizeof(key.b));
	if (q->what == CACHE_SHARE) {
		cache_share(c, &key);
		return true;
	}
	if (!cache_get(&tmp, c, &key, &entry))
		return false;
	fs_unmap(&entry.file);
	return true;
}

/* Runs in a thread of the pool until the socket is shut down. */
static struct err *answer_all(struct arena *tmp, void *user)
{
	const struct cache_lent *l = user;
	const struct timeval patience = {.tv_sec = PATIENCE};
	(void)tmp;
	for (;;) {
		CLEANUP(fd_closep) int fd = accept4(l->fd, NULL, NULL, SOCK_CLOEXEC);
		struct cache_request q;
		if (fd < 0 && errno != EINTR && errno != ECONNABORTED)
			return NULL;
		if (fd < 0 || !cache_socket_is_ours(fd) ||
			setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)) < 0 ||
			recv(fd, &q, sizeof(q), 0) != (ssize_t)sizeof(q))
			continue;
		char yes = answer(l->c, &q) ? 'y' : 'n';
		(void)!send(fd, &yes, 1, MSG_NOSIGNAL);
	}
}

void cache_reclaimp(struct cache_lent **l)
{
	if (!*l)
		return;
	shutdown((*l)->fd, SHUT_RDWR); /* accept4() fails from now on */
	err_free(pool_end((*l)->pool));
	fd_closep(&(*l)->fd);
	err_free(fs_remove((*l)->path));
	arena_free(&(*l)->a);
	free(*l);
	*l = NULL;
}

struct err *cache_lend(struct cache *c, struct str dir, struct cache_lent **ret)
{
	ARENA(tmp);
	struct str path = path_join(&tmp, dir, S(CACHE_SOCKET));
	TRY(fs_remove(path)); /* left by a build that was killed */
	int fd = cache_socket(dir, true);
	if (fd < 0)
		return err_errno("cannot listen at '%.*s'", STR(path));
	struct cache_lent *l = *ret = xmalloc(sizeof(*l));
	*l = (struct cache_lent){.c = c, .fd = fd, .pool = pool_new(ANSWERING + 1)};
	l->path = str_dup(&l->a, path);
	/* who asked would wait for an answer that comes when the build has ended: the build then does without */
	if (pool_is_alone(l->pool)) {
		cache_reclaimp(ret);
		return NULL;
	}
	for (int i = 0; i < ANSWERING; i++)
		pool_add(l->pool, answer_all, l);
	return NULL;
}

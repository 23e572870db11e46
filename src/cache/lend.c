/* Does for other processes what only the one that opened a cache can: see cache.h.
 *
 * A request is one message, an enum cache_wants and a key, on a connection of its own; the answer is one byte. Only
 * processes of this user are answered. The socket is reached through its folder's fd, since the address of a socket has
 * room for 107 bytes only. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/pool.h"
#include "cache/cache_int.h"

#define SOCKET "objects.socket"
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

struct cache_request {
	unsigned char what, key[sizeof(((struct digest *)0)->b)];
};

/* A socket whose address is in dir: bound to it, or else connected. -1 with errno. */
static int socket_in(struct str dir, bool binds)
{
	ARENA(tmp);
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	CLEANUP(fd_closep) int folder = fs_open_inside(AT_FDCWD, str_z(&tmp, dir), 0);
	if (folder < 0)
		return -1;
	struct str path = str_fmt(&tmp, "/proc/self/fd/%d/" SOCKET, folder);
	memcpy(at.sun_path, path.p, path.n);
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	int r = fd < 0 ? -1 : 0;
	if (r == 0 && binds) /* the mode of the file that bind() makes */
		r = fchmod(fd, 0600);
	if (r == 0)
		r = binds ? bind(fd, (const struct sockaddr *)&at, sizeof(at))
			  : connect(fd, (const struct sockaddr *)&at, sizeof(at));
	if (r == 0 && binds)
		r = listen(fd, SOMAXCONN);
	if (r < 0)
		fd_closep(&fd);
	return r < 0 ? -1 : fd;
}

static bool is_ours(int fd)
{
	struct ucred peer;
	socklen_t n = sizeof(peer);
	return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &n) == 0 && peer.uid == geteuid();
}

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
		if (fd < 0 || !is_ours(fd) ||
			setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)) < 0 ||
			recv(fd, &q, sizeof(q), 0) != (ssize_t)sizeof(q))
			continue;
		char yes = answer(l->c, &q) ? 'y' : 'n';
		(void)!send(fd, &yes, 1, MSG_NOSIGNAL);
	}
}

struct err *cache_lend(struct cache *c, struct str dir, struct cache_lent **ret)
{
	ARENA(tmp);
	struct str path = path_join(&tmp, dir, S(SOCKET));
	TRY(fs_remove(path)); /* left by a build that was killed */
	int fd = socket_in(dir, true);
	if (fd < 0)
		return err_errno("cannot listen at '%.*s'", STR(path));
	struct cache_lent *l = *ret = xmalloc(sizeof(*l));
	*l = (struct cache_lent){.c = c, .fd = fd, .pool = pool_new(ANSWERING + 1)};
	l->path = str_dup(&l->a, path);
	for (int i = 0; i < ANSWERING; i++)
		pool_add(l->pool, answer_all, l);
	return NULL;
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

bool cache_ask(struct str dir, enum cache_wants what, const struct digest *key)
{
	struct cache_request q = {.what = (unsigned char)what};
	CLEANUP(fd_closep) int fd = socket_in(dir, false);
	char yes = 'n';
	memcpy(q.key, key->b, sizeof(q.key));
	return fd >= 0 && is_ours(fd) &&
	       send(fd, &q, sizeof(q), MSG_NOSIGNAL) == (ssize_t)sizeof(q) &&
	       recv(fd, &yes, 1, 0) == 1 && yes == 'y';
}

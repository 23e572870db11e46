/* The socket between those that borrow a cache and its lender. It is reached through its folder's fd, since the address of a socket
 * has room for 107 bytes only. */
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/fs.h"
#include "cache/cache_int.h"

int cache_socket(struct str dir, bool binds)
{
	ARENA(tmp);
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	CLEANUP(fd_closep) int folder = fs_open_inside(AT_FDCWD, str_z(&tmp, dir), 0);
	if (folder < 0)
		return -1;
	struct str path = str_fmt(&tmp, "/proc/self/fd/%d/" CACHE_SOCKET, folder);
	memcpy(at.sun_path, path.p, path.n);
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	int r = fd < 0 ? -1 : 0;
	if (r == 0)
		r = binds ? bind(fd, (const struct sockaddr *)&at, sizeof(at))
			  : connect(fd, (const struct sockaddr *)&at, sizeof(at));
	if (r == 0 && binds)
		r = listen(fd, SOMAXCONN);
	if (r < 0)
		fd_closep(&fd);
	return r < 0 ? -1 : fd;
}

bool cache_socket_is_ours(int fd)
{
	struct ucred peer;
	socklen_t n = sizeof(peer);
	return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &n) == 0 && peer.uid == geteuid();
}

bool cache_ask(struct str dir, enum cache_wants what, const struct digest *key)
{
	struct cache_request q = {.what = (unsigned char)what};
	CLEANUP(fd_closep) int fd = cache_socket(dir, false);
	char yes = 'n';
	memcpy(q.key, key->b, sizeof(q.key));
	return fd >= 0 && cache_socket_is_ours(fd) &&
	       send(fd, &q, sizeof(q), MSG_NOSIGNAL) == (ssize_t)sizeof(q) &&
	       recv(fd, &yes, 1, 0) == 1 && yes == 'y';
}

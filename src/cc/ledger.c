/* The ledger of memory; see cc_int.h. The file is an array of records. A lock on byte 0 protects all of them; the
 * holder of slot N locks byte N. */
#include "cc/cc_int.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include "base/fs.h"
#include "machine/machine.h"

enum {
	LEDGER_SLOTS = 1023,
	OVERTAKE = 5, /* seconds during which smaller compiles may overtake a waiting one */
	TICK = 50, /* ms between two tries: compiles take seconds, and memory pressure has no event */
};

struct ledger_share {
	uint64_t bytes; /* 0: free */
	uint64_t since; /* start of the wait, microseconds of the monotonic clock; 0: it runs */
	uint64_t began; /* start of the run */
	char what[40];
};

static int lock_byte(int fd, int how, short type, off_t at)
{
	struct flock l = {.l_type = type, .l_whence = SEEK_SET, .l_start = at, .l_len = 1};
	int r;
	while ((r = fcntl(fd, how, &l)) < 0 && errno == EINTR && !cancelled())
		;
	return how == F_OFD_GETLK && r == 0 ? l.l_type : r;
}

static struct err *put(int fd, unsigned slot, struct ledger_share r)
{
	return fs_pwrite(fd, &r, sizeof(r), slot * sizeof(r));
}

static uint64_t now_us(void)
{
	return (uint64_t)(mono_now() * 1e6);
}

/* Tries once, under the lock: frees the slots of holders that have died, then takes the share, or records that we wait
 * for it. */
static struct err *try_to_take(
	struct ledger *l, const struct ledger_wish *w, uint64_t since, bool *ret_done)
{
	struct ledger_share all[LEDGER_SLOTS + 1];
	struct ledger_share oldest = {0}; /* the longest of the waiters before us; bytes 0: none */
	uint64_t used = 0; /* by the others; LEDGER_ALONE if one of them runs alone */
	unsigned running = 0;
	TRY(fs_pread(l->fd, all, sizeof(all), 0));
	for (unsigned i = 1; i <= LEDGER_SLOTS; i++) {
		struct ledger_share *r = &all[i];
		if (r->bytes && i != l->slot &&
			lock_byte(l->fd, F_OFD_GETLK, F_WRLCK, i) == F_UNLCK) {
			*r = (struct ledger_share){0};
			TRY(put(l->fd, i, *r));
		}
		if (!r->bytes || i == l->slot)
			continue;
		if (!r->since) {
			running++;
			used = r->bytes > UINT64_MAX - used ? UINT64_MAX : used + r->bytes;
		} else if (r->since < since && (!oldest.bytes || r->since < oldest.since)) {
			oldest = *r;
		}
	}
	/* a slot is marked free a moment before its lock is released, so try the lock too */
	for (unsigned i = 1; i <= LEDGER_SLOTS && !l->slot; i++)
		if (!all[i].bytes && lock_byte(l->fd, F_OFD_SETLK, F_WRLCK, i) == 0)
			l->slot = i;
	if (!l->slot)
		return err_new(E_LIMIT, "more than %d compilers want to run at once", LEDGER_SLOTS);
	bool turn = !oldest.bytes || (oldest.bytes != LEDGER_ALONE &&
					     now_us() - oldest.since <= OVERTAKE * 1000000ull);
	bool fits = w->want != LEDGER_ALONE && used <= w->limit && w->want <= w->limit - used;
	/* other programs take memory too, and our compilers may have exceeded their predictions */
	*ret_done = turn && (!running || (fits && w->want <= machine_memory_room(S(""))));
	struct ledger_share r = {.bytes = w->want, .since = since};
	if (*ret_done)
		r = (struct ledger_share){.bytes = w->want, .began = now_us()};
	memcpy(r.what, w->what.p, w->what.n < sizeof(r.what) ? w->what.n : sizeof(r.what) - 1);
	return put(l->fd, l->slot, r);
}

static struct err *wait_for_room(struct ledger *l, const struct ledger_wish *w)
{
	uint64_t since = now_us();
	bool done = false;
	for (;;) {
		if (lock_byte(l->fd, F_OFD_SETLKW, F_WRLCK, 0) < 0)
			return cancelled() ? cancel_check() : err_errno("cannot lock the ledger");
		struct err *e = try_to_take(l, w, since, &done);
		lock_byte(l->fd, F_OFD_SETLK, F_UNLCK, 0);
		if (e || done)
			return e;
		(void)poll(NULL, 0, TICK);
		TRY(cancel_check());
	}
}

struct err *ledger_take(struct str path, const struct ledger_wish *wish, struct ledger *ret)
{
	double start = mono_now();
	*ret = (struct ledger){.fd = -1};
	TRY(fs_open_shared(path, (LEDGER_SLOTS + 1) * sizeof(struct ledger_share), &ret->fd));
	struct err *e = wait_for_room(ret, wish);
	ret->waited = mono_now() - start;
	if (e)
		ledger_release(ret);
	return e;
}

void ledger_release(struct ledger *l)
{
	/* freed explicitly, because children of the compiler may still have the file open */
	if (l->fd >= 0 && l->slot) {
		err_free(put(l->fd, l->slot, (struct ledger_share){0}));
		lock_byte(l->fd, F_OFD_SETLK, F_UNLCK, l->slot);
	}
	fd_closep(&l->fd);
	*l = (struct ledger){.fd = -1, .waited = l->waited};
}

static int by_age(const void *a, const void *b)
{
	const struct ledger_share *x = a, *y = b;
	return (x->began > y->began) - (x->began < y->began);
}

struct err *ledger_names(struct arena *a, struct str path, struct strs *ret)
{
	CLEANUP(fd_closep) int fd = -1;
	struct ledger_share all[LEDGER_SLOTS + 1];
	size_t n = 0;
	if (!fs_exists(path))
		return NULL;
	TRY(fs_open(path, &fd));
	TRY(fs_pread(fd, all, sizeof(all), 0));
	for (unsigned i = 1; i <= LEDGER_SLOTS; i++)
		if (all[i].bytes && !all[i].since &&
			lock_byte(fd, F_OFD_GETLK, F_WRLCK, i) != F_UNLCK)
			all[n++] = all[i];
	qsort(all, n, sizeof(*all), by_age);
	for (size_t i = 0; i < n; i++) {
		all[i].what[sizeof(all[i].what) - 1] = 0;
		strs_add(a, ret, str_dup(a, str_from(all[i].what)));
	}
	return NULL;
}

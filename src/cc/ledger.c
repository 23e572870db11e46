/* The ledger of memory; see cc_int.h. The file is an array of records. A lock on byte 0 protects all of them; the
 * holder of slot N locks byte N. */
#include "cc/cc_int.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/proc.h"
#include "machine/machine.h"

enum {
	LEDGER_SLOTS = 1023,
	OVERTAKE = 5, /* seconds during which smaller compiles may overtake a waiting one */
	TICK = 250,   /* ms between looks at memory pressure, which no event reports */
};

static const double too_much = 10; /* percent of the last 10 s in which all tasks stalled */

struct ledger_share {
	uint64_t bytes; /* 0: free */
	uint64_t since; /* start of the wait, microseconds of the monotonic clock; 0: it runs */
	uint64_t began; /* start of the run */
	char what[40];
};

struct ledger_state { /* the shares and wishes of all others */
	struct ledger_share all[LEDGER_SLOTS + 1];
	uint64_t used; /* LEDGER_ALONE if one of them runs alone */
	unsigned running;
	struct ledger_share oldest; /* the longest of the waiters before us; bytes 0: none */
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

/* Reads all records, and frees those whose holder has died. */
static struct err *read_state(
	int fd, const struct ledger *me, uint64_t since, struct ledger_state *ret)
{
	*ret = (struct ledger_state){0};
	TRY(fs_pread(fd, ret->all, sizeof(ret->all), 0));
	for (unsigned i = 1; i <= LEDGER_SLOTS; i++) {
		struct ledger_share *r = &ret->all[i];
		if (r->bytes && i != me->slot &&
			lock_byte(fd, F_OFD_GETLK, F_WRLCK, i) == F_UNLCK) {
			*r = (struct ledger_share){0};
			TRY(put(fd, i, *r));
		}
		if (!r->bytes || i == me->slot)
			continue;
		if (!r->since) {
			ret->running++;
			ret->used = r->bytes > UINT64_MAX - ret->used ? UINT64_MAX
								      : ret->used + r->bytes;
		} else if (r->since < since &&
			   (!ret->oldest.bytes || r->since < ret->oldest.since)) {
			ret->oldest = *r;
		}
	}
	return NULL;
}

static bool may_run(const struct ledger_state *v, const struct ledger_wish *w, uint64_t since)
{
	if (v->oldest.bytes &&
		(v->oldest.bytes == LEDGER_ALONE ||
			now_us() - v->oldest.since > OVERTAKE * 1000000ull) &&
		v->oldest.since < since)
		return false;
	if (!v->running)
		return true;
	if (w->want == LEDGER_ALONE || v->used > w->limit || w->want > w->limit - v->used)
		return false;
	/* other programs take memory too, and our compilers may have exceeded their predictions */
	return machine_memory_free(S("")) >= w->want && machine_memory_pressure(S("")) <= too_much;
}

/* Tries once, under the lock: takes the share, or records that we wait for it. */
static struct err *try_to_take(
	struct ledger *l, const struct ledger_wish *w, uint64_t since, bool *ret_done)
{
	struct ledger_state v;
	TRY(read_state(l->fd, l, since, &v));
	/* a slot is marked free a moment before its lock is released, so try the lock too */
	for (unsigned i = 1; i <= LEDGER_SLOTS && !l->slot; i++)
		if (!v.all[i].bytes && lock_byte(l->fd, F_OFD_SETLK, F_WRLCK, i) == 0)
			l->slot = i;
	if (!l->slot)
		return err_new(E_LIMIT, "more than %d compilers want to run at once", LEDGER_SLOTS);
	*ret_done = may_run(&v, w, since);
	struct ledger_share r = {.bytes = w->want, .since = since};
	if (*ret_done)
		r = (struct ledger_share){.bytes = w->want, .began = now_us()};
	memcpy(r.what, w->what.p, w->what.n < sizeof(r.what) ? w->what.n : sizeof(r.what) - 1);
	/* written only if it differs, since each write wakes all waiters */
	struct ledger_share old = v.all[l->slot];
	return old.bytes == r.bytes && old.since == r.since ? NULL : put(l->fd, l->slot, r);
}

/* Sleeps until the ledger changes (inotify), or for TICK ms if there is no inotify. */
static void wait_for_change(struct ledger *l)
{
	struct pollfd pf = {.fd = l->events, .events = POLLIN};
	char skip[4096];
	if (poll(&pf, 1, TICK) > 0 && read(l->events, skip, sizeof(skip)) < 0 && errno != EINTR)
		fd_closep(&l->events);
}

static struct err *wait_for_room(struct ledger *l, struct str path, const struct ledger_wish *w)
{
	uint64_t since = now_us();
	bool done = false;
	for (unsigned tries = 0;; tries++) {
		if (lock_byte(l->fd, F_OFD_SETLKW, F_WRLCK, 0) < 0)
			return cancelled() ? cancel_check() : err_errno("cannot lock the ledger");
		struct err *e = try_to_take(l, w, since, &done);
		lock_byte(l->fd, F_OFD_SETLK, F_UNLCK, 0);
		if (e || done)
			return e;
		if (tries) {
			wait_for_change(l);
		} else {
			/* The kernel takes 20 ms to close an inotify descriptor, so it is opened only if we have to
			 * wait. A holder that dies closes the file, which is an event too. We try again before
			 * sleeping, in case a compile ended before the watch existed. */
			ARENA(tmp);
			l->events = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
			if (l->events >= 0)
				(void)inotify_add_watch(
					l->events, str_z(&tmp, path), IN_CLOSE_WRITE | IN_MODIFY);
		}
		TRY(cancel_check());
	}
}

struct err *ledger_take(struct str path, const struct ledger_wish *wish, struct ledger *ret)
{
	double start = mono_now();
	*ret = (struct ledger){.fd = -1, .events = -1};
	TRY(fs_open_shared(path, (LEDGER_SLOTS + 1) * sizeof(struct ledger_share), &ret->fd));
	struct err *e = wait_for_room(ret, path, wish);
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
	fd_closep(&l->events);
	*l = (struct ledger){.fd = -1, .events = -1, .waited = l->waited};
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

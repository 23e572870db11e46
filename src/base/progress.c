/* Passes reports of progress to the one listener, if there is any; see progress.h. */
#include "base/progress.h"

#include <time.h>

#include "base/fs.h"
#include "base/hash.h"
#include "base/proc.h"

static const struct progress_sink *sink;

void progress_listen(const struct progress_sink *s)
{
	sink = s;
}

struct progress *progress_begin(struct str verb, struct str object, enum unit unit, uint64_t total)
{
	return sink && sink->begin ? sink->begin(verb, object, unit, total) : NULL;
}

void progress_add(struct progress *p, uint64_t done, struct str now)
{
	if (sink && p)
		sink->add(p, done, now);
}

void progress_left(struct progress *p, double seconds)
{
	if (sink && p && sink->left)
		sink->left(p, seconds);
}

void progress_end(struct progress *p)
{
	if (sink && p)
		sink->end(p);
}

void progress_endp(struct progress **p)
{
	progress_end(*p);
	*p = NULL;
}

void progress_note(struct str verb, const char *fmt, ...)
{
	if (!sink || !sink->note)
		return;
	ARENA(tmp);
	FORMAT(text, &tmp, fmt);
	sink->note(verb, text);
}

void progress_warn(const char *fmt, ...)
{
	static struct digest last;
	if (!sink || !sink->warn)
		return;
	ARENA(tmp);
	FORMAT(text, &tmp, fmt);
	struct digest now = hash_bytes(HASH_SHA256, text.p, text.n);
	if (memcmp(now.b, last.b, sizeof(now.b)) != 0)
		sink->warn(text);
	last = now;
}

struct err *progress_lock(struct str path, int *ret_fd, const char *fmt, ...)
{
	static const struct timespec pause = {.tv_nsec = 100000000};
	ARENA(tmp);
	FORMAT(what, &tmp, fmt);
	for (bool noted = false;; noted = true) {
		struct err *e = fs_lock(path, FS_LOCK_NOW, ret_fd);
		if (!e || e->code != E_LOCKED)
			return e;
		err_free(e);
		if (!noted)
			progress_note(S("Waiting"), "for another rocsmith that %.*s", STR(what));
		TRY(cancel_check());
		nanosleep(&pause, NULL);
	}
}

/* Progress reports from long work, independent of how they are shown.
 *
 * main installs the listener (term/status.c) once. Without one, all calls do nothing, so that library code can always
 * report. Thread-safe.
 */
#pragma once

#include "base/err.h"

enum unit { UNIT_NONE, UNIT_ITEMS, UNIT_BYTES };

struct progress; /* owned by the listener */

struct progress_sink {
	struct progress *(*begin)(
		struct str verb, struct str object, enum unit unit, uint64_t total);
	void (*add)(struct progress *p, uint64_t done, struct str now);
	void (*left)(struct progress *p, double seconds);
	void (*end)(struct progress *p);
	void (*note)(struct str verb, struct str text);
	void (*warn)(struct str text);
};

void progress_listen(const struct progress_sink *sink); /* must outlive all work */
/* verb as in "Fetching", object as in "118 packages"; total 0 = unknown. */
struct progress *progress_begin(struct str verb, struct str object, enum unit unit, uint64_t total);
/* Adds to the finished work; now (may be "") names the present piece. */
void progress_add(struct progress *p, uint64_t done, struct str now);
/* Sets the remaining time if the caller has a better estimate than the finished share gives; 0 = it has none, and
 * PROGRESS_UNKNOWN: that share tells nothing either. */
#define PROGRESS_UNKNOWN (-1.0)
void progress_left(struct progress *p, double seconds);
void progress_end(struct progress *p); /* NULL is fine */
void progress_endp(struct progress **p);
/* Prints one line that stays: progress_note(S("Compiled"), "3 sources for %u GPUs", n). */
void progress_note(struct str verb, const char *fmt, ...) PRINTF(2, 3);
/* Prints a warning about an input that is used all the same. The same text is printed once, however often it is read. */
void progress_warn(const char *fmt, ...) PRINTF(1, 2);
/* Takes an exclusive lock (base/fs.h). If another rocsmith holds it, prints "Waiting for another rocsmith that ...",
 * which fmt completes ("builds 'p'"), and waits. E_CANCELLED after a signal. */
MUST_USE struct err *progress_lock(struct str path, int *ret_fd, const char *fmt, ...) PRINTF(3, 4);

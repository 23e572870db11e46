/* How long work tells how far it is, without knowing who listens.
 *
 * The listener (term/status.c) is installed once by main; without one all calls do nothing, so
 * library code may always report. Thread-safe.
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
};

void progress_listen(const struct progress_sink *sink); /* must outlive all work */
/* verb as in "Fetching", object as in "118 packages"; total 0 = unknown. */
struct progress *progress_begin(struct str verb, struct str object, enum unit unit, uint64_t total);
/* Adds to what is done; now (may be "") names what is being worked on. */
void progress_add(struct progress *p, uint64_t done, struct str now);
/* How long the rest will take, where somebody knows better than by the share that is done; 0 = no. */
void progress_left(struct progress *p, double seconds);
void progress_end(struct progress *p); /* NULL is fine */
void progress_endp(struct progress **p);
/* One line that stays: progress_note(S("Compiled"), "3 sources for %u GPUs", n). */
void progress_note(struct str verb, const char *fmt, ...) PRINTF(2, 3);
/* An exclusive lock (base/fs.h). While another rocsmith has it we wait, and say so once: for another
 * rocsmith that ... ("builds 'p'"). E_CANCELLED when a signal comes first. */
MUST_USE struct err *progress_lock(struct str path, int *ret_fd, const char *fmt, ...) PRINTF(3, 4);

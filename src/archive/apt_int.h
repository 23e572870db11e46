/* Inside of archive/: running apt-get and apt-cache. */
#pragma once

#include "archive/apt.h"
#include "base/proc.h"

/* The program on the state of apt->dir; its output is captured as one text. */
struct proc apt_command(struct arena *a, const struct apt *apt, const char *program);
/* What it says when it has failed (its own lines that begin with E: or W:, without repetition) as an
 * error of ours. */
MUST_USE struct err *apt_explain(
	struct arena *a, const struct proc *p, const struct proc_result *r);
MUST_USE struct err *apt_run(struct arena *a, struct proc *p, struct proc_result *r);

/* ---- apt_fetch.c ---- */
/* Is the right file at item->path? */
MUST_USE struct err *apt_is_there(struct arena *a, const struct archive_item *i, bool *ret);
/* As proc_run(), with progress by the size of the items' files. */
MUST_USE struct err *apt_run_watched(struct arena *a, struct proc *p, const char *what,
	const struct archive_items *items, struct proc_result *r);

/* The internals of archive/: running apt-get and apt-cache. */
#pragma once

#include "archive/apt.h"
#include "base/proc.h"

extern const struct str apt_settings; /* data/apt.conf */
/* Prepares a run of the program on the state in apt->dir; its output is captured as one text. */
struct proc apt_command(struct arena *a, const struct apt *apt, const char *program);
/* Makes the error for a failed run from apt's lines that begin with E: or W:, each once. */
MUST_USE struct err *apt_explain(
	struct arena *a, const struct proc *p, const struct proc_result *r);
MUST_USE struct err *apt_run(struct arena *a, struct proc *p, struct proc_result *r);

/* ---- apt_fetch.c ---- */
/* Is there a file with the right hash at item->path? */
MUST_USE struct err *apt_is_there(struct arena *a, const struct archive_item *i, bool *ret);
/* Like proc_run(); shows progress by the present size of the items' files. */
MUST_USE struct err *apt_run_watched(struct arena *a, struct proc *p, const char *what,
	const struct archive_items *items, struct proc_result *r);

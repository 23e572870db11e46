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
/* Runs apt-get, which is to fetch the files of the items, shows progress by their present size, and looks whether they
 * came: E_HASH. ret_gone: as in apt_source_fetch(); NULL: a failure of apt is an error in any case. */
MUST_USE struct err *apt_get_items(struct arena *a, struct proc *p, struct str what,
	const struct archive_items *items, struct strs *ret_gone);

/* Parts of host_read() that work on given text or below a given root; for host.c and its test. */
#pragma once

#include "machine/machine.h"

/* C library and gcc below root ("" = this computer), for programs of arch, e.g. "x86_64". */
MUST_USE struct err *host_read_files(
	struct arena *a, struct str root, struct str arch, struct host *ret);
/* The probe's answer: one value a line. E_USAGE when it is no Python 3. */
MUST_USE struct err *host_parse_python(struct arena *a, struct str text, struct host *h);

/* The Debian archive that this machine uses, from its own apt configuration. */
#pragma once

#include "base/err.h"

struct apt_source {
	struct str uri, keyring; /* keyring: path of Signed-By, or "" */
	struct strs suites, components;
};

struct apt_sources {
	struct apt_source *v;
	size_t n, cap;
};

/* The text of a file in one-line (sources.list, *.list) or deb822 (*.sources) format: its enabled
 * "deb" entries. What is no such entry is skipped, as apt would complain itself. sources.list(5).
 */
void apt_sources_lines(struct arena *a, struct str text, struct apt_sources *ret);
void apt_sources_deb822(struct arena *a, struct str text, struct apt_sources *ret);
/* Reads dir/sources.list, dir/sources.list.d/ (dir = "/etc/apt") and picks the entry that is a
 * Debian archive (main, no security, updates or backports); E_SDK_SOURCE when there is none. */
MUST_USE struct err *apt_sources_find(struct arena *a, struct str dir, struct apt_source *ret);

/* The libraries that a library needs, its search path, and the GPUs that it has code for, from a few small reads of an
 * ELF file of any size. In recordings and in handwritten machines, a text replaces the file:
 *
 *     rocsmith-library 1
 *     needed libamdhip64.so.6        one line each
 *     runpath $ORIGIN                or rpath
 *     targets gfx1100 gfx90a:xnack-  targets in more than half of the bundles read, or of the kpack archives that exist
 *     bundles 5                      number of bundles that were read: the first ones
 *     archives 1                     number of its patterns for kpack archives with its code, whether they exist or not
 *
 * Unknown lines are ignored. Limits: 200 libraries, 500 targets, a text of 1 MiB; at most 64 MiB of an ELF file are
 * read.
 */
#pragma once

#include "machine/root.h"

struct library {
	struct strs needed;
	/* rpath is "" if there is a runpath, as the loader then ignores it */
	struct str rpath, runpath;
	struct strs targets; /* sorted */
	unsigned bundles, archives;
};

/* Reads either form, and records the text. Parts that cannot be read stay empty; ROOT_BAD if it is neither an ELF file
 * nor such a text. */
enum root_status library_read(struct root *r, struct str path, struct library *ret);
/* Parses the text form; false if the text is not one. */
bool library_parse(struct arena *a, struct str text, struct library *ret);

/* What a library asks of the loader, and the GPUs that it has code for, by a few small reads of an ELF file of any
 * size. In a recording, and in machines that were made by hand, a text stands for the file:
 *
 *     rocsmith-library 1
 *     needed libamdhip64.so.6        one line each
 *     runpath $ORIGIN                or rpath
 *     targets gfx1100 gfx90a:xnack-  what most of the bundles looked at have; of kpack archives, what is there
 *     bundles 5                      that were looked at: the first ones
 *     archives 1                     patterns of kpack archives, in which its code lies, there or not
 *
 * Unknown lines are passed over. Limits: 200 libraries, 500 targets, a text of 1 MiB; 64 MiB are read of an ELF file.
 */
#pragma once

#include "machine/root.h"

struct library {
	struct strs needed;
	struct str rpath, runpath; /* rpath: only where there is no runpath, as the loader has it */
	struct strs targets;       /* sorted */
	unsigned bundles, archives;
};

/* Told as such a text. What cannot be read is left out; ROOT_BAD when it is no such file at all. */
enum root_status library_read(struct root *r, struct str path, struct library *ret);
/* False: text is none. */
bool library_parse(struct arena *a, struct str text, struct library *ret);

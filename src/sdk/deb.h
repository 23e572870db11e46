/* Debian packages into a tree; see deb.c for what is refused. */
#pragma once

#include "sdk/provider.h"

/* Unpacks the data member of u->item->path below u->root and adds its files to u->record, whose
 * arena is another one than tmp. E_ARCHIVE when the package is damaged or hostile. */
MUST_USE struct err *deb_unpack(struct arena *tmp, struct sdk_unpack *u);

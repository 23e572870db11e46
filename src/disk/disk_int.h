/* Shared by the files of disk/. */
#pragma once

#include <sys/stat.h>

#include "disk/disk.h"

/* Takes the lock of an item, shared, so that nothing is written; *ret_fd stays -1 if it has none. */
MUST_USE struct err *disk_lock(const struct disk_item *i, int *ret_fd);
/* Is it a build folder or a wheel of ours, as its own tag or provenance says, where nobody else can have put that? */
bool disk_is_made(struct arena *a, struct str path, const struct stat *st);
/* Could somebody else change what the path of an existing folder or file leads to? E_PERM if so. */
MUST_USE struct err *disk_check_way(struct str path, const struct stat *st);

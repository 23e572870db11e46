/* Shared by the files that implement fs.h. */
#pragma once

#include <sys/types.h>

#include "base/fs.h"

/* E_DRY_RUN when nothing may be changed at path. */
MUST_USE struct err *fs_may_write(struct str path);
MUST_USE struct err *fs_sync_dir(struct str path);
/* read(2), begun again when a signal came. */
ssize_t fs_read_some(int fd, void *p, size_t n);
/* All n bytes, or -1 with errno. */
int fs_write_all(int fd, const char *p, size_t n);

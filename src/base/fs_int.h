/* Shared by the files that implement fs.h. */
#pragma once

#include <dirent.h>
#include <fcntl.h>
#include <sys/types.h>

#include "base/fs.h"

/* E_DRY_RUN if path may not be changed: only scratch folders may in a dry run. */
MUST_USE struct err *fs_may_write(struct str path);
/* Lets a dry run write below the folder. */
void fs_scratch_add(struct str path);
void dir_closep(DIR **d);
/* read(2), repeated after a signal. */
ssize_t fs_read_some(int fd, void *p, size_t n);
/* A path for the *at() calls. Below a guarded tree dir is the path's folder, reached without links, and name the last
 * component; anywhere else dir is AT_FDCWD and name the path. */
struct fs_at {
	int dir;
	const char *name;
	struct arena a;
};
#define FS_AT(at) CLEANUP(fs_at_done) struct fs_at at = {.dir = AT_FDCWD}
void fs_at_done(struct fs_at *at);
/* Resolves a path that will be changed. E_DRY_RUN if it must not be, E_PERM behind a link of a guarded tree. */
MUST_USE struct err *fs_reach(struct str path, struct fs_at *ret);
/* Resolves a path that will be read, below fs_guard_sources(), or in a folder .rocsmith* below fs_guard(). */
MUST_USE struct err *fs_reach_to_read(struct str path, struct fs_at *ret);
/* Is what the guard holds the folder of this name itself, and no link's target? */
bool fs_guards_itself(const struct fs_tree *t, struct str dir);
/* The system's record of this user; NULL if it has none. */
struct passwd *fs_account(struct arena *a);
/* Is it one of the four places, or in one? */
bool fs_in_place(struct str path);
/* Gives others the write permission to a new file or folder that the user's umask leaves them, if path is not in one of
 * our places; mode: as it was asked for. -1 with errno. */
int fs_lend(int fd, struct str path, unsigned mode);
/* Opens a new file for writing; removes a file of that name, but not a link or a folder. */
MUST_USE struct err *fs_create_loose(struct str path, unsigned mode, int *ret_fd);
/* E_IO if path is a device, a pipe or a socket. */
MUST_USE struct err *fs_may_replace(struct str path);
/* Replaces openat2() on kernels and in sandboxes without it. */
int fs_open_steps(int root, const char *path);
/* Writes all n bytes; -1 with errno on failure. */
int fs_write_all(int fd, const char *p, size_t n);

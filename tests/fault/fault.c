/* The replaced I/O calls; see fault.h. With --wrap=NAME the linker sends calls of NAME here as
 * __wrap_NAME, and __real_NAME is the function of the C library. */
#include "fault.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

static atomic_uint_fast64_t calls;
static uint64_t fail_at;
static int fail_how;
static const char *_Atomic hit;

void fault_arm(uint64_t at, int how)
{
	fail_at = at;
	fail_how = how;
	atomic_store(&hit, NULL);
	atomic_store(&calls, 0);
}

uint64_t fault_calls(void)
{
	return atomic_load(&calls);
}

const char *fault_hit(void)
{
	return atomic_load(&hit);
}

/* Counts a call; true, with errno set, when it is the one to fail. */
static bool now(const char *name)
{
	if (atomic_fetch_add(&calls, 1) + 1 != fail_at)
		return false;
	if (fail_how == FAULT_KILL)
		kill(getpid(), SIGKILL);
	atomic_store(&hit, name);
	errno = fail_how;
	return true;
}

#define X(counts, failed, type, name, params, args)                                                \
	type __real_##name params;                                                                 \
	type __wrap_##name params;                                                                 \
	type __wrap_##name params                                                                  \
	{                                                                                          \
		if ((counts) && now(#name))                                                        \
			return failed;                                                             \
		return __real_##name args;                                                         \
	}
#include "fault.def"
#undef X

/* The mode is there only when a file is made. */
static bool makes(int flags)
{
	return flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE;
}

#define OPEN(name)                                                                                 \
	int __real_##name(const char *path, int flags, mode_t mode);                               \
	int __wrap_##name(const char *path, int flags, ...);                                       \
	int __wrap_##name(const char *path, int flags, ...)                                        \
	{                                                                                          \
		va_list ap;                                                                        \
		va_start(ap, flags);                                                               \
		mode_t mode = makes(flags) ? va_arg(ap, mode_t) : 0;                               \
		va_end(ap);                                                                        \
		return now(#name) ? -1 : __real_##name(path, flags, mode);                         \
	}
OPEN(open)
OPEN(open64)

#define OPENAT(name)                                                                               \
	int __real_##name(int dir, const char *path, int flags, mode_t mode);                      \
	int __wrap_##name(int dir, const char *path, int flags, ...);                              \
	int __wrap_##name(int dir, const char *path, int flags, ...)                               \
	{                                                                                          \
		va_list ap;                                                                        \
		va_start(ap, flags);                                                               \
		mode_t mode = makes(flags) ? va_arg(ap, mode_t) : 0;                               \
		va_end(ap);                                                                        \
		return now(#name) ? -1 : __real_##name(dir, path, flags, mode);                    \
	}
OPENAT(openat)
OPENAT(openat64)

/* ---- steering a whole program ---- */

static const struct {
	const char *name;
	int how;
} hows[] = {
	{.name = "ENOSPC", .how = ENOSPC},
	{.name = "EIO", .how = EIO},
	{.name = "EACCES", .how = EACCES},
	{.name = "ENOMEM", .how = ENOMEM},
	{.name = "EMFILE", .how = EMFILE},
	{.name = "EINTR", .how = EINTR},
	{.name = "KILL", .how = FAULT_KILL},
};

static void report(void)
{
	FILE *f = __real_fopen(getenv("ROCSMITH_FAULT_COUNT"), "w");
	if (!f)
		return;
	const char *name = fault_hit();
	fprintf(f, "%llu %s\n", (unsigned long long)fault_calls(), name ? name : "-");
	fclose(f);
}

__attribute__((constructor)) static void from_environment(void)
{
	const char *at = getenv("ROCSMITH_FAULT_AT"), *how = getenv("ROCSMITH_FAULT_ERRNO");
	if (getenv("ROCSMITH_FAULT_COUNT"))
		atexit(report);
	for (size_t i = 0; at && i < sizeof(hows) / sizeof(*hows); i++)
		if (!strcmp(how ? how : "EIO", hows[i].name))
			fault_arm(strtoull(at, NULL, 10), hows[i].how);
}

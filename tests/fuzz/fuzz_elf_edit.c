/* Edits of dynamic sections: whatever comes in, it is refused, or what comes out can be read, has what it should, is
 * not much larger, and stays as it is the second time. */
#include <stdlib.h>

#include "base/fs.h"
#include "formats/elf_edit.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool good)
{
	if (!good)
		abort();
}

static const struct elf_change changes[] = {
	{ELF_RUNPATH, S_INIT(""), S_INIT("$ORIGIN/a-search-path-that-is-longer-than-others")},
	{ELF_RPATH, S_INIT(""), S_INIT("")},
	{ELF_SONAME, S_INIT(""), S_INIT("libx.so.1")},
	{ELF_NEEDED, S_INIT("libm.so.6"), S_INIT("libm-other.so.6")},
	{ELF_NEEDED, S_INIT("libc.so.6"), S_INIT("")},
	{ELF_NEEDED, S_INIT(""), S_INIT("liby.so")},
};

/* Each alone, the first ones, and all. */
static struct err *edit(struct arena *a, struct str bytes, unsigned round)
{
	enum { COUNT = sizeof(changes) / sizeof(*changes) };
	CLEANUP(fd_closep) int fd = -1;
	struct elf_change v[COUNT];
	struct elf_changes c = {.v = v, .n = round < COUNT ? 1 : COUNT};
	struct stat st;
	bool changed;
	memcpy(v, round < COUNT ? &changes[round] : changes, c.n * sizeof(*v));
	TRY(fs_tempfile(&fd));
	TRY(fs_pwrite(fd, bytes.p, bytes.n, 0));
	TRY(elf_edit_fd(fd, &c, &changed));
	TRY(fs_stat(str_fmt(a, "/proc/self/fd/%d", fd), &st));
	check((uint64_t)st.st_size <= 3 * bytes.n + (20 << 20));
	check(changed || (uint64_t)st.st_size == bytes.n);
	struct err *e = elf_edit_fd(fd, &c, &changed);
	check(!e && !changed);
	return NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	for (unsigned round = 0; round < 7; round++) {
		ARENA(a);
		struct str bytes = {.p = (const char *)data, .n = size};
		err_free(edit(&a, bytes, round));
	}
	return 0;
}

/* elf-edit FILE CHANGE...: changes as patchelf names them, made by formats/elf_edit.h, for oracle/elf_edit.py.
 * --set-rpath is RUNPATH; --force-rpath sets RPATH. It prints "changed" or "same". */
#include <stdio.h>

#include "base/fs.h"
#include "formats/elf_edit.h"

static const struct option {
	const char *name;
	enum elf_tag tag;
	bool old, now;
} options[] = {
	{"--set-rpath", ELF_RUNPATH, false, true},
	{"--force-rpath", ELF_RPATH, false, true},
	{"--set-soname", ELF_SONAME, false, true},
	{"--add-needed", ELF_NEEDED, false, true},
	{"--remove-needed", ELF_NEEDED, true, false},
	{"--replace-needed", ELF_NEEDED, true, true},
};

int main(int argc, char **argv)
{
	ARENA(a);
	CLEANUP(fd_closep) int fd = -1;
	struct elf_changes c = {0};
	bool changed = false;
	for (int i = 2; i < argc; i++) {
		const struct option *o = NULL;
		struct elf_change x = {.old = S(""), .now = S("")};
		for (size_t k = 0; k < sizeof(options) / sizeof(*options); k++)
			o = str_eq(str_from(argv[i]), str_from(options[k].name)) ? &options[k] : o;
		if (!o || i + o->old + o->now >= argc)
			return 2;
		x.tag = o->tag;
		x.old = o->old ? str_from(argv[++i]) : x.old;
		x.now = o->now ? str_from(argv[++i]) : x.now;
		*VEC_PUSH(&a, &c) = x;
	}
	struct err *e =
		argc < 2 ? err_new(E_USAGE, "no file") : fs_open_shared(str_from(argv[1]), 0, &fd);
	e = e ? e : elf_edit_fd(fd, &c, &changed);
	for (const struct err *x = e; x; x = x->cause)
		fprintf(stderr, "%s\n", x->msg);
	if (!e)
		puts(changed ? "changed" : "same");
	int status = e ? 1 : 0;
	err_free(e);
	return status;
}

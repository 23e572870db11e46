/* Changing what an ELF file asks of the dynamic loader: needed libraries, its own name, its search path.
 *
 * Nothing that code can refer to moves. A string that is already there is used again; a new one takes the place of the
 * old one, or goes to zero bytes that nothing names; a new entry takes one of the spare ones behind the table. Where
 * that is not enough, the dynamic strings (and, when entries are added, the dynamic table) move to a segment of their
 * own at the end of the file (elf_image_append()); a later change extends that segment. Section headers follow, so
 * that strip still works.
 * Versions follow, too: those needed of a renamed library name it by its new name, those of a removed library are
 * removed, and the first version that a file defines is its own name.
 * Limits: x86-64, AArch64 and AMDGPU; 512 MiB of strings; files whose code finds its own dynamic table (ld.so,
 * static-pie) keep it.
 * Sources: System V gABI chapters 4 and 5; Oracle's "Linker and Libraries Guide" for the tags of filters and
 * audits; LSB 5.0 "Symbol Versioning"; glibc's assertions about both. */
#pragma once

#include "formats/elf.h"

enum elf_tag { ELF_NEEDED = 1, ELF_SONAME = 14, ELF_RPATH = 15, ELF_RUNPATH = 29 };

/* Sets a value to `now`; "" removes it. For ELF_NEEDED, the library `old` becomes `now`, and old = "" adds a library
 * behind the others. A library that is not needed, and a value that is already set, change nothing. */
struct elf_change {
	enum elf_tag tag;
	struct str old, now;
};

struct elf_changes {
	struct elf_change *v;
	size_t n, cap;
};

/* Makes the changes, in their order, in an open file that nobody else uses, and checks that the loader will find the
 * result; if it would not, that is E_ELF and the file is useless. Errors before anything is written: E_ELF, also for a
 * file without a dynamic section or without any room, and E_LIMIT; *ret_changed is false then, and also when the file
 * was as it should be. */
MUST_USE struct err *elf_edit_fd(int fd, const struct elf_changes *c, bool *ret_changed);

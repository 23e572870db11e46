/* Changes what an ELF file asks of the dynamic loader: needed libraries, its own name, its search path.
 *
 * Nothing that code can refer to moves. An existing string is reused; a new one replaces the old one, or goes into
 * zero bytes that nothing names; a new entry takes a spare one behind the table. If there is no such room, the
 * dynamic strings (and, when entries are added, the dynamic table) move to a segment of their own at the end of the
 * file (elf_image_append()); a later change extends that segment. Section headers are kept up to date, so that strip
 * still works.
 *
 * Versions are kept up to date, too: those needed of a renamed library name it by its new name, those of a removed
 * library are removed, and the version definition that is the file's own name gets the new name.
 *
 * Limits: x86-64, AArch64 and AMDGPU; 512 MiB of strings; in files whose code finds the dynamic table by itself
 * (ld.so, static-pie), the table does not move.
 *
 * Sources: System V gABI chapters 4 and 5; Oracle's "Linker and Libraries Guide" for the tags of filters and audits;
 * LSB 5.0 "Symbol Versioning"; glibc's assertions about both. */
#pragma once

#include "formats/elf.h"

enum elf_tag { ELF_NEEDED = 1, ELF_SONAME = 14, ELF_RPATH = 15, ELF_RUNPATH = 29 };

/* Sets a value to `now`; "" removes it. For ELF_NEEDED, the library `old` becomes `now`, and old = "" adds a library
 * behind the others. Renaming a library that is not needed, or setting a value that is already set, changes nothing. */
struct elf_change {
	enum elf_tag tag;
	struct str old, now;
};

struct elf_changes VEC_OF(struct elf_change);

/* Applies the changes in order to an open file that nobody else uses, and checks that the loader will find the
 * result; if it would not, that is E_ELF, and the file is unusable. Errors before the first write: E_ELF, also for a
 * file without a dynamic section or without room, and E_LIMIT; *ret_changed is then false, as it is if there was
 * nothing to change. */
MUST_USE struct err *elf_edit_fd(int fd, const struct elf_changes *c, bool *ret_changed);

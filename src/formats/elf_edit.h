/* Changing what an ELF file asks of the dynamic loader: needed libraries, its own name, its search path. (The
 * struct elf is elf.h's.)
 *
 * Nothing that code can know of moves. A string that is there already is used again; a new one goes to where the old
 * one was, or to zeros that nothing names; an entry goes to the spare ones behind the table. Where that is not
 * enough, and the file may grow, the dynamic strings (and, when entries are added, the dynamic table) move to a
 * segment of their own at the end of the file, behind what others have appended; a later change extends that one.
 * Its program header needs room behind the others: notes, .interp, and tables that only the loader reads move out of
 * the way. Without section headers, or where code begins there, the program headers move. All else stays where
 * it is, in the file and in memory; the section headers follow, so that strip still works.
 * Versions follow, too: those needed of a library that has another name now have its new name, those of one that is
 * taken out go, and the first version that a file defines is its own name.
 * Limits: x86-64, AArch64 and AMDGPU; 512 MiB of strings; files whose code finds its own dynamic table (ld.so,
 * static-pie) keep it.
 * Sources: System V gABI chapters 4 and 5; Oracle's "Linker and Libraries Guide" for the tags of filters and
 * audits; LSB 5.0 "Symbol Versioning"; what glibc asserts of both. */
#pragma once

#include "formats/elf.h"

enum elf_tag { ELF_NEEDED = 1, ELF_SONAME = 14, ELF_RPATH = 15, ELF_RUNPATH = 29 };

/* The value `now`, "": none. Of a needed library `old` becomes `now`; old = "" adds one behind the others. What is
 * so already, and a library that is not needed, changes nothing. */
struct elf_change {
	enum elf_tag tag;
	struct str old, now;
};

struct elf_changes {
	struct elf_change *v;
	size_t n, cap;
};

/* Changes an open file that nobody else uses, in their order, and looks whether the loader will find what it should:
 * then E_ELF, and the file is of no use any more. Before anything is written: E_ELF, also for a change to a file
 * without a dynamic section and when there is no room at all, or E_LIMIT; *ret_changed is false then, and when it is
 * as it should be already. */
MUST_USE struct err *elf_edit_fd(int fd, const struct elf_changes *c, bool *ret_changed);

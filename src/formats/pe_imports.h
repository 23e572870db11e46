/* The DLLs that a Windows program or DLL names: those loaded with it, and those that it loads when first used.
 * Limits: 65,536 names of 255 bytes, 96 sections (which is what Windows loads). Source: Microsoft's "PE Format", sections
 * "Optional Header", "The .idata Section" and "Delay-Load Import Tables". */
#pragma once

#include "formats/elf.h"

/* E_FORMAT for what is no 64-bit image, or has tables outside of the file. */
MUST_USE struct err *pe_imports(struct arena *a, const struct elf_src *src, struct strs *ret);

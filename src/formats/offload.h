/* Offload binaries: what clang's new offload driver leaves in objects and static libraries for the linker (-fgpu-rdc, LTO), back to
 * back in a section, an image or more in each.
 * Source: LLVM's OffloadBinary.h, versions 1 and 2; doc/formats.md has the tables. Limits: 4,096 images in a binary, 64
 * strings of 256 bytes for each; the section's budget. */
#pragma once

#include "formats/bytes.h"

#define OFFLOAD_SECTION ".llvm.offloading"

enum { OFFLOAD_ENTRY = 40 }; /* bytes; doc/formats.md */

struct offload_image {
	uint64_t binary, length; /* its binary: offset in the section, bytes */
	uint64_t of;             /* images of that binary */
	/* offset of its table entry, offset and size of its bytes, all in the binary */
	uint64_t entry, offset, size;
	struct str arch, triple; /* "gfx90a:xnack+", "" = none; as long as the call */
};

typedef struct err *offload_fn(void *user, const struct offload_image *image);
/* Calls fn for each image of a section. E_BUNDLE at the first that is damaged. */
MUST_USE struct err *offload_walk(const struct bytes *section, offload_fn *fn, void *user);

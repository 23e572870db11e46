/* The view /opt/rocm of a Debian tree: links to ROCm's own files; see sdk.h. */
#pragma once

#include "sdk/provider.h"

/* Makes (or completes) root/opt/rocm from the records of ROCm's packages in dir/records. llvm is
 * the LLVM folder inside, e.g. "/usr/lib/llvm-21". Links that no longer lead anywhere are removed.
 */
MUST_USE struct err *view_make(
	struct arena *a, struct str dir, const struct sdk_manifest *m, struct buf *made);
/* The LLVM in use: the newest usr/lib/llvm-N below root that has device libraries, "" without. */
MUST_USE struct err *view_llvm(struct arena *a, struct str root, struct str *ret);

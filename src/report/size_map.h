/* The size map shows which parts of files with device code take the space, as one self-contained HTML page: maps of areas by library, GPU and kernel,
 * and tables of the same figures. The scans have DEVCODE_DEBUG, DEVCODE_RESOURCES and
 * DEVCODE_EVERY. */
#pragma once

#include "base/vec.h"
#include "devcode/devcode.h"

struct size_map {
	VEC(struct devcode) codes;
};

struct str size_map_html(struct arena *a, const struct size_map *m);

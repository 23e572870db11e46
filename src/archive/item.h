/* A file of a network archive: the facts from the archive's signed index, and its path once fetched. */
#pragma once

#include "base/str.h"
#include "base/vec.h"

struct archive_item {
	struct str name, version;
	struct str url, file; /* file: its name in the cache */
	struct str path;      /* the local file once fetched */
	uint64_t size;
	struct str sha256; /* hex */
};

struct archive_items {
	struct archive_item *v;
	size_t n, cap;
};

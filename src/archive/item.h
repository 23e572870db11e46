/* A file of an archive in a network: what its signed index says of it, and where it lies once it is
 * fetched. */
#pragma once

#include "base/str.h"
#include "base/vec.h"

struct archive_item {
	struct str name, version, arch;
	struct str url, file; /* where from; file name in the cache */
	struct str path;      /* the local file once fetched */
	uint64_t size;
	struct str sha256; /* hex */
	bool alone;        /* wanted without its dependencies */
};

struct archive_items {
	struct archive_item *v;
	size_t n, cap;
};

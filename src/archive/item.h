/* A file of a network archive: the facts from the archive's index, which is signed, or from a Python package index; and its
 * path once fetched. */
#pragma once

#include "base/str.h"
#include "base/vec.h"

struct archive_item {
	struct str name, version; /* a Python project in PEP 503's spelling: "rocm-sdk-core" */
	struct str url, file;     /* file: its name in the cache, safe as one */
	struct str path;          /* the local file once fetched */
	uint64_t size;            /* 0 = unknown */
	struct str sha256;        /* hex; "" = the index gives none */
	/* Only files of Python package indexes have these: */
	struct str index;           /* the address or folder that has it, without a login */
	struct str requires_python; /* "" = any */
	struct str
		metadata_sha256; /* "true" = it has metadata beside it, but no hash; "" = it has none */
	bool yanked;
};

struct archive_items VEC_OF(struct archive_item);

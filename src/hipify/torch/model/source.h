/* Finds the hipify that belongs to a torch: a source checkout, an installed torch package, or a wheel.
 *
 * The files are read as text and never executed. A wheel is read through its central directory:
 * only the members that are needed are inflated. The identity of a torch is the hash of these
 * texts; its algorithm is known when the fingerprint of hipify_python.py is in our table
 * (source.c), which holds every release from 2.2 to 2.15. See "Generations" in doc/hipify.md.
 */
#pragma once

#include "base/err.h"

enum torch_kind { TORCH_CHECKOUT, TORCH_PACKAGE, TORCH_WHEEL };
enum torch_generation { TORCH_V1 = 1, TORCH_V2 = 2 }; /* up to 2.10, from 2.11 on */

/* One of the files. */
struct torch_file {
	struct str
		path; /* as messages name it: "DIR/torch/utils/hipify/constants.py", "WHEEL:torch/..." */
	struct str text; /* .p is NULL when the torch has no such file */
};

struct torch_source {
	enum torch_kind kind;
	struct str path;    /* as given */
	struct str version; /* "2.6.0"; "" if it is unknown */
	struct torch_file mappings, algorithm, constants, hipify_version; /* utils/hipify/ */
	struct torch_file build_amd; /* tools/amd_build/build_amd.py, checkouts only */
	struct str identity;         /* hex SHA-256 over all of these */
	struct str fingerprint; /* hex, of hipify_python.py without comments, docs, blank lines */
	enum torch_generation generation;
	bool known;  /* the fingerprint is in our table; if not, generation is a guess */
	bool fbgemm; /* is_pytorch_file() counts third_party/fbgemm/ (2.10) */
};

/* path: a checkout's root, the folder of an installed package (with or without the last "torch"), a
 * venv or site-packages that has one, or a .whl. E_NOENT / E_TORCH with what was looked for. */
MUST_USE struct err *torch_open(struct arena *a, struct str path, struct torch_source *ret);

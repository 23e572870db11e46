/* Finds the hipify that belongs to a torch: a source checkout, an installed torch package, or a wheel.
 *
 * The files are read as text and never executed. A wheel is read through its central directory:
 * only the needed members are inflated. The identity of a torch is the hash of these
 * texts; its algorithm is known if the fingerprint of hipify_python.py is in our table
 * (data/torch_hipify.yaml), which holds every release from 2.2 to 2.15. See "Generations" in doc/hipify.md.
 */
#pragma once

#include "base/err.h"
#include "base/vec.h"

enum torch_generation { TORCH_V1 = 1, TORCH_V2 = 2 }; /* up to 2.10, from 2.11 on */

/* A version of hipify_python.py. */
struct torch_algorithm {
	const char *fingerprint; /* as in struct torch_source */
	enum torch_generation generation;
	bool fbgemm;
};
TABLE(torch_algorithm);

/* One file of a torch. */
struct torch_file {
	struct str
		path; /* as in messages: "DIR/torch/utils/hipify/constants.py", "WHEEL:torch/..." */
	struct str text; /* .p is NULL if the torch has no such file */
};

struct torch_source {
	struct str path;    /* as given */
	struct str version; /* "2.6.0"; "" if it is unknown */
	struct torch_file mappings, algorithm, constants, hipify_version; /* utils/hipify/ */
	struct torch_file build_amd; /* tools/amd_build/build_amd.py, checkouts only */
	struct str identity;         /* hex SHA-256 over all of these and the variables they read */
	struct str fingerprint; /* hex, of hipify_python.py without comments, docs, blank lines */
	enum torch_generation generation;
	bool known;  /* the fingerprint is in our table; otherwise generation is a guess */
	bool fbgemm; /* is_pytorch_file() counts third_party/fbgemm/ (2.10) */
};

/* path is the root of a checkout, the folder of an installed package (with or without the final
 * "torch"), a venv or site-packages that has one, or a .whl. E_NOENT or E_TORCH, naming the missing file. */
MUST_USE struct err *torch_open(struct arena *a, struct str path, struct torch_source *ret);

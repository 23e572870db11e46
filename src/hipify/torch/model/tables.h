/* The name tables of one torch, parsed from its cuda_to_hip_mappings.py.
 *
 * Only literals are understood (strings, tuples, dicts, OrderedDict([...]), names of constants and
 * the one conditional value, _RCCL_HEADER, which looks at IS_FBCODE); anything else is E_TORCH with
 * file and line. The order of torch's list of tables decides: the last table that has a key wins,
 * and inside a table the last pair. The rules of both generations: "Tables" in doc/hipify.md.
 */
#pragma once

#include "base/map.h"
#include "base/vec.h"
#include "hipify/torch/model/source.h"

struct torch_entry {
	struct str from, to;
	struct str table; /* "CUDA_IDENTIFIER_MAP"; "custom" for the user's */
	struct str file;  /* the mapping file, as messages name it */
	unsigned line;
};

struct torch_map {
	struct torch_entry *v; /* unique keys, in the order of their first appearance */
	size_t n, cap;
};

struct torch_tables {
	enum torch_generation generation;
	struct torch_map names;   /* PYTORCH_MAP */
	struct torch_map special; /* PYTORCH_SPECIAL_MAP; v1 */
	struct torch_map caffe2;  /* CAFFE2_MAP; v1 */
	struct torch_map paths;   /* CAFFE2_PATH_MAPPINGS; v2 */
	struct torch_map math;    /* MATH_TRANSPILATIONS: "std::max" to "::max" */
};

MUST_USE struct err *torch_tables_read(
	struct arena *a, const struct torch_source *s, struct torch_tables *ret);
/* A user's own pairs, which win over all tables: JSON {"custom_map": {"cudaFoo": "hipFoo"}} as
 * hipify_torch has it, or the same as YAML (any file whose name does not end in .json). */
MUST_USE struct err *torch_tables_add(
	struct arena *a, struct str path, struct str text, struct torch_tables *ret);

/* The name tables of one torch, parsed from its cuda_to_hip_mappings.py.
 *
 * Only literals are understood (strings, tuples, dicts, OrderedDict([...]), names of constants and
 * the one conditional value, _RCCL_HEADER, which depends on IS_FBCODE); anything else is E_TORCH with
 * file and line. The last table in torch's list that has a key wins, and inside a table the last
 * pair. "Tables" in doc/hipify.md has the rules of both generations.
 */
#pragma once

#include "base/map.h"
#include "base/vec.h"
#include "hipify/torch/model/source.h"

struct torch_entry {
	struct str from, to;
	struct str table; /* "CUDA_IDENTIFIER_MAP"; "custom" in the user's own pairs */
	struct str file;  /* the mapping file, as named in messages */
	unsigned line;
};

struct torch_map {
	VEC(struct torch_entry); /* unique keys, in the order of their first appearance */
	struct map at;           /* in struct torch_tables: key -> index + 1 */
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
/* Adds the user's own pairs, which win over all tables: JSON {"custom_map": {"cudaFoo": "hipFoo"}}, the
 * format of hipify_torch, or the same as YAML (any file whose name does not end in .json). */
MUST_USE struct err *torch_tables_add(
	struct arena *a, struct str path, struct str text, struct torch_tables *ret);

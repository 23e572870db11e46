/* The names that PyTorch's hipify gives its results, and the parts of a PyTorch tree that it treats
 * differently. The predicates take paths relative to the tree; see select.h. */
#include "hipify/torch/run/select.h"
#include "lang/python/path.h"
#include "lang/python/text.h"

bool torch_out_of_place(struct str rel)
{
	return !str_starts(rel, S("torch/")) && !str_starts(rel, S("third_party/nvfuser/")) &&
	       !str_starts(rel, S("tools/autograd/templates/"));
}

bool torch_pytorch_file(struct str rel, bool fbgemm)
{
	if (str_starts(rel, S("aten/")))
		return !str_starts(rel, S("aten/src/ATen/core/"));
	return !torch_out_of_place(rel) || (fbgemm && str_starts(rel, S("third_party/fbgemm/")));
}

bool torch_special_file(struct str rel, bool fbgemm)
{
	ARENA(a);
	if (!torch_pytorch_file(rel, fbgemm))
		return false;
	/* Lowering ASCII is enough: str.lower() maps U+212A to k, which is in none of these words, and
	 * U+0130 to an i with a combining dot. */
	struct str low = str_lower(&a, rel);
	if (str_contains(low, S("sparse")))
		return true;
	return str_contains(low, S("linalg")) && !str_contains(low, S("batchlinearalgebralibblas"));
}

bool torch_caffe2_gpu_file(struct str rel)
{
	if (str_starts(rel, S("c10/cuda")))
		return true;
	struct str name = py_basename(rel), ext = py_ext(name);
	return (str_contains(name, S("gpu")) || str_eq(ext, S(".cu")) || str_eq(ext, S(".cuh"))) &&
	       !str_contains(name, S("cudnn"));
}

static struct str to_hip(struct arena *a, struct str s)
{
	return py_str_replace(a, py_str_replace(a, s, S("cuda"), S("hip")), S("CUDA"), S("HIP"));
}

struct str torch_output_name(struct arena *a, struct str rel, bool extension)
{
	if (!extension && !torch_out_of_place(rel))
		return rel;
	struct str dir = py_dirname(rel), name = py_basename(rel), ext = py_ext(name);
	struct str new_ext = str_eq(ext, S(".cu")) ? S(".hip") : ext;
	struct str new_dir = py_str_replace(a, to_hip(a, dir), S("THC"), S("THH"));
	struct str root = to_hip(a, str_sub(name, 0, name.n - ext.n));
	if (!str_eq(new_dir, S("caffe2/core")))
		root = py_str_replace(a, root, S("THC"), S("THH"));
	bool moved = !str_eq(new_dir, dir);
	if (!extension && !moved)
		new_dir = py_join(a, new_dir, S("hip"));
	struct str file = str_fmt(a, "%.*s%.*s", STR(root), STR(new_ext));
	if (extension && !moved && str_eq(file, name))
		file = str_fmt(a, "%.*s_hip%.*s", STR(root), STR(new_ext));
	return py_join(a, new_dir, file);
}

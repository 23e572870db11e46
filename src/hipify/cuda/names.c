/* Looks names up in the tables, and classifies and renames files. */
#include "hipify/cuda/names.h"

#include "base/fs.h"

struct str names_text(uint32_t offset)
{
	return str_from(names_pool + offset);
}

static bool has_text(uint32_t offset, struct str s)
{
	const char *p = names_pool + offset;
	return !strncmp(p, s.p, s.n) && !p[s.n];
}

const struct hipify_rule *names_find(struct str name)
{
	if (name.n < 2 || name.n > 255 || memchr(name.p, '\0', name.n))
		return NULL;
	size_t i = names_hash(name.p, name.n) % NAMES_SLOTS;
	for (; names_slots[i]; i = (i + 1) % NAMES_SLOTS) {
		const struct hipify_rule *r = &names_rows[names_slots[i] - 1];
		if (has_text(r->cuda, name))
			return r;
	}
	return NULL;
}

const struct arg_rule *names_arg(struct str name)
{
	if (!str_starts(name, S("cu")) && !str_starts(name, S("nvrtc")) &&
		!str_ends(name, S("_sync")))
		return NULL;
	if (str_ends(name, S("_v2")))
		name = str_sub(name, 0, name.n - 3);
	for (const struct arg_rule *r = names_args; r->arg; r++)
		if (str_eq(r->name, name))
			return r;
	return NULL;
}

bool names_is(const struct hipify_rule *r, const char *kind)
{
	return has_text(r->kind, str_from(kind));
}

const char *const names_before_use[] = {"return", "else", "throw", "new", "delete", "case", "goto",
	"sizeof", "typename", "do", "co_return", "co_await", "co_yield", "const", "volatile",
	"static", "extern", "inline", "constexpr", "register", "mutable", "not", "and", "or",
	"defined", "ifdef", "ifndef", "if", "elif", "undef", "operator", "alignof", "decltype",
	NULL};

bool names_newer(const struct hipify_rule *r, struct str rocm)
{
	enum { PARTS = 4 };
	uint64_t first[PARTS], has[PARTS];
	struct str since = names_text(r->since);
	str_numbers(since, first, PARTS);
	str_numbers(rocm, has, PARTS);
	for (size_t i = 0; since.n && rocm.n && i < PARTS; i++)
		if (first[i] != has[i])
			return first[i] > has[i];
	return false;
}

/* Prefixes of the names of CUDA and its libraries. After a prefix that does not end in '_' an upper-case
 * letter must follow (cudaMalloc, but not cudart or cudaview). CUDA_ itself is left out, because projects
 * use it for their own macros (CUDA_CHECK, CUDA_ARCH); NVIDIA's are in the tables. */
static const char *const prefixes[] = {"CUBLASLT_", "CUBLAS_", "CUDART_", "CUDA_ERROR_", "CUDA_C_",
	"CUDA_R_", "CUDNN_", "CUFFT_", "CUPTI_", "CURAND_", "CUSOLVER_", "CUSPARSE_", "CUTENSOR_",
	"CU_", "NVML_", "NVRTC_", "NVTX_", "__CUDACC_", "__CUDA_", "__cuda", "__nv_", "__nvvm_",
	"cu", "cublas", "cublasLt", "cublasXt", "cuda", "cudnn", "cufft", "cufftXt", "cupti",
	"curand", "curand_", "cusolver", "cusparse", "cutensor", "npp", "nvjpeg", "nvml", "nvrtc",
	"nvtx"};

bool names_look_like_cuda(struct str name)
{
	if (name.n < 4 || !strchr("cCnN_", name.p[0]))
		return false;
	for (size_t i = 0; i < sizeof(prefixes) / sizeof(*prefixes); i++) {
		struct str prefix = str_from(prefixes[i]);
		if (name.n <= prefix.n || !str_starts(name, prefix))
			continue;
		char next = name.p[prefix.n];
		if (prefix.p[prefix.n - 1] == '_' || (next >= 'A' && next <= 'Z'))
			return true;
	}
	return false;
}

bool names_are_own(const struct map *declared, struct str name)
{
	bool member = str_starts(name, S("cuda::")) && !str_eq(name, S("cuda::std"));
	return map_has(declared, name) || (member && map_has(declared, S("cuda")));
}

/* ---- files ---- */

bool hipify_is_source(struct str path)
{
	static const char *const extensions[] = {".cu", ".cuh", ".c", ".cc", ".cpp", ".cxx", ".c++",
		".h", ".hh", ".hip", ".hpp", ".hxx", ".inc", ".inl", ".ipp", ".tcc", ".tpp", NULL};
	return str_is_one_of(path_ext(path), extensions);
}

struct str hipify_output_name(struct arena *a, struct str path)
{
	if (!str_ends(path, S(".cu")))
		return path;
	return str_fmt(a, "%.*s.hip", STR(str_sub(path, 0, path.n - 3)));
}

bool hipify_is_our_header(struct str path)
{
	return str_starts(path, S("rocsmith/"));
}

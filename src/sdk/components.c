/* What the words of --components mean: packages, headers, and which packages are ROCm's. Facts from
 * the indices of Debian sid, experimental and trixie (October 2026); see provider.h. */
#include <fnmatch.h>

#include "base/buf.h"
#include "base/suggest.h"
#include "sdk/provider.h"

/* hipcc starts sh and expects common tools; libc-bin has the locale C.UTF-8. */
#define COMPILER "hipcc libamdhip64-dev dash coreutils libc-bin sed grep"
#define MATH                                                                                       \
	"librocblas-dev libhipblas-dev libhipblaslt-dev librocsparse-dev libhipsparse-dev "        \
	"librocfft-dev libhipfft-dev librocrand-dev libhiprand-dev librocsolver-dev "              \
	"libhipsolver-dev librocprim-dev libhipcub-dev librocthrust-dev "                          \
	"libhipblas-common-dev"
#define DNN "libmiopen-dev"
#define TORCH_BUILD                                                                                \
	MATH " " DNN " librocm-smi-dev libamd-smi-dev libroctx-dev rocm-cmake cmake "              \
	     "ninja-build python3-dev python3-yaml python3-setuptools"

static const struct component {
	const char *name, *packages, *about;
	bool alone; /* the packages without what they depend on */
} components[] = {
	{.name = "compiler", .packages = COMPILER, .about = "clang, device libraries, HIP"},
	{.name = "math",
		.packages = MATH,
		.about = "all BLAS, FFT, RNG, sparse, solver, primitives"},
	{.name = "dnn", .packages = DNN, .about = "MIOpen"},
	{.name = "torch-build", .packages = TORCH_BUILD, .about = "what PyTorch's build looks for"},
	{.name = "headers",
		.packages = MATH " " DNN " libroctx-dev",
		.about = "headers of all libraries, without the libraries",
		.alone = true},
	{.name = "amd-smi", .packages = "libamd-smi-dev", .about = "AMD SMI"},
	{.name = "composable-kernel",
		.packages = "libcomposable-kernel-dev",
		.about = "CK headers"},
	{.name = "hipblas", .packages = "libhipblas-dev", .about = "BLAS, CUDA-like interface"},
	{.name = "hipblaslt",
		.packages = "libhipblaslt-dev",
		.about = "matrix multiply with epilogues"},
	{.name = "hipcub", .packages = "libhipcub-dev", .about = "CUB's interface, header-only"},
	{.name = "hipfft", .packages = "libhipfft-dev", .about = "FFT, CUDA-like interface"},
	{.name = "hiprand", .packages = "libhiprand-dev", .about = "random numbers, CUDA-like"},
	{.name = "hipsolver",
		.packages = "libhipsolver-dev",
		.about = "LAPACK, CUDA-like interface"},
	{.name = "hipsparse",
		.packages = "libhipsparse-dev",
		.about = "sparse, CUDA-like interface"},
	{.name = "miopen", .packages = "libmiopen-dev", .about = "deep-learning primitives"},
	{.name = "python", .packages = "libpython3-dev", .about = "Python.h, for machines without"},
	{.name = "rccl", .packages = "librccl-dev", .about = "collectives"},
	{.name = "rocblas", .packages = "librocblas-dev", .about = "BLAS"},
	{.name = "rocfft", .packages = "librocfft-dev", .about = "FFT"},
	{.name = "rocm-smi", .packages = "librocm-smi-dev", .about = "ROCm SMI"},
	{.name = "rocprim",
		.packages = "librocprim-dev",
		.about = "parallel primitives, header-only"},
	{.name = "rocrand", .packages = "librocrand-dev", .about = "random numbers"},
	{.name = "rocsolver", .packages = "librocsolver-dev", .about = "LAPACK"},
	{.name = "rocsparse", .packages = "librocsparse-dev", .about = "sparse linear algebra"},
	{.name = "rocthrust", .packages = "librocthrust-dev", .about = "Thrust, header-only"},
	{.name = "rocwmma", .packages = "librocwmma-dev", .about = "matrix cores, header-only"},
	{.name = "roctx", .packages = "libroctx-dev", .about = "markers for profilers"},
};
enum { COMPONENTS = sizeof(components) / sizeof(components[0]) };

/* A header belongs to the component when its path starts with the prefix. */
static const struct {
	const char *prefix, *component;
} headers[] = {
	{.prefix = "amd_smi/", .component = "amd-smi"},
	{.prefix = "ck/", .component = "composable-kernel"},
	{.prefix = "ck_tile/", .component = "composable-kernel"},
	{.prefix = "hip/", .component = "compiler"},
	{.prefix = "hipblas.h", .component = "hipblas"},
	{.prefix = "hipblas/", .component = "hipblas"},
	{.prefix = "hipblaslt/", .component = "hipblaslt"},
	{.prefix = "hipcub/", .component = "hipcub"},
	{.prefix = "hipfft.h", .component = "hipfft"},
	{.prefix = "hipfft/", .component = "hipfft"},
	{.prefix = "hiprand/", .component = "hiprand"},
	{.prefix = "hipsolver/", .component = "hipsolver"},
	{.prefix = "hipsparse.h", .component = "hipsparse"},
	{.prefix = "hipsparse/", .component = "hipsparse"},
	{.prefix = "hsa/", .component = "compiler"},
	{.prefix = "miopen/", .component = "miopen"},
	{.prefix = "rccl.h", .component = "rccl"},
	{.prefix = "rccl/", .component = "rccl"},
	{.prefix = "rocblas.h", .component = "rocblas"},
	{.prefix = "rocblas/", .component = "rocblas"},
	{.prefix = "rocfft.h", .component = "rocfft"},
	{.prefix = "rocfft/", .component = "rocfft"},
	{.prefix = "rocm_smi/", .component = "rocm-smi"},
	{.prefix = "rocprim/", .component = "rocprim"},
	{.prefix = "rocrand/", .component = "rocrand"},
	{.prefix = "rocsolver/", .component = "rocsolver"},
	{.prefix = "rocsparse/", .component = "rocsparse"},
	{.prefix = "rocsparse.h", .component = "rocsparse"},
	{.prefix = "roctracer/", .component = "roctx"},
	{.prefix = "rocwmma/", .component = "rocwmma"},
	{.prefix = "thrust/", .component = "rocthrust"},
};

/* Binary packages whose headers and libraries are ROCm's. */
static const char *const rocm_packages[] = {
	"libamd-comgr*",
	"libamd-smi*",
	"libamdhip64-*",
	"libaqlprofile*",
	"libcomposable-kernel*",
	"libhalf-dev",
	"half",
	"libhip*",
	"libhsa-runtime*",
	"libhsakmt*",
	"libmagma*-rocm*",
	"libmagma-rocm*",
	"libmiopen*",
	"liboam*",
	"librccl*",
	"librocalution*",
	"librocblas*",
	"librocfft*",
	"librocm-*",
	"librocprim*",
	"librocprofiler*",
	"librocrand*",
	"librocsolver*",
	"librocsparse*",
	"librocthrust*",
	"libroctracer*",
	"libroctx*",
	"librocwmma*",
	"rocm-cmake",
	"rocm-device-libs*",
	"hipcc*",
};

/* Source packages of ROCm: what a pin to experimental covers. */
static const char rocm_sources[] =
	"aqlprofile composable-kernel hipblas hipblas-common hipblaslt hipcub hipfft hipify "
	"hiprand "
	"hipsolver hipsparse hipsparselt miopen rccl rocalution rocblas rocfft rocm-cmake "
	"rocm-core "
	"rocm-hipamd rocm-llvm rocm-smi-lib rocminfo rocprim rocprofiler-register rocr-runtime "
	"rocrand rocsolver rocsparse rocthrust roctracer rocwmma amdsmi rocm-compilersupport "
	"rocm-device-libs";

struct strs sdk_component_names(struct arena *a)
{
	struct strs list = {0};
	for (size_t i = 0; i < COMPONENTS; i++)
		strs_add(a, &list, str_from(components[i].name));
	return list;
}

static const struct component *find(struct str name)
{
	for (size_t i = 0; i < COMPONENTS; i++)
		if (str_eq(name, str_from(components[i].name)))
			return &components[i];
	return NULL;
}

const char *sdk_component_about(struct str name)
{
	const struct component *c = find(name);
	return c ? c->about : "";
}

struct err *component_packages(struct arena *a, struct str name, struct strs *ret, bool *ret_alone)
{
	const struct component *c = find(name);
	if (c) {
		*ret = str_split(a, str_from(c->packages), ' ');
		*ret_alone = c->alone;
		return NULL;
	}
	struct strs names = sdk_component_names(a);
	struct str near = suggest(str_lower(a, name), &names);
	struct err *e = err_new(E_USAGE, "unknown SDK component '%.*s'", STR(name));
	if (near.n)
		return err_hint(e, "did you mean '%.*s'?", STR(near));
	return err_hint(e, "'rocsmith sdk list' shows the components");
}

bool package_is_rocm(struct str name)
{
	ARENA(tmp);
	char *z = str_z(&tmp, name);
	for (size_t i = 0; i < sizeof(rocm_packages) / sizeof(rocm_packages[0]); i++)
		if (fnmatch(rocm_packages[i], z, 0) == 0)
			return true;
	return false;
}

struct str rocm_preferences(struct arena *a, struct str suite)
{
	BUF(out, a);
	buf_add(&out, S("Package:"));
	struct strs sources = str_split(a, str_from(rocm_sources), ' ');
	for (size_t i = 0; i < sources.n; i++)
		buf_fmt(&out, " src:%.*s", STR(sources.v[i]));
	buf_fmt(&out, "\nPin: release a=%.*s\nPin-Priority: 990\n", STR(suite));
	return buf_str(&out);
}

struct strs sdk_components_for_headers(struct arena *a, const struct strs *list)
{
	struct strs out = {0};
	for (size_t i = 0; i < list->n; i++)
		for (size_t k = 0; k < sizeof(headers) / sizeof(headers[0]); k++) {
			struct str c = str_from(headers[k].component);
			if (str_starts(list->v[i], str_from(headers[k].prefix)) &&
				!strs_has(&out, c))
				strs_add(a, &out, c);
		}
	strs_sort(&out);
	return out;
}

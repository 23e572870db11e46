/* What src/hipify does to a text: names, includes, arguments, guards; what it leaves and reports */
#include <time.h>

#include "test.h"

#include "base/buf.h"
#include "hipify/cuda/names.h"

/* Translates as a header (nothing is put in front) and compares; a second pass changes nothing. */
static void check_as(const char *path, const char *source, const char *want)
{
	ARENA(a);
	struct hipify_text t, again;
	assert_ok(hipify_text(&a, str_from(source), str_from(path), NULL, &t));
	assert_str(t.text, want);
	assert_ok(hipify_text(&a, t.text, str_from(path), NULL, &again));
	assert_str(again.text, want);
}

static void check(const char *source, const char *want)
{
	check_as("t.cuh", source, want);
}

static void same(const char *source)
{
	check(source, source);
}

/* The names reported for a text, as "line:name ...". */
static void check_left(const char *source, const char *want)
{
	ARENA(a);
	BUF(b, &a);
	struct hipify_text t;
	assert_ok(hipify_text(&a, str_from(source), S("t.cuh"), NULL, &t));
	VEC_EACH (const struct untranslated, l, &t.untranslated)
		buf_fmt(&b, "%s%u:%.*s", b.n ? " " : "", l->line, STR(l->name));
	assert_str(buf_str(&b), want);
}

static void members_get_the_attributes_of_their_definitions(void **state)
{
#define HD "__host__ __device__ "
	(void)state;
	/* by the name of the definition's macro, before all words of the declaration, for that overload alone */
	check("#define FN __host__ __device__\ntemplate<> class c<float> {\npublic:\n"
	      "explicit c(const c<double>& x = 0); c(int); float r() const; float r();\n};\n"
	      "inline FN c<float>::c(const c<double>& y) : a(1) {}\n"
	      "FN float c<float>::r() const { return 1; }\n",
		"#define FN __host__ __device__\ntemplate<> class c<float> {\npublic:\n"
		"FN explicit c(const c<double>& x = 0); c(int); FN float r() const; float "
		"r();\n};\n"
		"inline FN c<float>::c(const c<double>& y) : a(1) {}\n"
		"FN float c<float>::r() const { return 1; }\n");
	check("namespace n { template<class T> struct v { v &operator+=(T); template<class U> U "
	      "f(U u); "
	      "}; }\n"
	      "template<class T> " HD "v<T> &n::v<T>::operator+=(T t) { return *this; }\n"
	      "template<class T> template<class U> " HD "U v<T>::f(U u) {}\n",
		"namespace n { template<class T> struct v { " HD
		"v &operator+=(T); template<class U> " HD "U f(U u); }; }\n"
		"template<class T> " HD "v<T> &n::v<T>::operator+=(T t) { return *this; }\n"
		"template<class T> template<class U> " HD "U v<T>::f(U u) {}\n");
	/* functions of a namespace; calls that look alike are none */
	check("#if 1\n#endif\nextern \"C\" {\nint f(int a);\nvoid g() { return f(int); }\n" HD
	      "int f(int b) {}\n}",
		"#if 1\n#endif\nextern \"C\" {\n" HD
		"int f(int a);\nvoid g() { return f(int); }\n" HD "int f(int b) {}\n}");
	/* definitions for one side, inside of the class, of another class; declarations that have attributes */
	same("struct A { void f(); void g(); " HD "void h(); void i() {} };\n"
	     "__device__ void A::f() {}\nvoid A::g() {}\n" HD "void A::h() {}\n" HD
	     "void B::g() {}\n" HD "void g() {}\n");
	same("} ( :: ~ operator > < template { struct { operator ; __host__ __device__ :: f ( { A "
	     ":: ( "
	     "{ > :: f ( , ) {");
}

static void a_constexpr_function_of_the_device_is_the_hosts_too(void **state)
{
#define HOST "__attribute__((host)) "
	(void)state;
	check("__device__ constexpr int f(int a) { return a; }",
		"__device__ " HOST "constexpr int f(int a) { return a; }");
	check("constexpr static __device__ int f();", HOST "constexpr static __device__ int f();");
	check("#define MINE __device__ inline\ntemplate <typename T>\nMINE constexpr auto f(T a) "
	      "{}",
		"#define MINE __device__ inline\ntemplate <typename T>\nMINE " HOST
		"constexpr auto f(T a) {}");
	same("#define BOTH __host__ __device__\nBOTH constexpr int f(int a);\n"
	     "__host__ __device__ constexpr int g();\nconstexpr int h();\n"
	     "__device__ constexpr int x = 1, y[] = {1}, z{1};\n"
	     "__device__ void i() { constexpr int n = f(1); if constexpr (n) {} }\n"
	     "#define BOTH2 constexpr __device__\nconstexpr __device__");
}

static void operators_of_vector_types_win_over_hips(void **state)
{
#define MARK "__attribute__((enable_if(true, \"\"))) "
	(void)state;
	check("inline float2 operator*(float2 a, float2 b) { return a; }",
		"inline float2 " MARK "operator*(float2 a, float2 b) { return a; }");
	check("void operator+=(float3 &a, const float3 &b);",
		"void " MARK "operator+=(float3 &a, const float3 &b);");
	check("int4& operator<<=(int4 &a, int s) {}",
		"int4& " MARK "operator<<=(int4 &a, int s) {}");
	check("cufftComplex operator-(cufftComplex a)",
		"hipfftComplex " MARK "operator-(hipfftComplex a)");
	/* atomics of types that CUDA lacks, and HIP has */
	check("__device__ void atomicMin(float *a, float b) { }",
		"__device__ void " MARK "atomicMin(float *a, float b) { }");
	same("void f() { int old = atomicMin(&x, 1); return atomicMin(a, b); }");
	same("void f() { if (x) atomicAdd(a, b); else atomicAdd(c, d); }");
	/* the text's own names */
	check("typedef float2 C; C operator/(C a, C b);",
		"typedef float2 C; C " MARK "operator/(C a, C b);");
	check("using V = double3; V operator+(V a, V b);",
		"using V = double3; V " MARK "operator+(V a, V b);");
	check("#define OP(o) float3 operator o(float3 a, float3 b)\n",
		"#define OP(o) float3 " MARK "operator o(float3 a, float3 b)\n");
	/* a friend is no member; a member and what it converts to are no rivals of HIP's */
	check("struct A { A operator*(float2) const; friend A operator*(A, float2); };",
		"struct A { A operator*(float2) const; friend A " MARK "operator*(A, float2); };");
	same("float3 A::operator*(const float3 &x) const { return x; }");
	same("struct A { operator float3() const; float &operator[](int4 i); float "
	     "operator()(float2) const; };");
	same("struct B { int i; }; float2 a, b; B operator*(B a, B b) { return a; }");
	same("float2 f(float2 a) { return operator*(a, float2(a)); }");
	same("A &operator=(const float2 &);");
#undef MARK
}

/* A build changes these alone where PyTorch's own translation makes the rest. */
static void marks_are_the_only_changes_before_pytorchs_translation(void **state)
{
	ARENA(a);
	const struct hipify_context context = {.marks = true};
	struct hipify_text t;
	(void)state;
	assert_ok(hipify_text(&a,
		S("__global__ void k() { cudaFree(0); v += __shfl_down_sync(FULL, v, 16); }\n"
		  "float2 operator*(float2 a, float2 b);"),
		S("t.cu"), &context, &t));
	assert_str(t.text,
		"__global__ void k() { cudaFree(0); v += __shfl_down_sync((unsigned long "
		"long)(FULL), v, 16); }\n"
		"float2 __attribute__((enable_if(true, \"\"))) operator*(float2 a, float2 b);");
	/* torch's hipify leaves these, and the device would get the host's code; whoever knows HIP means it */
	assert_ok(hipify_text(&a, S("#ifdef __CUDA_ARCH__\n#endif\nint a = __CUDA_ARCH__;"),
		S("t.h"), &context, &t));
	assert_str(t.text, "#ifdef __HIP_DEVICE_COMPILE__\n#endif\nint a = __CUDA_ARCH__;");
	const char *known = "#if defined(__CUDA_ARCH__) || defined(USE_ROCM)\n#endif\n";
	assert_ok(hipify_text(&a, str_from(known), S("t.h"), &context, &t));
	assert_str(t.text, known);
}

static void names_of_every_library(void **state)
{
	(void)state;
	check("cudaError_t e = cudaMalloc(&p, 4);", "hipError_t e = hipMalloc(&p, 4);");
	check("CUdevice d; cuInit(0); cuMemAlloc(&p, 1);",
		"hipDevice_t d; hipInit(0); hipMalloc((hipDeviceptr_t *)(&p), 1);");
	check("cublasSgemm(h, CUBLAS_OP_N)", "hipblasSgemm(h, HIPBLAS_OP_N)");
	check("curandState s; curand_init(1, 2, 3, &s);",
		"hiprandState s; hiprand_init(1, 2, 3, &s);");
	check("cufftExecC2C(p, a, b, CUFFT_FORWARD)", "hipfftExecC2C(p, a, b, HIPFFT_FORWARD)");
	check("cusparseHandle_t h;", "hipsparseHandle_t h;");
	check("cusolverDnHandle_t h;", "hipsolverHandle_t h;");
	check("nvrtcProgram p;", "hiprtcProgram p;");
	check("cuFloatComplex z = make_cuFloatComplex(1, 2);",
		"hipFloatComplex z = make_hipFloatComplex(1, 2);");
	check("__nv_bfloat16 a; nv_bfloat162 b;", "__hip_bfloat16 a; __hip_bfloat162 b;");
	check("x * CUDART_PI_F", "x * HIP_PI_F");
}

static void words_only_not_parts_of_words(void **state)
{
	(void)state;
	same("int mycudaMalloc, cudaMalloc2x, _cudaMalloc;");
	same("double d\xc3\xa9"
	     "cudaMalloc;");
	same("int cub = 1; cub++; x.cub(2);");
	same("ncclAllReduce(a, b, n, ncclFloat, ncclSum, c, s);");
}

static void comments_and_strings_stay(void **state)
{
	(void)state;
	same("// cudaMalloc\n/* cudaFree\n */ \"cudaMalloc\" 'c'");
	same("R\"(cudaMalloc)\"");
	check("\"a\\\"\" cudaFree", "\"a\\\"\" hipFree");
	check("#error cudaMalloc isn't there\ncudaFree", "#error hipMalloc isn't there\nhipFree");
}

static void includes(void **state)
{
	(void)state;
	check("#include <cuda_runtime.h>\n", "#include <hip/hip_runtime.h>\n");
	check("#  include \"curand_kernel.h\" // x\n",
		"#  include \"hiprand/hiprand_kernel.h\" // x\n");
	check("#include <cub/block/block_reduce.cuh>\n", "#include <hipcub/hipcub.hpp>\n");
	check("#include <thrust/system/cuda/execution_policy.h>\n",
		"#include <thrust/system/hip/execution_policy.h>\n");
	check("#include \"sub/kernels.cu\"\n", "#include \"sub/kernels.hip\"\n");
	check("#include <nccl.h>\n", "#include <rccl/rccl.h>\n");
	check("#include <device_launch_parameters.h>\n", "#include <hip/hip_runtime.h>\n");
	same("#include <thrust/sort.h>\n#include \"my_cuda.h\"\n#include MACRO\n");
	same("x = \"cuda_runtime.h\"; // #include <cuda.h>\n");
}

static void headers_that_are_needed_are_listed(void **state)
{
	(void)state;
	ARENA(a);
	struct hipify_text t;
	struct str source = S("#include <curand.h>\n#include <thrust/sort.h>\n#include <curand.h>\n"
			      "#include <vector>\n");
	assert_ok(hipify_text(&a, source, S("t.cu"), NULL, &t));
	assert_str(str_join(&a, &t.headers, S(" ")), "hiprand/hiprand.h thrust/sort.h");
}

static void the_runtime_header_is_put_in_front(void **state)
{
	(void)state;
	check_as("t.cu", "int x;\n", "#include <hip/hip_runtime.h>\nint x;\n");
	check_as("t.cu", "", "#include <hip/hip_runtime.h>\n");
	check_as("t.cu", "\xef\xbb\xbfint x;\n",
		"\xef\xbb\xbf#include <hip/hip_runtime.h>\nint x;\n");
	check_as("t.cu", "// x\n#include <cuda_runtime.h>\n",
		"// x\n#include <hip/hip_runtime.h>\n");
	check_as("t.cu", "#include <vector>\n#include <cuda.h>\n",
		"#include <hip/hip_runtime.h>\n#include <vector>\n#include <hip/hip_runtime.h>\n");
	check_as("t.cu", "#ifdef A\n#include <cuda_runtime.h>\n#endif\n",
		"#include <hip/hip_runtime.h>\n#ifdef A\n#include <hip/hip_runtime.h>\n#endif\n");
	check_as("t.cpp", "int x;\n", "int x;\n");
}

static void namespaces(void **state)
{
	(void)state;
	check("cub::BlockReduce<int, 8> r;", "hipcub::BlockReduce<int, 8> r;");
	check("using namespace cub;", "using namespace hipcub;");
	check("::cub::Sum()", "::hipcub::Sum()");
	check("thrust::cuda::par.on(s)", "thrust::hip::par.on(s)");
	check("thrust::system::cuda::par", "thrust::system::hip::par");
	same("at::cuda::getCurrentCUDAStream();");
	same("namespace cuda { int f(); }");
}

static void symbols_and_kernels_are_wrapped(void **state)
{
	(void)state;
	check("cudaMemcpyToSymbol(a, p, 4);", "hipMemcpyToSymbol(HIP_SYMBOL(a), p, 4);");
	check("cudaMemcpyFromSymbol(p, a[0].b, 4)",
		"hipMemcpyFromSymbol(p, HIP_SYMBOL(a[0].b), 4)");
	check("cudaGetSymbolAddress((void **)&p, f<A, B>::x)",
		"hipGetSymbolAddress((void **)&p, HIP_SYMBOL(f<A, B>::x))");
	check("cudaFuncSetAttribute(k<1, (2 > 1)>, cudaFuncAttributeMaxDynamicSharedMemorySize, n)",
		"hipFuncSetAttribute(reinterpret_cast<const void*>(k<1, (2 > 1)>), "
		"hipFuncAttributeMaxDynamicSharedMemorySize, n)");
	check("cudaFuncSetAttribute((const void *)k, x, n)",
		"hipFuncSetAttribute((const void *)k, x, n)");
	check("cudaMemcpyToSymbol(HIP_SYMBOL(a), p, 4)", "hipMemcpyToSymbol(HIP_SYMBOL(a), p, 4)");
	check("f(cudaMemcpyToSymbol)", "f(hipMemcpyToSymbol)");
	check("cudaMemcpyToSymbol()", "hipMemcpyToSymbol()");
	check("cudaMemcpyToSymbol(a, [&](int x, int y) { return f(x, y); }(1, 2), 4)",
		"hipMemcpyToSymbol(HIP_SYMBOL(a), [&](int x, int y) { return f(x, y); }(1, 2), 4)");
	check("cudaMemcpyToSymbol(a /* , */, p, 4)",
		"hipMemcpyToSymbol(HIP_SYMBOL(a /* , */), p, 4)");
}

static void calls_in_preprocessor_lines_are_their_own(void **state)
{
	(void)state;
	check("#define P(a) cudaMemcpyToSymbol(a, p, 4)\nx",
		"#define P(a) hipMemcpyToSymbol(HIP_SYMBOL(a), p, 4)\nx");
	check("cudaMemcpyToSymbol(\n#if A\na\n#else\nb\n#endif\n, p, 4)",
		"hipMemcpyToSymbol(\n#if A\nHIP_SYMBOL(a\n#else\nb\n#endif\n), p, 4)");
	check("#define OPEN cudaMemcpyToSymbol(a\nx",
		"#define OPEN hipMemcpyToSymbol(HIP_SYMBOL(a)\nx");
	check("#endif\ncudaMemcpyToSymbol(a, p, 4)",
		"#endif\nhipMemcpyToSymbol(HIP_SYMBOL(a), p, 4)");
}

static void defaults_that_hip_lacks_are_written_out(void **state)
{
	(void)state;
	check("cudaMemcpyToSymbolAsync(a, &z, sizeof(z));",
		"hipMemcpyToSymbolAsync(HIP_SYMBOL(a), &z, sizeof(z), 0, hipMemcpyHostToDevice);");
	check("cudaMemcpyFromSymbolAsync(&z, a, 4, 8)",
		"hipMemcpyFromSymbolAsync(&z, HIP_SYMBOL(a), 4, 8, hipMemcpyDeviceToHost)");
	check("cudaMemcpyToSymbolAsync(a, &z, 4, 0, cudaMemcpyHostToDevice, s)",
		"hipMemcpyToSymbolAsync(HIP_SYMBOL(a), &z, 4, 0, hipMemcpyHostToDevice, s)");
	check("cudaLaunchCooperativeKernel(k, g, b, args)",
		"hipLaunchCooperativeKernel(reinterpret_cast<const void*>(k), g, b, args, 0, 0)");
	check("cudaMemcpyToSymbolAsync(a)", "hipMemcpyToSymbolAsync(HIP_SYMBOL(a))");
}

static void warp_masks_are_64_bits_wide(void **state)
{
	(void)state;
	check("v += __shfl_down_sync(0xffffffff, v, 16);",
		"v += __shfl_down_sync((unsigned long long)(0xffffffff), v, 16);");
	check("return __ballot_sync(m, __any_sync(n, p));",
		"return __ballot_sync((unsigned long long)(m), __any_sync((unsigned long long)(n), "
		"p));");
	same("__shfl_sync((unsigned long long)(m), v, 0)");
	same("__shfl_sync((uint64_t)m, v, 0)");
	same("__shfl_sync(__activemask(), v, 0)");
	same("__device__ int __shfl_sync(unsigned mask, int v, int l);");
	same("#define __shfl_sync(mask, v, l) __shfl(v, l)\n");
	check_as("t.c", "cudaMallocHost(&p, n);",
		"hipHostMalloc(&p, n, 0);"); /* its C++ has the default */
	check_as("t.cpp", "cudaMallocHost(&p, n);", "hipHostMalloc(&p, n);");
	check_as("t.cu", "__global__ void k() { __all_sync(~0u, 1); }",
		"#define HIP_ENABLE_WARP_SYNC_BUILTINS 1\n#include <hip/hip_runtime.h>\n"
		"__global__ void k() { __all_sync((unsigned long long)(~0u), 1); }");
}

static void guards(void **state)
{
	(void)state;
	check("#ifdef __CUDACC__\n#endif", "#ifdef __HIPCC__\n#endif");
	check("#if defined(__CUDACC__) || defined __NVCC__\n",
		"#if defined(__HIPCC__) || defined __HIPCC__\n");
	check("#ifdef __CUDA_ARCH__\n", "#ifdef __HIP_DEVICE_COMPILE__\n");
	check("#if !defined(__CUDA_ARCH__) && A\n", "#if !defined(__HIP_DEVICE_COMPILE__) && A\n");
	check("#if __CUDA_ARCH__\n", "#if __HIP_DEVICE_COMPILE__\n");
	same("#if __CUDA_ARCH__ >= 600\n");
	same("#if defined(__CUDA_ARCH__) && (__CUDA_ARCH__ < 600)\n");
	same("#if 600 <= __CUDA_ARCH__ && \\\n defined(__CUDA_ARCH__)\n");
	same("#elif __CUDA_ARCH__ == 700\n");
	same("int x = __CUDA_ARCH__;");
	check_left("#if __CUDA_ARCH__ >= 600 && __CUDA_ARCH__ < 700\n#endif\nf(__CUDA_ARCH__);",
		"1:__CUDA_ARCH__ 3:__CUDA_ARCH__");
	check_left("#ifdef __CUDA_ARCH__\n#endif\n", "");
}

static void launches_stay(void **state)
{
	(void)state;
	check("k<A, B><<<dim3(1), 32, 0, (cudaStream_t)s>>>(a, b);",
		"k<A, B><<<dim3(1), 32, 0, (hipStream_t)s>>>(a, b);");
}

static void device_code_prints_without_std(void **state)
{
	(void)state;
	check("__global__ void k() { ::std::printf(\"%d\", 1); std::printf(\"x\"); }",
		"__global__ void k() { ::printf(\"%d\", 1); printf(\"x\"); }");
	same("void f() { std::printf(\"%d\", 1); my::printf(0); }");
}

static void what_hip_lacks_is_reported(void **state)
{
	(void)state;
	check_left("cudaGraphConditionalHandleCreate(&h);", "1:cudaGraphConditionalHandleCreate");
	check_left("x;\ncudnnCreate(&h);\n", "2:cudnnCreate");
	check_left("#include <cudnn.h>\n", "1:cudnn.h");
	check_left("#if CUDART_VERSION >= 11000\n#endif", "1:CUDART_VERSION");
	check_left("cudaNoSuchThing(1); cudaMalloc(&p, 1);", "1:cudaNoSuchThing");
	check_left("cuda::std::array<int, 4> a;", "1:cuda::std");
	check_left("nvcuda::wmma::fragment<int> f;", "1:nvcuda");
	check_left("#define C(x) cublas##x##gemm\n", "1:cublas##");
}

static void inline_ptx_is_reported(void **state)
{
	(void)state;
	check_left("asm volatile(\"mov.u32 %0, %%pm0;\" : \"=r\"(x));", "1:asm");
	check_left("__asm__(\"{\\n\"\n \"ld.global.cg.u32 %0;\" : : );", "2:asm");
	check_left("asm volatile(\"\" ::: \"memory\"); asm(\"rdtsc\");", "");
	/* it writes to what the compiler believes unchanged, or the bits of a float would become its value */
	check_left("asm(\"not.b32 %1, %1; mov.b32 %0, %1;\" : \"=r\"(r) : \"r\"(a));", "1:asm");
	check_left(
		"asm(\"{.reg .b32 t; mov.b32 t, %1; add.f32 %0, t, t;}\" : \"=f\"(r) : \"f\"(a));",
		"1:asm");
	check_left("asm(\"{.reg .f32 t; mov.f32 t, %1;}\" : \"=f\"(r) : \"f\"(a));", "1:asm");
	check_left("asm(\"{.reg .pred p; setp.ne.b32 p, %0, 0;}\" :: \"r\"(a));", "1:asm");
	check_left(
		"asm(\"{.reg .b32 x, y; mov.b64 {x, y}, %1;}\" : \"=r\"(r) : \"l\"(a));", "1:asm");
	check_left("const char *s = \"a.b\";", "");
}

/* The statement as a whole, or nothing of it. */
static void inline_ptx_with_a_counterpart_becomes_cpp(void **state)
{
	(void)state;
	check("asm volatile(\"mov.u32 %0, %%laneid;\" : \"=r\"(x));", "(x) = __lane_id();");
	check("asm(\"bfe.u32 %[r], %1, 4, 0x8;\\n\" : [r] \"=r\"(r[0]) : \"r\"(f(a, b)));",
		"#include <rocsmith/device.h>\n(r[0]) = rocsmith_bfe((unsigned)(f(a, b)), 4, "
		"0x8);");
	check("asm volatile(\"membar.gl;\\n\\t\"\n\"membar.sys;\" ::: \"memory\");",
		"do { __threadfence(); __threadfence_system(); } while (0);");
	check("asm(\"ld.global.nc.L1::no_allocate.f64 %0, [%1];\" : \"=d\"(x) : \"l\"(p));",
		"(x) = __builtin_nontemporal_load((const double *)((p)));");
	check("asm (\"rsqrt.approx.ftz.f64 %0,%1;\" : \"=d\"(r) : \"d\"(a));",
		"(r) = __builtin_amdgcn_rsq((a));");
	check("asm (\"rcp.approx.ftz.f64 %0, %1;\" : \"=d\"(r) : \"d\"(a));",
		"(r) = __builtin_amdgcn_rcp((a));");
	check("#define LANE(x) asm(\"mov.u32 %0, %%laneid;\" \\\n : \"=r\"(x))\n",
		"#define LANE(x) (x) = __lane_id()\n");
	same("#pragma x asm(\"mov.u32 %0, %lanemask_lt;\" : \"=r\"(a))\n");
	check("asm(\"bfind.u32 %0, %1;\" : \"=r\"(r) : \"r\"(a));",
		"(r) = 31 - __clz((unsigned)(a));");
	check("asm(\"slct.f32.s32 %0, %1, %2, %3;\" : \"=f\"(r) : \"f\"(a), \"f\"(b), \"r\"(c));",
		"(r) = (int)(c) >= 0 ? (a) : (b);");
	check("asm(\"fma.rm.f32 %0, %1, %2, %3;\" : \"=f\"(r) : \"f\"(a), \"f\"(b), \"f\"(c));",
		"#include <rocsmith/device.h>\n(r) = rocsmith_fmaf_rd((a), (b), (c));");
	check("asm(\"xor.b64 %0, %1, %2; // mix\\n\\t\"\n\"not.b64 %0, %0; // more\" : \"=l\"(r) : "
	      "\"l\"(a), \"l\"(b));",
		"do { (r) = (unsigned long long)(a) ^ (unsigned long long)(b); "
		"(r) = ~(unsigned long long)(r); } while (0);");
	check("asm(\"shf.l.wrap.b32 %0, %1, %2, 1U;\" : \"=r\"(r) : \"r\"(a), \"r\"(b));",
		"(r) = __funnelshift_l((a), (b), 1U);");
	check("asm(\"{ .reg .u64 m,n;\\n\\t\"\n\"and.b64 m, %1, %2; or.b64 n, %1, m; and.b64 %0, "
	      "n, %2;}\\n\" : "
	      "\"=l\"(r) : \"l\"(m), \"l\"(b));",
		"do { unsigned long long rocsmith_m; unsigned long long rocsmith_n; "
		"rocsmith_m = (unsigned long long)(m) & (unsigned long long)(b); "
		"rocsmith_n = (unsigned long long)(m) | (unsigned long long)rocsmith_m; "
		"(r) = (unsigned long long)rocsmith_n & (unsigned long long)(b); } while (0);");
	check("asm(\"lop3.b32 %0, %1, %2, %3, 0xca;\" : \"=r\"(r) : \"r\"(a), \"r\"(b), \"r\"(c));",
		"#include <rocsmith/device.h>\n(r) = rocsmith_lop3((a), (b), (c), 0xca);");
	static const char *const left[] = {
		"bar.sync %0, %1;\" :: \"r\"(1), \"r\"(64)", /* of some */
		"ld.global.v4.f32 {%0, %1, %2, %3}, [%4];\" : \"=f\"(a)",
		"membar.gl; frob.u32 %0;\" : \"=r\"(x)", "add.u32 %0, %1, %7;\" : \"=r\"(x)",
		"ld.global.nc.f32 %0, [%1+4];\" : \"=f\"(x) : \"l\"(p)", "@p bra.uni L;\""};
	for (size_t i = 0; i < sizeof(left) / sizeof(*left); i++) {
		ARENA(a);
		struct str source = str_fmt(&a, "asm volatile(\"%s);", left[i]);
		same(source.p);
		check_left(source.p, "1:asm");
	}
	check_left("asm(\"cp.async.ca.shared.global [%0], [%1], 4;\" :: \"r\"(s), \"l\"(p));",
		"1:cp.async.ca.shared.global");
}

/* Where every compiler for HIP would stop. */
static void check_certain(const char *source, bool want)
{
	ARENA(a);
	struct hipify_text t;
	assert_ok(hipify_text(&a, str_from(source), S("t.cuh"), NULL, &t));
	assert_true(t.untranslated.n > 0);
	if (t.untranslated.v[0].certain != want)
		fail_msg("for '%s'", source);
}

static void what_need_not_be_compiled_is_no_certain_stop(void **state)
{
	(void)state;
	check_certain("void f() { cublasInit(); }", true);
	check_certain("#include <cudnn.h>\n", true);
	check_certain("#ifndef H\n#define H\nvoid f() { cublasInit(); }\n#endif\n", true);
	check_certain("#ifdef __CUDACC__\nvoid f() { cublasInit(); }\n#endif\n", true);
	check_certain("#ifdef __CUDACC__\n#else\nvoid f() { cublasInit(); }\n#endif\n", false);
	check_certain("#if USE_OLD\nvoid f() { cublasInit(); }\n#endif\n", false);
	check_certain("#if A\n#ifdef __CUDACC__\n#endif\ncublasInit();\n#endif\n", false);
	check_certain("#if A\n#endif\nvoid f() { cublasInit(); }", true);
	check_certain("#define INIT() cublasInit()\n", false);
	check_certain("#define INIT() cublasInit()\nvoid f() { INIT(); }\n", true);
	check_certain("void f(T t) { t.cublasInit(); }", false);
	check_certain("void f(T t) { own::cublasInit(); }", false);
	check_certain("int x = cudaUnheardOf(1);", false);
}

static void guards_and_tags_of_types_are_those_of_hip(void **state)
{
	(void)state;
	check("#ifdef __DRIVER_TYPES_H__\n#endif\n",
		"#ifdef HIP_INCLUDE_HIP_DRIVER_TYPES_H\n#endif\n");
	check("#if defined(CUBLAS_API_H_)\n#endif\n", "#if defined(HIPBLAS_H)\n#endif\n");
	check("struct cudaGraphicsResource *r;", "struct _hipGraphicsResource *r;");
	check("x = umin(a, b);", "#include <rocsmith/minmax.h>\nx = umin(a, b);");
}

static void launches_may_have_blanks_in_their_brackets(void **state)
{
	(void)state;
	check("void h() { k<int> << < 1, 2 >> > (p); }", "void h() { k<int> <<< 1, 2 >>> (p); }");
	check("#define L(k) k < << g, f(x > y), s> >>()\n",
		"#define L(k) k <<< g, f(x > y), s>>>()\n");
	check("void h() { k<<\n<1, dim3(2)>>\t>(p); }", "void h() { k<<<1, dim3(2)>>>(p); }");
	/* what PyTorch's translation leaves, too */
	ARENA(a);
	const struct hipify_context marks = {.marks = true};
	struct hipify_text t;
	assert_ok(hipify_text(&a, S("k<< <1, 2>> >(p);"), S("t.cu"), &marks, &t));
	assert_str(t.text, "k<<<1, 2>>>(p);");
	/* a template's brackets, and an operator of a template */
	same("std::vector<A<B<int>> > (*f)(); int x = a << (b < c);");
	same("std::ostream &operator<< <T>(std::ostream &, const X<T> &);");
	same("k<<<1, 2>>>(p); A<B<C<int>> > (x);");
	/* no blank is taken out twice */
	assert_ok(hipify_text(&a, S("x << <<"), S("t.h"), NULL, &t));
	assert_int_equal(t.edits.n, 1);
	assert_str(t.text, "x <<<<");
}

static void launches_of_kernels_by_kernels_are_reported(void **state)
{
	(void)state;
	check_left("__global__ void k() { f<<<1, 2>>>(); }\nvoid h() { k<<<1, 2>>>(); }", "1:<<<");
	check_left("__device__ int x;\nvoid h() { k<<<1, 2>>>(); }", "");
	check_left("__host__ __device__ void h() { k<<<1, 2>>>(); }", "");
	check_left(
		"void h() { auto f = [=] __device__(int i) { p[i] = 1; }; k<<<1, 2>>>(f); }", "");
}

static void the_first_interface_of_cublas_is_told_from_the_second(void **state)
{
	(void)state;
	static const char *const call = "cublasSgemm('n', 'n', 1); cublasSetMatrix(1);";
	ARENA(a);
	check_left(str_fmt(&a, "#include <cublas.h>\n%s", call).p, "2:cublasSgemm");
	check_left(str_fmt(&a, "#include <cublas_v2.h>\n%s", call).p, "");
	check_left("#include \"cublas.h\"\ncublasSgemm_v2(h); cublasStatus_t s;", "");
	/* behind a header, and behind a macro */
	check_left(call, "1:cublasSgemm");
	check_left("cublasSgemm(h, CUBLAS_OP_N);", "");
	check_left("#include <cublas.h>\n#define GEMM cublasDgemm\n", "2:cublasDgemm");
	struct hipify_context c = {.by_name = {.a = &a}, .cublas_v1 = true};
	struct hipify_text t;
	assert_ok(hipify_text(&a, S("x = cublasSnrm2(n, p, 1);"), S("t.h"), &c, &t));
	assert_int_equal(t.untranslated.n, 1);
}

static void arguments_and_headers_make_up_for_other_interfaces(void **state)
{
	(void)state;
	check("cudaFuncSetAttribute(k, cudaFuncAttributePreferredSharedMemoryCarveout, "
	      "cudaSharedmemCarveoutMaxShared);",
		"hipFuncSetAttribute(reinterpret_cast<const void*>(k), "
		"hipFuncAttributePreferredSharedMemoryCarveout, 100);");
	check("int c = CU_SHAREDMEM_CARVEOUT_DEFAULT;", "int c = (-1);");
	check("cuCtxDetach(c);", "hipCtxDestroy(c);");
	check("cuMemcpy(a, b, 4);",
		"hipMemcpy((hipDeviceptr_t)(a), (hipDeviceptr_t)(b), 4, hipMemcpyDefault);");
	/* a cast to less than what HIP wants is none */
	check("nvrtcCompileProgram(p, 1, (const char *const *)o);",
		"hiprtcCompileProgram(p, 1, (const char **)((const char *const *)o));");
	check("nvrtcCompileProgram(p, 1, (const char**)o);",
		"hiprtcCompileProgram(p, 1, (const char**)o);");
	check("#include <cuda/std/complex>\ncuda::std::complex<float> z;",
		"#include <rocsmith/complex.h>\ncuda::std::complex<float> z;");
	check("h = __double2half(x);", "#include <rocsmith/half.h>\nh = rocsmith_double2half(x);");
	check("if (e == cudaErrorSystemDriverMismatch) cuFuncSetAttribute(f, a, 1);",
		"#include <rocsmith/driver.h>\nif (e == rocsmith_ErrorSystemDriverMismatch) "
		"rocsmith_func_set_attribute(f, a, 1);");
	check("x = __ldcg(p);", "#include <rocsmith/device.h>\nx = rocsmith_load(p);");
	check("x = __ffsll(bits);", "#include <rocsmith/device.h>\nx = rocsmith_ffsll(bits);");
	check("__stwt(p, 1);", "#include <rocsmith/device.h>\nrocsmith_store_through(p, 1);");
	check("cudaGraphInstantiate(&x, g, 0);",
		"#include <rocsmith/graph.h>\nhipGraphInstantiate(&x, g, 0);");
	check("cublasSgemmEx(h, a, a, m, n, k, &o, A, t, l, B, t, l, &z, C, t, l);",
		"hipblasGemmEx(h, a, a, m, n, k, &o, A, t, l, B, t, l, &z, C, t, l, "
		"HIPBLAS_COMPUTE_32F, "
		"HIPBLAS_GEMM_DEFAULT);");
	check("#include <nccl.h>\nncclComm_t c;", "#include <rccl/rccl.h>\nncclComm_t c;");
}

static void names_in_operands_of_assembly_are_translated(void **state)
{
	(void)state;
	check("asm(\"mov.u32 %0, %laneid;\" : \"=r\"(x[cudaSuccess]));",
		"(x[hipSuccess]) = __lane_id();");
	check("asm(\"mov.u32 %0, %1;\" : \"=r\"(x) : \"r\"(__ldcg(p)));",
		"#include <rocsmith/device.h>\n(x) = (unsigned)(rocsmith_load(p));");
}

static void names_for_cub_are_kept(void **state)
{
	(void)state;
	same("namespace cub = hipcub;");
	check("namespace c = cub; c::Sum s; int d = cub;",
		"namespace c = hipcub; c::Sum s; int d = cub;");
	check("using namespace cub; namespace cub { }",
		"using namespace hipcub; namespace hipcub { }");
}

static void assembly_for_processors_is_no_ptx(void **state)
{
	(void)state;
	check_left("asm(\"vadd.f32 q0, q1, q2\");", "");
	check_left("asm volatile(\"fmla v0.4s, v1.4s, %0.4s\" : \"+w\"(x));", "");
	check_left("asm(\"foo.b32 %0;\" : \"=r\"(x));", "1:asm");
	check_left("__asm__(\".p2align 6\"); asm(\"nop\"); asm(\".inst 0xde01\");", "");
}

static void kernels_in_raw_strings_are_reported(void **state)
{
	(void)state;
	check_left("auto k = R\"(\n\ncudaMalloc(x); cudaMalloc(y);\n curandState s;)\";",
		"3:cudaMalloc 4:curandState");
	check_left("auto k = R\"(no names)\";", "");
}

static void names_of_the_project_are_not_reported(void **state)
{
	(void)state;
	check_left("int cudaMine(int); cudaMine(2);", "");
	check_left("const char *cublasErrorName(int s) { return 0; }", "");
	check_left("#define CU_TRY(x) x\nCU_TRY(1);", "");
	check_left("struct cudaThing { }; cudaThing t;", "");
	check_left("using cudaAlias = int; cudaAlias a;", "");
	check_left("typedef int cudaInt; cudaInt a;", "");
	check_left("enum { cudaRed, cudaGreen = 2 }; f(cudaGreen);", "");
	check_left("float *cudaInput, cudaOther; g(cudaInput, cudaOther);", "");
	check_left("return cudaReturned(1);", "1:cudaReturned");
	check_left("x = a * cudaFactor(2);", "1:cudaFactor");
	check_left("CUDA_CHECK(1); CUDA_ARCH;", "");
}

static void edits_are_in_order_and_complete(void **state)
{
	(void)state;
	ARENA(a);
	struct hipify_text t;
	struct str s = S("#include <cuda.h>\ncudaMemcpyToSymbolAsync(a, f<x,y>(cudaFoo_t(1)), 4);");
	assert_ok(hipify_text(&a, s, S("x.cu"), NULL, &t));
	BUF(b, &a);
	size_t done = 0;
	VEC_EACH (const struct hipify_edit, e, &t.edits) {
		assert_true(e->from >= done && e->to >= e->from && e->to <= s.n);
		assert_non_null(e->rule);
		buf_add(&b, str_sub(s, done, e->from));
		buf_add(&b, e->with);
		done = e->to;
	}
	buf_add(&b, str_sub(s, done, s.n));
	assert_true(str_eq(buf_str(&b), t.text));
}

static void a_text_that_is_no_source_is_an_error(void **state)
{
	(void)state;
	ARENA(a);
	struct hipify_text t;
	assert_err_says(hipify_text(&a, S("x \xff"), S("t.cu"), NULL, &t), E_HIPIFY, "UTF-8");
	check("// J\xf6rg\ncudaFree(\"caf\xe9\");", "// J\xf6rg\nhipFree(\"caf\xe9\");");
	assert_err_says(hipify_text(&a, S("/* x"), S("t.cu"), NULL, &t), E_HIPIFY, "does not end");
	assert_err_says(hipify_text(&a, S("\"x"), S("t.cu"), NULL, &t), E_HIPIFY, "does not end");
}

/* Every row of the tables: the name is found, and its HIP name is not translated again. */
static void no_pair_leads_to_another(void **state)
{
	(void)state;
	ARENA(a);
	size_t pairs = 0;
	for (size_t i = 0; i < 1 << 15; i++) {
		if (!names_slots[i])
			continue;
		const struct hipify_rule *r = &names_rows[names_slots[i] - 1];
		struct hipify_text t;
		struct str kind = names_text(r->kind), hip = names_text(r->hip);
		assert_false(str_contains(hip, S(" -D")));
		if (str_eq(kind, S("unsupported")) || str_eq(kind, S("rule")) ||
			str_eq(kind, S("header")) || str_eq(kind, S("namespace")) ||
			str_eq(kind, S("guard")) || str_eq(kind, S("ptx")) ||
			str_eq(kind, S("libcu++")))
			continue;
		assert_ok(hipify_text(&a, names_text(r->cuda), S("t.h"), NULL, &t));
		assert_true(str_ends(t.text, hip)); /* behind a header of ours, if any */
		hip = t.text;
		assert_ok(hipify_text(&a, hip, S("t.h"), NULL, &t));
		assert_true(str_eq(t.text, hip));
		pairs++;
	}
	assert_true(pairs > 4000);
}

static void names_of_later_versions_can_be_left(void **state)
{
	(void)state;
	ARENA(a);
	struct hipify_text t;
	struct hipify_context c = {.by_name = {.a = &a}, .rocm = S("6.4.3")};
	struct str source = S("#include <cuda_fp4.h>\ncuLibraryUnload(l); cuMemFree(p);");
	assert_ok(hipify_text(&a, source, S("t.h"), &c, &t));
	assert_str(
		t.text, "#include <cuda_fp4.h>\ncuLibraryUnload(l); hipFree((hipDeviceptr_t)(p));");
	assert_int_equal(t.untranslated.n, 2);
	assert_str(t.untranslated.v[1].name, "cuLibraryUnload");
	assert_str(t.untranslated.v[1].suggestion, "hipLibraryUnload since ROCm 7.2.4");
	for (size_t i = 0; i < 3; i++) {
		c.rocm = i == 0 ? S("7.2.4") : i == 1 ? S("10") : S("");
		assert_ok(hipify_text(&a, source, S("t.h"), &c, &t));
		assert_str(t.text, "#include <hip/hip_fp4.h>\nhipLibraryUnload(l); "
				   "hipFree((hipDeviceptr_t)(p));");
		assert_int_equal(t.untranslated.n, 0);
	}
}

static double seconds_for(struct str source)
{
	ARENA(a);
	struct hipify_text t;
	struct timespec x, y;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &x);
	assert_ok(hipify_text(&a, source, S("t.cu"), NULL, &t));
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &y);
	return (double)(y.tv_sec - x.tv_sec) + (double)(y.tv_nsec - x.tv_nsec) * 1e-9;
}

static struct str repeat(struct arena *a, const char *text, size_t n)
{
	BUF(b, a);
	for (size_t i = 0; i < n; i++)
		buf_add(&b, str_from(text));
	return buf_str(&b);
}

/* Twice as much text takes about twice as long; quadratic work would take hours here. */
static void hostile_shapes_are_linear(void **state)
{
	(void)state;
	static const struct {
		const char *piece;
		size_t n;
	} shapes[] = {
		{"k<<<1,2>>>(cudaMalloc); ", 1000000},
		{"cudaNoSuchName ", 700000},
		{"(", 100000},
		{"cudaMemcpyToSymbol(", 100000},
		{"__shfl_sync(a<", 100000},
		{"cub /* x */ ", 300000},
		{"R\"(", 1},
		{"asm(\"a\" ", 300000},
		{"cuda::", 500000},
		{"#if __CUDA_ARCH__ > 1\n", 200000},
		{"#if A\n{ cudaMemcpyToSymbol(\n#else\n{\n#endif\n", 50000},
		{"asm(\"{.reg .b32 x; mov.b32 x, %0;}\" :: \"r\"(x)); ", 20000},
		{"enum {", 200000},
		{")", 1000000},
		{"\\\n", 1000000},
	};
	for (size_t i = 0; i < sizeof(shapes) / sizeof(*shapes); i++) {
		ARENA(a);
		struct str s =
			repeat(&a, shapes[i].piece, shapes[i].n > 1 ? HUGE_SIZE(shapes[i].n) : 1);
		if (shapes[i].n > 1)
			assert_true(seconds_for(s) < 15);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(members_get_the_attributes_of_their_definitions),
		cmocka_unit_test(a_constexpr_function_of_the_device_is_the_hosts_too),
		cmocka_unit_test(operators_of_vector_types_win_over_hips),
		cmocka_unit_test(marks_are_the_only_changes_before_pytorchs_translation),
		cmocka_unit_test(names_of_every_library),
		cmocka_unit_test(words_only_not_parts_of_words),
		cmocka_unit_test(comments_and_strings_stay),
		cmocka_unit_test(includes),
		cmocka_unit_test(headers_that_are_needed_are_listed),
		cmocka_unit_test(the_runtime_header_is_put_in_front),
		cmocka_unit_test(namespaces),
		cmocka_unit_test(symbols_and_kernels_are_wrapped),
		cmocka_unit_test(calls_in_preprocessor_lines_are_their_own),
		cmocka_unit_test(defaults_that_hip_lacks_are_written_out),
		cmocka_unit_test(warp_masks_are_64_bits_wide),
		cmocka_unit_test(guards),
		cmocka_unit_test(launches_stay),
		cmocka_unit_test(what_hip_lacks_is_reported),
		cmocka_unit_test(device_code_prints_without_std),
		cmocka_unit_test(inline_ptx_is_reported),
		cmocka_unit_test(inline_ptx_with_a_counterpart_becomes_cpp),
		cmocka_unit_test(what_need_not_be_compiled_is_no_certain_stop),
		cmocka_unit_test(guards_and_tags_of_types_are_those_of_hip),
		cmocka_unit_test(launches_may_have_blanks_in_their_brackets),
		cmocka_unit_test(launches_of_kernels_by_kernels_are_reported),
		cmocka_unit_test(the_first_interface_of_cublas_is_told_from_the_second),
		cmocka_unit_test(arguments_and_headers_make_up_for_other_interfaces),
		cmocka_unit_test(names_in_operands_of_assembly_are_translated),
		cmocka_unit_test(names_for_cub_are_kept),
		cmocka_unit_test(assembly_for_processors_is_no_ptx),
		cmocka_unit_test(kernels_in_raw_strings_are_reported),
		cmocka_unit_test(names_of_the_project_are_not_reported),
		cmocka_unit_test(edits_are_in_order_and_complete),
		cmocka_unit_test(a_text_that_is_no_source_is_an_error),
		cmocka_unit_test(no_pair_leads_to_another),
		cmocka_unit_test(names_of_later_versions_can_be_left),
		cmocka_unit_test(hostile_shapes_are_linear),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

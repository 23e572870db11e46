// names of a project that look like CUDA's, FFTW's names, and assembly for other processors
#include <cuda_runtime.h>
#include <cstddef>

typedef struct {
	int device;
} cudaWorker_t, *cudaWorkerPtr;
typedef void (*cuCallback)(int);
enum cuKind { cuFirst, cuSecond = 5, CU_LAST };
enum class nppMode { fast };
static cudaError_t (*cudaHook)(void **, size_t) = cudaMalloc;
struct Pool {
	void *cudaTake(size_t n);
	int cuSize, cuUsed;
	cudaError_t (*cudaGive)(void *);
};
void *Pool::cudaTake(size_t n)
{
	void *p = NULL;
	return cudaHook(&p, n) == cudaSuccess ? p : NULL;
}
template <typename cuT, int cuN> struct cudaArrayOf {
	cuT v[cuN];
};
#define CHECK_EACH(x, y) ((x) == (y))
typedef struct fftw_plan_s *fftw_plan;
extern "C" void fftw_execute(const fftw_plan);
extern "C" void fftw_destroy_plan(fftw_plan);

extern "C" int run(Pool *pool, cudaWorker_t *w, cudaWorkerPtr other, cuCallback done, fftw_plan plan)
{
	cudaArrayOf<int, 3> a = {{1, 2, 3}};
	cuKind kind = cuSecond;
	fftw_execute(plan);
	fftw_destroy_plan(plan);
#if defined(__aarch64__)
	float32x4_t x, y;
	asm volatile("fadd %0.4s, %0.4s, %1.4s\n\tb.eq 1f\n1:" : "+w"(x) : "w"(y));
#endif
	done(a.v[kind == CU_LAST] + pool->cuSize + pool->cuUsed);
	pool->cudaGive(pool->cudaTake(CHECK_EACH(w->device, other->device)));
	return nppMode::fast == nppMode() ? cuFirst : w->device;
}

// warps: __reduce_*_sync of integers
#include <cuda_runtime.h>

__global__ void ranges(const int *in, int *lo, int *hi, unsigned *bits, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	int x = i < n ? in[i] : 0;
	int least = __reduce_min_sync(0xffffffff, x);
	int most = __reduce_max_sync(0xffffffff, x);
	unsigned any = __reduce_or_sync(0xffffffff, (unsigned)x);
	unsigned all = __reduce_and_sync(0xffffffff, (unsigned)x);
	unsigned sum = __reduce_add_sync(0xffffffff, (unsigned)x);
	if (threadIdx.x % 32 == 0) {
		lo[i / 32] = least;
		hi[i / 32] = most;
		bits[i / 32] = (any ^ all) + sum;
	}
}

extern "C" void ranges_run(const int *in, int *lo, int *hi, unsigned *bits, int n)
{
	ranges<<<(n + 127) / 128, 128>>>(in, lo, hi, bits, n);
}

// libcu++: the standard library for kernels
#include <cuda/std/array> // refused: cuda/std/array
#include <cuda/std/tuple> // refused: cuda/std/tuple

__global__ void swap(cuda::std::array<int, 4> *v) // refused: cuda::std
{
	cuda::std::tuple<int, int> t((*v)[0], (*v)[3]); // refused: cuda::std
	(*v)[0] = cuda::std::get<1>(t); // refused: cuda::std
	(*v)[3] = cuda::std::get<0>(t); // refused: cuda::std
}

extern "C" void swap_run(void *v) { swap<<<1, 1>>>((cuda::std::array<int, 4> *)v); } // refused: cuda::std

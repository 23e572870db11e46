// Thrust: vectors, sorting, transforming, reducing, with policies
#include <thrust/copy.h>
#include <thrust/device_vector.h>
#include <thrust/execution_policy.h>
#include <thrust/functional.h>
#include <thrust/host_vector.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/reduce.h>
#include <thrust/sequence.h>
#include <thrust/sort.h>
#include <thrust/system/cuda/execution_policy.h>
#include <thrust/transform_reduce.h>

struct square {
	__host__ __device__ float operator()(float x) const { return x * x; }
};

extern "C" float norms(const float *in, int n, cudaStream_t stream)
{
	thrust::host_vector<float> h(in, in + n);
	thrust::device_vector<float> d = h;
	thrust::device_vector<int> keys(n);
	thrust::sequence(keys.begin(), keys.end());
	thrust::sort_by_key(thrust::cuda::par.on(stream), d.begin(), d.end(), keys.begin());
	float all = thrust::reduce(thrust::device, d.begin(), d.end(), 0.0f, thrust::plus<float>());
	float squares = thrust::transform_reduce(d.begin(), d.end(), square(), 0.0f, thrust::plus<float>());
	thrust::for_each(thrust::cuda::par_nosync.on(stream), thrust::counting_iterator<int>(0),
		thrust::counting_iterator<int>(n), [] __device__(int) {});
	float *raw = thrust::raw_pointer_cast(d.data());
	thrust::copy(d.begin(), d.end(), h.begin());
	return all + squares + h[0] + (raw != nullptr);
}

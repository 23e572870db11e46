// operators of a project for CUDA's vector types, for some of which HIP has its own; this float2 multiplies as a complex number
#include <cuda_runtime.h>

typedef double2 Complex;
using Vec = float3;

inline __host__ __device__ float2 operator*(float2 a, float2 b)
{
	return make_float2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);
}

inline __host__ __device__ void operator+=(Vec &a, Vec b)
{
	a.x += b.x;
	a.y += b.y;
	a.z += b.z;
}

__device__ Complex operator/(const Complex &a, const Complex &b);

__device__ inline Complex operator/(const Complex &a, const Complex &b)
{
	double n = b.x * b.x + b.y * b.y;
	return make_double2((a.x * b.x + a.y * b.y) / n, (a.y * b.x - a.x * b.y) / n);
}

__device__ inline float4 operator-(const float4 &a)
{
	return make_float4(-a.x, -a.y, -a.z, -a.w);
}

#define ELEMENTWISE(op) \
	__device__ inline int2 operator op(const int2 &a, const int2 &b) { return make_int2(a.x op b.x, a.y op b.y); }
ELEMENTWISE(*)
ELEMENTWISE(/)

__global__ void use(float2 *p, float3 *q, double2 *r, float4 *s, int2 *t)
{
	p[0] = p[1] * p[2];
	q[0] += q[1];
	r[0] = r[1] / r[2];
	s[0] = -s[1];
	t[0] = t[1] * t[2] / t[3];
}

// an atomic that CUDA lacks and HIP has, with another result
__device__ __forceinline__ void atomicMin(float *p, float x)
{
	if (x < *p)
		atomicExch(p, x);
}

__global__ void least(float *p, const float *q)
{
	atomicMin(p, q[threadIdx.x]);
}

int main()
{
	float2 i = make_float2(0, 1);
	float2 square = i * i;
	return square.x == -1 ? 0 : 1;
}

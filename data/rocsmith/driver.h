/* What CUDA's driver API and its errors have otherwise. Device addresses are integers there (CUdeviceptr), HIP has them as
 * pointers: addresses stay integers, and what is handed to HIP is cast where it is called. Made by rocsmith.
 */
#pragma once

#include <hip/hip_runtime_api.h>

typedef unsigned long long rocsmith_deviceptr;

/* An AMD GPU gives a workgroup all its shared memory, without being asked; HIP's function is for kernels of the host. */
static inline hipError_t rocsmith_func_set_attribute(hipFunction_t function, hipFunction_attribute attribute, int value)
{
	(void)function;
	(void)value;
	return attribute == HIP_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES ||
			       attribute == HIP_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT
		       ? hipSuccess
		       : hipErrorInvalidValue;
}

/* HIP ignores both preferences, and its functions for them are for kernels of the host. */
static inline hipError_t rocsmith_func_set_cache_config(hipFunction_t function, hipFuncCache_t config)
{
	(void)config;
	return function ? hipSuccess : hipErrorInvalidHandle;
}

static inline hipError_t rocsmith_func_set_shared_mem_config(hipFunction_t function, hipSharedMemConfig config)
{
	(void)config;
	return function ? hipSuccess : hipErrorInvalidHandle;
}

/* The addresses tell the direction. */
static inline hipError_t rocsmith_memcpy_async(hipDeviceptr_t to, hipDeviceptr_t from, size_t n, hipStream_t stream)
{
	return hipMemcpyAsync(to, from, n, hipMemcpyDefault, stream);
}

/* ---- launches as before CUDA 4: shape and parameters are kept with the function ---- */

enum { ROCSMITH_FUNCTIONS = 256, ROCSMITH_PARAMETERS = 4096 };

struct rocsmith_function {
	hipFunction_t function;
	unsigned x, y, z, shared;
	size_t size;
	unsigned char parameters[ROCSMITH_PARAMETERS];
};

/* One table for all files of a program; its functions are set and launched by one thread at a time. */
__attribute__((weak)) struct rocsmith_function rocsmith_functions[ROCSMITH_FUNCTIONS];

static inline struct rocsmith_function *rocsmith_function_of(hipFunction_t function)
{
	struct rocsmith_function *f = rocsmith_functions, *end = f + ROCSMITH_FUNCTIONS;
	while (f < end && f->function && f->function != function)
		f++;
	if (f == end || !function)
		return NULL;
	f->function = function;
	return f;
}

static inline hipError_t rocsmith_func_set_block_shape(hipFunction_t function, int x, int y, int z)
{
	struct rocsmith_function *f = rocsmith_function_of(function);
	if (!f || x < 1 || y < 1 || z < 1)
		return hipErrorInvalidValue;
	f->x = (unsigned)x;
	f->y = (unsigned)y;
	f->z = (unsigned)z;
	return hipSuccess;
}

static inline hipError_t rocsmith_func_set_shared_size(hipFunction_t function, unsigned bytes)
{
	struct rocsmith_function *f = rocsmith_function_of(function);
	if (!f)
		return hipErrorInvalidValue;
	f->shared = bytes;
	return hipSuccess;
}

static inline hipError_t rocsmith_param_set_size(hipFunction_t function, unsigned bytes)
{
	struct rocsmith_function *f = rocsmith_function_of(function);
	if (!f || bytes > ROCSMITH_PARAMETERS)
		return hipErrorInvalidValue;
	f->size = bytes;
	return hipSuccess;
}

static inline hipError_t rocsmith_param_setv(hipFunction_t function, int at, void *value, unsigned bytes)
{
	struct rocsmith_function *f = rocsmith_function_of(function);
	if (!f || at < 0 || at > ROCSMITH_PARAMETERS || bytes > (unsigned)(ROCSMITH_PARAMETERS - at))
		return hipErrorInvalidValue;
	__builtin_memcpy(f->parameters + at, value, bytes);
	return hipSuccess;
}

static inline hipError_t rocsmith_param_seti(hipFunction_t function, int at, unsigned value)
{
	return rocsmith_param_setv(function, at, &value, sizeof(value));
}

static inline hipError_t rocsmith_param_setf(hipFunction_t function, int at, float value)
{
	return rocsmith_param_setv(function, at, &value, sizeof(value));
}

static inline hipError_t rocsmith_launch_grid_async(hipFunction_t function, int width, int height, hipStream_t stream)
{
	struct rocsmith_function *f = rocsmith_function_of(function);
	if (!f || width < 1 || height < 1)
		return hipErrorInvalidValue;
	void *extra[] = {HIP_LAUNCH_PARAM_BUFFER_POINTER, f->parameters, HIP_LAUNCH_PARAM_BUFFER_SIZE, &f->size,
		HIP_LAUNCH_PARAM_END};
	return hipModuleLaunchKernel(function, (unsigned)width, (unsigned)height, 1, f->x, f->y, f->z, f->shared,
		stream, NULL, extra);
}

static inline hipError_t rocsmith_launch_grid(hipFunction_t function, int width, int height)
{
	return rocsmith_launch_grid_async(function, width, height, NULL);
}

static inline hipError_t rocsmith_launch(hipFunction_t function)
{
	return rocsmith_launch_grid_async(function, 1, 1, NULL);
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
/* A device of HIP has one context. */
static inline hipError_t rocsmith_stream_context(hipStream_t stream, hipCtx_t *context)
{
	hipDevice_t device;
	hipError_t e = hipStreamGetDevice(stream, &device);
	return e == hipSuccess ? hipDevicePrimaryCtxRetain(context, device) : e;
}
#pragma GCC diagnostic pop

/* errors that no function of HIP gives, by CUDA's numbers */
#define rocsmith_ErrorInvalidHostPointer ((hipError_t)16)
#define rocsmith_ErrorInvalidTextureBinding ((hipError_t)19)
#define rocsmith_ErrorAddressOfConstant ((hipError_t)22)
#define rocsmith_ErrorTextureFetchFailed ((hipError_t)23)
#define rocsmith_ErrorTextureNotBound ((hipError_t)24)
#define rocsmith_ErrorSynchronizationError ((hipError_t)25)
#define rocsmith_ErrorInvalidFilterSetting ((hipError_t)26)
#define rocsmith_ErrorInvalidNormSetting ((hipError_t)27)
#define rocsmith_ErrorMixedDeviceExecution ((hipError_t)28)
#define rocsmith_ErrorNotYetImplemented ((hipError_t)31)
#define rocsmith_ErrorMemoryValueTooLarge ((hipError_t)32)
#define rocsmith_ErrorStubLibrary ((hipError_t)34)
#define rocsmith_ErrorCallRequiresNewerDriver ((hipError_t)36)
#define rocsmith_ErrorInvalidSurface ((hipError_t)37)
#define rocsmith_ErrorDuplicateVariableName ((hipError_t)43)
#define rocsmith_ErrorDuplicateTextureName ((hipError_t)44)
#define rocsmith_ErrorDuplicateSurfaceName ((hipError_t)45)
#define rocsmith_ErrorDevicesUnavailable ((hipError_t)46)
#define rocsmith_ErrorIncompatibleDriverContext ((hipError_t)49)
#define rocsmith_ErrorLaunchMaxDepthExceeded ((hipError_t)65)
#define rocsmith_ErrorLaunchFileScopedTex ((hipError_t)66)
#define rocsmith_ErrorLaunchFileScopedSurf ((hipError_t)67)
#define rocsmith_ErrorSyncDepthExceeded ((hipError_t)68)
#define rocsmith_ErrorLaunchPendingCountExceeded ((hipError_t)69)
#define rocsmith_ErrorDeviceNotLicensed ((hipError_t)102)
#define rocsmith_ErrorSoftwareValidityNotEstablished ((hipError_t)103)
#define rocsmith_ErrorStartupFailure ((hipError_t)127)
#define rocsmith_ErrorNvlinkUncorrectable ((hipError_t)220)
#define rocsmith_ErrorJitCompilerNotFound ((hipError_t)221)
#define rocsmith_ErrorUnsupportedPtxVersion ((hipError_t)222)
#define rocsmith_ErrorJitCompilationDisabled ((hipError_t)223)
#define rocsmith_ErrorUnsupportedExecAffinity ((hipError_t)224)
#define rocsmith_ErrorUnsupportedDevSideSync ((hipError_t)225)
#define rocsmith_ErrorLaunchIncompatibleTexturing ((hipError_t)703)
#define rocsmith_ErrorTooManyPeers ((hipError_t)711)
#define rocsmith_ErrorHardwareStackError ((hipError_t)714)
#define rocsmith_ErrorIllegalInstruction ((hipError_t)715)
#define rocsmith_ErrorMisalignedAddress ((hipError_t)716)
#define rocsmith_ErrorInvalidAddressSpace ((hipError_t)717)
#define rocsmith_ErrorInvalidPc ((hipError_t)718)
#define rocsmith_ErrorNotPermitted ((hipError_t)800)
#define rocsmith_ErrorSystemNotReady ((hipError_t)802)
#define rocsmith_ErrorSystemDriverMismatch ((hipError_t)803)
#define rocsmith_ErrorCompatNotSupportedOnDevice ((hipError_t)804)
#define rocsmith_ErrorMpsConnectionFailed ((hipError_t)805)
#define rocsmith_ErrorMpsRpcFailure ((hipError_t)806)
#define rocsmith_ErrorMpsServerNotReady ((hipError_t)807)
#define rocsmith_ErrorMpsMaxClientsReached ((hipError_t)808)
#define rocsmith_ErrorMpsMaxConnectionsReached ((hipError_t)809)
#define rocsmith_ErrorMpsClientTerminated ((hipError_t)810)
#define rocsmith_ErrorCdpNotSupported ((hipError_t)811)
#define rocsmith_ErrorCdpVersionMismatch ((hipError_t)812)
#define rocsmith_ErrorTimeout ((hipError_t)909)
#define rocsmith_ErrorExternalDevice ((hipError_t)911)
#define rocsmith_ErrorInvalidClusterSize ((hipError_t)912)
#define rocsmith_ErrorFunctionNotLoaded ((hipError_t)913)
#define rocsmith_ErrorInvalidResourceType ((hipError_t)914)
#define rocsmith_ErrorInvalidResourceConfiguration ((hipError_t)915)

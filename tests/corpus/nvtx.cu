// NVTX: ranges and marks for a profiler
#include <cuda_runtime.h>
#include <nvtx3/nvToolsExt.h>

class range {
public:
	explicit range(const char *name) { nvtxRangePushA(name); }
	~range() { nvtxRangePop(); }
};

__global__ void nothing() {}

extern "C" int traced(int times)
{
	range whole("traced");
	nvtxEventAttributes_t event = {};
	event.version = NVTX_VERSION;
	event.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
	event.colorType = NVTX_COLOR_ARGB;
	event.color = 0xff00ff00;
	event.messageType = NVTX_MESSAGE_TYPE_ASCII;
	event.message.ascii = "loop";
	nvtxRangePushEx(&event);
	for (int i = 0; i < times; i++) {
		nvtxRangeId_t id = nvtxRangeStartA("launch");
		nothing<<<1, 1>>>();
		nvtxRangeEnd(id);
		nvtxMark("launched");
	}
	nvtxRangePop();
	nvtxRangePush("wait");
	cudaError_t e = cudaDeviceSynchronize();
	nvtxRangePop();
	return e;
}

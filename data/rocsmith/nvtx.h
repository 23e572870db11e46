/* NVTX's ranges and marks, told to AMD's profilers by rocTX, which has no colours, categories or
 * domains. Made by rocsmith.
 */
#pragma once

#include <roctracer/roctx.h>
#include <stdint.h>

#define NVTX_VERSION 3
#define NVTX_EVENT_ATTRIB_STRUCT_SIZE ((uint16_t)sizeof(nvtxEventAttributes_t))
#define NVTX_COLOR_UNKNOWN 0
#define NVTX_COLOR_ARGB 1
#define NVTX_MESSAGE_UNKNOWN 0
#define NVTX_MESSAGE_TYPE_ASCII 1

typedef roctx_range_id_t nvtxRangeId_t;
typedef struct nvtxEventAttributes {
	uint16_t version, size;
	uint32_t category;
	int32_t colorType;
	uint32_t color;
	int32_t payloadType, reserved0;
	union {
		uint64_t ullValue;
		int64_t llValue;
		double dValue;
	} payload;
	int32_t messageType;
	union {
		const char *ascii;
		const void *registered;
	} message;
} nvtxEventAttributes_t;

static inline const char *rocsmith_nvtx_text(const nvtxEventAttributes_t *e)
{
	return e && e->messageType == NVTX_MESSAGE_TYPE_ASCII ? e->message.ascii : "";
}

static inline int nvtxRangePushA(const char *text) { return roctxRangePushA(text); }
static inline int nvtxRangePushEx(const nvtxEventAttributes_t *e) { return roctxRangePushA(rocsmith_nvtx_text(e)); }
static inline int nvtxRangePop(void) { return roctxRangePop(); }
static inline nvtxRangeId_t nvtxRangeStartA(const char *text) { return roctxRangeStartA(text); }
static inline nvtxRangeId_t nvtxRangeStartEx(const nvtxEventAttributes_t *e) { return roctxRangeStartA(rocsmith_nvtx_text(e)); }
static inline void nvtxRangeEnd(nvtxRangeId_t id) { roctxRangeStop(id); }
static inline void nvtxMarkA(const char *text) { roctxMarkA(text); }
static inline void nvtxMarkEx(const nvtxEventAttributes_t *e) { roctxMarkA(rocsmith_nvtx_text(e)); }
static inline void nvtxNameOsThreadA(uint32_t thread, const char *name) { (void)thread, (void)name; }
#define nvtxRangePush nvtxRangePushA
#define nvtxRangeStart nvtxRangeStartA
#define nvtxMark nvtxMarkA
#define nvtxNameOsThread nvtxNameOsThreadA

/* nvToolsExtCudaRt.h: rocTX has no names for what HIP makes. */
static inline void nvtxNameCudaDeviceA(int device, const char *name) { (void)device, (void)name; }
static inline void nvtxNameCudaStreamA(void *stream, const char *name) { (void)stream, (void)name; }
static inline void nvtxNameCudaEventA(void *event, const char *name) { (void)event, (void)name; }
#define nvtxNameCudaDevice nvtxNameCudaDeviceA
#define nvtxNameCudaStream nvtxNameCudaStreamA
#define nvtxNameCudaEvent nvtxNameCudaEventA

// NVRTC: a kernel compiled while the program runs
#include <cuda.h>
#include <nvrtc.h>
#include <string>
#include <vector>

static const char *const text = "extern \"C\" __global__ void twice(float *p, int n)\n"
								"{\n"
								"	int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
								"	if (i < n) p[i] *= 2;\n"
								"}\n";

extern "C" int compile(CUfunction *ret)
{
	nvrtcProgram program;
	CUmodule module;
	size_t size = 0;
	const char *const options[] = {"-DFAST=1"};
	if (nvrtcCreateProgram(&program, text, "twice.cu", 0, nullptr, nullptr) != NVRTC_SUCCESS)
		return 1;
	nvrtcResult r = nvrtcCompileProgram(program, 1, options);
	if (r != NVRTC_SUCCESS) {
		nvrtcGetProgramLogSize(program, &size);
		std::string log(size, '\0');
		nvrtcGetProgramLog(program, &log[0]);
		fprintf(stderr, "%s: %s\n", nvrtcGetErrorString(r), log.c_str());
		return 1;
	}
	nvrtcGetPTXSize(program, &size);
	std::vector<char> code(size);
	nvrtcGetPTX(program, code.data());
	nvrtcDestroyProgram(&program);
	cuModuleLoadDataEx(&module, code.data(), 0, nullptr, nullptr);
	return cuModuleGetFunction(ret, module, "twice");
}

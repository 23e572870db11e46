// NVML: power and temperature; ROCm SMI has other interfaces
#include <nvml.h> // refused: nvml.h

extern "C" unsigned watts(unsigned index)
{
	nvmlDevice_t device;
	unsigned milliwatts = 0;
	if (nvmlInit() != NVML_SUCCESS)
		return 0;
	nvmlDeviceGetHandleByIndex(index, &device);
	nvmlDeviceGetPowerUsage(device, &milliwatts);
	nvmlShutdown();
	return milliwatts / 1000;
}

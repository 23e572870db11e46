/* CUDA's driver API has device addresses as integers (CUdeviceptr), HIP has them as pointers. Made by
 * rocsmith: addresses stay integers, and what is handed to HIP is cast where it is called.
 */
#pragma once

typedef unsigned long long rocsmith_deviceptr;

/* What the GPU side offers to the Python side. No GPU types here: module.cpp needs only this.
 *
 * Each function returns NULL, or a message of the CUDA runtime that says what went wrong; results are
 * written only on success. */
#pragma once

#include <stddef.h>

struct mc_moments {
	double mean, variance;
};

/* Estimates pi from `samples` random points, drawn by the threads themselves. */
const char *mc_pi(unsigned long long seed, size_t samples, double *ret);
/* Mean and variance of `samples` numbers of a normal distribution, made by the cuRAND library. */
const char *mc_noise(unsigned long long seed, size_t samples, struct mc_moments *ret);
/* Number of GPUs. */
const char *mc_devices(int *ret);

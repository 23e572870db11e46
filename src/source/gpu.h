/* How a project's own build takes its code for GPUs: the switches that turn CUDA or HIP on, and what it takes without
 * one. Found by looking into its scripts; nothing is run, and computed names are not found.
 *
 * A switch is a variable of the environment that setup.py reads (USE_CUDA, FORCE_CUDA_EXTENSION, X_BACKEND), the
 * command that it wants (--build-option=build_ext), or an option of CMake (WITH_CUDA, GGML_HIP, COMPUTE_BACKEND). A
 * name that merely has CUDA in it (USE_CUDA_FP16, CUDA_HOME, BUILD_NO_CUDA) is none. CMake files count of which none
 * lies further up, with sources for GPUs below their folder; those of tests and examples do not. */
#pragma once

#include "source/source.h"

enum source_switch_kind { SWITCH_VARIABLE, SWITCH_OPTION, SWITCH_NONE };

struct source_switch {
	enum source_switch_kind kind;
	struct str
		name; /* "USE_CUDA"; of SWITCH_NONE "language CUDA", "package CUDAToolkit", "torch", "nvcc" */
	struct str value; /* turns it on: "1", "ON", "hip" */
	struct str place; /* "setup.py:155" */
	bool hip;         /* it is for AMD's GPUs, not NVIDIA's */
	bool on;          /* on unless somebody turns it off, or the project's own files decide */
	size_t depth;     /* folders above its CMake file, plus one; 0 = setup.py */
};

struct source_gpu {
	struct source_switch *v;
	size_t n, cap;
	bool sources;   /* it has .cu or .hip files */
	bool hip;       /* its CMake files take the language or the package HIP somewhere */
	bool passes_on; /* CMAKE_ARGS of the environment reaches CMake */
	struct strs
		links; /* components for CUDA's libraries that its CMake files name ("hiprand"), and those that they require */
	struct str torch_at; /* "setup.py:3", which imports torch whatever happens; or "" */
};

struct source_words { /* data/source_words.yaml explains each list */
	const char *const *no_switch, *const *ends, *const *cuda, *const *hip, *const *off;
	const char *const *no_cmake;
	const char *const *modules, *const *kernels, *const *gpu;
	const char *const *no_sources, *const *system_headers;
};
const struct source_words *source_words_table(void);   /* one row */
bool source_is_off(struct arena *a, struct str value); /* "0", "OFF", "cpu", "" and such */
bool source_is_aside(
	struct str path); /* it lies in a folder of tests, examples, documents or build output */
MUST_USE struct err *source_gpu_read(
	struct arena *a, const struct source *s, struct source_gpu *ret);

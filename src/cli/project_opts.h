/* The options that plan, build and why share, and how they become a plan. */
#pragma once

#include "cli/opt.h"
#include "plan/plan.h"

/* Rows of the option table of a struct T { struct common common; struct plan_request project; }. */
/* clang-format off */
#define PROJECT_DIR(T)                                                                             \
	{OPT_ARGUMENT("DIR", OPT_POS, T, project.dir,                                              \
		"project folder (default: this one), sdist, or a saved plan")}
#define PROJECT_OPTS(T)                                                                            \
	{OPT_VALUE("gpu", OPT_LIST, T, project.gpus, "GFX,...",                                    \
		"gfx1201,gfx90a, 'RX 9070 XT', native or all"),                                         \
		.flags = OPT_COMMA, .env = "ROCSMITH_GPU"},                                        \
	{OPT_VALUE("sdk", OPT_STR, T, project.sdk, "SDK", "debian:SUITE or prefix:DIR"),           \
		.env = "ROCSMITH_SDK"},                                                            \
	{OPT_VALUE("mirror", OPT_STR, T, project.mirror, "URL",                                    \
		"Debian archive, of the SDK and of sources"), .env = "ROCSMITH_MIRROR"},           \
	{OPT_VALUE("keyring", OPT_PATH, T, project.keyring, "FILE",                                \
		"keys that this archive is signed with"), .env = "ROCSMITH_KEYRING"},              \
	{OPT_FLAG("refresh", T, project.refresh,                                                   \
		"get sources anew: the archive's present ones")},                                  \
	{OPT_VALUE("python", OPT_STR, T, project.python, "PYTHON",                                 \
		"interpreter to build for: path, name or version"),                                \
		.env = "ROCSMITH_PYTHON"},                                                         \
	{OPT_VALUE("source", OPT_STR, T, project.source, "WHERE",                                  \
		"a known project's sources: a folder, debian:trixie/pytorch")},                         \
	{OPT_VALUE("feature", OPT_LIST, T, project.features, "NAME=CHOICE",                        \
		"choose for a feature: flash-attention=off")},                                     \
	{OPT_VALUE("version-suffix", OPT_STR, T, project.suffix, "SUFFIX",                         \
		"of a known project: +rocm6.4, or '' for none")},                                  \
	{OPT_VALUE("config", OPT_PATH, T, project.config, "FILE",                                  \
		"description to use instead of DIR/rocsmith.yaml")},                               \
	{OPT_VALUE("with", OPT_LIST, T, project.with, "WHEEL",                                     \
		"install it where setup.py or CMake runs: a torch")},                              \
	{OPT_VALUE("without", OPT_LIST, T, project.without, "PATTERN",                             \
		"what the wheels of --with need, and the build does not")},                        \
	{OPT_FLAG("torch-as-rocm", T, project.torch_as_rocm,                                       \
		"take a torch of CUDA for one of ROCm")},                                          \
	{OPT_VALUE("sysroot", OPT_PATH, T, project.sysroot, "DIR",                                 \
		"find GPUs in a recorded machine")}
/* clang-format on */

/* Makes the plan, or reads a saved one when the folder is a file that ends in .json. A flag that a
 * saved plan has answered already is E_USAGE; variables of the environment are defaults, which the
 * plan wins over. */
MUST_USE struct err *project_plan(
	struct arena *a, const struct common *common, struct plan_request *r, struct plan *ret);
/* Warns of what the plan found, a few of each kind. */
void project_say_findings(const struct plan *p);

/* The options that plan, build and why share, and the function that makes a plan of them. */
#pragma once

#include "cli/opt.h"
#include "plan/plan.h"

/* Rows for the option table of a struct T { struct common common; struct plan_request project; }. */
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
		"fetch sources again, from the archive's present index")},                                  \
	{OPT_VALUE("python", OPT_STR, T, project.python, "PYTHON",                                 \
		"interpreter to build for: path, name or version"),                                \
		.env = "ROCSMITH_PYTHON"},                                                         \
	{OPT_VALUE("source", OPT_STR, T, project.source, "WHERE",                                  \
		"a known project's sources: a folder, debian:trixie/pytorch")},                         \
	{OPT_VALUE("feature", OPT_LIST, T, project.features, "NAME=CHOICE",                        \
		"choose for a feature: flash-attention=off")},                                     \
	{OPT_VALUE("version-suffix", OPT_STR, T, project.suffix, "SUFFIX",                         \
		"version suffix of a known project: +rocm6.4; '': none")},                                  \
	{OPT_VALUE("config", OPT_PATH, T, project.config, "FILE",                                  \
		"description to use instead of DIR/rocsmith.yaml")},                               \
	{OPT_VALUE("with", OPT_LIST, T, project.with, "WHEEL",                                     \
		"install it for setup.py or CMake to use: a torch")},                              \
	{OPT_VALUE("without", OPT_LIST, T, project.without, "PATTERN",                             \
		"requirements of --with's wheels to leave out")},                        \
	{OPT_FLAG("torch-as-rocm", T, project.torch_as_rocm,                                       \
		"treat a torch built for CUDA as one for ROCm")},                                          \
	{OPT_VALUE("sysroot", OPT_PATH, T, project.sysroot, "DIR",                                 \
		"find GPUs in a recorded machine")}
/* clang-format on */

/* Makes the plan, or reads a saved one if DIR is a file that ends in .json. An option whose value is fixed in the saved
 * plan fails with E_USAGE; the plan overrides defaults from environment variables. */
MUST_USE struct err *project_plan(struct arena *a, const struct common *common,
	struct plan_request *r, struct plan_wish *ret);
/* Prints the plan's findings as warnings, a few of each kind. */
void project_say_findings(const struct plan *p);

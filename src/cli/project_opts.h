/* The options that plan, build and why share, and the function that makes a plan of them. */
#pragma once

#include "cli/opt.h"
#include "plan/plan.h"

/* Rows for the option table of a command whose struct has a member `struct plan_request project`. */
/* clang-format off */
#define PROJECT_DIR                                                                                \
	{OPT_ARGUMENT("DIR", OPT_POS, project.dir,                                                 \
		"project folder (default: this one), sdist, or a saved plan")}
#define PROJECT_OPTS                                                                               \
	{OPT_GPUS(project.gpus, "gfx1201,gfx90a, 'RX 9070 XT', native or all")},                   \
	{OPT_SDK(project.sdk, "SDK", "debian:SUITE or prefix:DIR")},                               \
	{OPT_VALUE("mirror", OPT_STR, project.mirror, "URL",                                       \
		"Debian archive, of the SDK and of sources"), .env = "ROCSMITH_MIRROR"},           \
	{OPT_VALUE("keyring", OPT_PATH, project.keyring, "FILE",                                   \
		"keys that this archive is signed with"), .env = "ROCSMITH_KEYRING"},              \
	{OPT_FLAG("refresh", project.refresh, "fetch sources again, from the archive's present index")}, \
	{OPT_VALUE("python", OPT_STR, project.python, "PYTHON",                                    \
		"interpreter to build for: path, name or version"), .env = "ROCSMITH_PYTHON"},     \
	{OPT_VALUE("source", OPT_STR, project.source, "WHERE",                                     \
		"a known project's sources: a folder, debian:trixie/pytorch")},                    \
	{OPT_VALUE("lock", OPT_PATH, project.lock, "FILE",                                         \
		"a known project's sources: what 'checkout' locked")},                             \
	{OPT_VALUE("feature", OPT_LIST, project.features, "NAME=CHOICE",                           \
		"choose for a feature: flash-attention=off")},                                     \
	{OPT_VALUE("version-suffix", OPT_STR, project.suffix, "SUFFIX",                            \
		"version suffix of a known project: +rocm6.4; '': none")},                         \
	{OPT_VALUE("build-number", OPT_UINT, project.number, "N",                                  \
		"build number of a known project: .postN follows its version")},                   \
	{OPT_VALUE("config", OPT_PATH, project.config, "FILE",                                     \
		"description to use instead of DIR/rocsmith.yaml")},                               \
	{OPT_VALUE("with", OPT_LIST, project.with, "WHEEL",                                        \
		"install it for setup.py or CMake to use: a torch")},                              \
	{OPT_VALUE("without", OPT_LIST, project.without, "PATTERN",                                \
		"requirements of --with's wheels to leave out")},                                  \
	{OPT_FLAG("torch-as-rocm", project.torch_as_rocm,                                          \
		"treat a torch built for CUDA as one for ROCm")},                                  \
	{OPT_VALUE("policy", OPT_STR, project.policy_tag, "TAG",                                   \
		"build for its glibc; what needs more fails: manylinux_2_28")},                    \
	{OPT_VALUE("policy-sysroot", OPT_PATH, project.policy_sysroot, "DIR",                      \
		"folder with headers and libraries of that glibc")},                               \
	{OPT_SYSROOT(project.sysroot, "find GPUs in a recorded machine")}
/* clang-format on */

/* Makes the plan, or reads a saved one if DIR is a file that ends in .json. An option whose value is fixed in the saved
 * plan fails with E_USAGE; the plan overrides defaults from environment variables. */
MUST_USE struct err *project_plan(struct arena *a, const struct common *common,
	struct plan_request *r, struct plan_wish *ret);
/* Prints the plan's findings as warnings, a few of each kind. */
void project_say_findings(const struct plan *p);

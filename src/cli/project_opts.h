/* The options that plan, build and why share, and how they become a plan. */
#pragma once

#include "cli/opt.h"
#include "plan/plan.h"

/* Members of each command's struct, behind struct common. */
struct project_opts {
	struct str target; /* project folder or PLAN.json */
	struct strs gpus;
	struct str sdk, mirror, python, config, sysroot;
	bool any_gpu; /* set by the command: a plan without targets will do */
};

/* Rows of the option table of a struct T { struct common common; struct project_opts project; }. */
/* clang-format off */
#define PROJECT_DIR(T)                                                                             \
	{OPT_ARGUMENT("DIR", OPT_POS, T, project.target,                                           \
		"project folder (default: this one) or a saved plan")}
#define PROJECT_OPTS(T)                                                                            \
	{OPT_VALUE("gpu", OPT_LIST, T, project.gpus, "GFX,...",                                    \
		"targets: gfx1201,gfx90a, native or all"),                                         \
		.flags = OPT_COMMA, .env = "ROCSMITH_GPU"},                                        \
	{OPT_VALUE("sdk", OPT_STR, T, project.sdk, "SDK", "debian:SUITE or prefix:DIR"),           \
		.env = "ROCSMITH_SDK"},                                                            \
	{OPT_VALUE("mirror", OPT_STR, T, project.mirror, "URL",                                    \
		"archive mirror of the debian SDK"), .env = "ROCSMITH_MIRROR"},                    \
	{OPT_VALUE("python", OPT_STR, T, project.python, "PYTHON",                                 \
		"interpreter to build for: path, name or version"),                                \
		.env = "ROCSMITH_PYTHON"},                                                         \
	{OPT_VALUE("config", OPT_PATH, T, project.config, "FILE",                                  \
		"description to use instead of DIR/rocsmith.yaml")},                               \
	{OPT_VALUE("sysroot", OPT_PATH, T, project.sysroot, "DIR",                                 \
		"find GPUs in a recorded machine")}
/* clang-format on */

/* Makes the plan, or reads a saved one when the target ends in .json. Options that a
 * saved plan has answered already are E_USAGE. */
MUST_USE struct err *project_plan(struct arena *a, const struct project_opts *o, struct plan *ret);

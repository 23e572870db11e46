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

#define PROJECT_OPT(T, m) (offsetof(struct T, project) + offsetof(struct project_opts, m))
/* The rows of an option table of `struct T { struct common common; struct project_opts project; }`
 */
#define PROJECT_OPTS(T)                                                                            \
	{.lname = "gpu",                                                                           \
		.kind = OPT_LIST,                                                                  \
		.flags = OPT_COMMA,                                                                \
		.off = PROJECT_OPT(T, gpus),                                                       \
		.env = "ROCSMITH_GPU",                                                             \
		.arg = "GFX,...",                                                                  \
		.help = "targets: gfx1201,gfx90a, native or all"},                                 \
		{.lname = "sdk",                                                                   \
			.kind = OPT_STR,                                                           \
			.off = PROJECT_OPT(T, sdk),                                                \
			.env = "ROCSMITH_SDK",                                                     \
			.arg = "SDK",                                                              \
			.help = "debian:SUITE or prefix:DIR"},                                     \
		{.lname = "mirror",                                                                \
			.kind = OPT_STR,                                                           \
			.off = PROJECT_OPT(T, mirror),                                             \
			.env = "ROCSMITH_MIRROR",                                                  \
			.arg = "URL",                                                              \
			.help = "archive mirror of the debian SDK"},                               \
		{.lname = "python",                                                                \
			.kind = OPT_STR,                                                           \
			.off = PROJECT_OPT(T, python),                                             \
			.env = "ROCSMITH_PYTHON",                                                  \
			.arg = "PYTHON",                                                           \
			.help = "interpreter to build for: path, name or version"},                \
		{.lname = "config",                                                                \
			.kind = OPT_PATH,                                                          \
			.off = PROJECT_OPT(T, config),                                             \
			.arg = "FILE",                                                             \
			.help = "description to use instead of DIR/rocsmith.yaml"},                \
	{                                                                                          \
		.lname = "sysroot", .kind = OPT_PATH, .off = PROJECT_OPT(T, sysroot),              \
		.arg = "DIR", .help = "find GPUs in a recorded machine"                            \
	}

/* Makes the plan, or reads a saved one when the target ends in .json. Options that a
 * saved plan has answered already are E_USAGE. */
MUST_USE struct err *project_plan(struct arena *a, const struct project_opts *o, struct plan *ret);

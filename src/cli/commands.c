/* All commands, in the order of help. */
#include "cli/opt.h"

/* clang-format off */
#define COMMANDS(X)                                                                                \
	X(doctor) X(env) X(explain) X(plan) X(why) X(build)                                        \
	X(sdk_list) X(sdk_install) X(sdk_info) X(sdk_env)                                          \
	X(sdk_shims) X(sdk_verify) X(sdk_remove) X(sdk_run) X(cc)                                  \
	X(patch_status) X(patch_apply) X(patch_revert)                                             \
	X(hipify) X(hipify_status) X(hipify_restore)                                               \
	X(hipify_explain) X(hipify_verify) X(hipify_lint)                                          \
	X(inspect) X(slim) X(split) X(merge) X(bundle) X(verify)                                   \
	X(wheel_pack) X(wheel_unpack) X(wheel_retag) X(wheel_repro)                                \
	X(report) X(completion) X(help)
/* clang-format on */

#define DECLARE(name) extern const struct command cmd_##name;
#define ADDRESS(name) &cmd_##name,
COMMANDS(DECLARE)
const struct command *const commands[] = {COMMANDS(ADDRESS) NULL};

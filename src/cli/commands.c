/* All commands, in the order of help. */
#include "cli/opt.h"

extern const struct command cmd_build;
extern const struct command cmd_bundle;
extern const struct command cmd_cc;
extern const struct command cmd_completion;
extern const struct command cmd_doctor;
extern const struct command cmd_env;
extern const struct command cmd_explain;
extern const struct command cmd_help;
extern const struct command cmd_hipify;
extern const struct command cmd_hipify_explain;
extern const struct command cmd_hipify_lint;
extern const struct command cmd_hipify_restore;
extern const struct command cmd_hipify_status;
extern const struct command cmd_hipify_verify;
extern const struct command cmd_inspect;
extern const struct command cmd_merge;
extern const struct command cmd_patch_apply;
extern const struct command cmd_patch_revert;
extern const struct command cmd_patch_status;
extern const struct command cmd_plan;
extern const struct command cmd_report;
extern const struct command cmd_sdk_env;
extern const struct command cmd_sdk_info;
extern const struct command cmd_sdk_install;
extern const struct command cmd_sdk_list;
extern const struct command cmd_sdk_remove;
extern const struct command cmd_sdk_run;
extern const struct command cmd_sdk_shims;
extern const struct command cmd_sdk_verify;
extern const struct command cmd_slim;
extern const struct command cmd_split;
extern const struct command cmd_verify;
extern const struct command cmd_wheel_pack;
extern const struct command cmd_wheel_repro;
extern const struct command cmd_wheel_retag;
extern const struct command cmd_wheel_unpack;
extern const struct command cmd_why;

const struct command *const commands[] = {
	&cmd_doctor,
	&cmd_env,
	&cmd_explain,
	&cmd_plan,
	&cmd_why,
	&cmd_build,
	&cmd_sdk_list,
	&cmd_sdk_install,
	&cmd_sdk_info,
	&cmd_sdk_env,
	&cmd_sdk_shims,
	&cmd_sdk_verify,
	&cmd_sdk_remove,
	&cmd_sdk_run,
	&cmd_cc,
	&cmd_patch_status,
	&cmd_patch_apply,
	&cmd_patch_revert,
	&cmd_hipify,
	&cmd_hipify_status,
	&cmd_hipify_restore,
	&cmd_hipify_explain,
	&cmd_hipify_verify,
	&cmd_hipify_lint,
	&cmd_inspect,
	&cmd_slim,
	&cmd_split,
	&cmd_merge,
	&cmd_bundle,
	&cmd_verify,
	&cmd_wheel_pack,
	&cmd_wheel_unpack,
	&cmd_wheel_retag,
	&cmd_wheel_repro,
	&cmd_report,
	&cmd_completion,
	&cmd_help,
	NULL,
};

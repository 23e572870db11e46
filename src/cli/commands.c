/* All commands, in the order of help. */
#include "cli/opt.h"

extern const struct command cmd_completion;
extern const struct command cmd_doctor;
extern const struct command cmd_help;
extern const struct command cmd_hipify;
extern const struct command cmd_inspect;
extern const struct command cmd_report;

const struct command *const commands[] = {
	&cmd_doctor,
	&cmd_hipify,
	&cmd_inspect,
	&cmd_report,
	&cmd_completion,
	&cmd_help,
	NULL,
};

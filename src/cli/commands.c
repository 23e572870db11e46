/* All commands, in the order of help. */
#include "cli/opt.h"

extern const struct command cmd_completion, cmd_help;

const struct command *const commands[] = {
	&cmd_completion,
	&cmd_help,
	NULL,
};

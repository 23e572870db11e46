/* All commands; see commands.def. */
#include "cli/opt.h"

#define X(id, words, need, text)                                                                   \
	{.name = (words),                                                                          \
		.summary = (text),                                                                 \
		.opts = cmd_##id##_opts,                                                           \
		.needs = (need),                                                                   \
		.run = cmd_##id},
const struct command commands[] = {
#include "cli/commands.def"
	{.name = NULL},
};
#undef X

/* What the help texts and the completions share. */
#pragma once

#include "cli/opt.h"

/* Does the common option o make sense for c (--dry-run only where something is written)? */
bool opt_applies(const struct command *c, const struct opt *o);

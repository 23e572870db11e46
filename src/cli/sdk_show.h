/* What the sdk commands have in common: the SDK as JSON. */
#pragma once

#include "base/vec.h"
#include "sdk/sdk.h"

struct sdk_target { /* an answer of sdk_probe() */
	struct str name, why;
	bool compiles;
};

struct sdk_targets {
	VEC(struct sdk_target) list;
};

/* targets and done may be NULL. */
void show_sdk_json(struct arena *a, const struct sdk *sdk, const struct sdk_targets *targets,
	const struct sdk_done *done);

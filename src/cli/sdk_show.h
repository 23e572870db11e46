/* What the sdk commands have in common: the SDK as JSON. */
#pragma once

#include "sdk/sdk.h"

/* targets and done may be NULL. */
void show_sdk_json(struct arena *a, const struct sdk *sdk, const struct sdk_targets *targets,
	const struct sdk_done *done);

/* What the sdk commands have in common: the SDK as JSON. */
#pragma once

#include "sdk/sdk.h"

struct sdk_targets { /* answers of sdk_probe() */
	struct strs names;
	bool *ok;
	struct str *why;
};

/* targets and done may be NULL. */
void show_sdk_json(struct arena *a, const struct sdk *sdk, const struct sdk_targets *targets,
	const struct sdk_done *done);
void show_preview_json(struct arena *a, const struct sdk_done *d, const struct strs *packages);

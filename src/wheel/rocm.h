/* ROCm's wheels as ROCm/TheRock makes them: rocm, whose extras are the others; rocm-sdk-core, rocm-sdk-libraries;
 * rocm-sdk-device-GPU, whose files lie among the libraries; and rocm-sdk-devel, with all else in a tar. A wheel has no links: a
 * library is there under its soname, a link to a program is a script that starts it, another one a copy. The tar has the links
 * as they were, and leads to the files of the other wheels. No file is changed: `rocm_sdk` loads what PyTorch asks it for. */
#pragma once

#include "sdk/sdk.h"

struct rocm_wheel { /* data/rocm_wheels.yaml */
	const char *name, *extra, *folder, *module, *needs;
	const char *const *artifacts, *const *components, *const *without;
	bool device;
};
TABLE(rocm_wheel);

/* E_USAGE for another provider than "artifacts", and for a folder that has anything but wheels of ROCm. */
MUST_USE struct err *rocm_wheels_place(struct str provider, struct str output);
/* Lists the wheels that rocm_wheels_make() would make, "rocm-sdk-core 7.12.0", of an SDK that is to be installed, whose artifacts
 * are `packages` of sdk_preview(), or (none) is installed. */
MUST_USE struct err *rocm_wheels_preview(struct arena *a, const struct sdk_spec *spec,
	const struct strs *packages, struct strs *ret);
/* Makes or replaces that folder at once; the same artifacts give the same bytes. *ret: the wheels' paths. E_SDK: device code was
 * not split off. */
MUST_USE struct err *rocm_wheels_make(
	struct arena *a, const struct sdk *sdk, struct str output, struct strs *ret);

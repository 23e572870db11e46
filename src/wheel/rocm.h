/* ROCm's wheels as ROCm/TheRock makes them, of an SDK whose provider is "artifacts": `rocm`, whose extras are the others;
 * rocm-sdk-core and -libraries; rocm-sdk-device-GPU, whose files lie among those of -libraries; and rocm-sdk-devel, with all
 * else in a tar, which `rocm-sdk init` and `sdk install` expand. data/rocm_wheels.yaml says whose files are whose.
 *
 * A wheel has no links: a library has the name of its soname, a link to a program is a script that starts it, another link
 * is a copy. The tar has all links as they were, and links to what is in other wheels. Programs and libraries find those of
 * other wheels by DT_RPATH, which LD_LIBRARY_PATH cannot overrule; but for these paths, no file is changed. The tag is
 * linux_x86_64, as AMD's is: which glibc the artifacts need is not looked at. */
#pragma once

#include "sdk/sdk.h"
#include "wheel/wheel.h"

struct rocm_wheel { /* data/rocm_wheels.yaml */
	const char *name, *extra, *folder, *module, *needs;
	const char *const *artifacts, *const *components, *const *without, *const *paths,
										   *const *scripts;
	bool device;
};
const struct rocm_wheel *rocm_wheel_table(void);
extern const size_t rocm_wheel_count;

struct rocm_made {
	struct str name, path;
	uint64_t size;
};

struct rocm_wheels {
	struct str version, output;
	VEC(struct rocm_made) wheels;
};

extern const struct json_field rocm_wheels_fields[]; /* schema rocsmith.rocm-wheels/1 */
/* E_USAGE for another provider than "artifacts", and if there is something at the path already. */
MUST_USE struct err *rocm_wheels_place(struct str provider, struct str output);
/* Makes the folder r->output with the wheels, which appear together or not at all; the same artifacts give the same bytes.
 * E_CORRUPT if files of the SDK have changed, E_SDK if its device code was not split off. */
MUST_USE struct err *rocm_wheels_make(
	struct arena *a, const struct sdk *sdk, unsigned jobs, struct rocm_wheels *r);

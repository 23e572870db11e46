/* Which published PyTorch wheels serve which GPU: data/compat.yaml, compiled in. The head of that file is the
 * manual of its rows. All is constant; lists end in NULL and may be NULL.
 */
#pragma once

#include "base/str.h"

struct compat_wheel {
	const char *torch, *rocm, *index, *amd, *released, *python, *measured;
	const char *const *install, *const *targets, *const *no_blas, *const *evidence;
	unsigned download, disk; /* MB */
	bool uv, unsure;
};
extern const struct compat_wheel compat_wheel_table[];
extern const size_t compat_wheel_count;

struct compat_override {
	const char *target, *as, *value, *risk;
	const char *const *evidence;
};
extern const struct compat_override compat_override_table[];
extern const size_t compat_override_count;

struct compat_caution {
	const char *target, *text;
	const char *const *evidence;
};
extern const struct compat_caution compat_caution_table[];
extern const size_t compat_caution_count;

struct never_published {
	const char *torch, *rocm;
	const char *const *evidence;
};
extern const struct never_published never_published_table[];
extern const size_t never_published_count;

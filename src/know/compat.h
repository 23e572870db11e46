/* The table of published PyTorch wheels and the GPUs that each serves: data/compat.yaml, compiled in. The head of that
 * file is the manual of its rows. Everything is constant; lists end in NULL and may be NULL.
 */
#pragma once

#include "base/vec.h"

struct compat_wheel {
	const char *torch, *rocm, *index, *amd, *released, *python, *measured, *note;
	const char *const *install, *const *targets, *const *no_blas, *const *evidence;
	unsigned download, disk; /* MB */
	bool uv, unsure;
};
TABLE(compat_wheel);

struct compat_target {
	const char *target, *as, *value, *text;
	const char *const *evidence;
};
TABLE(compat_target);

struct compat_state {
	const char *date; /* "2026-10" */
};
const struct compat_state *compat_state_table(void); /* one row */

/* The row of this target, or NULL. */
const struct compat_target *compat_of(struct str target);

enum compat_how {
	COMPAT_EXACT,
	COMPAT_GENERIC,  /* by the code of a generic target */
	COMPAT_OVERRIDE, /* by the code of a sibling; see compat_of() */
};
extern const char *const compat_how_names[];

struct compat_query {
	struct str target, python; /* "gfx1201"; "3.12", "" = any */
	enum compat_how how;
	bool amd, unsure;        /* wheels of AMD's index; wheels that nobody has inspected */
	bool blas;               /* the wheel's rocBLAS must have kernels for the target, too */
	const struct strs *also; /* targets that the wheel must serve, too; or NULL */
	struct str torch, rocm;  /* "2.14", "10.1.0" agree with the row 2.14, 10.1; "" = any */
};
/* The first wheel of the table that meets the query, or NULL. */
const struct compat_wheel *compat_find(const struct compat_query *q);
/* Do the wheel and its rocBLAS have code for all of these? True for NULL. */
bool compat_serves_all(const struct compat_wheel *w, const struct strs *also);
/* Is the Python within the wheel's range? True for "". */
bool compat_fits(const struct compat_wheel *w, struct str python);
/* Does code for one of these GPUs serve the target in this way? */
bool compat_serves(const char *const *targets, struct str target, enum compat_how how);

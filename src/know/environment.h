/* The environment that a GPU and a torch want, line by line, with reasons: data/environment.yaml, compiled in; the head
 * of that file is the manual of its rows. What the rules (know/rule.h) say should not be set is part of it.
 */
#pragma once

#include "know/predicate.h"

struct environment { /* a row */
	const char *name, *value, *when, *why, *confidence;
	const char *const *evidence;
	bool build;
};
const struct environment *environment_table(void);
extern const size_t environment_count;

struct environment_line {
	struct str name, value, why; /* with the facts in their places */
	bool unset;                  /* it should not be set; value "" */
	bool build;
	const char *confidence;
	struct strs evidence;
};

struct environment_lines {
	struct environment_line *v;
	size_t n, cap;
};

/* Has this torch code for the GPU, and its rocBLAS files for it, which matrix products need? */
bool environment_serves(const struct machine_torch *t, struct str target);
/* The Python environment at path; "": the one that is active, else the first with a torch; or NULL. */
const struct machine_python *environment_python(const struct machine *m, struct str path);
/* What holds here, sorted by name; python: or NULL; build: lines for builds, too. E_SYNTAX: a condition is wrong. */
MUST_USE struct err *environment_of(struct arena *a, const struct machine *m,
	const struct machine_python *python, bool build, struct environment_lines *ret);

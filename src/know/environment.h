/* The environment variables that a GPU and a torch need, with reasons: data/environment.yaml, compiled in. The head of
 * that file is the manual of its rows. Variables that should not be set come from the rules (know/rule.h).
 */
#pragma once

#include "know/predicate.h"

struct environment { /* a row */
	const char *name, *value, *when, *why, *confidence;
	const char *const *evidence;
	bool build;
};
TABLE(environment);

struct environment_line {
	struct str name, value, why; /* with facts inserted; name first, for str_order() */
	bool unset;                  /* the variable should not be set; value is "" */
	bool build;
	const char *confidence;
	struct strs evidence;
};

struct environment_lines VEC_OF(struct environment_line);

/* Does this torch have code for the GPU, in its usual mode (xnack off), that no empty archive hides? */
bool environment_has(const struct machine_torch *t, struct str target);
/* Does it, and has its rocBLAS the files that matrix products on this GPU need? */
bool environment_serves(const struct machine_torch *t, struct str target);
/* Does this torch serve the GPU only because an override that is set makes it run the code of another target of its
 * family? */
bool environment_borrows(const struct machine_torch *t, const struct machine_gpu *g);
/* The Python environment at path; for "", the active one, or else the first with a torch; or NULL. */
const struct machine_python *environment_python(const struct machine *m, struct str path);
/* The lines that apply to this machine, sorted by name. python may be NULL; build: include lines for builds. Fails with
 * E_SYNTAX if a condition is malformed. */
MUST_USE struct err *environment_of(struct arena *a, const struct machine *m,
	const struct machine_python *python, bool build, struct environment_lines *ret);

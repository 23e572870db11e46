/* A graph of steps, run in parallel as their needs are met. Knows nothing about what they do.
 *
 * Steps are added in order; a step may need only steps added before it, so there are no cycles.
 */
#pragma once

#include "base/err.h"
#include "base/vec.h"

struct graph_node {
	struct err *(*run)(struct arena *tmp, void *user);
	void *user;
	VEC(size_t) needs; /* indices of earlier nodes */
	/* state, set by graph_run() */
	VEC(size_t) feeds;
	size_t waiting;
	struct err *failure;
};

struct graph {
	struct graph_node *v;
	size_t n, cap;
};

/* The index of a new node. */
size_t graph_add(struct arena *a, struct graph *g,
	struct err *(*run)(struct arena *tmp, void *user), void *user);
void graph_need(struct arena *a, struct graph *g, size_t node, size_t earlier);
/* Runs all with at most `jobs` at once and returns the failure of the first node in order of
 * adding. ret_more NULL: after a failure no step is started; those that run finish, and their
 * failures are dropped. Else all steps that do not need the failed one are run, and what else fails
 * goes to *ret_more as a chain of "also". */
MUST_USE struct err *graph_run(
	struct arena *a, struct graph *g, unsigned jobs, struct err **ret_more);

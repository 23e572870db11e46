/* A graph of steps, run in parallel as their needs are met. Knows nothing about compilers.
 *
 * Steps are added in order; a step may need only steps added before it, so there are no cycles.
 * After a failure no new step is started (keep_going: none that needs the failed one), running ones
 * finish.
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
	bool done, skipped;
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
/* Runs all with at most `jobs` at once. Returns the failure of the first node in order of adding;
 * further ones go to *ret_more as a chain of "also" (may be NULL: then they are dropped). */
MUST_USE struct err *graph_run(
	struct arena *a, struct graph *g, unsigned jobs, bool keep_going, struct err **ret_more);

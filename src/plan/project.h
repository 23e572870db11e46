/* The project description: rocsmith.yaml as the user wrote it, or what stands in for it.
 *
 * Keys are checked strictly; each value keeps its place in the file, so that what is found wrong
 * later (a pattern that matches nothing, an unknown GPU) is reported there. Private to plan/.
 */
#pragma once

#include "formats/node.h"
#include "plan/plan.h"

struct project {
	struct str dir;          /* absolute */
	struct str file;         /* the description, "" = none */
	const struct node *root; /* of the description, or NULL */
	struct str name, version, summary, license, requires_python;
	struct str sdk, abi3, into, package, data_dir;
	struct strs includes, libraries, defines, flags, gpus, components, requires;
	struct hipify_options hipify;
};

/* config "" = DIR/rocsmith.yaml when it exists. */
MUST_USE struct err *project_read(
	struct arena *a, struct str dir, struct str config, struct project *ret);
/* The files or patterns below `key`, a list (a single one counts as a list of one); NULL when the
 * key is absent. */
MUST_USE struct err *project_list(
	struct arena *a, const struct node *map, const char *key, const struct node **ret);
/* An error at the value of a top-level key, or at the description, or without a place. */
MUST_USE struct err *project_error(const struct project *p, struct str key, enum errcode code,
	const char *fmt, ...) PRINTF(4, 5);

/* The sources of a project: which files are compiled, which headers they reach, what modules they
 * define. Private to plan/. */
#pragma once

#include "plan/project.h"
#include "plan/scan.h"

/* What was found in a source and in the headers of the project that it reaches. */
struct source_facts {
	struct strs modules;
	uint32_t limited_api;
	bool python; /* includes Python.h */
	bool has_main;
};

struct sources {
	struct plan *plan; /* gets sources, headers, external */
	const struct project *project;
	struct source_facts *facts; /* plan->sources.n of them */
};

/* Fills plan->sources, headers, external and the facts. E_PROJECT, E_LIMIT. */
MUST_USE struct err *sources_find(
	struct arena *a, const struct project *p, struct plan *plan, struct source_facts **ret);
/* Fills plan->modules and the Python tags; needs host, python_files. E_MODULE. */
MUST_USE struct err *modules_find(struct arena *a, const struct project *p,
	const struct source_facts *facts, struct plan *plan);
/* Fills plan->python_dir, python_files. */
MUST_USE struct err *python_find(struct arena *a, const struct project *p, struct plan *plan);
/* "my-pkg" -> "my_pkg": what Python can import. */
struct str import_name(struct arena *a, struct str project);

/* A build that another build system does: setup.py, PEP 517, CMake.
 *
 *     foreign_open()    folders, and the environment that everything is started in
 *     foreign_copy()    our own copy of the project's tree, translated if the plan says so
 *     foreign_build()   the Python environment, then the project's back end or CMake
 *
 * in this order. The project's own folder is only read. Its code runs in foreign_build() and nowhere else: as this user,
 * without a sandbox, as `pip install` would run it.
 *
 * A build folder has tree/ (the copy; the build system writes in there too), venv/ (Python with what the build needs),
 * rocm/ (the SDK as a folder like /opt/rocm, sdk/shims.h), cmake/ (CMake's own build folder), dist/ (wheels as the back
 * end made them), log/ (the output of each step), home/ and tmp/ (HOME and TMPDIR of the build), state/ (what the next
 * build compares with), requirements.txt (what was installed into venv/, by hash). To run a step by hand, load
 * log/environment into a shell: it has what the step sees besides your own environment.
 *
 * Resuming: the copy keeps the times of files, and a second run copies only what changed, so that ninja compiles only
 * that. If anything else changed that the result depends on (GPUs, wheels, flags), CMake configures anew and ninja
 * rebuilds what that affects. With other compilers, and with other build systems, which do not notice such changes, the
 * copy is made anew. If nothing changed, nothing is run.
 */
#pragma once

#include "formats/finding.h"
#include "jobs/job.h"
#include "plan/plan.h"
#include "sdk/sdk.h"

struct foreign_package { /* of the Python environment */
	struct str name, version, sha256, url;
};

struct foreign {
	/* The caller fills in: */
	struct arena *a;
	const struct plan *plan;
	const struct sdk *sdk;
	struct str dir; /* build folder, absolute */
	struct str out; /* folder for the results: no part of the project, even if it lies inside */
	unsigned jobs;
	bool keep_going; /* after an error build what does not need it, if we start ninja ourselves */
	const struct strs *targets; /* of ninja or make: build only these; NULL or none = all */
	double began;               /* mono_now() at the start of the whole build */

	/* foreign_open() */
	struct str tree, venv, rocm, cmake, dist, log, home, tmp, state;
	struct strs env;                 /* NAME=VALUE: the whole environment of the build */
	struct foreign_recipes *recipes; /* for known stops; tried on the copy */
	struct strs dropped; /* names of our variables that are not in it: of another ROCm, CUDA */
	struct str key; /* a hash over all that decides the result, except the project's files */

	/* foreign_copy() */
	struct strs patched; /* ids of the recipes applied to the copy or the environment */
	bool changed;        /* the copy is not as the last build left it */

	/* foreign_build() */
	struct job_report steps[8]; /* in order; kind "" behind the last */
	VEC(struct foreign_package) packages;
	struct str result; /* the wheel, or the folder that CMake installed into; "" with targets */
	struct findings findings;
};

/* Fills in only the steps: for a dry run, without folders. */
void foreign_steps(struct foreign *f);
MUST_USE struct err *foreign_open(struct foreign *f);
MUST_USE struct err *foreign_copy(struct foreign *f);
/* E_COMPILE with the first real error of the build's output, located in the user's source; E_FOREIGN for anything else
 * that its build system refuses, and for a configuration without ROCm. */
MUST_USE struct err *foreign_build(struct foreign *f);

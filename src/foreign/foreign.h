/* A build that another build system does: setup.py, PEP 517, CMake.
 *
 *     foreign_open()    folders, and the environment that everything is started in
 *     foreign_copy()    our own copy of the project's tree, translated where the plan says so
 *     foreign_build()   the Python environment, then the project's back end or CMake
 *
 * in this order. The project's own folder is only read. Its code runs in foreign_build() and nowhere
 * else: as this user, without a sandbox, as `pip install` would run it.
 *
 * A build folder holds tree/ (the copy; the build system writes in there, too), venv/ (Python with
 * what the build needs), rocm/ (the SDK as a folder like /opt/rocm, sdk/shims.h), cmake/ (CMake's
 * own build folder), dist/ (wheels as the back end made them), log/ (what each step said), home/ and
 * tmp/ (what the build gets as HOME and TMPDIR), state/ (what the next build goes by),
 * requirements.txt (what was installed into venv/, by hash). To run a step by hand: the file
 * environment in log/ has what it sees besides your own, for a shell.
 *
 * Going on: the copy keeps the times of files, and a second run brings only what changed, so that
 * ninja compiles only that. When anything else changed on which the result depends (GPUs, wheels,
 * flags), CMake configures anew and ninja builds what that touches; with other compilers, and under
 * other build systems, which do not notice such changes, the copy is made anew. When nothing changed,
 * nothing is run.
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
	/* What is wanted: */
	struct arena *a;
	const struct plan *plan;
	const struct sdk *sdk;
	struct str dir; /* build folder, absolute */
	struct str out; /* where results go: not a part of the project, even when it is inside */
	unsigned jobs;
	bool keep_going; /* after an error build what does not need it, where ninja is ours to start */
	const struct strs *targets; /* of ninja or make: build these and stop; NULL or none = all */
	double began;               /* mono_now() at the start of the whole build */

	/* foreign_open() */
	struct str tree, venv, rocm, cmake, dist, log, home, tmp, state;
	struct strs env;                 /* NAME=VALUE: all that programs of the build see */
	struct foreign_recipes *recipes; /* for known stops, tried on the copy */
	struct strs dropped; /* names of variables that they do not see: of another ROCm, CUDA */
	struct str key;      /* all that decides the result besides the project's files, hashed */

	/* foreign_copy() */
	struct strs patched; /* ids of the recipes that the copy or the environment has */
	bool changed;        /* the copy is not as the last build left it */

	/* foreign_build() */
	struct job_report steps[8]; /* those that a build has, in order; kind "" behind the last */
	VEC(struct foreign_package) packages;
	struct str result; /* the wheel, or the folder that CMake installed into; "" with targets */
	struct findings findings;
};

/* In a dry run without folders: only the steps are filled in. */
void foreign_steps(struct foreign *f);
MUST_USE struct err *foreign_open(struct foreign *f);
MUST_USE struct err *foreign_copy(struct foreign *f);
/* E_COMPILE with the first real error of the build's output, located in the user's source;
 * E_FOREIGN for what else its build system refuses, a configuration without ROCm among it. */
MUST_USE struct err *foreign_build(struct foreign *f);

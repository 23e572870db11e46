/* Builds a project with its own build system: setup.py, PEP 517, CMake.
 *
 *     foreign_open()    makes the folders, and the environment for all programs of the build
 *     foreign_copy()    copies the project's tree, and translates the copy if the plan says so
 *     foreign_build()   makes the Python environment, then runs the project's back end or CMake
 *
 * are called in this order. The project's own folder is only read. Its code runs in foreign_build() and nowhere else:
 * as this user, without a sandbox, as `pip install` would run it.
 *
 * A build folder has tree/ (the copy; the build system writes in there too), venv/ (Python with the build's
 * requirements), rocm/ (the SDK as a folder like /opt/rocm, sdk/shims.h), cmake/ (CMake's own build folder), dist/
 * (wheels as the back end made them), log/ (the output of each step), home/ and tmp/ (HOME and TMPDIR of the build),
 * state/ (the settings that the next build compares with), requirements.txt (the packages installed into venv/, by
 * hash). An editable build leaves its libraries in tree/, and links to them in dist/code/. To run a step by hand, load log/environment into a shell: it adds the step's variables to your own.
 *
 * Resuming: the copy keeps the mtimes of files, and a second run copies only changed files, so that ninja compiles only
 * those. If another input of the result changed (GPUs, wheels, flags), CMake configures again and ninja rebuilds the
 * affected objects. If the compilers changed, or the build system is one that does not notice such changes, the copy is
 * made from scratch. If nothing changed, nothing is run.
 */
#pragma once

#include "formats/finding.h"
#include "jobs/job.h"
#include "plan/plan.h"
#include "sdk/sysroot.h"

struct foreign_package { /* a package in the Python environment */
	struct str name, version, sha256, url;
};

struct foreign {
	/* The caller fills in: */
	struct arena *a;
	const struct plan *plan;
	const struct sdk *sdk;
	const struct sdk_sysroot *sysroot; /* a policy's; root "" = none */
	struct str dir;                    /* build folder, absolute */
	struct str out; /* folder for the results; not copied, even if it lies in the project */
	unsigned jobs;
	struct str patches; /* folder of a queue of patches for the copy; "" = none */
	/* The environment that the caller will install the result into, a wheel that leads to the copy; "" = none */
	struct str editable;
	unsigned share;             /* do device passes share front ends? enum front_share */
	struct cache *cache;        /* its compilers use it while foreign_build() runs; or NULL */
	bool keep_going;            /* ninja -k 0, where we start ninja ourselves */
	const struct strs *targets; /* targets of ninja or make to build; NULL or none = all */
	double began;               /* mono_now() at the start of the whole build */
	double since; /* returned: seconds since 1970 when its programs began; 0: none was needed */

	/* foreign_open() */
	struct str tree, venv, rocm, cmake, dist, log, home, tmp, state;
	struct strs env;                 /* NAME=VALUE: the whole environment of the build */
	struct foreign_recipes *recipes; /* cures of known stops, tried on the copy */
	struct strs dropped;   /* the user's variables for another ROCm or CUDA, left out */
	struct strs withheld;  /* the user's variables that may be secrets, left out */
	struct strs user_path; /* the user's own folders of programs, behind all others */
	struct strs
		inputs; /* "HASH NAME" of what the result depends on, except the project's files */
	struct str key; /* a hash of the inputs */

	/* foreign_copy() */
	struct strs patched; /* ids of the recipes applied to the copy or the environment */
	bool changed;        /* the copy differs from what the last build left */

	/* foreign_build() */
	struct job_report steps[8]; /* in order, terminated by kind "" */
	uint64_t compiled;          /* steps that ninja or the compilers did in this run */
	VEC(struct foreign_package) packages;
	struct str result; /* the wheel, or the folder that CMake installed into; "" with targets */
	struct findings findings;
};

/* Fills in only the steps: for a dry run, without folders. */
void foreign_steps(struct foreign *f);
MUST_USE struct err *foreign_open(struct foreign *f);
MUST_USE struct err *foreign_copy(struct foreign *f);
/* Installs plan->build_requires in dir/venv, for our own build, which calls nothing else of this. *ret_site: the folder of their
 * packages. */
MUST_USE struct err *foreign_requirements(struct foreign *f, struct str *ret_site);
/* Fails with E_COMPILE and the first real error of the build's output, located in the user's source; with E_FOREIGN for
 * any other failure of the build system, and for a configuration without ROCm. */
MUST_USE struct err *foreign_build(struct foreign *f);
/* After the build of a project whose result has no kernels: adds a finding that says what became of its sources for GPUs,
 * by the log of the compilers, and where the build gave CUDA up, or that it has none. An error, unless that is as the user
 * or the project wants it. */
MUST_USE struct err *foreign_without_kernels(const struct foreign *f, struct findings *ret);

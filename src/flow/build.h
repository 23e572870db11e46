/* A build from its plan to a verified wheel, and the report on how the wheel came about.
 *
 *     sdk       opens the plan's SDK, installs it if it is missing, and probes what it compiles
 *     hipify    translates the sources into the build folder (make/)
 *     compile   makes objects and linked modules (make/)
 *     package   puts modules, loader, Python files and licences into one wheel (wheel/)
 *     verify    checks the wheel without trusting anything that the build reports (verify/)
 *
 * A project with a build system of its own (foreign/) goes through the same stages: its sources are copied, its back
 * end or CMake builds them, and the result is delivered and verified likewise: run_stage() in build.c has a line for
 * each.
 *
 * The build report, build.json in the build folder, is written at the end whether or not the stages succeeded.
 *
 * Every compiler run has a stamp, so a killed build resumes where it was. All output goes to the build folder (one for
 * each project, in the cache, locked while we work) and the wheel to `out`; sources are never modified. The same
 * sources, plan and SDK give the same wheel, byte by byte, wherever the project lies.
 */
#pragma once

#include "cache/cache.h"
#include "devcode/devcode.h"
#include "foreign/foreign.h"
#include "jobs/job.h"
#include "plan/plan.h"
#include "sdk/sdk.h"
#include "verify/verify.h"

enum build_stage {
	STAGE_SDK,
	STAGE_HIPIFY,
	STAGE_COMPILE,
	STAGE_PACKAGE,
	STAGE_VERIFY,
	STAGE_COUNT
};

struct build_request {
	const struct plan_wish *wish;
	struct str out;      /* folder for the wheel */
	struct str dir;      /* build folder; "" = build_folder(), or one for the environment */
	struct str sysroot;  /* root of the machine that the report describes; "" = this one */
	struct strs targets; /* targets of ninja or make: builds only these, no wheel; none = all */
	struct str patches;  /* folder of a queue of patches (recipe/queue.h); "" = none */
	struct cache_wish cache; /* keeps objects of device and host passes */
	unsigned share; /* do device passes share front ends? enum front_share of cc/compile.h */
	unsigned jobs;  /* 0 = one for each CPU */
	bool editable; /* install into the environment of the plan's Python, with modules in the build folder */
	bool keep_going; /* after an error, compile whatever does not depend on it */
	bool no_install; /* a missing SDK is an error */
	double began;    /* mono_now() at the start */
	/* Called with the plan and its findings before the long work begins; or NULL. */
	void (*say_plan)(const struct plan *p);
};

/* The parsed members of the last report, if that report describes the same wheel; otherwise verify is NULL. */
struct build_proof {
	const struct node *files, *inspect, *verify;
};

struct build_result {
	const struct plan *plan; /* settled once the SDK is open; until then, the plan as wished */
	struct str dir;          /* build folder */
	unsigned jobs;
	double seconds[STAGE_COUNT];
	struct sdk sdk;
	size_t edits;             /* replacements made by hipify */
	struct findings findings; /* from the translation */
	struct findings warnings; /* from the compiler */
	VEC(struct job_report) steps;
	VEC(struct job_report)
	compiles;                /* the work of another build system's compilers; see compiles.c */
	struct foreign *foreign; /* another build system's build, or NULL */
	struct str wheel;        /* path of the wheel, or of a CMake project's install folder */
	uint64_t wheel_size;
	struct str environment,
		live; /* editable: it is installed there, and imported from this folder; or "" */
	struct str platform_why; /* the reason for the platform tag, in one sentence */
	bool verified;           /* `verdict` is filled in, pass or not */
	struct verdict verdict;
	struct str sha256, proof; /* hashes of the wheel, and of all that decides the verdict */
	struct build_proof proved;
	bool started;         /* false in a dry run */
	struct err *failures; /* compile errors after the one returned, each mistake once; owned */
	struct str report;    /* the text of build.json; "" if the build was cancelled */
};

/* Builds. On failure, ret still records the work that was done. E_COMPILE and E_LINK carry the compiler's own first
 * error, located in the user's source. A wheel that fails verification is not an error: see verdict. */
MUST_USE struct err *build_run(
	struct arena *a, const struct build_request *q, struct build_result *ret);
/* A dry run: fills in the steps of the build, in order, and its report. */
MUST_USE struct err *build_preview(
	struct arena *a, const struct build_request *q, struct build_result *ret);
/* The default build folder of a project (absolute path): in the cache, or for an editable build of this environment
 * ("": another build) with our data, since its modules stay in use. */
struct str build_folder(struct arena *a, struct str project, struct str environment);
/* Makes that folder, and checks it: E_PERM if others could change it. Its name has only a part of a hash, so a file in
 * it has the project's path: E_USAGE if that is another one. */
MUST_USE struct err *build_folder_take(struct arena *a, struct str dir, struct str project);

/* Estimates what a build will need. wish: from plan_make() or plan_read(); dir, jobs: as in struct build_request. */
void build_forecast(struct arena *a, const struct plan_wish *wish, struct str dir, unsigned jobs,
	struct forecast *ret);
/* Fails with E_NOSPACE or E_NOMEMORY if the machine cannot meet the forecast. build_run() checks this first. */
MUST_USE struct err *forecast_check(struct arena *a, const struct forecast *f);

/* ---- private to flow/ ---- */
struct make;
/* The package stage: puts modules, loader and Python files into a wheel in the folder out. */
MUST_USE struct err *build_pack(const struct make *m, struct str out, struct build_result *ret);
/* The package stage with another build system: copies its wheel or CMake's install tree into the folder out. In a
 * wheel, the libraries' search paths lose the folders of this machine. Findings go to f->findings. */
MUST_USE struct err *build_deliver_wheel(
	struct foreign *f, struct str out, struct build_result *ret);
MUST_USE struct err *build_deliver_tree(
	struct foreign *f, struct str out, struct build_result *ret);
/* Installs an editable wheel into its environment with pip, unless it is there. */
MUST_USE struct err *build_deliver_editable(struct foreign *f, struct build_result *ret);
/* Checks that a folder has device code for every GPU, as verify_wheel() does for a wheel. */
MUST_USE struct err *build_check_tree(
	const struct foreign *f, struct str dir, struct build_result *ret);
/* Writes the provenance of ret->wheel beside it: its inputs, and the new search paths of its libraries (paths may be
 * NULL). The same build gives the same bytes, which contain no path of this machine. Format:
 * doc/man/rocsmith-build.1.scd. */
struct wheel_relocation;
MUST_USE struct err *build_provenance(struct arena *a, const struct plan *plan,
	const struct foreign *f, const struct wheel_relocation *paths, struct build_result *ret);
struct str build_provenance_path(struct arena *a, struct str wheel);
extern const struct json_field build_package_fields[];
/* Sets ret->sha256 and ret->proof. If the last build had the same proof, takes proved and verdict from its report. */
MUST_USE struct err *build_proved(
	struct arena *a, const struct verify_options *o, struct build_result *ret);
/* Fills in `compiles` of another build system's build, from the log of our compilers (compiles.c). */
void build_compiles(const struct build_request *q, struct build_result *r);
/* The text of build.json: plan, SDK, stages, steps, wheel, findings and error; after a real build also the machine's
 * facts, device code and verdict. Format: doc/man/rocsmith-build.1.scd. */
struct str build_report(struct arena *a, const struct build_request *q,
	const struct build_result *r, const struct err *failure);

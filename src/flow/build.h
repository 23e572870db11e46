/* Building: the whole flow from a plan to a verified wheel, and the report of how it came about.
 *
 *     sdk       opens the plan's SDK, installs it if it is missing, and probes what it compiles
 *     hipify    translates the sources into the build folder (make/)
 *     compile   makes objects and linked modules (make/)
 *     package   puts modules, loader, Python files and licences into one wheel (wheel/)
 *     verify    proves the wheel without believing anything about the build (verify/)
 *
 * A project with a build system of its own (foreign/) goes through the same stages: its sources are copied, its back
 * end or CMake builds them, and the result is delivered and proved likewise. Which of these a project gets is a row of
 * the table of builders in build.c.
 *
 * Whatever became of the stages, the build report is written in the end: build.json in the build folder.
 *
 * Every compiler run has a stamp, so a killed build resumes where it was. All output goes to the build folder (one for
 * each project, in the cache, locked while we work) and the wheel to `out`; sources are never modified. The same
 * sources, plan and SDK give the same wheel, byte by byte, wherever the project lies.
 */
#pragma once

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
	struct str out; /* folder for the wheel */
	struct str dir; /* build folder; "" = build_folder() */
	struct str
		sysroot; /* the report has the facts of that machine instead of this one; or "" */
	struct strs
		targets; /* of another build system: builds only these, and no wheel; none = all */
	unsigned jobs;   /* 0 = as many as CPUs and free memory allow */
	bool keep_going; /* after an error compile what does not need it */
	bool no_install; /* a missing SDK is an error */
	double began;    /* mono_now() at the start */
	/* Gets the plan with its findings before the long work begins; or NULL. */
	void (*say_plan)(const struct plan *p);
};

/* What the last report says about the same wheel, as it was read; verify is NULL if there is nothing. */
struct build_proof {
	const struct node *files, *inspect, *verify;
};

struct build_result {
	const struct plan *plan; /* settled once there is an SDK, as it is wished until then */
	struct str dir;          /* build folder */
	unsigned jobs;
	double seconds[STAGE_COUNT];
	struct sdk sdk;
	size_t edits;             /* replacements made by hipify */
	struct findings findings; /* of the translation */
	struct findings warnings; /* of the compiler */
	VEC(struct job_report) steps;
	struct foreign *foreign; /* another build system's build, or NULL */
	struct str wheel;        /* path; of a CMake project, the folder */
	uint64_t wheel_size;
	struct str platform_why; /* one sentence about the platform tag */
	bool verified;           /* there is a verdict, good or bad */
	struct verdict verdict;
	struct str sha256, proof; /* hashes of the wheel, and of all that the verdict depends on */
	struct build_proof proved;
	bool started;         /* false in a dry run */
	struct err *failures; /* compile errors behind the one returned, each mistake once; owned */
	struct str report;    /* the text of build.json; "" if the build was cancelled */
};

/* Builds. On failure ret still says what was done. E_COMPILE and E_LINK carry the compiler's own first error, located
 * in the user's source. A wheel that does not pass is no error: see verdict. */
MUST_USE struct err *build_run(
	struct arena *a, const struct build_request *q, struct build_result *ret);
/* The steps that a build has, in order, and its report, without doing any of it. */
MUST_USE struct err *build_preview(
	struct arena *a, const struct build_request *q, struct build_result *ret);
/* The default build folder of a project (absolute path). */
struct str build_folder(struct arena *a, struct str project);

/* What a build will need, for a plan of plan_make() or plan_read(). dir, jobs: as in struct build_request. */
void build_forecast(struct arena *a, const struct plan_wish *wish, struct str dir, unsigned jobs,
	struct forecast *ret);
/* E_NOSPACE, E_NOMEMORY for what cannot fit. build_run() checks this before it begins. */
MUST_USE struct err *forecast_check(struct arena *a, const struct forecast *f);

/* ---- between the files of flow/ ---- */
/* 0: as many as CPUs and free memory allow; with another build system, as CPUs. */
unsigned build_jobs(unsigned asked, bool foreign);
struct make;
/* The stage package: puts modules, loader and Python files into a wheel in the folder out. */
MUST_USE struct err *build_pack(const struct make *m, struct str out, struct build_result *ret);
/* The same for another build system: brings its wheel there, with libraries whose search paths do not name this
 * machine, or CMake's install tree. Findings go to f->findings. */
MUST_USE struct err *build_deliver_wheel(
	struct foreign *f, struct str out, struct build_result *ret);
MUST_USE struct err *build_deliver_tree(
	struct foreign *f, struct str out, struct build_result *ret);
/* Does such a tree have device code for every GPU, as verify_wheel() wants it of a wheel? */
MUST_USE struct err *build_check_tree(
	struct arena *a, const struct plan *plan, struct build_result *ret);
/* Writes the provenance of ret->wheel beside it: what the wheel was made of, and where its search paths lead now
 * (paths may be NULL). The same build gives the same bytes; no path of this machine is in them. Format:
 * doc/man/rocsmith-build.1.scd. */
struct wheel_relocation;
MUST_USE struct err *build_provenance(struct arena *a, const struct plan *plan,
	const struct foreign *f, const struct wheel_relocation *paths, struct build_result *ret);
struct str build_provenance_path(struct arena *a, struct str wheel);
extern const struct json_field build_package_fields[];
/* Sets sha256 and proof of ret->wheel and, if the last build proved the same, proved and verdict. */
MUST_USE struct err *build_proved(
	struct arena *a, const struct verify_options *o, struct build_result *ret);
/* The text of build.json: plan, SDK, stages, steps, wheel, findings and error; after a real build also the machine's
 * facts, device code and verdict. Format: doc/man/rocsmith-build.1.scd. */
struct str build_report(struct arena *a, const struct build_request *q,
	const struct build_result *r, const struct err *failure);

/* Building: the whole flow from a plan to a verified wheel and the record of how it came about.
 *
 *     sdk       open the SDK of the plan, install it when it is not there; ask what it compiles
 *     hipify    translate the sources into the build folder (make/)
 *     compile   objects and linked modules (make/)
 *     package   modules, loader, Python files and licences become one wheel (wheel/)
 *     verify    prove the wheel: nothing of the build is believed (verify/)
 *
 * A project with a build system of its own (foreign/) goes through the same stages: its sources are
 * copied, its back end or CMake builds them, what it made is delivered and proved likewise.
 *
 * Behind them, whatever became of them, the record: build.json in the build folder, which reports
 * are drawn from. What the sources need (SDK components, libraries) the plan says already.
 *
 * Every compiler run has a stamp, so a killed build goes on where it was. All output goes to the
 * build folder (one for each project, in the cache, locked while we work) and the wheel to `out`;
 * sources are never modified. Same sources, plan and SDK give the same wheel, byte by byte,
 * wherever the project lies.
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
	const struct plan *plan;
	struct str out;      /* folder for the wheel */
	struct str dir;      /* build folder; "" = build_folder() */
	struct str sysroot;  /* facts of another machine for the record, or "" */
	struct strs targets; /* of another build system: these alone, and no wheel; none = all */
	unsigned jobs;       /* 0 = as many as CPUs and free memory allow */
	bool keep_going;     /* after an error compile what does not need it */
	bool no_install;     /* an SDK that is not there is an error */
	double began;        /* mono_now() at the start */
	/* Told the plan with its findings, before what takes long; or NULL. */
	void (*say_plan)(const struct plan *p);
};

struct build_result {
	struct str dir; /* build folder */
	unsigned jobs;
	double seconds[STAGE_COUNT];
	struct sdk sdk;
	size_t edits;             /* replacements made by hipify */
	struct findings findings; /* of the translation */
	struct findings warnings; /* of the compiler */
	VEC(struct job_report) steps;
	struct foreign *foreign; /* of another build system's build; NULL: of ours */
	struct str wheel;        /* path; the folder of a CMake project */
	uint64_t wheel_size;
	struct str platform_why; /* one sentence about the platform tag */
	bool verified;           /* then there is a verdict, good or bad */
	struct verdict verdict;
	struct str sha256, proof; /* of the wheel; what the verdict depends on, as a hash */
	struct str
		proved; /* what the last record has from "proof" on, where that is the same, or "" */
	bool started;   /* false: a dry run */
	struct err *failures; /* compile errors behind the one returned, each mistake once; owned */
	struct str record;    /* the text of build.json; "" when the build was cancelled */
};

/* Builds. On failure ret still tells what was done. E_COMPILE and E_LINK carry the compiler's own
 * first error, located in the user's source. A wheel that does not pass is no error: see verdict.
 */
MUST_USE struct err *build_run(
	struct arena *a, const struct build_request *q, struct build_result *ret);
/* The steps that a build has, in order, and its record, without doing any of it. */
MUST_USE struct err *build_preview(
	struct arena *a, const struct build_request *q, struct build_result *ret);
/* The build folder of a project (absolute path) when none is named. */
struct str build_folder(struct arena *a, struct str project);

/* What a build will need, for its plan as plan_make() or plan_read() gave it. dir, jobs: as in struct build_request. */
void build_forecast(
	struct arena *a, const struct plan *p, struct str dir, unsigned jobs, struct forecast *ret);
/* What cannot fit: E_NOSPACE, E_NOMEMORY. build_run() refuses it before it begins. */
MUST_USE struct err *forecast_check(struct arena *a, const struct forecast *f);

/* ---- between the files of build/ ---- */
/* 0: as many as CPUs and free memory allow; with another build system, as CPUs. */
unsigned build_jobs(unsigned asked, bool foreign);
struct make;
/* The stage package: modules, loader and Python files become a wheel in the folder out. */
MUST_USE struct err *build_pack(const struct make *m, struct str out, struct build_result *ret);
/* The same for another build system: its wheel, or CMake's install tree, is brought there; of the wheel's
 * libraries without search paths of this machine. What is odd goes to f->findings. */
MUST_USE struct err *build_deliver(struct foreign *f, struct str out, struct build_result *ret);
/* Writes the manifest of ret->wheel beside it: what the wheel was made of, and where its search paths
 * lead now (paths may be NULL). The same build gives the same bytes; it names no path of this machine.
 * Format: doc/man/rocsmith-build.1.scd. */
struct wheel_relocation;
MUST_USE struct err *build_manifest(struct arena *a, const struct plan *plan,
	const struct foreign *f, const struct wheel_relocation *paths, struct build_result *ret);
struct str build_manifest_path(struct arena *a, struct str wheel);
extern const struct json_field build_package_fields[];
/* Sets sha256 and proof of ret->wheel and, where the last build proved the same, proved and verdict. */
MUST_USE struct err *build_proved(struct arena *a, const struct build_request *q,
	const struct verify_options *o, struct build_result *ret);
/* Device code for every target in such a tree, as verify_wheel() wants it of a wheel. */
MUST_USE struct err *build_check_tree(
	struct arena *a, const struct plan *plan, struct build_result *ret);
/* The JSON of build.json: plan, SDK, stages, steps, wheel, findings and error; for a real build
 * also the machine's facts, device code and verdict. Format: doc/man/rocsmith-build.1.scd. */
struct str build_record(struct arena *a, const struct build_request *q,
	const struct build_result *r, const struct err *failure);

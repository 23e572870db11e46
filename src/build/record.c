/* The JSON record of a build: what `rocsmith report` draws its page from. See build.h. */
#include "build/build.h"

#include <time.h>

#include "devcode/devcode.h"

static const char *const stage_names[STAGE_COUNT] = {[STAGE_SDK] = "sdk",
	[STAGE_HIPIFY] = "hipify",
	[STAGE_COMPILE] = "compile",
	[STAGE_PACKAGE] = "package",
	[STAGE_VERIFY] = "verify"};

struct failure {
	const char *id, *message, *path;
	unsigned line;
	const struct failure *place; /* itself when path is set, else NULL */
};

struct document {
	uint64_t started; /* seconds since 1970 */
	double seconds;
	unsigned jobs;
	struct str project;
	const struct plan *plan;
	const struct build_result *result;
	const struct failure *error; /* or NULL */
	/* What a real build tells beside itself; what cannot be had is NULL, and left out. */
	const struct machine *facts;
	const struct devcode *inspect;
	const struct verdicts *verify;
};

static const struct json_field sdk_fields[] = {
	FIELD("name", struct sdk, name),
	FIELD("provider", struct sdk, provider),
	FIELD("suite", struct sdk, suite),
	FIELD("path", struct sdk, root),
	FIELD("index_date", struct sdk, index_date),
	FIELD("fingerprint", struct sdk, fingerprint),
	FIELD_MAP("components", struct sdk, components, sdk_component_fields),
	{.kind = FIELD_END},
};

static void write_stages(struct json *j, const void *result)
{
	const struct build_result *r = result;
	json_open(j, '{');
	for (unsigned i = 0; i < STAGE_COUNT; i++) {
		json_key(j, stage_names[i]);
		json_f64(j, r->seconds[i]);
	}
	json_close(j);
}

static const struct json_field step_fields[] = {
	FIELD("kind", struct job_report, kind),
	FIELD("name", struct job_report, name),
	FIELD("gpu", struct job_report, gpu),
	FIELD("start", struct job_report, start),
	FIELD("seconds", struct job_report, seconds),
	FIELD("cpu", struct job_report, cpu),
	FIELD("memory", struct job_report, memory),
	FIELD("cached", struct job_report, cached),
	FIELD("done", struct job_report, done),
	{.kind = FIELD_END},
};

const struct json_field build_package_fields[] = {
	FIELD("name", struct foreign_package, name),
	FIELD("version", struct foreign_package, version),
	FIELD("sha256", struct foreign_package, sha256),
	{.kind = FIELD_END},
};

/* What went into another build system's build beside the plan. */
static const struct json_field foreign_fields[] = {
	FIELD_LIST("packages", struct foreign, packages, build_package_fields),
	FIELD("dropped", struct foreign, dropped),
	FIELD("recipes", struct foreign, patched),
	{.kind = FIELD_END},
};

static const struct json_field result_fields[] = {
	FIELD("dir", struct build_result, dir),
	FIELD_STRUCT("sdk", struct build_result, sdk, sdk_fields),
	FIELD_WRITE("stages", write_stages),
	FIELD_LIST("steps", struct build_result, steps, step_fields),
	FIELD_POINTER("environment", struct build_result, foreign, foreign_fields),
	FIELD("wheel", struct build_result, wheel),
	FIELD("bytes", struct build_result, wheel_size),
	FIELD("platform_why", struct build_result, platform_why),
	FIELD("translated", struct build_result, edits),
	FIELD_LIST("findings", struct build_result, findings, finding_fields),
	{.kind = FIELD_END},
};

static const struct json_field place_fields[] = {
	FIELD("path", struct failure, path),
	FIELD("line", struct failure, line),
	{.kind = FIELD_END},
};

static const struct json_field error_fields[] = {
	FIELD("id", struct failure, id),
	FIELD("message", struct failure, message),
	FIELD_FROM(struct failure, place, place_fields),
	{.kind = FIELD_END},
};

static const struct json_field document_fields[] = {
	FIELD_CONST("schema", "rocsmith.build/1"),
	FIELD_CONST("rocsmith", ROCSMITH_VERSION),
	FIELD("started", struct document, started),
	FIELD("seconds", struct document, seconds),
	FIELD("jobs", struct document, jobs),
	FIELD("project", struct document, project),
	FIELD_FROM(struct document, result, result_fields),
	FIELD_POINTER("error", struct document, error, error_fields),
	FIELD_POINTER("plan", struct document, plan, plan_fields),
	FIELD_POINTER("facts", struct document, facts, machine_fields),
	FIELD_POINTER("inspect", struct document, inspect, devcode_fields),
	FIELD_POINTER("verify", struct document, verify, verdicts_fields),
	{.kind = FIELD_END},
};

struct str build_record(struct arena *a, const struct build_request *q,
	const struct build_result *r, const struct err *failure)
{
	double seconds = mono_now() - q->began;
	struct document d = {.started = (uint64_t)((double)time(NULL) - seconds),
		.seconds = seconds,
		.jobs = r->jobs,
		.project = q->plan->project,
		.plan = q->plan,
		.result = r};
	struct failure error;
	struct machine facts;
	struct devcode inspect;
	struct verdict verdict = r->verdict;
	struct verdicts verify = {{.v = &verdict, .n = 1}};
	const struct err *root = failure; /* the cause of all is what a reader wants first */
	while (root && root->cause)
		root = root->cause;
	if (root) {
		error = (struct failure){.id = err_id(failure->code),
			.message = root->msg,
			.path = root->path,
			.line = root->line,
			.place = root->path ? &error : NULL};
		d.error = &error;
	}
	if (r->started) {
		struct err *e = machine_read(a, q->sysroot, &facts);
		d.facts = e ? NULL : &facts;
		err_free(e);
	}
	if (r->verified) {
		struct err *e = devcode_scan(a, r->wheel, DEVCODE_KERNELS | DEVCODE_HASH, &inspect);
		d.inspect = e ? NULL : &inspect;
		d.verify = &verify;
		err_free(e);
	}
	return json_document(a, 0, document_fields, &d);
}

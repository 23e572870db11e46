/* The JSON record of a build: what `rocsmith report` draws its page from. See build.h. */
#include "flow/build.h"

#include <time.h>

#include "devcode/devcode.h"
#include "formats/zip.h"

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
	const struct build_result *proof;
	const struct zip *files; /* of the wheel */
	const struct verdicts *verify;
};

static const struct json_field sdk_fields[] = {
	FIELDS(struct sdk, name, provider, suite),
	FIELD("path", struct sdk, root),
	FIELDS(struct sdk, index_date, fingerprint),
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

static const struct json_field step_fields[] =
	FIELDS_ONLY(struct job_report, kind, name, gpu, start, seconds, cpu, memory, cached, done);

const struct json_field build_package_fields[] =
	FIELDS_ONLY(struct foreign_package, name, version, sha256);

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
	FIELD_LIST("warnings", struct build_result, warnings, finding_fields),
	{.kind = FIELD_END},
};

static const struct json_field place_fields[] = FIELDS_ONLY(struct failure, path, line);

static const struct json_field error_fields[] = {
	FIELDS(struct failure, id, message),
	FIELD_FROM(struct failure, place, place_fields),
	{.kind = FIELD_END},
};

static const struct json_field member_fields[] = {
	FIELD("path", struct zip_member, name),
	FIELD("size", struct zip_member, size),
	{.kind = FIELD_END},
};

static const struct json_field files_fields[] = {
	FIELD_LIST("files", struct zip, members, member_fields),
	{.kind = FIELD_END},
};

static const struct json_field proof_fields[] = {
	FIELD_OPTIONAL("proof", struct build_result, proof),
	FIELD_OPTIONAL("sha256", struct build_result, sha256),
	{.kind = FIELD_END},
};

static const struct json_field document_fields[] = {
	FIELD_CONST("schema", "rocsmith.build/1"),
	FIELD_CONST("rocsmith", ROCSMITH_VERSION),
	FIELDS(struct document, started, seconds, jobs, project),
	FIELD_FROM(struct document, result, result_fields),
	FIELD_POINTER("error", struct document, error, error_fields),
	FIELD_POINTER("plan", struct document, plan, plan_fields),
	FIELD_POINTER("facts", struct document, facts, machine_fields),
	FIELD_FROM(struct document, proof, proof_fields), /* from here on see build_proved() */
	FIELD_FROM(struct document, files, files_fields),
	FIELD_POINTER("inspect", struct document, inspect, devcode_fields),
	FIELD_POINTER("verify", struct document, verify, verdicts_fields),
	{.kind = FIELD_END},
};

/* What of the wheel can be seen. Of very many files the first ones; none of a folder, which is CMake's. */
static void look(struct arena *a, struct str path, struct document *d)
{
	enum { MOST = 20000 };
	struct devcode *inspect = NEW(a, struct devcode);
	struct zip *files = NEW(a, struct zip);
	struct err *e =
		devcode_scan(a, path, DEVCODE_KERNELS | DEVCODE_HASH | DEVCODE_RESOURCES, inspect);
	d->inspect = e ? NULL : inspect;
	err_free(e);
	e = zip_open(a, path, NULL, files);
	if (!e) {
		d->files = files;
		files->members.n = files->members.n < MOST ? files->members.n : MOST;
		zip_close(files);
	}
	err_free(e);
}

/* The document, and behind its last member those of the last record. */
static struct str text_of(struct arena *a, const struct document *d, struct str proved)
{
	struct str text = json_document(a, 0, document_fields, d);
	return proved.n ? str_fmt(a, "%.*s,%.*s", (int)(text.n - S("}\n").n), text.p, STR(proved))
			: text;
}

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
	if (r->verified && !r->proved.n) {
		d.proof = r;
		d.verify = &verify;
		look(a, r->wheel, &d);
	}
	return text_of(a, &d, r->proved);
}

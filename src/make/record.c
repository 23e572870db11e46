/* The JSON record of a build: what `rocsmith report` draws its page from. See make.h. */
#include <time.h>

#include "make/make.h"

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
	const struct make_result *result;
	const struct failure *error; /* or NULL */
	const struct plan *plan;
};

static const struct json_field version_fields[] = {
	FIELD("name", struct sdk_component, name),
	FIELD("version", struct sdk_component, version),
	{.kind = FIELD_END},
};

static const struct json_field sdk_fields[] = {
	FIELD("name", struct sdk, name),
	FIELD("provider", struct sdk, provider),
	FIELD("suite", struct sdk, suite),
	FIELD("path", struct sdk, root),
	FIELD("index_date", struct sdk, index_date),
	FIELD("fingerprint", struct sdk, fingerprint),
	FIELD_MAP("components", struct sdk, components, version_fields),
	{.kind = FIELD_END},
};

static void write_stages(struct json *j, const void *result)
{
	const struct make_result *r = result;
	json_open(j, '{');
	for (unsigned i = 0; i < STAGE_COUNT; i++)
		json_put_f64(j, make_stage_names[i], r->seconds[i]);
	json_close(j);
}

static const struct json_field step_fields[] = {
	FIELD("kind", struct make_step, kind),
	FIELD("name", struct make_step, name),
	FIELD("gpu", struct make_step, gpu),
	FIELD("start", struct make_step, start),
	FIELD("seconds", struct make_step, seconds),
	FIELD("cpu", struct make_step, cpu),
	FIELD("memory", struct make_step, memory),
	FIELD("cached", struct make_step, cached),
	FIELD("done", struct make_step, done),
	{.kind = FIELD_END},
};

static const struct json_field result_fields[] = {
	FIELD("dir", struct make_result, dir),
	FIELD_STRUCT("sdk", struct make_result, sdk, sdk_fields),
	FIELD_WRITE("stages", write_stages),
	FIELD_LIST("steps", struct make_result, steps, step_fields),
	FIELD("wheel", struct make_result, wheel),
	FIELD("bytes", struct make_result, wheel_size),
	FIELD("platform_why", struct make_result, platform_why),
	FIELD("translated", struct make_result, edits),
	FIELD_LIST("findings", struct make_result, findings, finding_fields),
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

static void write_plan(struct json *j, const void *document)
{
	ARENA(tmp);
	json_raw(j, str_trim(plan_json(&tmp, ((const struct document *)document)->plan)));
}

static const struct json_field document_fields[] = {
	FIELD_CONST("schema", "rocsmith.build/1"),
	FIELD_CONST("rocsmith", ROCSMITH_VERSION),
	FIELD("started", struct document, started),
	FIELD("seconds", struct document, seconds),
	FIELD("jobs", struct document, jobs),
	FIELD("project", struct document, project),
	FIELD_FROM(struct document, result, result_fields),
	FIELD_POINTER("error", struct document, error, error_fields),
	FIELD_WRITE("plan", write_plan),
	{.kind = FIELD_END},
};

struct str make_record(struct arena *a, const struct make_record *m)
{
	double seconds = mono_now() - m->began;
	struct failure error;
	struct document d = {.started = (uint64_t)((double)time(NULL) - seconds),
		.seconds = seconds,
		.jobs = m->result->jobs,
		.project = m->plan->project,
		.result = m->result,
		.plan = m->plan};
	/* The root cause is what a reader wants first. */
	const struct err *root = m->failure;
	while (root && root->cause)
		root = root->cause;
	if (root) {
		error = (struct failure){.id = err_id(m->failure->code),
			.message = root->msg,
			.path = root->path,
			.line = root->line,
			.place = root->path ? &error : NULL};
		d.error = &error;
	}
	BUF(b, a);
	struct json j = {.out = &b};
	json_open(&j, '{');
	json_members(&j, document_fields, &d);
	if (m->more)
		json_members(&j, m->more, m->more_of);
	json_close(&j);
	buf_char(&b, '\n');
	return buf_str(&b);
}

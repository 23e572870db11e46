/* Writes the build report, build.json, from which `rocsmith report` draws its page. See build.h.
 *
 * Its last members are the proof: the contents of the wheel, and the verdict on it. They stay valid while the wheel is
 * the same byte for byte and the same program verifies it with the same SDK. In that case the next report copies them
 * from the last one, and the wheel is not unpacked again.
 */
#include "flow/build.h"

#include <time.h>

#include "base/fs.h"
#include "base/hash.h"
#include "devcode/devcode.h"
#include "formats/node.h"
#include "formats/zip.h"

/* ---- the document ---- */

struct report_failure {
	const char *id, *message, *path;
	unsigned line;
	const struct report_failure *place; /* itself if path is set, else NULL */
};

struct report_document {
	uint64_t started; /* seconds since 1970 */
	double seconds;
	unsigned jobs;
	struct str project;
	const struct plan *plan;
	const struct build_result *result;
	const struct report_failure *error; /* or NULL */
	const struct machine *facts;        /* NULL in a dry run */
	const struct build_result *proof;   /* or NULL */
	/* The rest of a new proof, made by scanning the wheel; files or inspect is NULL if that could not be done. */
	const struct zip *files;
	const struct devcode *inspect;
	const struct verdicts *verify;
};

static const struct json_field sdk_fields[] = {
	FIELDS(struct sdk, name, provider, suite),
	FIELD("path", struct sdk, root),
	FIELDS(struct sdk, index_date, fingerprint),
	FIELD_MAP("components", struct sdk, components, sdk_component_fields),
	{.kind = FIELD_END},
};

static const struct json_field stage_fields[] = {
	FIELD("sdk", struct build_result, seconds[STAGE_SDK]),
	FIELD("hipify", struct build_result, seconds[STAGE_HIPIFY]),
	FIELD("compile", struct build_result, seconds[STAGE_COMPILE]),
	FIELD("package", struct build_result, seconds[STAGE_PACKAGE]),
	FIELD("verify", struct build_result, seconds[STAGE_VERIFY]),
	{.kind = FIELD_END},
};

static void write_after(struct json *j, const void *object)
{
	const struct job_report *step = object;
	json_open(j, '[');
	VEC_EACH (const unsigned, number, &step->after)
		json_u64(j, *number);
	json_close(j);
}

static const struct json_field step_fields[] = {
	FIELDS(struct job_report, kind, name, gpu, front, start),
	FIELDS_IN(struct job_report, cost, seconds, cpu, memory),
	FIELDS(struct job_report, cached, restored, done),
	FIELD_LAST(FIELD_WRITE("after", write_after)),
};

const struct json_field build_package_fields[] =
	FIELDS_ONLY(struct foreign_package, name, version, sha256);

/* The inputs of another build system's build that the plan does not name. */
static const struct json_field foreign_fields[] = {
	FIELD_LIST("packages", struct foreign, packages, build_package_fields),
	FIELDS(struct foreign, compiled, dropped),
	FIELD("withheld", struct foreign, withheld),
	FIELD("recipes", struct foreign, patched),
	{.kind = FIELD_END},
};

static const struct json_field result_fields[] = {
	FIELD("dir", struct build_result, dir),
	FIELD_STRUCT("sdk", struct build_result, sdk, sdk_fields),
	FIELD_PART("stages", stage_fields),
	FIELD_LIST("steps", struct build_result, steps, step_fields),
	FIELD_LIST_OPTIONAL("compiles", struct build_result, compiles, step_fields),
	FIELD_POINTER("environment", struct build_result, foreign, foreign_fields),
	FIELD("wheel", struct build_result, wheel),
	FIELD("bytes", struct build_result, wheel_size),
	FIELD_OPTIONAL("installed", struct build_result, environment),
	FIELD_OPTIONAL("live", struct build_result, live),
	FIELD("platform_why", struct build_result, platform_why),
	FIELD("translated", struct build_result, edits),
	FIELD_LIST("findings", struct build_result, findings, finding_fields),
	FIELD_LIST("warnings", struct build_result, warnings, finding_fields),
	{.kind = FIELD_END},
};

static const struct json_field place_fields[] = FIELDS_ONLY(struct report_failure, path, line);

static const struct json_field error_fields[] = {
	FIELDS(struct report_failure, id, message),
	FIELD_FROM(struct report_failure, place, place_fields),
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

/* The last three are there if they are copied from the last report. */
static const struct json_field proof_fields[] = {
	FIELD_OPTIONAL("proof", struct build_result, proof),
	FIELD_OPTIONAL("sha256", struct build_result, sha256),
	FIELD_AS_PARSED("files", struct build_result, proved.files),
	FIELD_AS_PARSED("inspect", struct build_result, proved.inspect),
	FIELD_AS_PARSED("verify", struct build_result, proved.verify),
	{.kind = FIELD_END},
};

static const struct json_field document_fields[] = {
	FIELD_CONST("schema", "rocsmith.build/1"),
	FIELD_CONST("rocsmith", ROCSMITH_VERSION),
	FIELDS(struct report_document, started, seconds, jobs, project),
	FIELD_FROM(struct report_document, result, result_fields),
	FIELD_POINTER("error", struct report_document, error, error_fields),
	FIELD_POINTER("plan", struct report_document, plan, plan_fields),
	FIELD_POINTER("facts", struct report_document, facts, machine_fields),
	FIELD_FROM(struct report_document, proof, proof_fields),
	FIELD_FROM(struct report_document, files, files_fields),
	FIELD_POINTER("inspect", struct report_document, inspect, devcode_fields),
	FIELD_POINTER("verify", struct report_document, verify, verdicts_fields),
	{.kind = FIELD_END},
};

struct str build_report(struct arena *a, const struct build_request *q,
	const struct build_result *r, const struct err *failure)
{
	enum { MAX_FILES = 20000 };
	double seconds = mono_now() - q->began;
	struct report_document d = {.started = (uint64_t)((double)time(NULL) - seconds),
		.seconds = seconds,
		.jobs = r->jobs,
		.project = r->plan->project,
		.plan = r->plan,
		.result = r};
	struct report_failure error;
	struct machine facts;
	struct verdict verdict = r->verdict;
	struct verdicts verify = {{.v = &verdict, .n = 1}};
	struct devcode inspect;
	struct zip files;
	if (failure) {
		const struct err *root = err_root(failure); /* the cause matters most to a reader */
		error = (struct report_failure){.id = err_id(failure->code),
			.message = root->msg,
			.path = root->path,
			.line = root->line,
			.place = root->path ? &error : NULL};
		d.error = &error;
	}
	if (r->started) { /* nowhere else does a build read the whole machine */
		struct err *e = machine_read(a, q->sysroot, &facts);
		d.facts = e ? NULL : &facts;
		err_free(e);
	}
	d.proof = r->verified ? r : NULL;
	if (d.proof && !r->proved.verify) { /* the folder of a CMake project is no zip: no files */
		struct err *e = devcode_scan(a, verdict.path,
			DEVCODE_KERNELS | DEVCODE_HASH | DEVCODE_RESOURCES, &inspect);
		d.inspect = e ? NULL : &inspect;
		err_free(e);
		e = zip_open(a, r->wheel, NULL, &files);
		if (!e) {
			d.files = &files;
			files.members.n = files.members.n < MAX_FILES ? files.members.n : MAX_FILES;
			zip_close(&files);
		}
		err_free(e);
		d.verify = &verify;
	}
	return json_document(a, 0, document_fields, &d);
}

/* ---- reuse of the last proof ---- */

struct err *build_proved(struct arena *a, const struct verify_options *o, struct build_result *ret)
{
	enum { MAX_REPORT = 64 << 20 };
	struct str text;
	const struct node *last;
	TRY(sha256_file(a, ret->wheel, &ret->sha256));
	/* everything the verdict depends on */
	ret->proof =
		sha256_hex(a, str_fmt(a, "%s %.*s %.*s %.*s %d %u %.*s %.*s %.*s", ROCSMITH_VERSION,
				      STR(fs_state(a, S("/proc/self/exe"))), STR(ret->sha256),
				      STR(ret->wheel), o->device_code + 2 * o->optional, o->policy,
				      STR(str_join(a, &ret->plan->gpus, S(","))), STR(o->sdk),
				      STR(ret->sdk.fingerprint)));
	CLEANUP(err_freep)
	struct err *no = fs_read(a, path_join(a, ret->dir, S("build.json")), MAX_REPORT, &text);
	if (!no)
		no = json_parse(a, text, S("build.json"), &last);
	if (no || !str_eq(node_text(last, S("proof"), S("")), ret->proof))
		return NULL;
	/* after a failed verdict the wheel is verified again: the user may have completed the SDK by hand since */
	const struct node *verify = node_get(last, S("verify"));
	const struct node *list = node_get(verify, S("wheels"));
	if (!list || list->n != 1 || !str_eq(node_text(list->v, S("verdict"), S("")), S("pass")))
		return NULL;
	struct verdict verdict = {.pass = true};
	TRY(json_fields_read(a, list->v, verdict_fields, &verdict));
	ret->proved = (struct build_proof){.files = node_get(last, S("files")),
		.inspect = node_get(last, S("inspect")),
		.verify = verify};
	ret->verdict = verdict;
	return NULL;
}

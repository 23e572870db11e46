/* rocsmith report: shows the course of a build, as text or JSON on stdout and as an HTML page in a file. */
#include "cli/opt.h"
#include "flow/build.h"
#include "report/report.h"
#include "term/table.h"

struct report_args {
	struct common common;
	struct str dir, output;
};
#define ARGS struct report_args

const struct opt cmd_report_opts[] = {
	{OPT_ARGUMENT("DIR", OPT_POS, dir, "project, build folder or build.json (default: .)")},
	{OPT_OUTPUT(output, "FILE", "write the report as an HTML page")},
	OPT_LAST,
};

static const struct column stage_columns[] = {
	{COLUMN("Stage", "name")},
	{COLUMN(">Time", "seconds")},
	{.title = NULL},
};
static const struct column gpu_columns[] = {
	{COLUMN("GPU", "gpu")},
	{COLUMN(">Compiled", "ran")},
	{COLUMN(">Up to date", "cached")},
	{COLUMN(">Time", "seconds")},
	{COLUMN(">CPU", "cpu")},
	{COLUMN(">Added", "added")},
	{COLUMN(">Peak memory", "memory"), .bytes = true},
	{.title = NULL},
};

static void show_path(struct arena *a, const struct report *r)
{
	const struct report_step *longest = r->path.v;
	VEC_EACH (const struct report_step, s, &r->path)
		if (s->seconds > longest->seconds)
			longest = s;
	out_fmt("\ncritical path: %.*s in %zu steps; the longest is %.*s %.*s%s%.*s (%.*s)\n",
		STR(human_seconds(a, r->path_seconds)), r->path.n, STR(longest->kind),
		STR(longest->name), longest->gpu.n ? " for " : "", STR(longest->gpu),
		STR(human_seconds(a, longest->seconds)));
}

struct err *cmd_report(struct arena *a, void *user)
{
	struct report_args *args = user;
	struct str where = args->dir.n ? args->dir : S("."), path = where;
	const struct node *doc;
	struct report r;
	if (fs_is_dir(where)) { /* a project or a build folder */
		path = path_join(a, where, S("build.json"));
		if (!fs_exists(path))
			path = path_join(
				a, build_folder(a, path_abs(a, where), S("")), S("build.json"));
		if (!fs_exists(path))
			return err_hint(err_new(E_NOENT, "no build of '%.*s' is known", STR(where)),
				"run 'rocsmith build %.*s' first, or name its build folder",
				STR(where));
	}
	TRY(json_read(a, path, &doc));
	TRY(report_read(a, doc, &r));
	if (!show_json(&args->common, report_fields, &r)) {
		struct report timed = r;
		*VEC_PUSH(a, &timed.stages) = (struct report_stage){S("total"), r.seconds};
		table_show(a, report_fields, "stages", stage_columns, &timed);
		if (r.gpus.n)
			out_text(S("\n"));
		table_show(a, report_fields, "gpus", gpu_columns, &r);
		if (r.path.n > 1)
			show_path(a, &r);
		if (r.wheel.n)
			out_fmt("\nwheel: %.*s (%.*s)\n", STR(r.wheel),
				STR(human_bytes(a, r.bytes)));
		if (r.kernels)
			out_fmt("kernels: %zu, of which %zu spill registers\n", r.kernels,
				r.spilling);
		if (r.warnings)
			out_fmt("warnings of the compiler: %zu\n", r.warnings);
		if (r.verdict.n)
			out_fmt("verdict: %.*s\n", STR(r.verdict));
		if (r.error.n)
			out_fmt("error: %.*s%s%.*s\n", STR(r.place), r.place.n ? ": " : "",
				STR(r.error));
	}
	if (!args->output.n)
		return NULL;
	struct str page = report_html(a, &r);
	if (!args->common.dry_run)
		TRY(fs_write(args->output, page, 0644 | FS_THROUGH));
	say_status(args->common.dry_run ? S("Would write") : S("Wrote"), "%.*s (%.*s)",
		STR(args->output), STR(human_bytes(a, page.n)));
	return NULL;
}

/* rocsmith plan: shows the steps of a build, and saves the plan to a file that `build` takes. Also makes a plan from
 * the options that plan, build and why share (project_opts.h). */
#include "base/fs.h"
#include "cli/project_opts.h"
#include "flow/set.h"
#include "term/out.h"
#include "term/table.h"
#include "verify/verify.h"

/* ---- shared by plan, build and why ---- */

struct err *project_plan(
	struct arena *a, const struct common *common, struct plan_request *r, struct plan_wish *ret)
{
	static const char *const settled[] = {"gpu", "sdk", "mirror", "keyring", "python", "source",
		"lock", "refresh", "feature", "version-suffix", "build-number", "config", "with",
		"without", "torch-as-rocm", "policy", "policy-sysroot", NULL};
	if (!r->dir.n)
		r->dir = S(".");
	if (!str_ends(r->dir, S(".json")) || fs_is_dir(r->dir)) {
		if (r->lock.n && r->source.n)
			return err_new(
				E_USAGE, "--lock and --source both say where the sources are");
		if (r->policy_sysroot.n && !r->policy_tag.n)
			return err_new(E_USAGE, "--policy-sysroot is for a --policy");
		if (r->policy_tag.n)
			TRY(verify_policy(a, r->policy_tag, &r->policy));
		if (r->lock.n)
			r->source = str_fmt(a, "git:%.*s#%.*s", STR(r->lock), STR(r->dir));
		return plan_make(a, r, ret);
	}
	for (size_t i = 0; settled[i]; i++)
		if (strs_has(&common->given, str_from(settled[i])))
			return err_hint(
				err_new(E_USAGE, "the plan '%.*s' has settled '--%s' already",
					STR(r->dir), settled[i]),
				"make another plan, or edit this one");
	return plan_read(a, r->dir, ret);
}

void project_say_findings(const struct plan *p)
{
	enum { SHOWN = 5 };
	size_t n = 0; /* findings of this kind so far */
	VEC_EACH (const struct finding, f, &p->findings) {
		bool last = f + 1 == f_end || strcmp(f->id, f[1].id) != 0;
		bool wave = str_starts(str_from(f->id), S("wave"));
		if (n++ < SHOWN)
			say_warning("%.*s: %.*s", STR(f->path), STR(f->message));
		if (last)
			VEC_EACH (const struct str, fix, &f->fix)
				say_hint("%.*s", STR(*fix));
		if (last && n > SHOWN)
			say_hint("%zu more of them: 'rocsmith hipify %s%.*s%s' shows all",
				n - SHOWN, wave ? "lint " : "", STR(p->project),
				wave ? "" : " --dry-run");
		n = last ? 0 : n;
	}
}

/* ---- plan ---- */

struct plan_args {
	struct common common;
	struct plan_request project;
	struct str out;
};
#define ARGS struct plan_args

const struct opt cmd_plan_opts[] = {
	PROJECT_DIR,
	PROJECT_OPTS,
	{OPT_OUTPUT(out, "FILE", "save the plan, for 'rocsmith build FILE'")},
	OPT_LAST,
};

static void print_row(struct arena *a, const char *what, struct str text)
{
	struct str head = str_fmt(a, "%-10s", what);
	out_fmt("%.*s %.*s\n", STR(styled_out(a, STYLE_BOLD, head)), STR(text));
}

static void print_list(struct arena *a, const char *what, const struct strs *list)
{
	if (list->n)
		print_row(a, what, str_join(a, list, S(" ")));
}

static const struct column feature_columns[] = {
	{COLUMN("feature", "name")},
	{COLUMN("choice", "choice")},
	{COLUMN("why", "why")},
	{.title = NULL},
};

static void print_forecast(struct arena *a, const struct forecast *f)
{
	if (f->disk || f->sdk)
		print_row(a, "disk",
			str_fmt(a, "%.*s for the build%s%.*s, %.*s free",
				STR(human_bytes(a, f->disk)), f->sdk ? ", for the SDK " : "",
				STR(f->sdk ? human_bytes(a, f->sdk) : S("")),
				STR(human_bytes(a, f->disk_free))));
	print_row(a, "memory",
		str_fmt(a, "%.*s for the largest compile, %.*s free",
			STR(human_memory(a, f->memory)), STR(human_memory(a, f->memory_free))));
	print_row(a, "time",
		str_fmt(a, "%.*s with %u jobs on %.1f cores, by %s",
			STR(human_seconds(a, f->seconds)), f->jobs, f->cores,
			f->history ? "earlier builds in its folder" : "what others took"));
	struct err *e = forecast_check(a, f);
	if (e)
		say_warning("%s", e->msg);
	for (const struct err_hint *h = e ? e->hints : NULL; h; h = h->next)
		say_hint("%s", h->text);
	err_free(e);
}

/* The sources that are no part of the result, as a number, and why the first is not. */
static void print_left_out(struct arena *a, const struct plan *p)
{
	const struct plan_reason *first = NULL;
	size_t more = 0;
	VEC_EACH (const struct plan_reason, r, &p->reasons) {
		if (!str_eq(r->choice, S("left out")))
			continue;
		more += first != NULL;
		first = first ? first : r;
	}
	if (first)
		print_row(a, "left out",
			str_fmt(a, "%.*s: %.*s%s",
				STR(str_replace(a, first->subject, S("source "), S(""))),
				STR(first->why),
				more ? str_fmt(a, "; %zu more: rocsmith why %.*s source", more,
					       STR(str_shell(a, p->project)))
						.p
				     : ""));
}

static void print_plan(struct arena *a, const struct plan *p)
{
	bool open = str_contains(p->version, S(SDK_ROCM));
	struct str version = str_replace(a, p->version, S(SDK_ROCM), S(""));
	print_row(a, "project",
		str_fmt(a, "%.*s %.*s%s", STR(p->name), STR(version),
			open ? " and the SDK's version of ROCm, known once it is installed" : ""));
	print_list(a, "targets", &p->gpus);
	VEC_EACH (const struct plan_source, s, &p->sources)
		print_row(a, s == p->sources.v ? "sources" : "", s->path);
	print_left_out(a, p);
	print_list(a, "headers", &p->headers);
	VEC_EACH (const struct plan_module, m, &p->modules)
		print_row(a, m->loader ? "library" : m->program ? "program" : "module", m->file);
	if (p->python_files.n)
		print_row(a, "python", human_count(a, p->python_files.n, "file"));
	struct str sdk = p->sdk.prefix.n ? p->sdk.prefix
					 : str_fmt(a, "%.*s %.*s (%.*s)", STR(p->sdk.provider),
						   STR(p->sdk.suite),
						   STR(str_join(a, &p->sdk.components, S(", "))));
	print_row(a, "sdk", sdk);
	print_list(a, "libraries", &p->libraries);
	if (!plan_needs_sysroot(p))
		print_row(a, "host",
			p->host_native ? str_fmt(a, "glibc %.*s of this machine", STR(p->host.libc))
				       : S("the SDK's C library"));
	VEC_EACH (const struct plan_reason, r, &p->reasons)
		if (str_eq(r->subject, S("gpu code")) || str_eq(r->subject, S("kernels")) ||
			str_eq(r->subject, S("makefile")) || str_eq(r->subject, S("nested")) ||
			str_eq(r->subject, S("host")))
			print_row(a, str_z(a, r->subject),
				str_fmt(a, "%.*s: %.*s", STR(r->choice), STR(r->why)));
	for (size_t i = 0; p->foreign && i < p->foreign->advice.n; i++)
		print_row(a, "", p->foreign->advice.v[i]);
	if (p->foreign)
		print_row(a, "python", p->host.python_version);
	else
		print_row(a, "tags",
			p->python_tag.n
				? str_fmt(a, "%.*s-%.*s", STR(p->python_tag), STR(p->abi_tag))
				: S("of the SDK's Python"));
	if (p->forecast)
		print_forecast(a, p->forecast);
	if (p->features.n)
		out_text(S("\n"));
	table_show(a, plan_fields, "features", feature_columns, p);
}

static const struct json_field member_fields[] = {
	FIELD("project", struct set_member, name),
	FIELD("version", struct set_member, wish.plan.version),
	FIELD("source", struct set_member, wish.plan.project),
	FIELDS(struct set_member, after, finished),
	FIELD_STRUCT("plan", struct set_member, wish.plan, plan_fields),
	{.kind = FIELD_END},
};

static const struct json_field set_fields[] = {
	FIELD_CONST("schema", "rocsmith.plans/1"),
	FIELD_LIST("members", struct build_set, v, member_fields),
	FIELD_STRUCT("forecast", struct build_set, all, plan_forecast_fields),
	{.kind = FIELD_END},
};

static const struct column member_columns[] = {{COLUMN("project", "project")},
	{COLUMN("version", "version")}, {COLUMN("after", "after"), .none = "-"},
	{COLUMN("sources", "source")}, {.title = NULL}};

static struct err *plan_set(struct arena *a, struct plan_args *o)
{
	struct build_set set;
	if (o->out.n)
		return err_hint(err_new(E_USAGE, "the plans of a set are not saved"),
			"leave out -o, or plan one project");
	TRY(set_open(a, &o->project, S(""), o->common.jobs, &set));
	if (show_json(&o->common, set_fields, &set))
		return NULL;
	table_show(a, set_fields, "members", member_columns, &set);
	if (set.all.known)
		print_forecast(a, &set.all);
	return NULL;
}

struct err *cmd_plan(struct arena *a, void *args)
{
	struct plan_args *o = args;
	struct plan_wish wish;
	struct findings findings = {0};
	struct plan p;
	struct forecast forecast;
	if (set_is(o->project.dir))
		return plan_set(a, o);
	TRY(project_plan(a, &o->common, &o->project, &wish));
	TRY(plan_names(a, &wish.plan, &findings));
	TRY(plan_waves(a, &wish.plan, &findings));
	TRY(plan_kernels(a, &wish.plan, &findings));
	plan_settle(a, &wish, NULL, &findings, &p);
	struct str json = json_document(a, 2, plan_fields, &p);
	if (o->out.n && !fs_writes_forbidden())
		TRY_CTX(fs_write(o->out, json, 0644 | FS_THROUGH), "cannot save the plan");
	build_forecast(a, &wish, S(""), 0, &forecast);
	p.forecast = forecast.known ? &forecast : NULL;
	if (!show_json(&o->common, plan_fields, &p))
		print_plan(a, &p);
	project_say_findings(&p);
	if (o->out.n)
		say_status(
			fs_writes_forbidden() ? S("Would save") : S("Saved"), "%.*s", STR(o->out));
	return NULL;
}

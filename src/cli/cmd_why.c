/* rocsmith why: prints the reason for each choice of a plan. */
#include "cli/project_opts.h"
#include "term/out.h"

struct why_args {
	struct common common;
	struct plan_request project;
	struct str subject;
};
#define ARGS struct why_args

const struct opt cmd_why_opts[] = {
	PROJECT_DIR,
	{OPT_ARGUMENT(
		"SUBJECT", OPT_POS, subject, "explain this choice only: gpu, version, host libc")},
	PROJECT_OPTS,
	OPT_LAST,
};

struct why_answer {
	struct str project;
	VEC(struct plan_reason) reasons;
};

static const struct json_field answer_fields[] = {
	FIELD_CONST("schema", "rocsmith.why/1"),
	FIELD("project", struct why_answer, project),
	FIELD_LAST(FIELD_LIST("reasons", struct why_answer, reasons, plan_reason_fields)),
};

struct err *cmd_why(struct arena *a, void *args)
{
	struct why_args *o = args;
	struct plan_wish wish;
	o->project.any_gpu = true;
	TRY(project_plan(a, &o->common, &o->project, &wish));
	const struct plan *p = &wish.plan;
	struct why_answer answer = {.project = p->project};
	struct str subject = o->subject;
	struct strs names = {0};
	VEC(struct plan_reason) all = {0};
	VEC_EACH (const struct plan_reason, r, &p->reasons)
		*VEC_PUSH(a, &all) = *r;
	VEC_EACH (const struct plan_feature, f, &p->features) { /* features are choices, too */
		struct str see = f->source.n ? str_fmt(a, " (%.*s)", STR(f->source)) : S("");
		*VEC_PUSH(a, &all) = (struct plan_reason){.subject = f->name,
			.choice = f->choice,
			.why = str_fmt(a, "%.*s%.*s", STR(f->why), STR(see))};
	}
	VEC_EACH (const struct plan_reason, r, &all) {
		strs_add(a, &names, r->subject);
		/* "host" selects "host libc" as well */
		if (!subject.n || str_eq(r->subject, subject) ||
			(str_starts(r->subject, subject) && r->subject.p[subject.n] == ' '))
			*VEC_PUSH(a, &answer.reasons) = *r;
	}
	if (!answer.reasons.n) {
		struct err *e =
			err_new(E_USAGE, "the plan makes no choice called '%.*s'", STR(subject));
		err_near(e, subject, &names);
		return err_hint(e, "it has: %.*s", STR(str_join(a, &names, S(", "))));
	}
	if (show_json(&o->common, answer_fields, &answer))
		return NULL;
	VEC_EACH (const struct plan_reason, r, &answer.reasons) {
		out_fmt("%.*s: %.*s\n", STR(styled_out(a, STYLE_BOLD, r->subject)), STR(r->choice));
		out_fmt("    %.*s\n", STR(r->why));
	}
	return NULL;
}

/* rocsmith why: the reason for each choice of a plan. */
#include "base/suggest.h"
#include "cli/project_opts.h"
#include "formats/json_write.h"
#include "term/out.h"

struct why_args {
	struct common common;
	struct project_opts project;
	struct str subject;
};

static const struct opt opts[] = {
	{.lname = "DIR",
		.kind = OPT_POS,
		.off = PROJECT_OPT(why_args, target),
		.help = "project folder (default: this one) or a saved plan"},
	{.lname = "SUBJECT",
		.kind = OPT_POS,
		.off = offsetof(struct why_args, subject),
		.help = "explain this choice only: gpu, version, host libc"},
	PROJECT_OPTS(why_args),
	{.kind = OPT_END},
};

/* "host" names "host libc" as well. */
static bool is_asked(const struct plan_reason *r, struct str subject)
{
	return !subject.n || str_eq(r->subject, subject) ||
	       (str_starts(r->subject, subject) && r->subject.p[subject.n] == ' ');
}

static struct err *unknown_subject(struct arena *a, const struct plan *p, struct str subject)
{
	struct strs names = {0};
	VEC_EACH (const struct plan_reason, r, &p->reasons)
		strs_add(a, &names, r->subject);
	struct err *e = err_new(E_USAGE, "the plan makes no choice called '%.*s'", STR(subject));
	struct str near = suggest(subject, &names);
	if (near.n)
		err_hint(e, "did you mean '%.*s'?", STR(near));
	return err_hint(e, "it has: %.*s", STR(str_join(a, &names, S(", "))));
}

static void print_json(struct arena *a, const struct plan *p, struct str subject)
{
	BUF(b, a);
	struct json j = {.out = &b, .indent = 2};
	json_open(&j, '{');
	json_put(&j, "schema", S("rocsmith.why/1"));
	json_put(&j, "project", p->project);
	json_key(&j, "reasons");
	json_open(&j, '[');
	VEC_EACH (const struct plan_reason, r, &p->reasons) {
		if (!is_asked(r, subject))
			continue;
		json_open(&j, '{');
		json_put(&j, "subject", r->subject);
		json_put(&j, "choice", r->choice);
		json_put(&j, "why", r->why);
		json_close(&j);
	}
	json_close(&j);
	json_close(&j);
	out_fmt("%.*s\n", STR(buf_str(&b)));
}

static struct err *run(struct arena *a, void *args, int *ret_status)
{
	(void)ret_status;
	struct why_args *o = args;
	struct plan p;
	size_t hits = 0;
	o->project.any_gpu = true;
	TRY(project_plan(a, &o->project, &p));
	VEC_EACH (const struct plan_reason, r, &p.reasons)
		hits += is_asked(r, o->subject);
	if (!hits)
		return unknown_subject(a, &p, o->subject);
	if (o->common.json) {
		print_json(a, &p, o->subject);
		return NULL;
	}
	VEC_EACH (const struct plan_reason, r, &p.reasons) {
		if (!is_asked(r, o->subject))
			continue;
		out_fmt("%.*s: %.*s\n", STR(styled_out(a, STYLE_BOLD, r->subject)), STR(r->choice));
		out_fmt("    %.*s\n", STR(r->why));
	}
	return NULL;
}

const struct command cmd_why = {
	.name = "why",
	.summary = "explain each choice of a plan",
	.opts = opts,
	.size = sizeof(struct why_args),
	.run = run,
};

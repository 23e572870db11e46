/* rocsmith stage, promote: puts sets of wheels into a store, and shows them to pip. */
#include "cli/opt.h"
#include "release/release.h"
#include "term/out.h"

struct promote_args {
	struct common common;
	struct release_request q;
	bool rollback, last_good;
};
#define ARGS struct promote_args

const struct opt cmd_stage_opts[] = {
	{OPT_ARGUMENT("WHEEL", OPT_POSES, q.wheels, "wheels, or folders with wheels"),
		.flags = OPT_REQUIRED},
	{OPT_VALUE("to", OPT_PATH, q.place, "STORE[/STREAM]",
		 "the store, and who will get the set (dev)"),
		.flags = OPT_REQUIRED},
	{OPT_FLAG("add", q.add, "add them to what is staged already")},
	{OPT_VALUE("allow", OPT_WORDS, q.verify.allow, "SONAME",
		"library (or pattern) that may come from outside")},
	OPT_LAST,
};
const struct opt cmd_promote_opts[] = {
	{OPT_ARGUMENT("STORE/STREAM", OPT_POS, q.place, "the stream whose set it is"),
		.flags = OPT_REQUIRED},
	{OPT_VALUE("to", OPT_STR, q.to, "STREAM", "show its newest set in another stream")},
	{OPT_VALUE(
		"version", OPT_WORDS, q.versions, "OLD=NEW", "rename a version: 7.13.0rc2=7.13.0")},
	{OPT_VALUE("require", OPT_LIST, q.gate.evidence, "FILE",
		"the result of a test, as 'rocsmith test' writes it")},
	{OPT_VALUE("waivers", OPT_PATH, q.gate.waivers, "FILE",
		"who does without a test, and until when")},
	{OPT_VALUE(
		"set", OPT_STR, q.set, "ID", "the set that is meant, by the beginning of its id")},
	{OPT_FLAG("rollback", rollback, "show what the stream showed before")},
	{OPT_FLAG("last-good", last_good, "go back to the newest state without a bad set")},
	{OPT_VALUE("quarantine", OPT_STR, q.reason, "REASON",
		"withdraw the newest set of the stream")},
	OPT_LAST,
};

static struct err *show_release(
	struct arena *a, struct promote_args *o, const struct release_done *d)
{
	o->common.status = d->refused;
	if (show_json(&o->common, release_done_fields, d))
		return NULL;
	VEC_EACH (const struct finding, f, &d->findings)
		if (f->severity != SEV_INFO)
			out_finding(a, f, S(""));
	if (d->refused)
		out_fmt("%.*s/%.*s: refused\n", STR(d->store), STR(d->stream));
	if (d->refused || (o->common.quiet && !o->common.dry_run))
		return NULL;
	VEC_EACH (const struct release_proof, p, &d->proofs)
		say_status(p->waived ? S("Untested") : S("Tested"), "%.*s%s%.*s: %.*s", STR(p->gpu),
			p->python.n ? ", Python " : "", STR(p->python), STR(p->by));
	VEC_EACH (const struct release_wheel, w, &d->wheels)
		out_fmt("%.*s\n", STR(w->file));
	bool would = o->common.dry_run && !str_eq(d->action, S("unchanged"));
	out_fmt("%.*s/%.*s: %s%.*s%s%.*s\n", STR(d->store), STR(d->stream),
		would ? "would have " : "", STR(d->action), d->set.n ? " set " : "",
		STR(str_sub(d->set, 0, 12)));
	return NULL;
}

struct err *cmd_stage(struct arena *a, void *args)
{
	struct promote_args *o = args;
	struct release_done done = {0};
	o->q.verify.takes_no_sdk = true;
	o->q.jobs = o->q.verify.jobs = o->common.jobs;
	TRY(release_stage(a, &o->q, &done));
	return show_release(a, o, &done);
}

struct err *cmd_promote(struct arena *a, void *args)
{
	struct promote_args *o = args;
	struct release_done done = {0};
	bool forward = o->q.to.n || o->q.versions.n || o->q.gate.evidence.n || o->q.gate.waivers.n;
	bool bad = strs_has(&o->common.given, S("quarantine"));
	if (forward + o->rollback + o->last_good + bad > 1)
		return err_new(E_USAGE,
			"--rollback, --last-good, --quarantine and a promotion exclude "
			"each other");
	if (bad && !str_trim(o->q.reason).n)
		return err_new(E_USAGE, "--quarantine wants a reason, which users will read");
	o->q.action = o->rollback    ? RELEASE_BACK
		      : o->last_good ? RELEASE_LAST_GOOD
		      : bad          ? RELEASE_QUARANTINE
				     : RELEASE_FORWARD;
	o->q.jobs = o->common.jobs;
	TRY(release_promote(a, &o->q, &done));
	return show_release(a, o, &done);
}

/* The build's translation: the plan's settings become a run of hipify whose result is the tree that
 * the compiler sees. */
#include "make/build.h"

#include "base/fs.h"

static struct err *first_failure(struct build *b)
{
	VEC_EACH (struct change, f, &b->tree.changes) {
		if (f->status != CHANGE_FAILED)
			continue;
		struct err *e = f->error;
		f->error = NULL;
		return err_wrap(e, "cannot translate '%.*s'", STR(f->source));
	}
	return NULL;
}

/* Names without a counterpart are findings: the compiler decides whether they matter. */
static void report_left(struct build *b)
{
	VEC_EACH (struct untranslated, l, &b->tree.untranslated) {
		struct finding *f = finding_add(
			b->a, &b->ret->findings, "cuda-name-left", SEV_WARNING, l->path);
		finding_say(b->a, f, "line %u: '%.*s' %s", l->line, STR(l->name),
			l->unsure ? "looks like a name of CUDA, but no table has it"
				  : "has no counterpart in HIP");
		if (l->suggestion.n)
			finding_fix(b->a, f, "%.*s", STR(l->suggestion));
	}
}

static void report_unknown(struct build *b)
{
	const struct hipify_torch *t = &b->tree.torch;
	if (t->known || !t->file.n)
		return;
	struct finding *f =
		finding_add(b->a, &b->ret->findings, "hipify-unknown", SEV_WARNING, t->file);
	finding_say(b->a, f, "is none of the releases of hipify that are known");
	finding_fix(b->a, f,
		"rocsmith hipify --verify '%.*s' compares with that torch's own Python",
		STR(b->plan->project));
}

/* ---- what is asked for ---- */

static void ask_standalone(struct build *b, struct hipify_options *o)
{
	o->sources = (struct strs){0}; /* a build knows what it needs */
	VEC_EACH (const struct plan_source, s, &b->plan->sources)
		strs_add(b->a, &o->only, s->path);
	VEC_EACH (const struct str, h, &b->plan->headers)
		if (!strs_has(&o->only, *h))
			strs_add(b->a, &o->only, *h);
}

static void ask_extension(struct build *b, struct hipify_options *o)
{
	o->want_untranslated = true; /* a failing compiler's message is explained by them */
	if (!o->include_dirs.n)
		o->include_dirs = b->plan->includes;
	if (!o->sources.n)
		VEC_EACH (const struct plan_source, s, &b->plan->sources)
			strs_add(b->a, &o->sources, s->path);
}

/* ---- what came of it ---- */

/* PyTorch's names of outputs depend on their content: "a.cu" becomes "a.hip", "a_hip.cpp" comes of
 * "a.cpp" only when something in it changed. */
static void take_outputs(struct build *b)
{
	MAP(outputs, b->a);
	VEC_EACH (struct change, f, &b->tree.changes)
		map_put(&outputs, f->source, f);
	struct plan *own = NEW(b->a, struct plan);
	*own = *b->plan;
	own->sources.v = arena_array(b->a, own->sources.n, sizeof(*own->sources.v));
	for (size_t i = 0; i < own->sources.n; i++) {
		struct plan_source *s = &own->sources.v[i];
		*s = b->plan->sources.v[i];
		const struct change *f = map_get(&outputs, s->path);
		s->output = f && f->output.n ? f->output : s->path;
	}
	b->plan = own;
}

struct err *translate(struct build *b)
{
	const struct plan *p = b->plan;
	b->translation = p->hipify;
	b->translation.dir = p->project;
	b->translation.out = b->hip;
	b->translation.jobs = b->ret->jobs;
	if (hipify_by_torch(&b->translation))
		ask_extension(b, &b->translation);
	else
		ask_standalone(b, &b->translation);
	hipify_options_complete(b->a, &b->translation);
	TRY_CTX(hipify_run(b->a, &b->translation, &b->tree), "cannot translate '%.*s'",
		STR(p->project));
	TRY(first_failure(b));
	VEC_EACH (const struct change, f, &b->tree.changes)
		b->ret->edits += f->edits;
	report_left(b);
	report_unknown(b);
	if (hipify_by_torch(&b->translation))
		take_outputs(b);
	return NULL;
}

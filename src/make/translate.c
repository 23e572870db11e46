/* The build's translation: the plan's settings become a run of hipify whose result is the tree that
 * the compiler sees. */
#include "base/fs.h"
#include "make/make.h"

static void ask_standalone(struct make *m, struct hipify_options *o)
{
	o->sources = (struct strs){0}; /* a build knows what it needs */
	VEC_EACH (const struct plan_source, s, &m->plan->sources)
		strs_add(m->a, &o->only, s->path);
	VEC_EACH (const struct str, h, &m->plan->headers)
		strs_put(m->a, &o->only, *h);
}

static void ask_extension(struct make *m, struct hipify_options *o)
{
	o->want_untranslated = true; /* a failing compiler's message is explained by them */
	if (!o->include_dirs.n)
		o->include_dirs = m->plan->includes;
	if (!o->sources.n)
		VEC_EACH (const struct plan_source, s, &m->plan->sources)
			strs_add(m->a, &o->sources, s->path);
}

static struct err *first_failure(struct hipify_tree *tree)
{
	VEC_EACH (struct change, f, &tree->changes) {
		if (f->status != CHANGE_FAILED)
			continue;
		struct err *e = f->error;
		f->error = NULL;
		return err_wrap(e, "cannot translate '%.*s'", STR(f->source));
	}
	return NULL;
}

static void report(struct make *m)
{
	const struct torch_source *t = &m->tree.torch;
	VEC_EACH (struct untranslated, u, &m->tree.untranslated) {
		struct finding *f =
			finding_add(m->a, &m->findings, "cuda-name-left", SEV_WARNING, u->path);
		finding_say(m->a, f, "line %u: '%.*s' %s", u->line, STR(u->name),
			u->unsure ? "looks like a name of CUDA, but no table has it"
				  : "has no counterpart in HIP");
		if (u->suggestion.n)
			finding_fix(m->a, f, "%.*s", STR(u->suggestion));
	}
	if (t->known || !t->algorithm.path.n)
		return;
	struct finding *f =
		finding_add(m->a, &m->findings, "hipify-unknown", SEV_WARNING, t->algorithm.path);
	finding_say(m->a, f, "is none of the releases of hipify that are known");
	finding_fix(m->a, f,
		"rocsmith hipify --verify '%.*s' compares with that torch's own Python",
		STR(m->plan->project));
}

/* PyTorch's names of outputs depend on their content: "a.cu" becomes "a.hip", "a_hip.cpp" comes of
 * "a.cpp" only when something in it changed. */
static void find_outputs(struct make *m)
{
	MAP(outputs, m->a);
	VEC_EACH (struct change, f, &m->tree.changes)
		map_put(&outputs, f->source, f);
	VEC_EACH (const struct plan_source, s, &m->plan->sources) {
		const struct change *f = map_get(&outputs, s->path);
		strs_add(m->a, &m->outputs, f && f->output.n ? f->output : s->path);
	}
}

struct str make_output(const struct make *m, const struct plan_source *src)
{
	return m->outputs.n ? m->outputs.v[src - m->plan->sources.v] : src->output;
}

struct err *make_translate(struct make *m)
{
	const struct plan *p = m->plan;
	struct hipify_options *o = &m->translation;
	*o = p->hipify;
	o->dir = p->project;
	o->out = m->hip;
	o->jobs = m->jobs;
	if (hipify_by_torch(o))
		ask_extension(m, o);
	else
		ask_standalone(m, o);
	hipify_options_complete(m->a, o);
	TRY_CTX(hipify_run(m->a, o, &m->tree), "cannot translate '%.*s'", STR(p->project));
	TRY(first_failure(&m->tree));
	VEC_EACH (const struct change, f, &m->tree.changes)
		m->edits += f->edits;
	report(m);
	if (hipify_by_torch(o))
		find_outputs(m);
	return NULL;
}

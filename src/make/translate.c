/* The build's translation: the plan's settings become a run of hipify whose result is the tree that
 * the compiler sees. */
#include "base/fs.h"
#include "make/make.h"

static void ask_standalone(struct make *m, struct hipify_options *o)
{
	o->sources = (struct strs){0}; /* a build knows what it needs */
	VEC_EACH (const struct plan_source, s, &m->plan->sources)
		strs_add(m->a, &o->only, s->path);
	strs_put_all(m->a, &o->only, &m->plan->headers);
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

/* What no compiler for HIP takes ends the build before one is asked: all places, the first as the error. */
static struct err *refuse(const struct make *m)
{
	enum { SHOWN = 20 };
	struct err *e = NULL;
	size_t n = 0;
	VEC_EACH (const struct untranslated, u, &m->tree.untranslated) {
		if (!u->certain || ++n > SHOWN)
			continue;
		struct str why = u->suggestion;
		bool name = str_chr(why, ' ') == why.n; /* only a word: what comes near it */
		struct err *one =
			err_new(E_HIPIFY, "'%.*s' has no counterpart in HIP%s%.*s", STR(u->name),
				!why.n ? ""
				: name ? "; near it: "
				       : ": ",
				STR(why));
		err_at(one, (struct loc){.path = path_join(m->a, m->plan->project, u->path),
				    .line = u->line,
				    .col = u->col});
		e = err_join(e, one);
	}
	return n > SHOWN ? err_hint(e, "%zu places in all: rocsmith hipify '%.*s' lists them", n,
				   STR(m->plan->project))
			 : e;
}

static void report(struct make *m)
{
	const struct torch_source *t = &m->tree.torch;
	VEC_EACH (const struct str, h, &m->tree.headers)
		if (hipify_is_our_header(*h))
			finding_say(m->a,
				finding_add(m->a, &m->findings, "hipify-header", SEV_INFO, *h),
				"is a header of rocsmith, for names that this HIP may lack");
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
	finding_say(m->a, f, "is not one of the known releases of hipify");
	finding_fix(m->a, f, "'rocsmith hipify verify %.*s' compares with that torch's own Python",
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
	bool of_plan = m->outputs.n && src->output.p[0] != '/';
	return of_plan ? m->outputs.v[src - m->plan->sources.v] : src->output;
}

/* Has a target types of 8 bits of its own, as HIP's header says, up to 7.2.4 at least? */
static struct err *ask_fnuz(const struct make *m, bool *ret)
{
	struct str text = {0}, header = S("hip/amd_detail/amd_hip_fp8.h");
	struct str dir;
	*ret = false;
	VEC_EACH (const struct str, gpu, &m->plan->gpus)
		*ret |= str_starts(*gpu, S("gfx942"));
	if (!*ret)
		return NULL;
	dir = m->sdk->include.n ? m->sdk->include : path_join(m->a, m->sdk->root, S("usr/include"));
	TRY(fs_read_opt(m->a, path_join(m->a, dir, header), 4 << 20, &text));
	*ret = str_contains(text, S("#define HIP_FP8_TYPE_OCP 0"));
	return NULL;
}

struct err *make_translate(struct make *m)
{
	const struct plan *p = m->plan;
	struct hipify_options *o = &m->translation;
	*o = p->hipify;
	o->dir = p->project;
	o->out = m->hip;
	o->jobs = m->jobs;
	TRY(ask_fnuz(m, &o->fnuz));
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
	return refuse(m);
}

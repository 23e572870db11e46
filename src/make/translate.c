/* Translates the sources of a build: runs hipify with the plan's settings to make the tree that the compiler reads. */
#include "base/fs.h"
#include "make/make.h"

enum { MAX_HEADER = 64 << 20 };

/* Turns what the translation noticed into findings. Names that no HIP compiler accepts are an error, with all their
 * places, so that the build ends before the compiler runs. */
static struct err *report_translation(struct make *m)
{
	const struct torch_source *t = &m->tree.torch;
	struct err *e = NULL;
	VEC_EACH (const struct finding, f, &m->tree.findings)
		*VEC_PUSH(m->a, &m->findings) = *f;
	VEC_EACH (const struct str, h, &m->tree.headers)
		if (hipify_is_our_header(*h))
			finding_note(m->a, &m->findings, "hipify-header", *h,
				"is a header of rocsmith, for names that this HIP may lack");
	VEC_EACH (const struct untranslated, u, &m->tree.untranslated) {
		finding_note(m->a, &m->findings, "cuda-name-left", u->path, "line %u: %.*s",
			u->line, STR(hipify_lacks(m->a, u)));
		if (!u->certain)
			continue;
		struct err *one = err_new(E_HIPIFY, "%.*s", STR(hipify_lacks(m->a, u)));
		err_at(one, (struct loc){.path = path_join(m->a, m->plan->project, u->path),
				    .line = u->line,
				    .col = u->col});
		e = err_join(e, one);
	}
	if (!t->known && t->algorithm.path.n) {
		struct finding *f = finding_note(m->a, &m->findings, "hipify-unknown",
			t->algorithm.path, "is not one of the known releases of hipify");
		finding_fix(m->a, f,
			"'rocsmith hipify verify %.*s' compares with that torch's own Python",
			STR(m->plan->project));
	}
	return e;
}

struct str make_output(const struct make *m, const struct plan_source *src)
{
	bool of_plan = m->outputs.n && src->output.p[0] != '/';
	return of_plan ? m->outputs.v[src - m->plan->sources.v] : src->output;
}

struct str make_outside(const struct make *m, struct str path)
{
	size_t i = 0;
	const struct strs *dirs = &m->plan->includes;
	while (i < dirs->n && !str_eq(path, dirs->v[i]) && !path_is_below(path, dirs->v[i]))
		i++;
	struct str rest = str_sub(path, i < dirs->n ? dirs->v[i].n : path.n, path.n);
	return str_fmt(m->a, MAKE_OUTSIDE "/%zu%.*s", i, STR(rest));
}

/* Headers outside of the project are no part of the tree that hipify_run() translates. */
static struct err *translate_outside(struct make *m)
{
	VEC_EACH (const struct str, header, &m->plan->headers) {
		ARENA(tmp);
		struct str text, made = path_join(m->a, m->hip, make_outside(m, *header));
		struct hipify_text t;
		if (header->p[0] != '/')
			continue;
		TRY(fs_read(&tmp, *header, MAX_HEADER, &text));
		TRY(hipify_text(&tmp, text, *header, &m->tree.context, &t));
		TRY(fs_mkdirs(path_dir(made)));
		TRY(fs_write(made, t.text, 0644 | FS_IF_CHANGED));
	}
	return NULL;
}

struct err *make_translate(struct make *m)
{
	const struct plan *p = m->plan;
	struct hipify_options *o = &m->translation;
	struct str header = {0};
	bool gfx942 = false;
	*o = p->hipify;
	o->dir = p->project;
	o->out = m->hip;
	o->jobs = m->jobs;
	/* On gfx942, HIP's header may select FNUZ instead of OCP 8-bit floats. It does so up to 7.2.4 at least. */
	VEC_EACH (const struct str, gpu, &p->gpus)
		gfx942 |= str_starts(*gpu, S("gfx942"));
	if (gfx942) {
		struct str include = m->sdk->include;
		if (!include.n)
			include = path_join(m->a, m->sdk->root, S("usr/include"));
		TRY(fs_read_opt(m->a, path_join(m->a, include, S("hip/amd_detail/amd_hip_fp8.h")),
			4 << 20, &header));
	}
	o->fnuz = str_contains(header, S("#define HIP_FP8_TYPE_OCP 0"));
	bool torch = hipify_by_torch(o), given = torch && o->sources.n;
	if (torch) {
		o->marks = true;
		o->want_untranslated = true; /* the hints for compile errors need them */
		if (!o->include_dirs.n)
			o->include_dirs = p->includes;
	} else {
		o->sources = (struct strs){0};
	}
	/* the plan lists the files that the build needs */
	for (size_t i = 0; !given && i < p->sources.n; i++)
		strs_add(m->a, torch ? &o->sources : &o->only, p->sources.v[i].path);
	for (size_t i = 0; !torch && i < p->headers.n; i++)
		if (p->headers.v[i].p[0] != '/')
			strs_put(m->a, &o->only, p->headers.v[i]);
	hipify_options_complete(m->a, o);
	TRY_CTX(hipify_run(m->a, o, &m->tree), "cannot translate '%.*s'", STR(p->project));
	TRY(change_set_failure(&m->tree.changes, "translate"));
	TRY(translate_outside(m));
	MAP(changes, m->a);
	VEC_EACH (struct change, f, &m->tree.changes) {
		m->edits += f->edits;
		map_put(&changes, f->source, f);
	}
	/* PyTorch's output names depend on the content: "a.cpp" becomes "a_hip.cpp" only if something in it changed */
	for (size_t i = 0; torch && i < p->sources.n; i++) {
		const struct change *f = map_get(&changes, p->sources.v[i].path);
		strs_add(m->a, &m->outputs, f && f->output.n ? f->output : p->sources.v[i].path);
	}
	return report_translation(m);
}

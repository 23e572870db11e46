/* Sets up a project from the options: its files, its include folders, the treatment of launches; see
 * hipify_int.h. The work itself is in tree.c and extension.c. */
#include "hipify/torch/run/project.h"

static struct strs joined(struct arena *a, const struct strs *x, const struct strs *y)
{
	struct strs all = {0};
	strs_add_all(a, &all, x);
	strs_add_all(a, &all, y);
	return all;
}

/* Lists the files of an extension and translates them. CUDAExtension and load() never pass hip_clang_launch, so
 * launches are rewritten by default. */
static struct err *run_extension(struct torch_project *p)
{
	const struct strs *sources = &p->o->sources;
	struct str root = p->select.root;
	p->launches = p->o->launches != LAUNCHES_KEEP;
	/* Patterns are absolute, so wildcards in the folder's path become part of them. */
	bool wild = str_chr(root, '*') < root.n || str_chr(root, '?') < root.n ||
		    str_chr(root, '[') < root.n;
	if (sources->n && wild) {
		struct finding *f = finding_note(p->a, &p->ret->findings, "hipify-pattern-in-path",
			p->o->dir,
			"'%.*s' has '*', '?' or '[' in it, which PyTorch's hipify takes for "
			"patterns: files may be missed",
			STR(root));
		finding_fix(p->a, f, "translate a copy in a folder with a plain name");
	}
	strs_add(p->a, &p->select.includes, sources->n ? py_join(p->a, root, S("*")) : S("*"));
	torch_select_open(p->a, &p->select);
	TRY(torch_select(p->a, &p->select, p->view, &p->files));
	MAP(seen, p->a);
	VEC_EACH (const struct str, path, &p->files)
		map_put(&seen, *path, p);
	VEC_EACH (const struct str, s, sources) {
		struct str path = py_abspath(p->a, *s, root);
		if (!map_get(&seen, path))
			strs_add(p->a, &p->files, path);
	}
	VEC_EACH (const struct str, dir, &p->o->include_dirs) {
		struct torch_selection below = p->select;
		below.root = py_pathlib(p->a, py_join(p->a, root, *dir));
		below.headers = joined(p->a, &torch_header_extensions, &p->o->extra_extensions);
		TRY(torch_select(p->a, &below, p->view, &p->files));
	}
	return torch_run_extension(p);
}

struct err *torch_run(struct arena *a, const struct hipify_options *o, const struct torch_source *s,
	const struct view *view, struct hipify_tree *ret)
{
	struct torch_tables tables;
	struct torch_project p = {.a = a, .o = o, .view = view, .ret = ret, .one = o->one};
	p.select = (struct torch_selection){
		.root = view->root,
		.extension = o->mode == HIPIFY_EXTENSION,
		.out_of_place_only = o->out_of_place_only,
		.fbgemm = s->fbgemm,
		.generation = s->generation,
		.extensions = joined(a, &torch_source_extensions, &o->extra_extensions),
	};
	VEC_EACH (const struct str, pattern, &o->ignore)
		strs_add(a, &p.select.ignores, py_join(a, view->root, *pattern));
	TRY(torch_tables_read(a, s, &tables));
	if (o->map_text.p)
		TRY(torch_tables_add(a, o->map, o->map_text, &tables));
	p.engine = torch_engine_new(a, &tables);
	return p.select.extension ? run_extension(&p) : torch_run_tree(&p, s);
}

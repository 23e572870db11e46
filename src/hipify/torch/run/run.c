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
		struct finding *f = finding_add(
			p->a, &p->ret->findings, "hipify-pattern-in-path", SEV_WARNING, p->o->dir);
		finding_say(p->a, f,
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
		struct torch_headers h = {
			.s = &p->select,
			.dir = py_pathlib(p->a, py_join(p->a, root, *dir)),
			.endings = joined(p->a, &torch_header_extensions, &p->o->extra_extensions),
		};
		TRY(torch_select_headers(p->a, &h, p->view, &p->files));
	}
	return torch_run_extension(p);
}

static struct err *run(struct torch_project *p, const struct torch_source *s)
{
	struct torch_tables tables;
	p->select = (struct torch_selection){
		.root = p->view->root,
		.extension = p->o->mode == HIPIFY_EXTENSION,
		.out_of_place_only = p->o->out_of_place_only,
		.fbgemm = s->fbgemm,
		.generation = s->generation,
		.extensions = joined(p->a, &torch_source_extensions, &p->o->extra_extensions),
	};
	VEC_EACH (const struct str, pattern, &p->o->ignore)
		strs_add(p->a, &p->select.ignores, py_join(p->a, p->view->root, *pattern));
	TRY(torch_tables_read(p->a, s, &tables));
	if (p->o->map_text.p)
		TRY(torch_tables_add(p->a, p->o->map, p->o->map_text, &tables));
	p->engine = torch_engine_new(p->a, &tables);
	return p->select.extension ? run_extension(p) : torch_run_tree(p, s);
}

struct err *torch_run(struct arena *a, const struct hipify_options *o, const struct torch_source *s,
	const struct view *view, struct hipify_tree *ret)
{
	struct torch_project p = {.a = a, .o = o, .view = view, .ret = ret};
	return run(&p, s);
}

struct err *torch_run_file(struct arena *a, const struct hipify_options *o,
	const struct torch_source *s, const struct view *view, struct torch_one *io)
{
	struct hipify_tree tree = {0};
	struct torch_project p = {.a = a, .o = o, .view = view, .ret = &tree, .one = io};
	struct err *e = run(&p, s);
	VEC_EACH (struct change, f, &tree.changes) {
		if (!e && str_eq(f->source, io->rel)) {
			e = f->error;
			f->error = NULL;
		}
	}
	change_set_free(&tree.changes);
	if (!e && !io->found)
		e = err_new(
			E_NOENT, "'%.*s' is not among the files that are translated", STR(io->rel));
	return e;
}

/* Translates an extension, whose files depend on each other.
 *
 * An include of a file becomes the path of that file's result, so the included file is translated first,
 * in the middle of the including one. In a cycle, the original assumes that a file in progress will get
 * a new name; and files are translated again when their turn comes. The resulting texts depend on the
 * order of all this, so the steps here are those of the original, one after another. Each step sees the
 * outputs of the previous ones through a layer.
 */
#include "base/proc.h"
#include "base/progress.h"
#include "hipify/torch/run/project.h"

/* Python's recursion limit stops the original at some 330 levels; here a level takes a few kilobytes of stack. */
enum { DEPTH_LIMIT = 1000 };

struct result { /* HipifyResult */
	bool done;
	struct str hipified; /* .p NULL = None */
	struct str shown;    /* the output to list if nothing is written */
	bool ignored;
	struct err *error;
};

/* One run over an extension. */
struct extension {
	struct torch_project *p;
	struct torch_layer layer;
	struct map results;       /* fin_path -> struct result * */
	struct map members;       /* all_files as a set */
	struct map endings;       /* file names asked for -> m if some member ends so, else NULL */
	struct strs include_dirs; /* absolute, not normalised */
	unsigned depth;
	bool again; /* a second run on the results of the first */
};

/* The state of the include callback for one file. */
struct including {
	struct extension *m;
	const struct torch_unit *unit;
	struct arena *a; /* holds the answers */
};

/* The original's any(s.endswith(name) for s in all_files). */
static bool some_file_ends_with(struct extension *m, struct str name)
{
	bool found = false;
	if (map_has(&m->endings, name))
		return map_get(&m->endings, name);
	for (size_t i = 0; i < m->p->files.n && !found; i++)
		found = str_ends(m->p->files.v[i], name);
	map_put(&m->endings, str_dup(m->p->a, name), found ? m : NULL);
	return found;
}

static struct err *process(struct extension *m, struct str path);

/* Finds a header: except for the <> form, next to the including file first; then in the include folders, of which the
 * last one that has it wins. */
static struct err *on_include(void *user, enum torch_form form, struct str path, struct str *ret)
{
	struct including *i = user;
	struct extension *m = i->m;
	struct str root = m->p->select.root, dir = py_dirname(i->unit->fin);
	if (memchr(path.p, 0, path.n) || torch_known_include(i->a, path, true, ret) ||
		!some_file_ends_with(m, py_basename(path)))
		return NULL;
	struct str header = py_abspath(i->a, py_join(i->a, dir, path), root);
	bool there = form != TORCH_ANGLE && layer_exists(&m->layer, header);
	for (size_t k = m->include_dirs.n; !there && k-- > 0;) {
		dir = m->include_dirs.v[k];
		header = py_abspath(i->a, py_join(i->a, dir, path), root);
		there = layer_exists(&m->layer, header);
	}
	if (!there)
		return NULL;
	struct result *r = map_get(&m->results, header);
	if (!r) {
		TRY(process(m, str_dup(m->p->a, header)));
		r = map_get(&m->results, header);
	} else if (!r->done) {
		r->hipified = torch_unit_new(m->p, m->p->a, header).fout;
	}
	*ret = py_relpath(i->a, r->hipified.p ? r->hipified : header, dir, root);
	return NULL;
}

static struct err *translate(
	struct extension *m, struct arena *a, struct torch_unit *u, struct result *r)
{
	ARENA(answers);
	struct including i = {.m = m, .unit = u, .a = &answers};
	u->include = on_include;
	u->user = &i;
	struct str bytes = {0};
	if (m->depth > DEPTH_LIMIT)
		return err_new(
			E_HIPIFY, "headers include each other more than %d deep", DEPTH_LIMIT);
	TRY(layer_read(&m->layer, a, u->fin, &bytes));
	if (!torch_is_marked(bytes))
		layer_mkdirs(&m->layer, py_dirname(u->fout));
	TRY(torch_unit_translate(m->p, a, u, bytes));
	r->ignored = u->outcome == UNIT_MARKED;
	r->hipified = r->ignored ? (struct str){0} : str_dup(m->p->a, u->fin);
	if (u->outcome != UNIT_CHANGED)
		return NULL;
	bool there = layer_has_text(&m->layer, u->fout, u->text);
	if (!there && !m->again && !torch_may_write(m->p, u)) {
		torch_say_not_writable(m->p, u);
		return NULL;
	}
	struct torch_output o = {.path = str_dup(m->p->a, u->fout), .source = r->hipified};
	r->hipified = o.path;
	if (there)
		return NULL;
	o.text = str_dup(m->p->a, u->text);
	struct torch_output before = layer_write(&m->layer, o);
	if (before.text.p && !str_eq(before.source, o.source) && !m->again)
		torch_say_collision(m->p, before.source, o.source, o.path);
	return NULL;
}

/* The original's preprocess_file_and_save_result(). */
static struct err *process(struct extension *m, struct str path)
{
	ARENA(a);
	struct torch_unit u = torch_unit_new(m->p, &a, path);
	struct result *r = NEW(m->p->a, struct result), *old = map_get(&m->results, u.fin);
	struct str fin = str_dup(m->p->a, u.fin);
	if (old)
		err_freep(&old->error);
	r->hipified = fin;
	map_put(&m->results, fin, r);
	TRY(cancel_check());
	if (!map_get(&m->members, path)) {
		*r = (struct result){.done = true, .ignored = true};
		return NULL;
	}
	m->depth++;
	struct err *e = translate(m, &a, &u, r);
	m->depth--;
	r->done = true;
	r->shown = r->hipified;
	if (e && e->code == E_CANCELLED)
		return e;
	if (e) { /* files that include it include the original */
		struct str name = torch_unit_name(m->p, &a, fin);
		r->error = err_at(e, (struct loc){name, e->line, e->col});
		r->hipified = (struct str){0};
	}
	return NULL;
}

/* ---- the entry point ---- */

static void open_run(struct extension *m, struct torch_project *p)
{
	*m = (struct extension){.p = p, .results.a = p->a, .members.a = p->a, .endings.a = p->a};
	VEC_EACH (const struct str, path, &p->files)
		map_put(&m->members, *path, m);
	VEC_EACH (const struct str, dir, &p->o->include_dirs)
		strs_add(p->a, &m->include_dirs, py_join(p->a, p->select.root, *dir));
}

/* Translates the named sources, as CUDAExtension does; if there are none, all files, as a JIT load() does. */
static struct err *run(struct extension *m)
{
	struct torch_project *p = m->p;
	struct str root = p->select.root;
	const struct strs *sources = &p->o->sources, *list = sources->n ? sources : &p->files;
	CLEANUP(progress_endp)
	struct progress *at =
		progress_begin(S("Translating"), p->o->dir, UNIT_ITEMS, m->again ? 0 : list->n);
	for (size_t i = 0; i < list->n; i++) {
		TRY(process(m, sources->n ? py_abspath(p->a, list->v[i], root) : list->v[i]));
		progress_add(at, 1, list->v[i]);
	}
	return NULL;
}

static void drop_errors(struct extension *m)
{
	for (size_t i = 0; i < m->results.n; i++)
		err_freep(&((struct result *)m->results.v[i].value)->error);
}

/* Repeats the run on its own results, as a second run of the original would, and marks the changes for which it ended
 * with another text. */
static struct err *try_again(struct extension *first, const struct map *files)
{
	ARENA(tmp);
	struct torch_project p = *first->p;
	struct extension m;
	p.one = NULL;
	p.files = (struct strs){0};
	strs_add_all(p.a, &p.files, &first->p->files);
	for (size_t i = 0; i < first->layer.outputs.n; i++) {
		struct torch_output *o = first->layer.outputs.v[i].value;
		struct torch_unit u = torch_unit_new(&p, p.a, o->path);
		if (!map_get(&first->members, o->path) &&
			torch_select_takes(&p.select, o->path, u.rel))
			strs_add(p.a, &p.files, o->path);
	}
	open_run(&m, &p);
	layer_open_above(&m.layer, p.a, &first->layer);
	m.again = true;
	struct err *e = run(&m);
	drop_errors(&m);
	for (size_t i = 0; i < m.layer.outputs.n; i++) {
		const struct torch_output *o = m.layer.outputs.v[i].value;
		const struct torch_output *made = layer_find(&first->layer, o->path);
		struct str old;
		CLEANUP(err_freep)
		struct err *unreadable = layer_read(&first->layer, &tmp, o->path, &old);
		if (!unreadable && str_eq(old, o->text))
			continue;
		if (!made)
			made = layer_find(&first->layer, o->source);
		size_t n = (uintptr_t)map_get(files, made ? made->source : o->source);
		if (n)
			p.ret->changes.v[n - 1].mark = HIPIFY_REPEATS;
	}
	return e;
}

struct err *torch_run_extension(struct torch_project *p)
{
	struct extension m;
	open_run(&m, p);
	layer_open(&m.layer, p->a, p->view);
	struct err *e = run(&m);
	if (e) {
		drop_errors(&m);
		return e;
	}
	/* Lists the results. The output of an earlier turn of a file remains even if a later turn left the file
	 * unchanged. */
	MAP(files, p->a);
	MAP(outputs, p->a); /* by source */
	for (size_t i = 0; i < m.layer.outputs.n; i++) {
		struct torch_output *o = m.layer.outputs.v[i].value;
		map_put(&outputs, o->source, o);
	}
	for (size_t i = 0; i < m.results.n; i++) {
		struct str fin = m.results.v[i].key;
		struct result *r = m.results.v[i].value;
		struct torch_output *o = map_get(&outputs, fin);
		if (!o && r->ignored && !r->error)
			continue;
		struct str output = o ? o->path : r->shown.p ? r->shown : fin;
		struct change *f = torch_add_file(p, fin, output);
		f->text = o && !r->error ? o->text : (struct str){0};
		f->status = r->error ? CHANGE_FAILED : o ? CHANGE_OK : CHANGE_UNCHANGED;
		if (f->status == CHANGE_UNCHANGED && layer_find(&m.layer, output))
			f->status = CHANGE_SKIPPED; /* the result of another source */
		f->error = r->error;
		r->error = NULL;
		map_put(&files, fin, (void *)(uintptr_t)p->ret->changes.n);
	}
	return m.layer.outputs.n ? try_again(&m, &files) : NULL;
}

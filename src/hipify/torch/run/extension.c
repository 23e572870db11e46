/* Translates an extension, whose files depend on each other.
 *
 * An include of a file becomes the path of that file's result, so the included file is translated first,
 * in the middle of the including one. In a cycle, the original assumes that a file in progress will get
 * a new name; and files are translated again when their turn comes. The resulting texts depend on the
 * order of all this, so the steps here are those of the original, one after another. Each step sees the
 * outputs of the previous ones through a layer.
 */
#include <stdlib.h>
#include <string.h>

#include "base/proc.h"
#include "base/progress.h"
#include "hipify/torch/run/project.h"
#include "lang/python/text.h"

/* Python's recursion limit stops the original at some 330 levels; here a level takes a few kilobytes of stack. */
enum { DEPTH_LIMIT = 1000 };

struct result { /* HipifyResult */
	bool done;
	struct str hipified; /* .p NULL = None */
	struct str shown;    /* the output to list if nothing is written */
	bool ignored;
	struct err *error;
};

/* One include of a file and its new path. A memo keeps all of them with the file's result: if they get the
 * same new paths in a later turn, the result is the same. */
struct request {
	enum torch_form form;
	struct str path, answer; /* answer.p NULL: the include stays */
};

struct requests {
	struct request *v;
	size_t n, cap;
};

struct memo {
	struct requests asked;
	enum unit_outcome outcome;
	struct str text; /* if outcome is UNIT_CHANGED */
};

struct machine {
	struct torch_project *p;
	struct torch_layer layer;
	struct map results;       /* fin_path -> struct result * */
	struct map *memos;        /* fin_path -> struct memo *; shared with the second run */
	struct map members;       /* all_files as a set */
	struct str *tails;        /* all_files, sorted by reversed path; made on first use */
	struct strs include_dirs; /* absolute, not normalised */
	unsigned depth;
	bool again; /* a second run on the results of the first */
};

/* The state of the include callback for one file. */
struct including {
	struct machine *m;
	const struct torch_unit *unit;
	struct arena *a;       /* holds the answers */
	struct requests asked; /* lives as long as the project */
};

/* ---- all_files ---- */

static int compare_tails(const void *left, const void *right)
{
	const struct str *x = left, *y = right;
	size_t n = x->n < y->n ? x->n : y->n;
	for (size_t i = 1; i <= n; i++)
		if (x->p[x->n - i] != y->p[y->n - i])
			return (unsigned char)x->p[x->n - i] < (unsigned char)y->p[y->n - i] ? -1
											     : 1;
	return x->n < y->n ? -1 : x->n > y->n;
}

/* The original's any(s.endswith(name) for s in all_files). In the order of reversed paths, the first one
 * that is not less than name ends with it, or none does. */
static bool some_file_ends_with(struct machine *m, struct str name)
{
	const struct strs *files = &m->p->files;
	size_t from = 0, to = files->n;
	if (!m->tails && files->n) {
		m->tails = arena_array(m->p->a, files->n, sizeof(*m->tails));
		memcpy(m->tails, files->v, files->n * sizeof(*files->v));
		qsort(m->tails, files->n, sizeof(*m->tails), compare_tails);
	}
	while (from < to) {
		size_t mid = from + (to - from) / 2;
		if (compare_tails(&m->tails[mid], &name) < 0)
			from = mid + 1;
		else
			to = mid;
	}
	return from < files->n && str_ends(m->tails[from], name);
}

/* ---- includes ---- */

struct header {
	struct str dir, path; /* the folder it was found in, not normalised; its normalised path */
};

/* Finds a header: except for the <> form, next to the including file first; then in the include folders,
 * of which the last one that has it wins. */
static bool find_header(
	struct including *i, enum torch_form form, struct str name, struct header *ret)
{
	struct machine *m = i->m;
	struct str root = m->p->select.root;
	ret->dir = py_dirname(i->unit->fin);
	ret->path = py_abspath(i->a, py_join(i->a, ret->dir, name), root);
	if (form != TORCH_ANGLE && layer_exists(&m->layer, ret->path))
		return true;
	for (size_t k = m->include_dirs.n; k-- > 0;) {
		ret->dir = m->include_dirs.v[k];
		ret->path = py_abspath(i->a, py_join(i->a, ret->dir, name), root);
		if (layer_exists(&m->layer, ret->path))
			return true;
	}
	return false;
}

static struct err *process(struct machine *m, struct str path);

static struct err *answer(
	struct including *i, enum torch_form form, struct str path, struct str *ret)
{
	struct machine *m = i->m;
	struct str root = m->p->select.root;
	struct header h = {0};
	if (memchr(path.p, 0, path.n) || torch_known_include(i->a, path, true, ret))
		return NULL;
	if (!some_file_ends_with(m, py_basename(path)) || !find_header(i, form, path, &h))
		return NULL;
	struct result *r = map_get(&m->results, h.path);
	if (!r) {
		TRY(process(m, str_dup(m->p->a, h.path)));
		r = map_get(&m->results, h.path);
	} else if (!r->done) {
		struct torch_unit u = torch_unit_new(m->p, m->p->a, h.path);
		r->hipified = u.fout;
	}
	*ret = py_relpath(i->a, r->hipified.p ? r->hipified : h.path, h.dir, root);
	return NULL;
}

static struct err *on_include(void *user, enum torch_form form, struct str path, struct str *ret)
{
	struct including *i = user;
	struct arena *a = i->m->p->a;
	struct str got = {0};
	struct arena_mark mark = arena_mark(i->a);
	TRY(answer(i, form, path, &got));
	struct request *r = VEC_PUSH(a, &i->asked);
	*r = (struct request){.form = form, .path = str_dup(a, path)};
	if (got.p)
		r->answer = *ret = str_dup(a, got);
	arena_rewind(i->a, mark);
	return NULL;
}

/* Looks up again the includes of an earlier turn; *same tells whether they get the same new paths. A
 * look-up translates a header that has no result yet, so repeating one does no more work. */
static struct err *ask_again(struct including *i, const struct memo *memo, bool *same)
{
	*same = true;
	VEC_EACH (const struct request, r, &memo->asked) {
		struct str got = {0};
		struct arena_mark mark = arena_mark(i->a);
		TRY(answer(i, r->form, r->path, &got));
		*same = !got.p == !r->answer.p && str_eq(got, r->answer);
		arena_rewind(i->a, mark);
		if (!*same)
			break;
	}
	return NULL;
}

/* ---- one file ---- */

/* Reads and translates a file, and keeps the outcome for later turns. */
static struct err *translate_anew(struct including *i, struct arena *a, struct torch_unit *u)
{
	struct machine *m = i->m;
	struct torch_unit_work w = {.a = a, .out = a, .include = on_include, .user = i};
	struct str bytes = {0};
	bool made = layer_find(&m->layer, u->fin) != NULL;
	TRY(layer_read(&m->layer, a, u->fin, &bytes));
	if (!torch_is_marked(bytes))
		layer_mkdirs(&m->layer, py_dirname(u->fout));
	TRY(torch_unit_translate(m->p, u, &w, bytes));
	u->text = u->outcome == UNIT_CHANGED ? str_dup(m->p->a, u->text) : (struct str){0};
	if (made)
		return NULL;
	struct memo *memo = NEW(m->p->a, struct memo);
	*memo = (struct memo){.asked = i->asked, .outcome = u->outcome, .text = u->text};
	map_put(m->memos, str_dup(m->p->a, u->fin), memo);
	return NULL;
}

static struct err *find_text(struct including *i, struct arena *a, struct torch_unit *u)
{
	struct machine *m = i->m;
	const struct memo *memo = map_get(m->memos, u->fin);
	bool same = false;
	if (memo && !layer_find(&m->layer, u->fin))
		TRY(ask_again(i, memo, &same));
	if (!same)
		return translate_anew(i, a, u);
	if (memo->outcome != UNIT_MARKED)
		layer_mkdirs(&m->layer, py_dirname(u->fout));
	u->outcome = memo->outcome;
	u->text = memo->text;
	return NULL;
}

static struct err *translate(
	struct machine *m, struct arena *a, struct torch_unit *u, struct result *r)
{
	ARENA(answers);
	struct including i = {.m = m, .unit = u, .a = &answers};
	if (m->depth > DEPTH_LIMIT)
		return err_new(
			E_HIPIFY, "headers include each other more than %d deep", DEPTH_LIMIT);
	TRY(find_text(&i, a, u));
	r->ignored = u->outcome == UNIT_MARKED;
	r->hipified = r->ignored ? (struct str){0} : str_dup(m->p->a, u->fin);
	if (u->outcome != UNIT_CHANGED)
		return NULL;
	struct torch_output o = {.path = str_dup(m->p->a, u->fout),
		.source = str_dup(m->p->a, u->fin),
		.text = u->text};
	bool there = layer_has_text(&m->layer, u->fout, u->text);
	if (!there && !m->again && !torch_may_write(m->p, u)) {
		torch_say_not_writable(m->p, u);
		return NULL;
	}
	r->hipified = o.path;
	if (there)
		return NULL;
	struct torch_output before = layer_write(&m->layer, o);
	if (before.text.p && !str_eq(before.source, o.source) && !m->again)
		torch_say_collision(m->p, before.source, o.source, o.path);
	return NULL;
}

/* The original's preprocess_file_and_save_result(). */
static struct err *process(struct machine *m, struct str path)
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

static void open_machine(struct machine *m, struct torch_project *p)
{
	*m = (struct machine){.p = p, .results.a = p->a, .members.a = p->a};
	VEC_EACH (const struct str, path, &p->files)
		map_put(&m->members, *path, m);
	VEC_EACH (const struct str, dir, &p->o->include_dirs)
		strs_add(p->a, &m->include_dirs, py_join(p->a, p->select.root, *dir));
}

/* Translates the named sources, as CUDAExtension does; if there are none, all files, as a JIT load() does. */
static struct err *run(struct machine *m)
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

static void drop_errors(struct machine *m)
{
	for (size_t i = 0; i < m->results.n; i++)
		err_freep(&((struct result *)m->results.v[i].value)->error);
}

/* Lists the results. The output of an earlier turn of a file remains even if a later turn left the file
 * unchanged. */
static void list_files(struct machine *m, struct map *files)
{
	MAP(outputs, m->p->a); /* by source */
	for (size_t i = 0; i < m->layer.outputs.n; i++) {
		struct torch_output *o = m->layer.outputs.v[i].value;
		map_put(&outputs, o->source, o);
	}
	for (size_t i = 0; i < m->results.n; i++) {
		struct str fin = m->results.v[i].key;
		struct result *r = m->results.v[i].value;
		struct torch_output *o = map_get(&outputs, fin);
		if (!o && r->ignored && !r->error)
			continue;
		struct str output = o ? o->path : r->shown.p ? r->shown : fin;
		struct change *f = torch_add_file(m->p, fin, output);
		f->text = o && !r->error ? o->text : (struct str){0};
		f->status = r->error ? CHANGE_FAILED : o ? CHANGE_OK : CHANGE_UNCHANGED;
		if (f->status == CHANGE_UNCHANGED && layer_find(&m->layer, output))
			f->status = CHANGE_SKIPPED; /* the result of another source */
		f->error = r->error;
		r->error = NULL;
		map_put(files, fin, (void *)(uintptr_t)m->p->ret->changes.n);
	}
}

/* If the second run ended with another text at this path, marks the change that it belongs to. */
static void mark_repeat(
	struct machine *first, const struct torch_output *o, const struct map *files)
{
	ARENA(tmp);
	struct torch_output *made = layer_find(&first->layer, o->path);
	struct str old;
	struct err *e = layer_read(&first->layer, &tmp, o->path, &old);
	bool same = !e && str_eq(old, o->text);
	err_free(e);
	if (same)
		return;
	if (!made)
		made = layer_find(&first->layer, o->source);
	size_t n = (uintptr_t)map_get(files, made ? made->source : o->source);
	if (n)
		first->p->ret->changes.v[n - 1].mark = HIPIFY_REPEATS;
}

/* Repeats the run on its own results, as a second run of the original would, and compares. */
static struct err *try_again(struct machine *first, const struct map *files)
{
	struct torch_project p = *first->p;
	struct machine m;
	p.files = (struct strs){0};
	strs_add_all(p.a, &p.files, &first->p->files);
	for (size_t i = 0; i < first->layer.outputs.n; i++) {
		struct torch_output *o = first->layer.outputs.v[i].value;
		struct torch_unit u = torch_unit_new(&p, p.a, o->path);
		if (!map_get(&first->members, o->path) &&
			torch_select_takes(&p.select, o->path, u.rel))
			strs_add(p.a, &p.files, o->path);
	}
	open_machine(&m, &p);
	layer_open_above(&m.layer, p.a, &first->layer);
	m.again = true;
	m.memos = first->memos;
	struct err *e = run(&m);
	drop_errors(&m);
	for (size_t i = 0; i < m.layer.outputs.n; i++)
		mark_repeat(first, m.layer.outputs.v[i].value, files);
	return e;
}

struct err *torch_run_extension(struct torch_project *p)
{
	struct machine m;
	MAP(memos, p->a);
	open_machine(&m, p);
	layer_open(&m.layer, p->a, p->view);
	m.memos = &memos;
	struct err *e = run(&m);
	if (e) {
		drop_errors(&m);
		return e;
	}
	MAP(files, p->a);
	list_files(&m, &files);
	return m.layer.outputs.n && !p->one ? try_again(&m, &files) : NULL;
}

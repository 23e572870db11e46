/* Translates PyTorch's own tree as its tools/amd_build/build_amd.py does.
 *
 * The lists of files come from that script. The files do not depend on each other, so they are
 * translated in parallel, each in its own arena, which is freed unless the text changed. The exceptions
 * are translated in the original's order and see each other's results: a file whose result is another's
 * source, one that is listed twice or under two names, and one that build_amd.py itself edits first.
 */
#include "base/fs.h"
#include "base/pool.h"
#include "base/proc.h"
#include "base/progress.h"
#include "hipify/torch/model/amd.h"
#include "hipify/torch/run/project.h"
#include "lang/python/text.h"

struct task {
	struct tree_run *run;
	struct torch_unit unit;
	struct arena mem; /* holds the text */
	struct str text;  /* .p NULL: nothing to write */
	struct err *error;
	bool serial, taken, repeats, locked; /* locked: no permission to write the result */
};

struct tree_run {
	struct torch_project *p;
	struct amd_build amd;
	struct torch_layer layer; /* files that build_amd.py edits, and results of serial tasks */
	struct task *v;
	size_t n;
	struct map by_fin;
	struct progress *progress;
};

/* ---- build_amd.py ---- */

/* Would an older build_amd.py find that the compiler is hip-clang? */
static bool says_hip_clang(struct torch_project *p)
{
	ARENA(a);
	const char *hip = getenv("HIP_PATH");
	struct str path = str_fmt(&a, "%s/lib/.hipInfo", hip ? hip : "/opt/rocm/hip"), text;
	if (!view_exists(p->view, path))
		return false;
	struct err *e = view_read(p->view, &a, path, &text);
	bool yes = !e && str_contains(text, S("HIP_COMPILER=clang"));
	err_free(e);
	return yes;
}

static void add_patterns(struct torch_project *p, const struct strs *from, struct strs *to)
{
	VEC_EACH (const struct str, pattern, from)
		strs_add(p->a, to, py_join(p->a, p->select.root, *pattern));
}

static struct err *list_files(struct tree_run *r, struct map *links)
{
	struct torch_project *p = r->p;
	const struct strs *extra[] = {&r->amd.extra_files, &r->amd.extra_if_there};
	MAP(seen, p->a);
	add_patterns(p, &r->amd.includes, &p->select.includes);
	VEC_EACH (const struct str, rel, &p->o->extra_include) {
		struct str dir = py_join(p->a, p->select.root, *rel);
		if (view_exists(p->view, dir))
			strs_add(p->a, &p->select.includes, py_join(p->a, dir, S("**/*")));
	}
	add_patterns(p, &r->amd.ignores, &p->select.ignores);
	p->select.links = links;
	torch_select_open(p->a, &p->select);
	TRY(torch_select(p->a, &p->select, p->view, &p->files));
	VEC_EACH (const struct str, path, &p->files)
		map_put(&seen, *path, p);
	for (unsigned i = 0; i < 2; i++)
		VEC_EACH (const struct str, rel, extra[i]) {
			struct str path = py_join(p->a, p->select.root, *rel);
			if (!map_get(&seen, path) && (!i || view_exists(p->view, path)))
				strs_add(p->a, &p->files, path);
		}
	return NULL;
}

/* Edits one file as build_amd.py does. */
static struct err *edit_file(struct tree_run *r, struct str path, const struct torch_map *map)
{
	ARENA(tmp);
	struct str bytes, text;
	if (!layer_exists(&r->layer, path))
		return NULL;
	TRY(layer_read(&r->layer, &tmp, path, &bytes));
	TRY(py_decode(&tmp, bytes, &text));
	struct str new = text;
	VEC_EACH (const struct torch_entry, e, map)
		new = py_str_replace(&tmp, new, e->from, e->to);
	if (!str_eq(new, text))
		layer_write(&r->layer,
			(struct torch_output){
				.path = path, .source = path, .text = str_dup(r->p->a, new)});
	return NULL;
}

static void fail(struct torch_project *p, struct change *f, struct str path, struct err *e)
{
	ARENA(a);
	f->status = CHANGE_FAILED;
	f->error = err_at(e, (struct loc){torch_unit_name(p, &a, path), e->line, e->col});
}

static void edit_files(struct tree_run *r)
{
	struct torch_project *p = r->p;
	VEC_EACH (const struct amd_edit, edit, &r->amd.edits) {
		if (edit->when_kept && p->launches)
			continue;
		VEC_EACH (const struct str, file, &edit->files) {
			struct str path = py_abspath(p->a, *file, p->select.root);
			struct err *e = edit_file(r, path, &edit->replace);
			if (e)
				fail(p, torch_add_file(p, path, path), path, e);
		}
	}
}

/* ---- files ---- */

static bool same_as_old(const struct task *t, struct arena *a)
{
	const struct torch_unit *u = &t->unit;
	const struct view *view = t->run->p->view;
	struct str bytes = {0};
	/* A link may lead to one of our own results. */
	if (str_eq(u->fin, u->fout) || !view_exists(view, u->fout) || fs_is_link(u->fout))
		return false;
	struct err *e = view_read(view, a, u->fout, &bytes);
	if (!e)
		e = py_decode(a, bytes, &bytes);
	bool same = !e && str_eq(bytes, u->text);
	err_free(e);
	return same;
}

/* Would the original, run again, select this result as a source and change it? */
static bool repeats(const struct task *t, struct arena *tmp)
{
	const struct torch_project *p = t->run->p;
	struct torch_unit u = torch_unit_new(p, tmp, t->unit.fout);
	u.trace = false;
	if (!str_eq(t->unit.fin, t->unit.fout) && !torch_select_takes(&p->select, u.path, u.rel))
		return false;
	struct err *e = torch_unit_translate(p, tmp, &u, t->text);
	bool yes = !e && u.outcome == UNIT_CHANGED;
	err_free(e);
	return yes;
}

/* Translates a file; an error is the task's, unless the run was cancelled. in_turn: it sees the results of others, and
 * they see its own. */
static struct err *translate(struct task *t, struct arena *tmp, bool in_turn)
{
	struct torch_layer *l = &t->run->layer;
	const struct torch_project *p = t->run->p;
	struct torch_unit *u = &t->unit;
	struct str bytes = {0};
	struct err *e = in_turn ? layer_read(l, tmp, u->fin, &bytes)
				: view_read(p->view, tmp, u->fin, &bytes);
	if (!e)
		e = torch_unit_translate(p, tmp, u, bytes);
	if (e && e->code == E_CANCELLED)
		return e;
	t->error = e;
	t->taken = !e && u->outcome != UNIT_MARKED;
	if (!t->taken || u->outcome != UNIT_CHANGED ||
		(in_turn ? layer_has_text(l, u->fout, u->text) : same_as_old(t, tmp)))
		return NULL;
	t->text = str_dup(&t->mem, u->text);
	if (in_turn) {
		layer_write(l,
			(struct torch_output){.path = u->fout, .source = u->fin, .text = t->text});
		u->fout = layer_find(l, u->fout)->path;
	}
	t->repeats = repeats(t, tmp);
	t->locked = !torch_may_write(p, u);
	return NULL;
}

static struct err *do_alone(struct arena *tmp, void *user)
{
	struct task *t = user;
	TRY(cancel_check());
	progress_add(t->run->progress, 1, t->unit.rel);
	return t->serial ? NULL : translate(t, tmp, false);
}

static void together(struct task *t, struct task *other)
{
	t->serial = true;
	other->serial = true;
}

/* Makes a task of each file, and finds those that depend on each other. */
static void make_tasks(struct tree_run *r, const struct map *links)
{
	struct torch_project *p = r->p;
	MAP(by_real, p->a);
	r->v = arena_array(p->a, p->files.n, sizeof(*r->v));
	r->by_fin.a = p->a;
	VEC_EACH (const struct str, path, &p->files) {
		struct task *t = &r->v[r->n++];
		*t = (struct task){.run = r, .unit = torch_unit_new(p, p->a, *path)};
		t->serial =
			t->unit.trace; /* its texts go into an arena that threads may not share */
	}
	for (size_t i = 0; i < r->n; i++) {
		struct task *t = &r->v[i], *other = map_get(&r->by_fin, t->unit.fin);
		if (other)
			together(t, other);
		else
			map_put(&r->by_fin, t->unit.fin, t);
	}
	for (size_t i = 0; i < r->n; i++) {
		struct task *t = &r->v[i], *other = map_get(&r->by_fin, t->unit.fout);
		if (other && other != t)
			together(t, other);
		if (layer_find(&r->layer, t->unit.fin))
			t->serial = true;
	}
	/* Links, their targets and other links to these are all one file. */
	for (size_t i = 0; i < links->n; i++) {
		struct task *t = map_get(&r->by_fin, links->v[i].key);
		struct str real = layer_real(&r->layer, links->v[i].key);
		struct task *other = map_get(&by_real, real), *itself = map_get(&r->by_fin, real);
		if (!t)
			continue;
		map_put(&by_real, real, t);
		together(t, itself ? itself : t);
		together(t, other ? other : t);
	}
}

static struct err *do_tasks(struct tree_run *r)
{
	struct torch_project *p = r->p;
	CLEANUP(progress_endp)
	struct progress *at = progress_begin(S("Translating"), p->o->dir, UNIT_ITEMS, r->n);
	r->progress = at;
	TRY(pool_each(p->o->jobs, r->v, r->n, sizeof(*r->v), do_alone));
	for (size_t i = 0; i < r->n; i++) {
		ARENA(tmp);
		TRY(cancel_check());
		if (r->v[i].serial)
			TRY(translate(&r->v[i], &tmp, true));
	}
	return NULL;
}

/* ---- results ---- */

static void list_task(struct tree_run *r, struct task *t, struct map *outputs)
{
	struct torch_project *p = r->p;
	if (!t->taken && !t->error)
		return;
	struct change *f = torch_add_file(p, t->unit.fin, t->unit.fout);
	if (t->error) {
		fail(p, f, t->unit.fin, t->error);
		t->error = NULL;
	} else if (t->text.p && t->locked) {
		torch_say_not_writable(p, &t->unit);
	} else if (t->text.p) {
		size_t n = (uintptr_t)map_get(outputs, t->unit.fout);
		struct change *other = n ? &p->ret->changes.v[n - 1] : NULL;
		f->text = t->text;
		f->status = CHANGE_OK;
		f->mark = t->repeats ? HIPIFY_REPEATS : 0;
		if (other && !str_eq(other->source, f->source))
			torch_say_collision(p, py_join(p->a, p->select.root, other->source),
				t->unit.fin, t->unit.fout);
		if (other)
			other->text = (struct str){0};
		map_put(outputs, t->unit.fout, (void *)(uintptr_t)p->ret->changes.n);
	}
	arena_join(p->a, &t->mem);
}

/* Lists the files that build_amd.py edited, unless hipify translated them afterwards, and the file that it copies to
 * a second place. */
static void list_edits(struct tree_run *r, const struct map *outputs)
{
	struct torch_project *p = r->p;
	struct str root = p->select.root, text = {0};
	struct err *e = NULL;
	for (size_t i = 0; i < r->layer.outputs.n; i++) {
		const struct torch_output *o = r->layer.outputs.v[i].value;
		if (map_get(outputs, o->path))
			continue;
		struct change *f = torch_add_file(p, o->source, o->path);
		f->text = o->text;
		f->status = CHANGE_OK;
	}
	if (!r->amd.copy.from.n)
		return;
	struct str from = py_abspath(p->a, r->amd.copy.from, root);
	struct str to = py_abspath(p->a, r->amd.copy.to, root);
	size_t n = (uintptr_t)map_get(outputs, from);
	if (!r->amd.copy.required && !n && !layer_exists(&r->layer, from))
		return;
	if (!n)
		e = layer_read(&r->layer, p->a, from, &text);
	struct change *f = torch_add_file(p, from, to);
	if (e) {
		fail(p, f, from, e);
		return;
	}
	f->status = CHANGE_OK;
	f->text = n ? p->ret->changes.v[n - 1].text : text;
	f->source = n ? p->ret->changes.v[n - 1].source : f->source;
}

struct err *torch_run_tree(struct torch_project *p, const struct torch_source *s)
{
	struct tree_run r = {.p = p};
	struct torch_file script;
	MAP(links, p->a);
	TRY(torch_find_build_amd(p->a, p->o->dir, s, p->view, &script));
	TRY(amd_build_read(p->a, &script, &r.amd));
	VEC_EACH (const struct finding, d, &r.amd.doubts)
		*VEC_PUSH(p->a, &p->ret->findings) = *d;
	p->launches = r.amd.launches == AMD_REWRITES_LAUNCHES;
	if (p->o->launches > LAUNCHES_AUTO)
		p->launches = p->o->launches == LAUNCHES_REWRITE;
	else if (r.amd.launches == AMD_ASKS_HIP_INFO)
		p->launches = !says_hip_clang(p);
	TRY(list_files(&r, &links));
	layer_open(&r.layer, p->a, p->view);
	edit_files(&r);
	make_tasks(&r, &links);
	MAP(outputs, p->a);
	struct err *e = do_tasks(&r);
	for (size_t i = 0; i < r.n; i++) {
		if (!e)
			list_task(&r, &r.v[i], &outputs);
		err_freep(&r.v[i].error);
		arena_free(&r.v[i].mem);
	}
	if (!e)
		list_edits(&r, &outputs);
	return e;
}

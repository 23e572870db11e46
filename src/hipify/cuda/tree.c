/* Standalone mode over a folder: finds the sources and translates each in memory, without writing
 * anything. A source that cannot be read or translated becomes a failed entry and does not stop the others.
 */
#include "hipify/hipify_int.h"

#include "base/fs.h"
#include "base/pool.h"
#include "base/proc.h"
#include "base/progress.h"
#include "hipify/cuda/names.h"

struct cuda_run {
	struct arena *a;
	const struct hipify_options *o;
	const struct view *view;
	struct hipify_tree *ret;
	struct cuda_work *v; /* one per entry of ret->changes */
	struct map given;    /* headers of ours that results include */
};

/* One file under translation. */
struct cuda_work {
	const struct cuda_run *all;
	struct change *file;
	struct arena mem; /* holds the texts and the findings about them */
	struct str source;
	struct hipify_text text;
};

/* ---- choosing files ---- */

static struct change *add_file(struct cuda_run *r, struct str rel)
{
	struct change *f = VEC_PUSH(r->a, &r->ret->changes);
	f->source = str_dup(r->a, rel);
	f->output = r->o->marks ? f->source : hipify_output_name(r->a, f->source);
	return f;
}

/* Collects the sources in a folder, and then those below it; a folder that cannot be listed becomes a failed entry.
 * Links to folders are not followed, to avoid loops. */
static void collect(struct cuda_run *r, struct str rel)
{
	struct str dir = rel.n ? path_join(r->a, r->o->dir, rel) : r->o->dir;
	struct strs names = {0}, dirs = {0};
	struct stat st;
	struct err *e = fs_stat(dir, &st);
	if (!e) {
		view_note_dir(r->view, path_join(r->a, r->view->root, rel), &st);
		e = fs_list(r->a, dir, &names);
	}
	if (e)
		change_fail(add_file(r, rel), e);
	VEC_EACH (const struct str, name, &names) {
		struct str path = path_join(r->a, dir, *name);
		struct str below = rel.n ? path_join(r->a, rel, *name) : *name;
		if (view_hides(r->view, path_join(r->a, r->view->root, below)) ||
			str_eq(*name, S(".git")) || str_starts(*name, S(".rocsmith")) ||
			hipify_is_excluded(&r->o->exclude, below) || !fs_try_lstat(path, &st))
			continue;
		if (S_ISDIR(st.st_mode))
			strs_add(r->a, &dirs, below);
		if (S_ISDIR(st.st_mode) || !hipify_is_source(below))
			continue;
		if (S_ISLNK(st.st_mode) &&
			view_leads_out(r->view, path_join(r->a, r->view->root, below)))
			continue;
		e = S_ISLNK(st.st_mode) ? fs_stat(path, &st) : NULL;
		if (e)
			change_fail(add_file(r, below), e);
		else if (S_ISREG(st.st_mode))
			add_file(r, below);
	}
	VEC_EACH (const struct str, below, &dirs)
		collect(r, *below);
}

/* Renames the one of two sources with the same output, and fails names that would break the manifest's
 * lines. Indexes all files by name for the context of the translations. */
static void check_names(struct cuda_run *r)
{
	MAP(seen, r->a);
	struct hipify_context *c = &r->ret->context;
	c->by_name.a = r->a;
	c->rocm = r->o->rocm;
	c->fnuz = r->o->fnuz;
	c->marks = r->o->marks;
	VEC_EACH (struct change, f, &r->ret->changes) {
		struct change *other = map_get(&seen, f->output);
		if (str_chr(f->source, '\n') < f->source.n ||
			str_chr(f->source, '\t') < f->source.n)
			change_fail(f, err_new(E_HIPIFY, "its name has a line end or a tab in it"));
		/* x.cu beside x.hip becomes x.cu.hip */
		struct change *cu = other && str_ends(other->source, S(".cu")) ? other : f;
		if (other && f->status != CHANGE_FAILED)
			cu->output = str_fmt(r->a, "%.*s.hip", STR(cu->source));
		map_put(&seen, f->output, f);
		map_put(&seen, cu->output, cu);
		struct strs *same = map_get(&c->by_name, path_base(f->source));
		if (!same) {
			same = NEW(r->a, struct strs);
			map_put(&c->by_name, path_base(f->source), same);
		}
		strs_add(r->a, same, f->source);
	}
}

/* ---- translating ---- */

static struct err *read_one(struct arena *tmp, void *user)
{
	(void)tmp;
	struct cuda_work *w = user;
	if (w->file->status == CHANGE_FAILED)
		return NULL;
	const struct view *view = w->all->view;
	struct str path = path_join(&w->mem, view->root, w->file->source);
	struct err *e = view_read(view, &w->mem, path, &w->source);
	if (e)
		change_fail(w->file, e);
	return NULL;
}

static struct err *translate_one(struct arena *tmp, void *user)
{
	(void)tmp;
	struct cuda_work *w = user;
	TRY(cancel_check());
	if (w->file->status == CHANGE_FAILED)
		return NULL;
	const struct hipify_context *context = &w->all->ret->context;
	struct err *e = hipify_text(&w->mem, w->source, w->file->source, context, &w->text);
	if (e) {
		struct str path = path_join(&w->mem, w->all->o->dir, w->file->source);
		change_fail(w->file, err_at(e, (struct loc){path, e->line, e->col}));
	}
	w->file->edits = w->text.edits.n;
	w->file->status = e ? CHANGE_FAILED : w->text.edits.n ? CHANGE_OK : CHANGE_UNCHANGED;
	return NULL;
}

static struct err *translate(struct cuda_run *r)
{
	size_t n = r->ret->changes.n;
	r->v = arena_array(r->a, n, sizeof(*r->v));
	for (size_t i = 0; i < n; i++)
		r->v[i] = (struct cuda_work){.all = r, .file = &r->ret->changes.v[i]};
	TRY(pool_each(r->o->jobs, r->v, n, sizeof(*r->v), read_one));
	struct hipify_context *c = &r->ret->context;
	bool v2 = false;
	for (size_t i = 0; i < n; i++) {
		struct str path = r->v[i].file->source;
		c->cublas_v1 |= str_contains(r->v[i].source, S("cublas.h"));
		v2 |= str_contains(r->v[i].source, S("cublas_v2.h"));
		bool unit = str_ends(path, S(".cu")) || str_ends(path, S(".hip"));
		c->warp_sync |= !unit && hipify_uses_warps(r->v[i].source);
		c->calls |= unit ? 0 : hipify_calls(r->v[i].source);
	}
	c->cublas_v1 = c->cublas_v1 && !v2;
	return pool_each(r->o->jobs, r->v, n, sizeof(*r->v), translate_one);
}

/* ---- the entry point ---- */

/* Our own headers that results include are written along with them. One includes another at most, which includes none. */
static struct err *add_ours(struct cuda_run *r)
{
	ARENA(tmp);
	struct str all;
	if (!r->given.n)
		return NULL;
	TRY(hipify_face_texts(r->a, &all));
	for (size_t i = 0; i < hipify_face_count; i++) {
		const struct hipify_header *h = &hipify_face[i], *other = hipify_face;
		struct str text = str_sub(all, h->at, h->at + h->n);
		for (; map_has(&r->given, h->path) && other < hipify_face + hipify_face_count;
			other++)
			if (str_contains(text, str_fmt(&tmp, "#include <%.*s>", STR(other->path))))
				map_put(&r->given, other->path, r);
	}
	for (size_t i = 0; i < hipify_face_count; i++) {
		const struct hipify_header *h = &hipify_face[i];
		if (!map_has(&r->given, h->path))
			continue;
		*VEC_PUSH(r->a, &r->ret->changes) = (struct change){.source = h->path,
			.output = h->path,
			.text = str_sub(all, h->at, h->at + h->n),
			.mark = HIPIFY_OURS};
		strs_add(r->a, &r->ret->headers, h->path);
	}
	return NULL;
}

/* Merges the findings of all files, without names that any of them declares: these are the project's own. */
static void gather(struct cuda_run *r)
{
	static const char *const sources[] = {
		".cu", ".hip", ".c", ".cc", ".cpp", ".cxx", ".c++", NULL};
	MAP(declared, r->a);
	MAP(included, r->a);
	size_t n = r->ret->changes.n;
	for (size_t i = 0; i < n; i++)
		VEC_EACH (const struct str, name, &r->v[i].text.declared)
			map_put(&declared, str_dup(r->a, *name), r);
	for (size_t i = 0; i < n; i++) {
		struct hipify_text *t = &r->v[i].text;
		if (t->operators)
			hipify_say_operators(r->a, &r->ret->findings, r->v[i].file->source, t);
		if (r->o->marks)
			t->untranslated.n = t->gives.n = t->headers.n = 0;
		VEC_EACH (const struct untranslated, u, &t->untranslated) {
			if (names_are_own(&declared, u->name))
				continue;
			struct untranslated *copy = VEC_PUSH(r->a, &r->ret->untranslated);
			*copy = *u;
			copy->path = r->v[i].file->source;
			copy->name = str_dup(r->a, u->name);
			copy->suggestion = str_dup(r->a, u->suggestion);
		}
		if (t->texture_objects && t->texture.line && !r->ret->texture.line) {
			r->ret->texture = t->texture;
			r->ret->texture.path = r->v[i].file->source;
			r->ret->texture.name = str_dup(r->a, t->texture.name);
		}
		/* Keeps the texts that will be written; in an overlay, unchanged ones are, too. */
		struct change *f = r->v[i].file;
		bool same_place = r->o->in_place && str_eq(f->source, f->output);
		if (f->status == CHANGE_OK || (f->status == CHANGE_UNCHANGED && !same_place))
			f->text = str_dup(r->a, t->text);
		VEC_EACH (const struct str, h, &t->gives)
			map_put(&r->given, str_dup(r->a, *h), r);
		VEC_EACH (const struct str, file, &t->includes)
			map_put(&included, str_dup(r->a, *file), r);
		VEC_EACH (const struct str, h, &t->headers)
			if (!strs_has(&r->ret->headers, *h))
				strs_add(r->a, &r->ret->headers, str_dup(r->a, *h));
		arena_free(&r->v[i].mem);
	}
	VEC_EACH (struct untranslated, u, &r->ret->untranslated)
		u->certain = u->certain && (str_is_one_of(path_ext(u->path), sources) ||
						   map_has(&included, path_base(u->path)));
}

struct err *standalone_run(struct arena *a, const struct hipify_options *o, const struct view *view,
	struct hipify_tree *ret)
{
	struct cuda_run r = {.a = a, .o = o, .view = view, .ret = ret, .given = {.a = a}};
	VEC_EACH (const struct str, path, &o->only) {
		if (!path_is_inside(*path))
			return err_new(
				E_USAGE, "'%.*s' is not inside '%.*s'", STR(*path), STR(o->dir));
		add_file(&r, *path);
	}
	if (!o->only.n && !fs_is_dir(o->dir))
		return err_new(E_NOENT, "no folder '%.*s'", STR(o->dir));
	if (!o->only.n)
		collect(&r, S(""));
	check_names(&r);
	struct progress *p = progress_begin(S("Translating"), o->dir, UNIT_ITEMS, ret->changes.n);
	struct err *e = translate(&r);
	progress_end(p);
	gather(&r);
	if (!e)
		e = add_ours(&r);
	strs_sort(&ret->headers);
	return e;
}

/* Implements the view and its notes; see view.h. Reading needs no lock; only the notes have one. */
#include "changes/view.h"

#include <pthread.h>

#include "base/fs.h"
#include "changes/manifest.h"

enum { SOURCE_LIMIT = 256 << 20 };

struct view_notes {
	pthread_mutex_t lock;
	struct arena a;
	struct map seen[SEEN_PROBE + 1]; /* by kind: path -> struct seen * */
	struct map edited, left_out;     /* sets of paths */
};

void view_open(struct view *v, struct str root, const struct manifest *made)
{
	struct view_notes *n = xmalloc(sizeof(*n));
	*n = (struct view_notes){.lock = PTHREAD_MUTEX_INITIALIZER};
	n->edited.a = n->left_out.a = &n->a;
	for (size_t i = 0; i <= SEEN_PROBE; i++)
		n->seen[i].a = &n->a;
	*v = (struct view){
		.root = root,
		.made = made && made->kind == BASE_IN_PLACE ? made : NULL,
		.notes = n,
	};
}

void view_close(struct view *v)
{
	if (v->notes) {
		arena_free(&v->notes->a);
		pthread_mutex_destroy(&v->notes->lock);
		free(v->notes);
	}
	fs_unguardp(&v->guard);
	*v = (struct view){0};
}

struct str view_name(const struct view *v, struct str path)
{
	if (v->root.n == 1)
		return str_sub(path, 1, path.n);
	if (!path_is_below(path, v->root))
		return path;
	return path.n == v->root.n ? S(".") : str_sub(path, v->root.n + 1, path.n);
}

/* ---- notes ---- */

/* Records a path once: the first signature is kept, so that any later change shows. */
static void note(const struct view *v, struct seen s)
{
	struct view_notes *n = v->notes;
	if (!n)
		return;
	pthread_mutex_lock(&n->lock);
	struct map *m = &n->seen[s.kind];
	s.path = view_name(v, s.path);
	if (!map_get(m, s.path)) {
		struct seen *copy = NEW(&n->a, struct seen);
		*copy = s;
		copy->path = str_dup(&n->a, s.path);
		map_put(m, copy->path, copy);
	}
	pthread_mutex_unlock(&n->lock);
}

void view_note_dir(const struct view *v, struct str path, const struct stat *st)
{
	struct seen s = {.path = path, .kind = SEEN_DIR, .sig = sig_of(st)};
	s.racy = sig_unsure(st, sig_now(), v->exact);
	note(v, s);
}

static void note_name(const struct view *v, struct map *names, struct str name)
{
	pthread_mutex_lock(&v->notes->lock);
	if (!map_has(names, name))
		map_put(names, str_dup(&v->notes->a, name), names);
	pthread_mutex_unlock(&v->notes->lock);
}

static struct strs noted_names(struct arena *a, const struct map *names)
{
	struct strs list = {0};
	VEC_EACH (const struct map_entry, e, names)
		strs_add(a, &list, str_dup(a, e->key));
	strs_sort(&list);
	return list;
}

struct strs view_edited(const struct view *v, struct arena *a)
{
	return v->notes ? noted_names(a, &v->notes->edited) : (struct strs){0};
}

struct strs view_left_out(const struct view *v, struct arena *a)
{
	return v->notes ? noted_names(a, &v->notes->left_out) : (struct strs){0};
}

void view_noted(const struct view *v, struct arena *a, struct manifest *ret)
{
	const struct view_notes *n = v->notes;
	if (!n)
		return;
	for (size_t k = 0; k <= SEEN_PROBE; k++)
		VEC_EACH (const struct map_entry, e, &n->seen[k])
			*VEC_PUSH(a, &ret->seen) = *(const struct seen *)e->value;
}

/* ---- looking ---- */

static const struct made *made_at(const struct view *v, struct str path)
{
	if (!v->made)
		return NULL;
	if (path_is_below(path, v->root))
		return manifest_made(v->made, view_name(v, path));
	ARENA(tmp);
	return manifest_made(v->made, path_rel(&tmp, path, v->root));
}

bool view_hides(const struct view *v, struct str path)
{
	for (size_t i = 0; i < v->hidden.n; i++)
		if (path_is_below(path, v->hidden.v[i]))
			return true;
	if (fs_is_temp_name(path_base(path)) || str_starts(view_name(v, path), S(".rocsmith")))
		return true;
	const struct made *m = made_at(v, path);
	return m && m->kind == MADE_TEXT && !m->replaced;
}

static const struct str *text_over(const struct view *v, struct str path)
{
	return v->over ? map_get(v->over, path) : NULL;
}

bool view_exists(const struct view *v, struct str path)
{
	if (text_over(v, path))
		return true;
	bool there = !view_hides(v, path) && fs_exists(path);
	note(v, (struct seen){.path = path, .kind = SEEN_PROBE, .absent = !there});
	return there;
}

bool view_leads_out(const struct view *v, struct str path)
{
	bool out = fs_leads_out(path);
	if (out && v->notes)
		note_name(v, &v->notes->left_out, view_name(v, path));
	return out;
}

struct err *view_source(const struct view *v, struct arena *a, struct str path, struct str *ret)
{
	enum content content;
	const struct made *m = made_at(v, path);
	*ret = path;
	if (!m || !m->replaced)
		return NULL;
	TRY(made_content(v->made, v->root, m, &content));
	struct str original = base_original(a, v->made->journal, m->output);
	bool there = fs_present(original);
	if (content == CONTENT_OTHER && there && v->notes)
		note_name(v, &v->notes->edited, m->output);
	if (content != CONTENT_MADE)
		return NULL;
	*ret = original;
	return original_check(v->made, m);
}

struct err *view_read(const struct view *v, struct arena *a, struct str path, struct str *ret)
{
	struct stat st;
	const struct str *over = text_over(v, path);
	if (over) {
		*ret = str_dup(a, *over);
		return NULL;
	}
	TRY(view_source(v, a, path, &path));
	uint64_t now = sig_now();
	TRY(fs_read_stat(a, path, SOURCE_LIMIT, ret, &st));
	if (!v->notes)
		return NULL;
	struct seen s = {.path = path, .kind = SEEN_FILE, .sig = sig_of(&st)};
	s.racy = sig_unsure(&st, now, v->exact);
	s.hash = sum_of(*ret);
	note(v, s);
	return NULL;
}

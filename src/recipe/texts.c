/* The files of a tree as the recipes so far leave them, and what one recipe on trial makes of them. */
#include "base/fs.h"
#include "recipe/recipe_int.h"

static struct tree_text *known(struct trial *t, struct str path)
{
	VEC_EACH (struct tree_text, it, &t->texts)
		if (str_eq(it->path, path))
			return it;
	return NULL;
}

/* As it is in the tree, and what the recipes so far made of it. */
static struct err *load(struct work *w, struct str path, struct tree_text **ret)
{
	*ret = map_get(&w->texts, path);
	if (*ret)
		return NULL;
	struct tree_text *text = NEW(w->a, struct tree_text);
	struct str full = path_join(w->a, w->view->root, path);
	*text = (struct tree_text){.path = path};
	if (view_exists(w->view, full) && fs_is_file(full))
		TRY(view_read(w->view, w->a, full, &text->old));
	text->now = text->old;
	map_put(&w->texts, path, text);
	*ret = text;
	return NULL;
}

struct err *trial_text(struct trial *t, struct str path, struct str *ret)
{
	struct tree_text *text = known(t, path);
	if (!text)
		TRY(load(t->w, path, &text));
	*ret = text->now;
	return NULL;
}

void trial_put(struct trial *t, struct str path, struct str now)
{
	struct tree_text *text = known(t, path);
	if (!text)
		text = VEC_PUSH(t->w->a, &t->texts);
	*text = (struct tree_text){.path = path, .now = now};
}

void trial_keep(struct trial *t)
{
	VEC_EACH (const struct tree_text, it, &t->texts) {
		struct tree_text *text = map_get(&t->w->texts, it->path);
		if (!text) {
			text = NEW(t->w->a, struct tree_text);
			*text = (struct tree_text){.path = it->path};
			map_put(&t->w->texts, it->path, text);
		}
		text->now = it->now;
		text->changed = true;
	}
}

const struct found *trial_found(const struct trial *t, struct str name)
{
	VEC_EACH (const struct found, f, &t->found)
		if (str_eq(f->name, name))
			return f;
	return NULL;
}

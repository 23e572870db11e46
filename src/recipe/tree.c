/* The facts of a build (versions by name), and the tree that recipes are tried on: its files as the recipes so far
 * leave them. */
#include "base/fs.h"
#include "lang/python/version.h"
#include "recipe/recipe_int.h"

enum { VERSION_LIMIT = 1 << 20 };

/* ---- facts: versions by name ---- */

const struct recipe_fact *recipe_fact(const struct recipe_facts *f, struct str name)
{
	return VEC_FIND(struct recipe_fact, &f->versions, name, name);
}

void recipe_fact_add(struct arena *a, struct recipe_facts *f, struct recipe_fact fact)
{
	if (fact.version.n && !recipe_fact(f, fact.name))
		*VEC_PUSH(a, &f->versions) = fact;
}

struct err *recipe_facts_of_tree(struct arena *a, struct str tree, struct recipe_facts *facts)
{
	static const struct {
		const char *file, *mark;
	} places[] = {{"debian/changelog", "("}, {"torch/version.py", "__version__ ="},
		{"version.txt", ""}};
	if (!fs_is_dir(path_join(a, tree, S("torch/csrc")))) /* not PyTorch */
		return NULL;
	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
		struct str text, file = str_from(places[i].file), mark = str_from(places[i].mark);
		TRY(fs_read_opt(a, path_join(a, tree, file), VERSION_LIMIT, &text));
		/* only the release: version.txt says "2.6.0a0+git1" for every commit before 2.6.0 */
		struct str version =
			version_release(str_sub(text, str_find(text, mark) + mark.n, text.n));
		recipe_fact_add(a, facts, (struct recipe_fact){S("torch"), version, file});
	}
	return NULL;
}

/* ---- files of the tree ---- */

struct err *trial_text(struct trial *t, struct str path, struct str *ret)
{
	struct work *w = t->w;
	struct tree_text *text = map_get(&t->texts, path);
	struct str full = path_join(w->a, w->view->root, path);
	if (!text)
		text = map_get(&w->texts, path);
	if (!text) {
		text = NEW(w->a, struct tree_text);
		if (view_exists(w->view, full) && fs_is_file(full) && !fs_leads_out(full))
			TRY(view_read(w->view, w->a, full, &text->now));
		map_put(&w->texts, path, text);
	}
	*ret = text->now;
	return NULL;
}

void trial_put(struct trial *t, struct str path, struct str now)
{
	struct tree_text *text = NEW(t->w->a, struct tree_text);
	*text = (struct tree_text){.now = now, .changed = true};
	map_put(&t->texts, path, text);
}

void trial_keep(struct trial *t)
{
	VEC_EACH (const struct map_entry, e, &t->texts)
		map_put(&t->w->texts, e->key, e->value);
}

const struct found *trial_found(const struct trial *t, struct str name)
{
	return VEC_FIND(struct found, &t->found, name, name);
}

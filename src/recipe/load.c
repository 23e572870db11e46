/* All recipes: those of the user's folders, then the built-in ones. */
#include "base/fs.h"
#include "recipe/recipe_int.h"

enum { SIZE_LIMIT = 4 << 20 };

extern const struct str recipe_texts[];
extern const char *const recipe_texts_files[];
extern const size_t recipe_texts_count;

static struct err *add(struct arena *a, struct str text, struct str name, struct recipes *ret)
{
	struct recipe r;
	TRY(recipe_parse(a, text, name, &r));
	VEC_EACH (const struct recipe, known, ret)
		if (str_eq(known->id, r.id))
			return NULL; /* one in front of it */
	*VEC_PUSH(a, ret) = r;
	return NULL;
}

static struct err *add_dir(struct arena *a, struct str dir, struct recipes *ret)
{
	struct strs names;
	TRY(fs_list(a, dir, &names));
	VEC_EACH (const struct str, name, &names) {
		struct str text, path = path_join(a, dir, *name);
		if (!str_eq(path_ext(*name), S(".yaml")))
			continue;
		TRY(fs_read(a, path, SIZE_LIMIT, &text));
		TRY(add(a, text, path, ret));
	}
	return NULL;
}

struct err *recipes_load(struct arena *a, const struct strs *dirs, struct recipes *ret)
{
	*ret = (struct recipes){0};
	if (dirs)
		VEC_EACH (const struct str, dir, dirs)
			TRY(add_dir(a, *dir, ret));
	for (size_t i = 0; i < recipe_texts_count; i++)
		TRY(add(a, recipe_texts[i], str_from(recipe_texts_files[i]), ret));
	return NULL;
}

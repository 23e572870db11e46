/* What is known about a build: versions by name. */
#include "base/fs.h"
#include "recipe/recipe_int.h"

enum { VERSION_LIMIT = 1 << 20 };

const struct recipe_fact *recipe_fact(const struct recipe_facts *f, struct str name)
{
	VEC_EACH (const struct recipe_fact, it, &f->versions)
		if (str_eq(it->name, name))
			return it;
	return NULL;
}

void recipe_fact_add(struct arena *a, struct recipe_facts *f, struct recipe_fact fact)
{
	if (fact.version.n && !recipe_fact(f, fact.name))
		*VEC_PUSH(a, &f->versions) = fact;
}

/* The release alone: "2.6.0a0+git1" of a file that says so of every commit is 2.6.0. */
static struct str release(struct arena *a, struct str text)
{
	size_t n = 0;
	while (n < text.n && (ascii_digit(text.p[n]) || text.p[n] == '.'))
		n++;
	while (n && text.p[n - 1] == '.')
		n--;
	return str_dup(a, str_sub(text, 0, n));
}

/* What stands behind a text, without quotes. */
static struct str behind(struct str text, const char *mark)
{
	size_t at = str_find(text, str_from(mark)) + str_from(mark).n;
	struct str rest = str_trim(str_sub(text, at, text.n));
	return rest.n && (rest.p[0] == '\'' || rest.p[0] == '"') ? str_sub(rest, 1, rest.n) : rest;
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
		struct str text, file = str_from(places[i].file);
		TRY(fs_read_opt(a, path_join(a, tree, file), VERSION_LIMIT, &text));
		if (!text.p)
			continue;
		struct str version = release(a, behind(text, places[i].mark));
		recipe_fact_add(a, facts, (struct recipe_fact){S("torch"), version, file});
	}
	return NULL;
}

/* Expands names in values: @sdk@, @tree@, @overlay@, @rocm@, @rocm.0@, and the files that checks found, @clang@ and
 * @clang:dir@; @@ is one @. The variables that a build gets consist of such values. */
#include "base/buf.h"
#include "base/fs.h"
#include "recipe/recipe_int.h"

enum { NAME_LIMIT = 64 };

/* Takes the text up to the next @; false if that is not a name. */
static bool name_at(struct str text, struct str *ret_name, struct str *ret_rest)
{
	bool whole = str_cut(text, '@', ret_name, ret_rest);
	return whole && ret_name->n <= NAME_LIMIT &&
	       (!ret_name->n || str_made_of(*ret_name, "-_.:"));
}

struct err *expand_check(struct str text)
{
	struct str before, name;
	while (str_cut(text, '@', &before, &text))
		if (!name_at(text, &name, &text))
			return err_new(E_SYNTAX,
				"'@' begins a name that ends in another '@'; write '@@' for "
				"one");
	return NULL;
}

static struct err *value_of(const struct trial *t, struct str name, struct str *ret)
{
	const struct recipe_facts *f = &t->w->facts;
	struct arena *a = t->w->a;
	struct str base, what, at = t->w->request->at;
	struct str tree = path_abs(a, at.n ? at : t->w->request->tree);
	const struct str always[][2] = {{S(""), S("@")},
		{S("sdk"), f->sdk_at.n ? f->sdk_at : f->sdk},
		{S("overlay"), path_join(a, tree, S(RECIPE_OVERLAY))}, {S("tree"), tree}};
	for (size_t i = 0; i < sizeof(always) / sizeof(always[0]); i++) {
		*ret = always[i][1];
		if (str_eq(name, always[i][0]) && ret->n)
			return NULL;
	}
	(void)str_cut(name, ':', &base, &what);
	const struct found *found = trial_found(t, base);
	if (found) {
		*ret = str_eq(what, S("dir")) ? path_dir(found->path) : found->path;
		/* the build may see the SDK under another path */
		if (f->sdk_at.n && str_starts(*ret, f->sdk))
			*ret = str_fmt(a, "%.*s%.*s", STR(f->sdk_at),
				STR(str_sub(*ret, f->sdk.n, ret->n)));
		return NULL;
	}
	(void)str_cut(name, '.', &base, &what);
	const struct recipe_fact *fact = recipe_fact(f, base);
	if (!fact)
		return err_new(E_RECIPE, "'%.*s' is not known", STR(base));
	*ret = fact->version;
	if (!what.n)
		return NULL;
	struct str rest = fact->version; /* @rocm.1@: that number of the version, or 0 */
	uint64_t index = 0;
	(void)str_u64(what, 10, &index);
	for (uint64_t i = 0; i <= index; i++)
		if (!str_next(&rest, '.', ret)) {
			*ret = S("0");
			break;
		}
	return NULL;
}

struct err *expand(const struct trial *t, struct str text, struct str *ret)
{
	BUF(b, t->w->a);
	struct str before, name, what;
	while (str_cut(text, '@', &before, &text)) {
		(void)name_at(text, &name, &text);
		TRY(value_of(t, name, &what));
		buf_add(&b, before);
		buf_add(&b, what);
	}
	buf_add(&b, before);
	*ret = buf_str(&b);
	return NULL;
}

struct err *settings_add(struct trial *t, struct recipe_report *ret)
{
	VEC_EACH (const struct recipe_setting, s, &t->recipe->settings) {
		struct recipe_variable v = {.recipe = t->recipe->id, .cmake = s->cmake.n > 0};
		struct str text = s->set.n ? s->set : s->word.n ? s->word : s->path;
		v.name = v.cmake ? s->cmake : s->env;
		v.join = s->set.n ? JOIN_SET : s->word.n ? JOIN_WORD : JOIN_PATH;
		TRY(expand(t, text, &v.value));
		*VEC_PUSH(t->w->a, &ret->variables) = v;
	}
	return NULL;
}

/* ---- the variables of a build ---- */

struct strs recipe_environment(
	struct arena *a, const struct recipe_report *r, const struct strs *there, bool cmake)
{
	struct strs out = {0};
	VEC_EACH (const struct recipe_variable, v, &r->variables) {
		if (v->cmake != cmake)
			continue;
		struct str *line = strs_variable(&out, v->name);
		struct str *before = there ? strs_variable(there, v->name) : NULL;
		const char *between = v->join == JOIN_WORD ? " " : cmake ? ";" : ":";
		struct str rest = S(""), from = line ? *line : before ? *before : S("");
		if (v->join != JOIN_SET && from.n > v->name.n + 1)
			rest = str_fmt(
				a, "%s%.*s", between, STR(str_sub(from, v->name.n + 1, from.n)));
		struct str all =
			str_fmt(a, "%.*s=%.*s%.*s", STR(v->name), STR(v->value), STR(rest));
		if (line)
			*line = all;
		else
			strs_add(a, &out, all);
	}
	return out;
}

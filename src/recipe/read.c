/* Reads recipes: a file into a struct recipe (tables for the plain part, then checks of the whole), and all
 * files of the user's folders and the built-in ones. */
#include "base/fs.h"
#include "base/hash.h"
#include "know/know.h"
#include "lang/python/version.h"
#include "recipe/recipe_int.h"
#include "target/target.h"

enum { MOST = 256, SIZE_LIMIT = 4 << 20 };

static const struct json_field recipe_fields[] = {
	FIELDS(struct recipe, id, title),
	FIELD_LATER("applies"),
	FIELD_LATER("detect"),
	FIELD_LATER("steps"),
	FIELD_LATER("build"),
	FIELD_LATER("verify"),
	FIELDS(struct recipe, evidence, trade_off, confidence, refused),
	{.kind = FIELD_END},
};

static const struct json_field check_fields[] = FIELDS_ONLY(
	struct recipe_check, as, in, file, contains, lacks, absent, version, is, differs);

static const struct json_field step_fields[] = {
	FIELDS(struct recipe_step, in, file, replace, with, count, before, after, insert, patch,
		overlay, text, copy),
	FIELDS(struct recipe_step, generate, from, version),
	{.kind = FIELD_END},
};

static const struct json_field setting_fields[] =
	FIELDS_ONLY(struct recipe_setting, env, cmake, set, word, path);

/* ---- lists ---- */

/* The members of a list of the recipe, or of an empty one. */
static struct err *list_of(const struct node *root, const char *key, const struct node **ret)
{
	static const struct node none = {.kind = NODE_LIST};
	const struct node *n = node_get(root, str_from(key));
	*ret = n ? n : &none;
	if (n && (n->kind != NODE_LIST || !n->n))
		return node_error(n, E_SYNTAX, "'%s' must be a list", key);
	if (n && n->n > MOST)
		return node_error(n, E_SYNTAX, "'%s' has more than %d members", key, MOST);
	return NULL;
}

/* Every path in a recipe stays below the folder that it is relative to. */
static struct err *want_inside(const struct node *at, struct str path)
{
	ARENA(tmp);
	bool clean = path_is_inside(path) && str_eq(path, path_clean(&tmp, path));
	if (clean && !str_eq(path, S(".")) && !str_starts(path, S(".rocsmith")))
		return NULL;
	return node_error(at, E_SYNTAX, "'%.*s' is not a plain path below the tree", STR(path));
}

static struct err *want(const struct node *at, bool good, const char *what)
{
	return good ? NULL : node_error(at, E_SYNTAX, "%s", what);
}

/* ---- applies ---- */

static struct err *read_applies(struct arena *a, const struct node *root, struct recipe *ret)
{
	static const char *const names[] = {
		"torch", "rocm", "hip", "clang", "gcc", "glibc", "python", NULL};
	const struct node *applies = node_get(root, S("applies"));
	const struct version *one;
	bool yes;
	TRY(version_parse(a, S("1"), &one));
	if (applies && applies->kind != NODE_MAP)
		return node_error(applies, E_SYNTAX, "'applies' must be a map of keys");
	TRY(node_want_strs(a, applies, S("gfx"), &ret->gpus));
	TRY(node_want_strs(a, applies, S("gfx_any"), &ret->any_gpu));
	for (size_t i = 0; applies && i < applies->n; i++) {
		const struct node *n = &applies->v[i];
		if (str_eq(n->key, S("gfx")) || str_eq(n->key, S("gfx_any")))
			continue;
		if (n->kind != NODE_STRING && n->kind != NODE_NUMBER)
			return node_error(
				n, E_SYNTAX, "a range of versions is expected here: \">=7.0\"");
		if (!str_is_one_of(n->key, names) && !know_component(n->key))
			return err_at(err_new(E_SYNTAX, "'%.*s' has no version that is known",
					      STR(n->key)),
				n->key_at);
		struct err *e = version_match(one, n->text, &yes);
		if (e)
			return err_at(e, n->at);
		*VEC_PUSH(a, &ret->ranges) = (struct recipe_range){n->key, n->text};
	}
	return NULL;
}

/* ---- checks ---- */

static struct err *read_checks(
	struct arena *a, const struct node *root, const char *key, struct recipe_checks *ret)
{
	static const char *const places[] = {"tree", "sdk", "system", NULL};
	const struct node *list;
	TRY(list_of(root, key, &list));
	NODE_EACH (at, list) {
		struct recipe_check *c = VEC_PUSH(a, ret);
		TRY(json_fields_read(a, at, check_fields, c));
		bool reads = c->contains.n || c->lacks.n || c->version.n;
		TRY(want(at, !c->in.n || str_is_one_of(c->in, places),
			"'in' is one of tree, sdk and system"));
		c->place = str_eq(c->in, S("sdk"))      ? PLACE_SDK
			   : str_eq(c->in, S("system")) ? PLACE_SYSTEM
							: PLACE_TREE;
		TRY(want(at, c->file.n > 0, "a check needs a 'file'"));
		TRY(want_inside(at, c->file));
		TRY(want(at, !c->absent || !reads,
			"an absent file cannot have 'contains', 'lacks' or 'version'"));
		TRY(want(at, c->version.n <= 4, "a version has at most four numbers"));
		TRY(want(at, (!c->is.n && !c->differs.n) || c->version.n,
			"'is' and 'differs' belong to a 'version'"));
	}
	return NULL;
}

/* ---- steps ---- */

/* Turns an insertion into a replacement of the text beside it. */
static struct err *replace_fits(struct arena *a, struct recipe_step *s)
{
	bool inserts = s->before.n || s->after.n;
	TRY(want(s->at, s->file.n > 0, "a step needs a 'file'"));
	TRY(want_inside(s->at, s->file));
	TRY(want(s->at, !s->in.n || str_eq(s->in, S("overlay")), "'in' of a step is overlay"));
	if (s->in.n)
		s->file = path_join(a, S(RECIPE_OVERLAY), s->file);
	TRY(want(s->at, s->replace.n > 0 ? !inserts && !s->insert.n : inserts && s->insert.n,
		"a step has 'replace' and 'with', or 'insert' and 'before' or 'after'"));
	TRY(want(s->at, !s->before.n || !s->after.n, "'before' and 'after' exclude each other"));
	if (inserts) {
		s->replace = s->before.n ? s->before : s->after;
		s->with = s->before.n ? str_fmt(a, "%.*s%.*s", STR(s->insert), STR(s->before))
				      : str_fmt(a, "%.*s%.*s", STR(s->after), STR(s->insert));
	}
	s->count = s->count ? s->count : 1;
	return want(s->at, !str_eq(s->replace, s->with), "'replace' and 'with' are the same");
}

static struct err *step_fits(struct arena *a, struct recipe *r, struct recipe_step *s)
{
	int kinds = (s->patch.n > 0) + (s->overlay.n > 0) + (s->generate.n > 0);
	TRY(want(s->at, kinds <= 1, "a step has at most one of 'patch', 'overlay' and 'generate'"));
	s->kind = s->patch.n      ? STEP_PATCH
		  : s->overlay.n  ? STEP_OVERLAY
		  : s->generate.n ? STEP_GENERATE
				  : STEP_REPLACE;
	switch (s->kind) {
	case STEP_PATCH:
		TRY_CTX(diff_parse(a, s->patch, s->at->at.path, DIFF_RECIPE, &s->diff),
			"the diff that begins on line %u is wrong (line numbers count from there)",
			s->at->at.line);
		VEC_EACH (const struct diff_file, f, &s->diff) {
			TRY(want_inside(s->at, f->path));
			strs_put(a, &r->files, f->path);
		}
		return NULL;
	case STEP_OVERLAY:
		TRY(want_inside(s->at, s->overlay));
		TRY(want(s->at, (s->text.n > 0) + (s->copy.n > 0) == 1,
			"an overlay has 'text' or 'copy'"));
		strs_put(a, &r->files, path_join(a, S(RECIPE_OVERLAY), s->overlay));
		return expand_check(s->text);
	case STEP_GENERATE:
		TRY(want(s->at, str_eq(s->generate, S("flatbuffers")),
			"'generate' is one of: flatbuffers"));
		TRY(want(s->at, s->from.n && s->file.n, "'generate' needs 'from' and 'file'"));
		TRY(want_inside(s->at, s->from));
		TRY(want_inside(s->at, s->file));
		break;
	case STEP_REPLACE:
		TRY(replace_fits(a, s));
		break;
	}
	strs_put(a, &r->files, s->file);
	return NULL;
}

/* ---- the recipe as a whole ---- */

static struct err *check_whole(const struct node *root, const struct recipe *r)
{
	static const char *const words[] = {"maintainer", "source", "measured", "users", NULL};
	bool does = r->steps.n || r->settings.n;
	TRY(want(root, r->id.n <= 64 && str_made_of(r->id, "-.") && ascii_alnum(r->id.p[0]),
		"a recipe needs an 'id' of letters, digits and '-'"));
	TRY(want(root, r->title.n && !str_contains(r->title, S("\n")),
		"a recipe needs a 'title' of one line"));
	TRY(want(root, r->evidence.n > 0, "a recipe needs 'evidence'"));
	TRY(want(root, str_is_one_of(r->confidence, words),
		"'confidence' is one of maintainer, source, measured and users"));
	if (r->refused.n)
		return want(root, !does && !r->detect.n, "a refused recipe does nothing");
	TRY(want(root, does, "a recipe has 'steps' or 'build'"));
	return want(root, r->detect.n > 0, "a recipe needs 'detect'");
}

struct err *recipe_parse(struct arena *a, struct str text, struct str name, struct recipe *ret)
{
	const struct node *root, *steps, *variables;
	*ret = (struct recipe){0};
	if (text.n > SIZE_LIMIT)
		return err_new(E_LIMIT, "'%.*s' is larger than 4 MiB", STR(name));
	TRY(yaml_parse(a, text, name, &root));
	if (root->kind != NODE_MAP)
		return err_at(err_new(E_SYNTAX, "a recipe is a map of keys"),
			(struct loc){.path = name, .line = 1, .col = 1});
	TRY(json_fields_read(a, root, recipe_fields, ret));
	TRY(read_applies(a, root, ret));
	TRY(read_checks(a, root, "detect", &ret->detect));
	TRY(list_of(root, "steps", &steps));
	NODE_EACH (it, steps) {
		struct recipe_step *s = VEC_PUSH(a, &ret->steps);
		s->at = it;
		TRY(json_fields_read(a, it, step_fields, s));
		struct err *e = step_fits(a, ret, s);
		if (e)
			return e->path ? e : err_at(e, it->at);
	}
	TRY(list_of(root, "build", &variables));
	NODE_EACH (it, variables) {
		struct recipe_setting *s = VEC_PUSH(a, &ret->settings);
		TRY(json_fields_read(a, it, setting_fields, s));
		TRY(want(it, (s->env.n > 0) + (s->cmake.n > 0) == 1,
			"a variable is named by 'env' or by 'cmake'"));
		TRY(want(it, (s->set.n > 0) + (s->word.n > 0) + (s->path.n > 0) == 1,
			"a variable has one of 'set', 'word' and 'path'"));
		struct err *e = expand_check(s->set.n ? s->set : s->word.n ? s->word : s->path);
		if (e)
			return err_at(e, it->at);
	}
	TRY(read_checks(a, root, "verify", &ret->verify));
	ret->hash = sha256_hex(a, text);
	return check_whole(root, ret);
}

/* ---- all recipes ---- */

extern const struct str recipe_texts[];
extern const char *const recipe_texts_files[];
extern const size_t recipe_texts_count;

static struct err *add_recipe(
	struct arena *a, struct str text, struct str name, struct recipes *ret)
{
	struct recipe r;
	TRY(recipe_parse(a, text, name, &r));
	if (!VEC_FIND(struct recipe, ret, id, r.id)) /* else the user's recipe replaces it */
		*VEC_PUSH(a, ret) = r;
	return NULL;
}

struct err *recipes_load(struct arena *a, const struct strs *dirs, struct recipes *ret)
{
	*ret = (struct recipes){0};
	for (size_t i = 0; dirs && i < dirs->n; i++) {
		struct strs names;
		TRY(fs_list(a, dirs->v[i], &names));
		VEC_EACH (const struct str, name, &names) {
			struct str text, path = path_join(a, dirs->v[i], *name);
			if (!str_eq(path_ext(*name), S(".yaml")))
				continue;
			TRY(fs_read(a, path, SIZE_LIMIT, &text));
			TRY(add_recipe(a, text, path, ret));
		}
	}
	for (size_t i = 0; i < recipe_texts_count; i++)
		TRY(add_recipe(a, recipe_texts[i], str_from(recipe_texts_files[i]), ret));
	return NULL;
}

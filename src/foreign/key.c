/* Decides what the result of a foreign build depends on besides the project's own files: an interrupted build goes on if
 * all of it is as before.
 *
 * The plan, the SDK, wheels, recipes and what rocsmith itself sets count. A session has dozens of other variables, which
 * are passed on and count only if something of the build reads them: the known ones of compilers and build systems
 * (tools), those named after the project or one of its requirements, and those that the project's files name, whole or
 * in parts ("USE_" + feature, "_ROOT"). Programs in the user's own folders of PATH count by the same words. Only C and C++
 * of the project are not searched, since what they read, they read at run time.
 */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/fs.h"
#include "base/glob.h"
#include "base/hash.h"
#include "base/map.h"
#include "foreign/foreign_int.h"
#include "formats/json_fields.h"
#include "lang/python/requirement.h"

enum { MAX_SCRIPT = 4 << 20, MAX_INPUTS = 16 << 20 };

struct candidate { /* a variable or program of the user's */
	const char *kind;
	struct str value;
	bool counts;
};

static void add_input(struct foreign *f, struct str name, struct str value)
{
	struct str hash = sha256_hex(f->a, value);
	strs_fmt(f->a, &f->inputs, "%.*s %.*s", STR(hash), STR(name));
}

/* ---- the project's files ---- */

/* The parts "USE_" and "_ROOT" of a script that reads the environment stand for all names that begin or end so. */
static void note_words(struct map *names, struct str text)
{
	bool reads = str_contains(text, S("environ")) || str_contains(text, S("getenv")) ||
		     str_contains(text, S("ENV"));
	bool upper = reads && str_contains(text, S(".upper()"));
	bool finds = str_contains(text, S("find_package")); /* reads FOO_ROOT and FOO_DIR */
	for (size_t i = 0, from; i < text.n; i++) {
		for (from = i; i < text.n && ascii_word(text.p[i]);)
			i++;
		struct str word = str_sub(text, from, i);
		struct candidate *c = map_get(names, word);
		if (c)
			c->counts = true;
		if (from && text.p[from - 1] == '%') /* "%s_ROOT" */
			word = str_sub(word, 1, word.n);
		bool part = reads && (str_starts(word, S("_")) || str_ends(word, S("_")));
		for (size_t k = 0; (part || upper || finds) && word.n && k < names->n; k++) {
			struct str name = names->v[k].key, rest = str_sub(name, word.n, name.n);
			bool root = finds && (str_eq(rest, S("_ROOT")) || str_eq(rest, S("_DIR")));
			c = names->v[k].value;
			c->counts |= name.n >= word.n && ((upper && !rest.n) || root) &&
				     strncasecmp(name.p, word.p, word.n) == 0;
			c->counts |= part && word.n > 2 &&
				     ((str_ends(word, S("_")) && str_starts(name, word)) ||
					     (str_starts(word, S("_")) && str_ends(name, word)));
		}
	}
}

static struct err *search_project(const struct foreign *f, struct map *names)
{
	CLEANUP(fs_unguardp) struct fs_tree *guard = NULL;
	struct strs files;
	TRY(fs_guard_sources(f->plan->project, &guard));
	TRY(glob_files(f->a, f->plan->project, S("**/*"), &files));
	VEC_EACH (const struct str, file, &files) {
		ARENA(tmp);
		struct stat st;
		struct str text, path = path_join(&tmp, f->plan->project, *file);
		if (str_is_one_of(path_ext(*file), build_variables_table()->no_script) ||
			path_is_below(path, f->out) || !fs_try_stat(path, &st) ||
			st.st_size > MAX_SCRIPT || fs_leads_out(path))
			continue;
		TRY(fs_read(&tmp, path, MAX_SCRIPT, &text));
		if (text.n && !memchr(text.p, 0, text.n))
			note_words(names, text);
	}
	return NULL;
}

/* ---- the inputs ---- */

static void add_candidate(struct foreign *f, struct map *names, struct str name, struct candidate c)
{
	struct candidate *copy = NEW(f->a, struct candidate);
	*copy = c;
	map_put(names, name, copy);
}

/* Adds the programs that only the user's own folders have. */
static void add_programs(struct foreign *f, struct map *names)
{
	MAP(known, f->a);
	struct strs dirs = str_split(f->a, S(FOREIGN_PATH), ':');
	size_t ours = dirs.n;
	strs_add_all(f->a, &dirs, &f->user_path);
	for (size_t i = 0; i < dirs.n; i++) {
		struct strs list = {0};
		if (fs_is_dir(dirs.v[i]))
			err_free(fs_list(f->a, dirs.v[i], &list));
		VEC_EACH (const struct str, name, &list) {
			struct str path = path_join(f->a, dirs.v[i], *name);
			if (map_put(&known, *name, f) && i >= ours && fs_is_file(path))
				add_candidate(f, names, *name,
					(struct candidate){"program", fs_state(f->a, path), false});
		}
	}
}

/* Does a tool read it whatever the project's files say? The prefix of a requirement counts: setuptools-scm has
 * SETUPTOOLS_SCM_PRETEND_VERSION. */
static bool is_known(const struct foreign *f, struct str name, const struct candidate *c)
{
	const struct build_variables *of = build_variables_table();
	bool known = glob_match_any(*c->kind == 'v' ? of->tools : of->programs, name);
	const struct strs *requires = &f->plan->foreign->requires;
	for (size_t i = 0; i <= requires->n && !known; i++) {
		struct str owner = i < requires->n ? requires->v[i] : f->plan->name;
		struct str word = str_replace(f->a, requirement_name(f->a, owner), S("-"), S("_"));
		known = word.n > 2 && str_starts(str_lower(f->a, name), word);
	}
	return known;
}

/* The plan's inputs, one for each key of its JSON form, and each of the section `build`. */
static struct err *add_plan(struct foreign *f)
{
	struct plan plan = *f->plan;
	struct plan_foreign foreign = *f->plan->foreign;
	const struct node *root;
	plan.reasons.n = 0;
	plan.features.n = 0;                        /* the environment has them */
	plan.sdk.mirror = plan.sdk.keyring = S(""); /* the fingerprint covers their content */
	plan.foreign = &foreign;
	foreign.precompile.n = 0; /* it does not change objects */
	TRY(json_parse(f->a, json_document(f->a, 0, plan_fields, &plan), S("plan"), &root));
	NODE_EACH (part, root) {
		bool deep = str_eq(part->key, S("build"));
		for (size_t i = 0; i < (deep ? part->n : 1); i++) {
			const struct node *n = deep ? &part->v[i] : part;
			BUF(b, f->a);
			json_node(&(struct json){.out = &b}, n);
			add_input(f, str_fmt(f->a, "'%.*s' of the plan", STR(n->key)), buf_str(&b));
		}
	}
	return NULL;
}

struct err *foreign_key(struct foreign *f)
{
	MAP(names, f->a);
	struct str name, value;
	add_input(f, S("SDK"), f->sdk->fingerprint);
	TRY(add_plan(f));
	VEC_EACH (const struct str, w, &f->plan->foreign->with)
		add_input(f, path_base(*w), fs_state(f->a, *w));
	add_input(f, S("recipes"), recipes_identity(f->a, &f->recipes->all, &f->recipes->request));
	add_input(f, S("patches"), f->recipes->queue.hash);
	if (f->editable.n)
		add_input(f, S("environment"), f->editable);
	VEC_EACH (const struct str, line, &f->env) {
		str_cut(*line, '=', &name, &value);
		const char *own = getenv(str_z(f->a, name));
		if (glob_match_any(build_variables_table()->harmless, name))
			continue;
		if (own && str_eq(str_from(own), value))
			add_candidate(
				f, &names, name, (struct candidate){"variable", value, false});
		else
			add_input(f, str_fmt(f->a, "variable '%.*s'", STR(name)), value);
	}
	add_programs(f, &names);
	TRY(search_project(f, &names));
	VEC_EACH (const struct map_entry, e, &names) {
		const struct candidate *c = e->value;
		if (c->counts || is_known(f, e->key, c))
			add_input(f, str_fmt(f->a, "%s '%.*s'", c->kind, STR(e->key)), c->value);
	}
	strs_sort(&f->inputs);
	f->key = sha256_hex(f->a, str_join(f->a, &f->inputs, S("\n")));
	return NULL;
}

struct err *foreign_changed(struct foreign *f, struct str *ret)
{
	struct str text, hash, name;
	struct strs changed = {0};
	TRY(fs_read_opt(f->a, path_join(f->a, f->state, S("inputs")), MAX_INPUTS, &text));
	struct strs old = str_split(f->a, text, '\n');
	const struct strs *sides[][2] = {{&old, &f->inputs}, {&f->inputs, &old}};
	for (size_t i = 0; old.n && i < 2; i++)
		VEC_EACH (const struct str, input, sides[i][0])
			if (!strs_has(sides[i][1], *input) && str_cut(*input, ' ', &hash, &name))
				strs_put(f->a, &changed, name);
	strs_sort(&changed);
	*ret = str_join(f->a, &changed, S(", "));
	return NULL;
}

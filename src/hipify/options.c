/* Reads, checks and completes the settings of a translation; see options.h. */
#include "hipify/options.h"

#include "base/fs.h"
#include "base/glob.h"
#include "base/vec.h"
#include "formats/json_fields.h"

enum { MAP_LIMIT = 64 << 20 };
#define BUILD_AMD "tools/amd_build/build_amd.py"

const char *const hipify_modes[] = {"", "standalone", "torch", "extension", NULL};
const char *const hipify_launches[] = {"", "auto", "rewrite", "keep", NULL};
const char *const hipify_engines[] = {"rocsmith", "torch", NULL};

/* ---- the table ---- */

enum { IN_STANDALONE = 1 << HIPIFY_STANDALONE, IN_TORCH = 1 << HIPIFY_TORCH };
enum { IN_EXTENSION = 1 << HIPIFY_EXTENSION, BY_TORCH = IN_TORCH | IN_EXTENSION };
enum { IN_ALL = IN_STANDALONE | BY_TORCH };

/* A WORD is an enum whose value is its index in the list of words; 0 = not set. */
enum kind { TEXT, LIST, WORD, FLAG };

struct setting {
	const char *option,
		*key; /* names on the command line and in rocsmith.yaml; key NULL = not in that file */
	enum kind kind;
	unsigned modes; /* the modes in which the setting has a meaning */
	size_t off;
	const char *const *words;
};

#define OFF(member) offsetof(struct hipify_options, member)

static const struct setting settings[] = {
	{"mode", "mode", WORD, IN_ALL, OFF(mode), hipify_modes},
	{"torch", "torch", TEXT, BY_TORCH, OFF(torch), NULL},
	{"include-dir", "include_dirs", LIST, IN_EXTENSION, OFF(include_dirs), NULL},
	{"ignore", "ignore", LIST, BY_TORCH, OFF(ignore), NULL},
	{"map", "map", TEXT, BY_TORCH, OFF(map), NULL},
	{"extra-extension", "extensions", LIST, BY_TORCH, OFF(extra_extensions), NULL},
	{"launches", "launches", WORD, BY_TORCH, OFF(launches), hipify_launches},
	{"out-of-place-only", NULL, FLAG, IN_TORCH, OFF(out_of_place_only), NULL},
	{"extra-include-dir", NULL, LIST, IN_TORCH, OFF(extra_include), NULL},
	{"engine", NULL, WORD, BY_TORCH, OFF(engine), hipify_engines},
	{"exclude", "exclude", LIST, IN_ALL, OFF(exclude), NULL},
	{"rocm", "rocm", TEXT, IN_STANDALONE, OFF(rocm), NULL},
	{"SOURCE", "sources", LIST, IN_STANDALONE | IN_EXTENSION, OFF(sources), NULL},
	{NULL, NULL, TEXT, 0, 0, NULL},
};

static const void *at(const struct hipify_options *o, const struct setting *s)
{
	return (const char *)o + s->off;
}

static bool is_said(const struct hipify_options *o, const struct setting *s)
{
	if (s->kind == TEXT)
		return ((const struct str *)at(o, s))->n > 0;
	if (s->kind == LIST)
		return ((const struct strs *)at(o, s))->n > 0;
	return s->kind == FLAG ? *(const bool *)at(o, s) : *(const unsigned *)at(o, s) > 0;
}

void hipify_options_inherit(struct hipify_options *o, const struct hipify_options *described)
{
	static const size_t sizes[] = {[TEXT] = sizeof(struct str),
		[LIST] = sizeof(struct strs),
		[WORD] = sizeof(unsigned)};
	if (!o->map.n)
		o->map_text = described->map_text;
	for (const struct setting *s = settings; s->option; s++)
		if (s->key && !is_said(o, s))
			memcpy((char *)o + s->off, at(described, s), sizes[s->kind]);
}

struct err *hipify_options_check(const struct hipify_options *said, enum hipify_mode mode)
{
	for (const struct setting *s = settings; s->option; s++) {
		if ((s->modes & 1u << mode) || !is_said(said, s))
			continue;
		bool option = s->option[0] != 'S';
		return err_new(E_USAGE, "%s%s%s means nothing in mode '%s'", option ? "'--" : "",
			s->option, option ? "'" : "", hipify_modes[mode]);
	}
	return NULL;
}

bool hipify_is_rocm(struct str version)
{
	return version.n && str_span(version, ASCII_DIGITS ".") == version.n;
}

/* ---- the section of the description ---- */

static struct err *read_word(
	struct arena *a, const struct node *n, const struct setting *s, struct hipify_options *o)
{
	struct strs names = {0};
	for (unsigned i = 1; s->words[i]; i++) {
		if (str_eq(n->text, str_from(s->words[i]))) {
			*(unsigned *)(void *)((char *)o + s->off) = i;
			return NULL;
		}
		strs_add(a, &names, str_from(s->words[i]));
	}
	struct err *e = node_error(n, E_PROJECT, "'%s' does not take '%.*s'; it takes %.*s", s->key,
		STR(n->text), STR(str_join(a, &names, S(", "))));
	return err_near(e, n->text, &names);
}

/* Reads the settings whose values are plain. */
static struct err *read_plain(struct arena *a, const struct node *section, struct hipify_options *o)
{
	for (const struct setting *s = settings; s->option; s++) {
		void *to = (char *)o + s->off;
		struct str key = str_from(s->key), word = S("");
		if (!s->key || s->off == OFF(sources) || s->off == OFF(map))
			continue;
		if (s->kind == LIST)
			TRY(node_want_strs(a, section, key, to));
		else
			TRY(node_want_text(section, key, s->kind == TEXT ? to : &word));
		const struct node *n = node_get(section, key);
		if (s->kind == WORD && n && n->kind != NODE_NULL)
			TRY(read_word(a, n, s, o));
	}
	return NULL;
}

static struct err *one_source(
	struct arena *a, const struct node *n, struct str dir, struct hipify_options *o)
{
	struct strs hits;
	if (n->kind == NODE_LIST || n->kind == NODE_MAP || !n->text.n)
		return node_error(n, E_PROJECT, "a file name or a pattern is expected here");
	if (!path_is_inside(n->text))
		return node_error(n, E_PROJECT, "'%.*s' is outside of the project", STR(n->text));
	TRY(glob_files(a, dir, n->text, &hits));
	if (!hits.n)
		return node_error(
			n, E_PROJECT, "no source '%.*s' in '%.*s'", STR(n->text), STR(dir));
	strs_put_all(a, &o->sources, &hits);
	return NULL;
}

/* Writes the pairs as JSON, each on the line that it has in the description, so that messages about
 * this text name the user's own line. */
static struct err *inline_pairs(struct arena *a, const struct node *map, struct str *ret)
{
	BUF(b, a);
	unsigned line = 1;
	buf_add(&b, S("{\"custom_map\": {"));
	NODE_EACH (n, map) {
		if (n->kind == NODE_LIST || n->kind == NODE_MAP || n->kind == NODE_NULL)
			return node_error(n, E_PROJECT, "'%.*s' needs the HIP name as its value",
				STR(n->key));
		if (n != map->v)
			buf_char(&b, ',');
		for (; line < n->key_at.line; line++)
			buf_char(&b, '\n');
		json_str(&(struct json){.out = &b}, n->key);
		buf_add(&b, S(": "));
		json_str(&(struct json){.out = &b}, n->text);
	}
	buf_add(&b, S("}}\n"));
	*ret = str_dup(a, buf_str(&b));
	return NULL;
}

struct err *hipify_options_read(struct arena *a, const struct node *section, struct str dir,
	struct str file, struct hipify_options *ret)
{
	*ret = (struct hipify_options){0};
	if (!section || section->kind != NODE_MAP)
		return NULL;
	TRY(read_plain(a, section, ret));
	if (ret->rocm.n && !hipify_is_rocm(ret->rocm))
		return node_error(node_get(section, S("rocm")), E_PROJECT,
			"'rocm' takes a version such as 6.4.3, not '%.*s'", STR(ret->rocm));
	for (const struct setting *s = settings; s->option; s++)
		if (ret->mode == HIPIFY_STANDALONE && s->key && !(s->modes & IN_STANDALONE) &&
			node_get(section, str_from(s->key)))
			return node_error(node_get(section, str_from(s->key)), E_PROJECT,
				"'%s' means nothing in the mode 'standalone'", s->key);
	const struct node *sources = node_get(section, S("sources"));
	if (sources && sources->kind == NODE_LIST)
		NODE_EACH (n, sources)
			TRY(one_source(a, n, dir, ret));
	else if (sources && sources->kind != NODE_NULL)
		TRY(one_source(a, sources, dir, ret));
	if (ret->torch.n)
		ret->torch = path_clean(a, path_join(a, dir, ret->torch));
	VEC_EACH (const struct str, it, &ret->include_dirs)
		if (!path_is_inside(*it))
			return err_hint(node_error(node_get(section, S("include_dirs")), E_PROJECT,
						"'%.*s' is outside of the project", STR(*it)),
				"if you trust it, remove it there and say so: --include-dir %.*s",
				STR(str_shell(a, path_clean(a, path_join(a, dir, *it)))));
	const struct node *map = node_get(section, S("map"));
	if (!map || map->kind == NODE_NULL)
		return NULL;
	ret->map = file;
	if (map->kind == NODE_MAP)
		return inline_pairs(a, map, &ret->map_text);
	if (map->kind == NODE_LIST)
		return err_hint(
			node_error(map, E_PROJECT, "'map' must be a file or a map of pairs"),
			"write map: {cudaFoo: hipFoo}");
	if (!path_is_inside(map->text))
		return node_error(
			map, E_PROJECT, "'%.*s' is outside of the project", STR(map->text));
	ret->map = path_join(a, dir, map->text);
	return fs_exists(ret->map) ? NULL
				   : node_error(map, E_PROJECT, "no such file '%.*s' in '%.*s'",
					     STR(map->text), STR(dir));
}

/* ---- the mode ---- */

bool hipify_is_checkout(struct str dir)
{
	ARENA(tmp);
	return dir.n && fs_exists(path_join(&tmp, dir, S(BUILD_AMD)));
}

void hipify_choose_mode(struct hipify_options *o, const char **ret_why)
{
	*ret_why = NULL;
	if (o->mode)
		return;
	if (hipify_is_checkout(o->dir)) {
		o->mode = HIPIFY_TORCH;
		*ret_why = "'" BUILD_AMD "' is there";
	} else if (o->torch.n) {
		o->mode = HIPIFY_EXTENSION;
		*ret_why = "a torch is named";
	} else {
		o->mode = HIPIFY_STANDALONE;
		*ret_why = "there is no --torch";
	}
}

/* ---- the values that a run reads ---- */

bool hipify_is_excluded(const struct strs *exclude, struct str rel)
{
	struct str part;
	VEC_EACH (const struct str, x, exclude) {
		if (str_starts(rel, *x) && (rel.n == x->n || rel.p[x->n] == '/'))
			return true;
		for (struct str rest = rel; str_next(&rest, '/', &part);)
			if (str_eq(part, *x))
				return true;
	}
	return false;
}

struct err *hipify_options_load_map(struct arena *a, struct hipify_options *o)
{
	if (o->map.n && !o->map_text.p)
		TRY_CTX(fs_read(a, o->map, MAP_LIMIT, &o->map_text), "cannot read the map '%.*s'",
			STR(o->map));
	return NULL;
}

void hipify_options_complete(struct arena *a, struct hipify_options *o)
{
	struct strs endings = o->extra_extensions, given = o->sources, ignore = {0};
	struct str dir = path_abs(a, o->dir);
	bool by_torch = hipify_by_torch(o);
	o->extra_extensions = o->sources = (struct strs){0};
	VEC_EACH (const struct str, e, &endings)
		strs_add(a, &o->extra_extensions,
			str_starts(*e, S(".")) ? *e : str_fmt(a, ".%.*s", STR(*e)));
	/* Named sources are translated no matter what the ignore patterns say, so excluded ones are removed here;
	 * PyTorch's own tree is translated as a whole. */
	VEC_EACH (const struct str, s, &given) {
		struct str path = path_abs(a, path_join(a, dir, *s)), rel = path_rel(a, path, dir);
		if (!by_torch)
			strs_add(a, &o->only, rel);
		else if (o->mode == HIPIFY_EXTENSION && !hipify_is_excluded(&o->exclude, rel))
			strs_put(a, &o->sources, path);
	}
	if (!o->map_text.n)
		o->map_text = (struct str){0};
	if (!by_torch)
		return;
	strs_add_all(a, &ignore, &o->ignore);
	/* PyTorch's rules have only patterns, so each exclusion becomes several: a name excludes files and
	 * folders of that name anywhere, a path excludes itself and everything below it. */
	VEC_EACH (const struct str, x, &o->exclude) {
		BUF(name, a); /* escaped for Python's fnmatch, to match only that name */
		for (size_t i = 0; i < x->n; i++)
			buf_fmt(&name, strchr("*?[", x->p[i]) ? "[%c]" : "%c", x->p[i]);
		strs_add(a, &ignore, buf_str(&name));
		strs_fmt(a, &ignore, "%.*s/*", STR(name));
		if (str_chr(*x, '/') < x->n)
			continue;
		strs_fmt(a, &ignore, "*/%.*s", STR(name));
		strs_fmt(a, &ignore, "*/%.*s/*", STR(name));
	}
	o->ignore = ignore;
}

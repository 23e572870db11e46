/* Selects the files to translate; see select.h. The walk keeps a list of folders to read instead of recursing, so that
 * depth costs neither stack nor open descriptors; folders are read by their full path, as in os.walk().
 */
#include "hipify/torch/run/select.h"

#include "base/fs.h"
#include "base/proc.h"
#include "lang/python/fnmatch.h"
#include "lang/python/path.h"

struct globs {
	struct py_glob *v;
	size_t n;
};

struct torch_patterns {
	struct globs includes, ignores;
	struct map exact; /* the includes as literal paths */
};

static struct str source_endings[] = {S_INIT(".cu"), S_INIT(".cuh"), S_INIT(".c"), S_INIT(".cc"),
	S_INIT(".cpp"), S_INIT(".h"), S_INIT(".in"), S_INIT(".hpp")};
static struct str header_endings[] = {S_INIT(".cuh"), S_INIT(".h"), S_INIT(".hpp")};
const struct strs torch_source_extensions = {
	.v = source_endings, .n = sizeof(source_endings) / sizeof(*source_endings)};
const struct strs torch_header_extensions = {
	.v = header_endings, .n = sizeof(header_endings) / sizeof(*header_endings)};

bool torch_ends_with_one(struct str path, const struct strs *endings)
{
	for (size_t i = 0; i < endings->n; i++)
		if (str_ends(path, endings->v[i]))
			return true;
	return false;
}

struct err *torch_find_build_amd(struct arena *a, struct str dir, const struct torch_source *s,
	const struct view *view, struct torch_file *ret)
{
	struct str path = path_join(a, view->root, S(TORCH_BUILD_AMD));
	*ret = s->build_amd;
	if (view_exists(view, path)) {
		ret->path = py_join(a, dir, S(TORCH_BUILD_AMD));
		return view_read(view, a, path, &ret->text);
	}
	if (ret->text.p)
		return NULL;
	return err_hint(err_new(E_TORCH, "no '%.*s', which lists what is translated", STR(path)),
		"--mode torch is for PyTorch's own source tree; an extension is translated with "
		"--mode extension");
}

static struct globs compile(struct arena *a, const struct strs *list)
{
	struct globs g = {.v = arena_array(a, list->n, sizeof(*g.v))};
	VEC_EACH (const struct str, pattern, list)
		g.v[g.n++] = py_glob_new(a, *pattern);
	return g;
}

void torch_select_open(struct arena *a, struct torch_selection *s)
{
	struct torch_patterns *p = s->patterns = NEW(a, struct torch_patterns);
	p->includes = compile(a, &s->includes);
	p->ignores = compile(a, &s->ignores);
	p->exact.a = a;
	VEC_EACH (const struct str, pattern, &s->includes)
		map_put(&p->exact, *pattern, p);
	if (!s->extensions.v)
		s->extensions = torch_source_extensions;
}

static bool patterns_take(const struct torch_patterns *p, struct str path)
{
	bool included = false;
	VEC_EACH (const struct py_glob, g, &p->includes)
		included = included || py_glob_match(g, path);
	VEC_EACH (const struct py_glob, g, &p->ignores)
		included = included && !py_glob_match(g, path);
	return included;
}

/* Do the patterns exclude everything below the folder? start ends in '/'. */
static bool hopeless(const struct torch_patterns *p, struct str start)
{
	bool possible = false;
	VEC_EACH (const struct py_glob, g, &p->includes)
		possible = possible || py_glob_possible(g, start);
	VEC_EACH (const struct py_glob, g, &p->ignores)
		possible = possible && !py_glob_certain(g, start);
	return !possible;
}

bool torch_select_takes(const struct torch_selection *s, struct str path, struct str rel)
{
	if (!torch_ends_with_one(path, &s->extensions) && !map_get(&s->patterns->exact, path))
		return false;
	if (!s->extension && s->generation == TORCH_V1) {
		if (!torch_pytorch_file(rel, s->fbgemm) && !torch_caffe2_gpu_file(rel))
			return false;
		if (s->out_of_place_only && !torch_out_of_place(rel))
			return false;
	}
	return patterns_take(s->patterns, path);
}

/* ---- walking ---- */

static bool takes_file(const struct torch_selection *s, const struct view *view, struct arena *tmp,
	struct str path)
{
	/* hipify calls a file at the top "./x.cu". */
	struct str rel = str_sub(path, s->root.n + !str_ends(s->root, S("/")), path.n);
	if (!s->headers.n && str_chr(rel, '/') == rel.n)
		rel = str_fmt(tmp, "./%.*s", STR(rel));
	bool taken = s->headers.n ? torch_ends_with_one(path, &s->headers) &&
					    patterns_take(s->patterns, path) && fs_is_file(path)
				  : torch_select_takes(s, path, rel);
	return taken && !view_hides(view, path);
}

/* Walks a folder as os.walk() does: the files of each folder before its subfolders, in the order of the file system,
 * without following links to folders; one that cannot be read is skipped. */
struct err *torch_select(
	struct arena *a, const struct torch_selection *s, const struct view *view, struct strs *ret)
{
	/* hipify skips these at the top only, except for one part of third_party, which comes last. */
	static const char *const out[] = {".git", "build", "third_party", NULL};
	const struct str nvfuser = S("third_party/nvfuser");
	struct strs todo = {0}; /* the next one is last */
	if (!view_leads_out(view, s->root))
		strs_add(a, &todo, s->root);
	while (todo.n) {
		ARENA(tmp);
		struct str dir = todo.v[--todo.n];
		struct fs_names names = {0};
		struct strs dirs = {0};
		struct stat st;
		TRY(cancel_check());
		CLEANUP(err_freep) struct err *unreadable = fs_scan(&tmp, dir, &names, &st);
		if (unreadable)
			continue;
		view_note_dir(view, dir, &st);
		bool top = !s->headers.n && str_eq(dir, s->root);
		if (top && fs_try_lstat(py_join(&tmp, dir, nvfuser), &st) && S_ISDIR(st.st_mode))
			strs_add(&tmp, &dirs, nvfuser);
		for (size_t i = names.n; i-- > 0;)
			if (names.v[i].dir && !names.v[i].link &&
				!str_starts(names.v[i].name, S(".rocsmith")) &&
				!(top && str_is_one_of(names.v[i].name, out)))
				strs_add(&tmp, &dirs, names.v[i].name);
		VEC_EACH (const struct str, name, &dirs) {
			struct str path = py_join(&tmp, dir, *name);
			if (!view_hides(view, path) &&
				!hopeless(s->patterns, str_fmt(&tmp, "%.*s/", STR(path))))
				strs_add(a, &todo, str_dup(a, path));
		}
		VEC_EACH (const struct fs_name, n, &names) {
			struct str path = py_join(&tmp, dir, n->name);
			if (n->dir || !takes_file(s, view, &tmp, path) ||
				(n->link && view_leads_out(view, path)))
				continue;
			path = str_dup(a, path);
			strs_add(a, ret, path);
			if (n->link && s->links)
				map_put(s->links, path, ret);
		}
	}
	return NULL;
}

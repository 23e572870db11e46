/* The scratch copy that a torch's own Python works in.
 *
 * It holds what that Python may open or look for: files whose ending the algorithm names, those
 * that build_amd.py names, and the folders; links stay links while they lead to something that is
 * copied, so that results go through them as they would in the tree. Everything is read through the
 * view. .git, build and third_party are left out where the original does not look either.
 */
#include <string.h>

#include "base/fs.h"
#include "hipify/torch/original/original.h"
#include "hipify/torch/run/select.h"
#include "lang/python/path.h"

struct str scratch_path(const struct scratch *c, struct str path)
{
	return str_fmt(c->a, "%.*s%.*s", STR(c->files), STR(path));
}

/* ---- what matters ---- */

/* The quoted texts of a line, in either kind of quotes. */
static void find_quoted(struct str text, struct map *ret)
{
	struct str line;
	while (str_next(&text, '\n', &line)) {
		for (size_t i = 0; i < line.n; i++) {
			char quote = line.p[i];
			if (quote != '"' && quote != '\'')
				continue;
			struct str rest = str_sub(line, i + 1, line.n);
			size_t n = str_chr(rest, quote);
			if (n < rest.n)
				map_put(ret, str_sub(rest, 0, n), ret);
			i += 1 + n;
		}
	}
}

/* ".cuh" */
static void note_ending(struct scratch *c, struct str s)
{
	if (s.n < 2 || s.n > 8 || s.p[0] != '.' || strs_has(&c->endings, s))
		return;
	for (size_t i = 1; i < s.n; i++)
		if (!strchr("abcdefghijklmnopqrstuvwxyz+", s.p[i]))
			return;
	strs_add(c->a, &c->endings, s);
}

/* What may be opened or looked for. */
static void find_endings(struct scratch *c)
{
	MAP(quoted, c->a);
	strs_add_all(c->a, &c->endings, &torch_source_extensions); /* headers' are among them */
	strs_add_all(c->a, &c->endings, &c->o->extra_extensions);
	find_quoted(c->s->algorithm.text, &quoted);
	VEC_EACH (const struct map_entry, e, &quoted)
		note_ending(c, e->key);
	c->names.a = c->a;
	find_quoted(c->script, &c->names);
}

static bool matters(const struct scratch *c, struct str path)
{
	return torch_ends_with_one(path, &c->endings) ||
	       map_get(&c->names, path_rel(c->a, path, c->view->root));
}

/* ---- copying ---- */

static struct err *copy_file(struct scratch *c, struct str path)
{
	ARENA(tmp);
	struct stat st;
	struct str text, to = scratch_path(c, path);
	if (map_get(&c->there, path))
		return NULL;
	map_put(&c->there, str_dup(c->a, path), c);
	TRY(view_read(c->view, &tmp, path, &text));
	TRY(fs_stat(path, &st));
	TRY(fs_mkdirs(path_dir(to)));
	return fs_stage(to, text, (st.st_mode & 0777) | 0400);
}

/* A link within the copied folder stays one; another one becomes the file it names. */
static struct err *copy_link(struct scratch *c, struct str path)
{
	ARENA(tmp);
	struct str real, root, target;
	struct stat st;
	if (!fs_real(&tmp, path, &real))
		return NULL;
	TRY(fs_stat(path, &st));
	bool file = S_ISREG(st.st_mode), inside = fs_real(&tmp, c->view->root, &root) &&
						  path_is_inside(path_rel(&tmp, real, root));
	if (!inside || (file && !matters(c, real)))
		return file && matters(c, path) ? copy_file(c, path) : NULL;
	TRY(fs_readlink(&tmp, path, &target));
	if (target.p[0] == '/')
		target = scratch_path(c, target);
	return fs_symlink(target, scratch_path(c, path));
}

/* Left out at the top of the project. */
static bool pruned(const struct scratch *c, struct str dir, struct str name)
{
	bool top = str_eq(dir, c->view->root), torch = c->o->mode == HIPIFY_TORCH;
	return str_eq(name, S(".git")) || (top && torch && str_eq(name, S("build"))) ||
	       (top && torch && str_eq(name, S("third_party")));
}

static struct err *copy_dir(struct scratch *c, struct str dir)
{
	ARENA(tmp);
	struct fs_names names = {0};
	struct stat st;
	TRY(fs_scan(&tmp, dir, &names, &st));
	view_note_dir(c->view, dir, &st);
	TRY(fs_mkdirs(scratch_path(c, dir)));
	VEC_EACH (const struct fs_name, n, &names) {
		struct str path = path_join(&tmp, dir, n->name);
		if (view_hides(c->view, path) || (n->dir && pruned(c, dir, n->name)))
			continue;
		if (n->link)
			TRY(copy_link(c, path));
		else if (n->dir)
			TRY(copy_dir(c, path));
		else if (fs_is_file(path) && matters(c, path))
			TRY(copy_file(c, path));
	}
	return NULL;
}

/* A file or folder that is not below the project, or was left out there; fine when absent. */
static struct err *copy_other(struct scratch *c, struct str path)
{
	struct str rel = path_rel(c->a, path, c->view->root);
	bool there = path_is_inside(rel) && fs_exists(scratch_path(c, path));
	if (there || !view_exists(c->view, path))
		return NULL;
	return fs_is_dir(path) ? copy_dir(c, path) : copy_file(c, path);
}

/* Headers beside a source that lies elsewhere. */
static struct err *copy_beside(struct scratch *c, struct str source)
{
	struct str dir = path_dir(source);
	struct fs_names names = {0};
	struct stat st;
	TRY(copy_other(c, source));
	if (path_is_inside(path_rel(c->a, source, c->view->root)) || !fs_is_dir(dir))
		return NULL;
	TRY(fs_scan(c->a, dir, &names, &st));
	view_note_dir(c->view, dir, &st);
	VEC_EACH (const struct fs_name, n, &names) {
		struct str path = path_join(c->a, dir, n->name);
		if (!n->dir && fs_is_file(path) && matters(c, path))
			TRY(copy_file(c, path));
	}
	return NULL;
}

/* "third_party/nvfuser/csrc/x.cpp", "third_party/nvfuser/" of "third_party/nvfuser/\*". */
static struct err *copy_named(struct scratch *c, struct str name)
{
	size_t star = str_chr(name, '*');
	if (!str_starts(name, S("third_party/")) || star <= sizeof("third_party/") - 1)
		return NULL;
	if (star < name.n)
		name = path_dir(str_sub(name, 0, star + 1));
	return copy_other(c, py_join(c->a, c->view->root, name));
}

static struct err *copy_more(struct scratch *c)
{
	const struct hipify_options *o = c->o;
	struct str root = c->view->root;
	for (size_t i = 0; i < c->names.n; i++)
		TRY(copy_named(c, c->names.v[i].key));
	VEC_EACH (const struct str, path, &o->extra_include)
		TRY(copy_other(c, py_abspath(c->a, *path, root)));
	if (o->mode != HIPIFY_EXTENSION)
		return NULL;
	VEC_EACH (const struct str, path, &o->include_dirs)
		TRY(copy_other(c, py_abspath(c->a, *path, root)));
	VEC_EACH (const struct str, path, &o->sources)
		TRY(copy_beside(c, py_abspath(c->a, *path, root)));
	return NULL;
}

/* ---- the module ---- */

static struct err *put(struct scratch *c, struct str dir, const char *name, struct str text)
{
	return text.p ? fs_stage(path_join(c->a, dir, str_from(name)), text, 0644) : NULL;
}

/* All of that torch's Python files, where it has a folder, for those that a later release may have;
 * and the texts that were read of it. */
static struct err *put_module(struct scratch *c, struct str dir)
{
	const struct torch_source *s = c->s;
	struct str from = path_dir(s->algorithm.path), text;
	struct strs names = {0};
	TRY(fs_mkdirs(dir));
	TRY(put(c, dir, "__init__.py", S("from .version import __version__\n")));
	if (!s->hipify_version.text.p)
		TRY(put(c, dir, "__init__.py", S("")));
	if (s->kind != TORCH_WHEEL && fs_is_dir(from))
		TRY(fs_list(c->a, from, &names));
	for (size_t i = 0; i < names.n; i++) {
		if (!str_ends(names.v[i], S(".py")))
			continue;
		TRY(fs_read(c->a, path_join(c->a, from, names.v[i]), 64 << 20, &text));
		TRY(fs_stage(path_join(c->a, dir, names.v[i]), text, 0644));
	}
	TRY(put(c, dir, "cuda_to_hip_mappings.py", s->mappings.text));
	TRY(put(c, dir, "hipify_python.py", s->algorithm.text));
	TRY(put(c, dir, "constants.py", s->constants.text));
	return put(c, dir, "version.py", s->hipify_version.text);
}

struct err *scratch_fill(struct scratch *c)
{
	c->there.a = c->a;
	find_endings(c);
	TRY(copy_dir(c, c->view->root));
	TRY(copy_more(c));
	if (c->script.p) { /* it imports the module from its own tree */
		struct str dir = path_join(c->a, c->root, S("tools/amd_build"));
		TRY(fs_mkdirs(dir));
		TRY(put(c, dir, "build_amd.py", c->script));
		TRY(put_module(c, path_join(c->a, c->root, S("torch/utils/hipify"))));
	}
	return put_module(c, path_join(c->a, c->top, S("module/hipify")));
}

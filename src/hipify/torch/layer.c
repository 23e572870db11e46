/* Outputs in memory; see layer.h. */
#include "hipify/torch/layer.h"

#include <string.h>

#include "base/fs.h"
#include "hipify/torch/pypath.h"

void layer_open(struct torch_layer *l, struct arena *a, const struct hipify_view *view)
{
	*l = (struct torch_layer){.a = a, .view = view};
	l->outputs.a = l->dirs.a = l->real.a = a;
	l->real_root = view->root;
	if (!fs_real(a, view->root, &l->real_root))
		l->real_root = view->root;
}

/* A folder that is not there yet will be made below the nearest one that is. */
static struct str real_dir(struct torch_layer *l, struct str dir)
{
	struct str *known = map_get(&l->real, dir);
	if (known)
		return *known;
	struct str *real = NEW(l->a, struct str);
	dir = str_dup(l->a, dir);
	*real = dir;
	if (!str_eq(dir, S("/")) && !fs_real(l->a, dir, real))
		*real = py_join(l->a, real_dir(l, py_dirname(dir)), py_basename(dir));
	map_put(&l->real, dir, real);
	return *real;
}

struct str layer_real(struct torch_layer *l, struct str path)
{
	ARENA(tmp);
	struct str real, target;
	struct err *e = fs_readlink(&tmp, path, &target);
	err_free(e);
	if (!e && fs_real(l->a, path, &real))
		return real;
	if (!e) /* a link to nothing: writing makes its target */
		path = py_abspath(&tmp, target, py_dirname(path));
	return py_join(l->a, real_dir(l, py_dirname(path)), py_basename(path));
}

struct torch_output *layer_find(struct torch_layer *l, struct str path)
{
	size_t n = 0;
	for (const struct torch_layer *i = l; i; i = i->below)
		n += i->outputs.n;
	if (!n)
		return NULL;
	struct str real = layer_real(l, path);
	struct torch_output *o = NULL;
	for (const struct torch_layer *i = l; i && !o; i = i->below)
		o = map_get(&i->outputs, real);
	return o;
}

static bool made_dir(struct torch_layer *l, struct str path)
{
	struct str real = {0};
	for (const struct torch_layer *i = l; i; i = i->below) {
		if (!i->dirs.n)
			continue;
		real = real.p ? real : layer_real(l, path);
		if (map_get(&i->dirs, real))
			return true;
	}
	return false;
}

bool layer_exists(struct torch_layer *l, struct str path)
{
	if (memchr(path.p, 0, path.n))
		return false;
	return layer_find(l, path) || view_exists(l->view, path) || made_dir(l, path);
}

struct err *layer_read(struct torch_layer *l, struct arena *a, struct str path, struct str *ret)
{
	const struct torch_output *o = layer_find(l, path);
	if (!o)
		return view_read(l->view, a, path, ret);
	*ret = o->text;
	return NULL;
}

void layer_mkdirs(struct torch_layer *l, struct str dir)
{
	while (!fs_exists(dir) && !map_get(&l->dirs, real_dir(l, dir))) {
		map_put(&l->dirs, real_dir(l, dir), l);
		dir = py_dirname(dir);
	}
}

/* The path to write at: where a link leads, named from the root as all others. */
static struct str target(const struct torch_layer *l, struct str path, struct str real)
{
	struct str name = py_basename(path);
	if (str_eq(py_basename(real), name) && !fs_is_link(path))
		return path;
	struct str inside = str_fmt(l->a, "%.*s/", STR(l->real_root));
	if (!str_starts(real, inside))
		return real;
	return py_join(l->a, l->view->root, str_sub(real, inside.n, real.n));
}

struct torch_output layer_write(struct torch_layer *l, struct torch_output o)
{
	struct str real = layer_real(l, o.path);
	struct torch_output *old = map_get(&l->outputs, real), before = {0};
	if (!old) {
		old = NEW(l->a, struct torch_output);
		map_put(&l->outputs, real, old);
	} else {
		before = *old;
	}
	*old = (struct torch_output){.path = target(l, o.path, real), .source = o.source};
	old->text = str_dup(l->a, o.text);
	return before;
}

/* Keeps the outputs of a run in memory; see project.h. */
#include "hipify/torch/run/project.h"

#include "base/fs.h"
#include "lang/python/text.h"

struct torch_disk_path {
	struct str real; /* .p NULL: not determined yet */
	bool there;
};

void layer_open(struct torch_layer *l, struct arena *a, const struct view *view)
{
	*l = (struct torch_layer){.a = a, .view = view, .disk = NEW(a, struct map)};
	l->outputs.a = l->dirs.a = l->disk->a = a;
	if (!fs_real(a, view->root, &l->real_root))
		l->real_root = view->root;
}

void layer_open_above(struct torch_layer *l, struct arena *a, const struct torch_layer *below)
{
	*l = *below;
	l->below = below;
	l->outputs = l->dirs = (struct map){.a = a};
}

/* ---- the disk ---- */

/* The real path of a folder; a missing one will be created below its nearest existing ancestor. The view
 * is not asked, because the folders that results go to are no input of a run. */
static struct str real_folder(struct torch_layer *l, struct str dir)
{
	struct str real;
	if (fs_real(l->a, dir, &real))
		return real;
	return py_join(l->a, real_folder(l, py_dirname(dir)), py_basename(dir));
}

static struct str find_real(struct torch_layer *l, struct str path)
{
	ARENA(tmp);
	struct str real, to, dir;
	struct err *e = fs_readlink(&tmp, path, &to);
	err_free(e);
	if (!e && fs_real(l->a, path, &real))
		return real;
	to = e ? path : py_join(&tmp, py_dirname(path), to);
	if (!e && fs_real(&tmp, py_dirname(to), &dir)) /* writing would create the link's target */
		path = py_join(l->a, dir, py_basename(to));
	return py_join(l->a, real_folder(l, py_dirname(path)), py_basename(path));
}

/* The path under which a link's target is read and written. Inside the root it is named from the view's
 * root, like all paths that the view records. */
static struct str target(struct torch_layer *l, struct str path, struct str real)
{
	struct str name = py_basename(path);
	if (str_eq(py_basename(real), name) && !fs_is_link(path))
		return path;
	struct str inside = str_fmt(l->a, "%.*s/", STR(l->real_root));
	if (!str_starts(real, inside))
		return real;
	return py_join(l->a, l->view->root, str_sub(real, inside.n, real.n));
}

static struct torch_disk_path *look(struct torch_layer *l, struct str path)
{
	struct torch_disk_path *d = map_get(l->disk, path);
	if (d)
		return d;
	d = NEW(l->a, struct torch_disk_path);
	d->there = view_exists(l->view, path);
	if (d->there && fs_is_link(path)) {
		d->real = find_real(l, path);
		d->there = view_exists(l->view, target(l, path, d->real));
	}
	map_put(l->disk, str_dup(l->a, path), d);
	return d;
}

struct str layer_real(struct torch_layer *l, struct str path)
{
	struct torch_disk_path *d = look(l, path);
	if (!d->real.p)
		d->real = find_real(l, path);
	return d->real;
}

/* ---- outputs ---- */

struct torch_output *layer_find(struct torch_layer *l, struct str path)
{
	struct torch_output *o = NULL;
	for (const struct torch_layer *i = l; i && !o; i = i->below)
		o = i->outputs.n ? map_get(&i->outputs, layer_real(l, path)) : NULL;
	return o;
}

bool layer_exists(struct torch_layer *l, struct str path)
{
	if (memchr(path.p, 0, path.n))
		return false;
	if (look(l, path)->there || layer_find(l, path))
		return true;
	for (const struct torch_layer *i = l; i; i = i->below)
		if (i->dirs.n && map_get(&i->dirs, layer_real(l, path)))
			return true;
	return false;
}

struct err *layer_read(struct torch_layer *l, struct arena *a, struct str path, struct str *ret)
{
	const struct torch_output *o = layer_find(l, path);
	if (o) {
		*ret = o->text;
		return NULL;
	}
	struct str at = target(l, path, find_real(l, path));
	bool inside = fs_exists(path) && !view_leads_out(l->view, path);
	return view_read(l->view, a, inside ? at : path, ret);
}

bool layer_has_text(struct torch_layer *l, struct str path, struct str text)
{
	ARENA(tmp);
	struct str old;
	if (!layer_exists(l, path))
		return false;
	struct err *e = layer_read(l, &tmp, path, &old);
	if (!e)
		e = py_decode(&tmp, old, &old);
	bool same = !e && str_eq(old, text);
	err_free(e);
	return same;
}

void layer_mkdirs(struct torch_layer *l, struct str dir)
{
	struct str real;
	while (!fs_real(l->a, dir, &real) && map_put(&l->dirs, real_folder(l, dir), l))
		dir = py_dirname(dir);
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
	*old = o;
	old->path = target(l, o.path, real);
	return before;
}

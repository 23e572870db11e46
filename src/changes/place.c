/* Finds the path of an output. Nothing is written through a link that leads out of the tree; a link inside the
 * tree is followed, as writing into the file would do. */
#include <errno.h>

#include "base/fs.h"
#include "changes/apply_int.h"

struct parent_folder {
	struct str real; /* relative to base, free of links */
	bool is_new;     /* it does not exist yet */
	const char *why; /* the reason why it cannot be used, or NULL */
};

/* Makes a link-free path relative to dir; .p is NULL if it is outside. */
static struct str path_inside(struct arena *a, struct str path, struct str dir)
{
	struct str real = dir;
	(void)fs_real(a, dir, &real);
	struct str rel = path_rel(a, path, real);
	return path_is_inside(rel) || str_eq(rel, S(".")) ? rel : (struct str){0};
}

/* Finds where a folder of outputs leads; a missing one is scheduled for creation if its parent is good. */
static struct parent_folder *find_parent(struct apply *p, struct str dir)
{
	struct parent_folder *f = map_get(&p->parents, dir);
	if (f)
		return f;
	f = NEW(p->a, struct parent_folder);
	*f = (struct parent_folder){.real = S(".")};
	map_put(&p->parents, str_dup(p->a, dir), f);
	if (str_eq(dir, S(".")))
		return f;
	const struct parent_folder *up = find_parent(p, path_dir(dir));
	struct str path = path_join(p->a, p->s->base, dir), real;
	struct stat st;
	/* the common case: a real folder whose parent was reached without links */
	if (!up->why && !up->is_new && str_eq(up->real, path_dir(dir)) && fs_try_lstat(path, &st) &&
		S_ISDIR(st.st_mode)) {
		f->real = str_dup(p->a, dir);
		return f;
	}
	if (!up->is_new && fs_real(p->a, path, &real)) {
		f->real = path_inside(p->a, real, p->s->base);
		f->why = f->real.p ? NULL : "leads out of the folder";
		return f;
	}
	if (!up->is_new && (errno == ELOOP || errno == EACCES)) {
		*f = (struct parent_folder){.why = strerror(errno)};
		return f;
	}
	*f = *up;
	if (up->why)
		return f;
	bool top = str_eq(up->real, S("."));
	f->real = top ? path_base(dir) : path_join(p->a, up->real, path_base(dir));
	f->is_new = true;
	if (map_put(&p->wanted, f->real, p))
		strs_add(p->a, &p->dirs, f->real);
	return f;
}

/* Schedules the missing folders of an output above the tree. */
static void missing_outside(struct apply *p, struct str dir)
{
	if (str_eq(path_base(dir), S("..")) || fs_is_dir(base_path(p->a, p->s->base, dir)) ||
		!map_put(&p->wanted, dir, p))
		return;
	missing_outside(p, path_dir(dir));
	strs_add(p->a, &p->dirs, dir);
}

static struct err *bad_parent(
	const struct apply *p, struct str output, const struct parent_folder *up)
{
	return err_new(p->s->request->failure, "the folder of '%.*s/%.*s' cannot be used: %s",
		STR(p->s->base), STR(output), up->why);
}

struct err *place_dir(struct apply *p, struct str dir)
{
	const struct parent_folder *up = find_parent(p, dir);
	map_put(&p->wanted, up->real, p);
	return up->why ? bad_parent(p, dir, up) : NULL;
}

struct err *place_as_is(struct apply *p, struct str output, struct put *ret)
{
	const struct parent_folder *up = find_parent(p, path_dir(output));
	ret->made.output = output;
	if (up->why)
		return bad_parent(p, output, up);
	if (!str_eq(up->real, path_dir(output)))
		ret->made.output = path_join(
			p->a, str_eq(up->real, S(".")) ? S("") : up->real, path_base(output));
	ret->path = path_join(p->a, p->s->base, ret->made.output);
	for (struct str dir = path_dir(ret->made.output);
		!str_eq(dir, S(".")) && map_put(&p->wanted, dir, p);)
		dir = path_dir(dir);
	return NULL;
}

struct err *place_find(struct apply *p, struct str output, struct put *ret)
{
	ret->made.output = output = path_clean(p->a, output);
	if (!path_is_inside(output)) {
		/* in place, an output may lie beside a source outside the project (torch's hipify does that);
		 * an overlay has no path for it */
		ret->path = base_path(p->a, p->s->base, output);
		if (!p->s->request->in_place || output.p[0] == '/')
			return err_hint(
				err_new(p->s->request->failure, "'%.*s' lies outside of '%.*s'",
					STR(ret->path), STR(p->s->root)),
				"translate with --in-place, or give a folder that holds it");
		missing_outside(p, path_dir(output));
		return NULL;
	}
	struct str real, path = path_join(p->a, p->s->root, output);
	if (fs_is_link(path)) { /* its target, which must lie inside the tree, stands for it */
		if (!fs_real(p->a, path, &real))
			return err_new(p->s->request->failure,
				"'%.*s' is a link that leads nowhere", STR(path));
		output = path_inside(p->a, real, p->s->root);
		if (!output.p)
			return err_new(p->s->request->failure,
				"'%.*s' is a link that leads out of '%.*s', to '%.*s'", STR(path),
				STR(p->s->root), STR(real));
	}
	/* a journal's folder is reserved, except its overlay/, which holds files for builds */
	struct str rest = str_sub(output, str_chr(output, '/'), output.n);
	if (str_starts(output, S(".rocsmith")) && !str_starts(rest, S("/overlay/")))
		return err_new(
			p->s->request->failure, "'%.*s' is in rocsmith's own folder", STR(output));
	return place_as_is(p, output, ret);
}

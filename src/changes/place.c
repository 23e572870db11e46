/* Where an output goes. Nothing is written through a link that leads out of the tree, and a link
 * inside it is followed, as writing into the file would do. */
#include <errno.h>
#include <string.h>

#include "base/fs.h"
#include "changes/apply_int.h"

struct parent {
	struct str real; /* relative to base, free of links */
	bool good;
	bool is_new;     /* it is not there yet */
	const char *why; /* not good */
};

/* path, which is free of links, as seen from dir; .p NULL when it is outside. */
static struct str inside(struct arena *a, struct str path, struct str dir)
{
	struct str real = dir;
	(void)fs_real(a, dir, &real);
	struct str rel = path_rel(a, path, real);
	return path_is_inside(rel) || str_eq(rel, S(".")) ? rel : (struct str){0};
}

static struct parent *find_parent(struct apply *p, struct str dir);

/* A folder that is not there is made, in a parent that is good. */
static void missing(struct apply *p, struct str dir, struct parent *ret)
{
	const struct parent *up = find_parent(p, path_dir(dir));
	*ret = *up;
	if (!up->good)
		return;
	bool top = str_eq(up->real, S("."));
	ret->real = top ? path_base(dir) : path_join(p->a, up->real, path_base(dir));
	ret->is_new = true;
	if (map_put(&p->wanted, ret->real, p))
		strs_add(p->a, &p->dirs, ret->real);
}

/* A folder in one that is reached without links, and no link itself: nearly all are. */
static bool is_plain(struct apply *p, struct str dir, const struct parent *up)
{
	struct stat st;
	return up->good && !up->is_new && str_eq(up->real, path_dir(dir)) &&
	       fs_try_lstat(path_join(p->a, p->s->base, dir), &st) && S_ISDIR(st.st_mode);
}

static void look_at(struct apply *p, struct str dir, struct parent *ret)
{
	const struct parent *up = find_parent(p, path_dir(dir));
	struct str real = {0};
	if (is_plain(p, dir, up)) {
		ret->real = str_dup(p->a, dir);
		return;
	}
	if (!up->is_new)
		(void)fs_real(p->a, path_join(p->a, p->s->base, dir), &real);
	if (real.p)
		ret->real = inside(p->a, real, p->s->base);
	ret->good = !real.p || ret->real.p;
	ret->why = "leads out of the folder";
	if (!real.p && !up->is_new && (errno == ELOOP || errno == EACCES))
		*ret = (struct parent){.why = strerror(errno)};
	else if (!real.p)
		missing(p, dir, ret);
}

static struct parent *find_parent(struct apply *p, struct str dir)
{
	struct parent *known = map_get(&p->parents, dir);
	if (known)
		return known;
	known = NEW(p->a, struct parent);
	*known = (struct parent){.real = S("."), .good = true};
	if (!str_eq(dir, S(".")))
		look_at(p, dir, known);
	map_put(&p->parents, str_dup(p->a, dir), known);
	return known;
}

/* All folders above an output are needed. */
static void want(struct apply *p, struct str output)
{
	struct str dir = path_dir(output);
	while (!str_eq(dir, S(".")) && map_put(&p->wanted, dir, p))
		dir = path_dir(dir);
}

/* Where the link at output leads, when that is a file of the tree. */
static struct err *follow(struct apply *p, struct str *output)
{
	struct str path = path_join(p->a, p->s->root, *output), target = {0}, real;
	if (!fs_real(p->a, path, &real))
		return err_new(
			p->s->request->failure, "'%.*s' is a link that leads nowhere", STR(path));
	target = inside(p->a, real, p->s->root);
	if (!target.p)
		return err_new(p->s->request->failure,
			"'%.*s' is a link that leads out of '%.*s', to '%.*s'", STR(path),
			STR(p->s->root), STR(real));
	*output = target;
	return NULL;
}

/* Folders above the tree that are needed and not there. */
static void missing_outside(struct apply *p, struct str dir)
{
	if (str_eq(path_base(dir), S("..")) || fs_is_dir(base_path(p->a, p->s->base, dir)) ||
		!map_put(&p->wanted, dir, p))
		return;
	missing_outside(p, path_dir(dir));
	strs_add(p->a, &p->dirs, dir);
}

/* The original writes beside a source that is outside of the project; an overlay cannot. */
static struct err *outside(struct apply *p, struct str output, struct put *ret)
{
	ret->made.output = output;
	ret->path = base_path(p->a, p->s->base, output);
	if (!p->s->request->in_place || output.p[0] == '/')
		return err_hint(err_new(p->s->request->failure, "'%.*s' lies outside of '%.*s'",
					STR(ret->path), STR(p->s->root)),
			"translate with --in-place, or give a folder that holds it");
	missing_outside(p, path_dir(output));
	return NULL;
}

static struct err *bad_parent(const struct apply *p, struct str output, const struct parent *up)
{
	return err_new(p->s->request->failure, "the folder of '%.*s/%.*s' cannot be used: %s",
		STR(p->s->base), STR(output), up->why);
}

struct err *place_dir(struct apply *p, struct str dir)
{
	const struct parent *up = find_parent(p, dir);
	map_put(&p->wanted, up->real, p);
	return up->good ? NULL : bad_parent(p, dir, up);
}

struct err *place_as_is(struct apply *p, struct str output, struct put *ret)
{
	const struct parent *up = find_parent(p, path_dir(output));
	ret->made.output = output;
	if (!up->good)
		return bad_parent(p, output, up);
	if (!str_eq(up->real, path_dir(output)))
		ret->made.output = path_join(
			p->a, str_eq(up->real, S(".")) ? S("") : up->real, path_base(output));
	ret->path = path_join(p->a, p->s->base, ret->made.output);
	want(p, ret->made.output);
	return NULL;
}

/* In a journal's folder; what only a build sees may be put beside the journal. */
static bool is_ours(struct str output)
{
	struct str rest = str_sub(output, str_chr(output, '/'), output.n);
	return str_starts(output, S(".rocsmith")) && !str_starts(rest, S("/overlay/"));
}

struct err *place_find(struct apply *p, struct str output, bool link, struct put *ret)
{
	ret->made.output = output = path_clean(p->a, output);
	if (!path_is_inside(output))
		return outside(p, output, ret);
	if (link)
		TRY(follow(p, &output));
	if (is_ours(output))
		return err_new(
			p->s->request->failure, "'%.*s' is in rocsmith's own folder", STR(output));
	return place_as_is(p, output, ret);
}

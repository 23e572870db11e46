/* A view of the plain disk, for tests of what reads through one. */
#pragma once

#include "hipify/view.h"

struct err *view_read(
	const struct hipify_view *v, struct arena *a, struct str path, struct str *ret)
{
	(void)v;
	return fs_read(a, path, 256 << 20, ret);
}

bool view_exists(struct hipify_view *v, struct str path)
{
	(void)v;
	return fs_exists(path);
}

bool view_hides(const struct hipify_view *v, struct str path)
{
	(void)v;
	return str_ends(path, S(".ours"));
}

void view_note_dir(struct hipify_view *v, struct str path, const struct stat *st)
{
	(void)st;
	map_put(&v->dirs, str_dup(v->a, path), v);
}

/* Paths as text; nothing but the current folder is looked up. See fs.h. */
#include <stdlib.h>
#include <unistd.h>

#include "base/fs.h"

struct str path_join(struct arena *a, struct str dir, struct str name)
{
	if (!dir.n || (name.n && name.p[0] == '/'))
		return str_dup(a, name);
	if (!name.n)
		return str_dup(a, dir);
	bool slash = dir.p[dir.n - 1] == '/';
	size_t n = dir.n + !slash;
	char *p = arena_alloc(a, n + name.n + 1);
	memcpy(p, dir.p, dir.n);
	p[n - 1] = '/';
	memcpy(p + n, name.p, name.n);
	return (struct str){p, n + name.n};
}

struct str path_dir(struct str path)
{
	size_t at = str_rchr(path, '/');
	if (at == path.n)
		return S(".");
	return str_sub(path, 0, at ? at : 1);
}

struct str path_base(struct str path)
{
	size_t at = str_rchr(path, '/');
	return at == path.n ? path : str_sub(path, at + 1, path.n);
}

struct str path_ext(struct str path)
{
	struct str base = path_base(path);
	size_t at = str_rchr(base, '.');
	return at == 0 ? S("") : str_sub(base, at, base.n);
}

struct str path_library(struct str path, struct str *ret_version)
{
	struct str name = path_base(path);
	size_t end = str_find(name, S(".so")), hash = 0;
	*ret_version = str_sub(name, end + 4, name.n);
	if (end == name.n || (end + 3 < name.n && name.p[end + 3] != '.'))
		return S("");
	while (hash < 8 && hash < end && strchr("0123456789abcdef", name.p[end - hash - 1]))
		hash++;
	return str_sub(name, 0, hash == 8 && hash < end && name.p[end - 9] == '-' ? end - 9 : end);
}

struct str path_clean(struct arena *a, struct str path)
{
	bool abs = path.n && path.p[0] == '/';
	struct strs parts = {0};
	struct str piece, rest = path;
	while (str_next(&rest, '/', &piece)) {
		bool up = str_eq(piece, S(".."));
		if (!piece.n || str_eq(piece, S(".")))
			continue;
		if (up && parts.n && !str_eq(parts.v[parts.n - 1], S("..")))
			parts.n--;
		else if (!up || !abs)
			strs_add(a, &parts, piece);
	}
	struct str text = str_join(a, &parts, S("/"));
	if (abs)
		return str_fmt(a, "/%.*s", STR(text));
	return text.n ? text : str_dup(a, S("."));
}

struct str path_abs(struct arena *a, struct str path)
{
	if (path.n && path.p[0] == '/')
		return path_clean(a, path);
	/* a removed current folder has no path; this one does not exist either */
	char *cwd = getcwd(NULL, 0);
	struct str full = path_join(a, str_from(cwd ? cwd : "/proc/self/cwd"), path);
	free(cwd);
	return path_clean(a, full);
}

/* The names in a path; unlike str_split() it keeps their white space. */
static struct strs parts_of(struct arena *a, struct str path)
{
	struct strs parts = {0};
	struct str piece;
	while (str_next(&path, '/', &piece))
		if (piece.n)
			strs_add(a, &parts, piece);
	return parts;
}

struct str path_rel(struct arena *a, struct str path, struct str base)
{
	struct strs p = parts_of(a, path), b = parts_of(a, base);
	size_t same = 0;
	while (same < p.n && same < b.n && str_eq(p.v[same], b.v[same]))
		same++;
	struct strs out = {0};
	for (size_t i = same; i < b.n; i++)
		strs_add(a, &out, S(".."));
	for (size_t i = same; i < p.n; i++)
		strs_add(a, &out, p.v[i]);
	return out.n ? str_join(a, &out, S("/")) : S(".");
}

bool path_is_below(struct str path, struct str dir)
{
	return str_starts(path, dir) && (path.n == dir.n || path.p[dir.n] == '/');
}

bool path_is_inside(struct str rel)
{
	if (!rel.n || rel.p[0] == '/' || str_chr(rel, '\0') < rel.n)
		return false;
	size_t depth = 0;
	struct str piece;
	while (str_next(&rel, '/', &piece)) {
		if (str_eq(piece, S("..")) && depth-- == 0)
			return false;
		if (piece.n && !str_eq(piece, S(".")) && !str_eq(piece, S("..")))
			depth++;
	}
	return true;
}

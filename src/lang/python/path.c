/* Python's path arithmetic; see path.h. */
#include "lang/python/path.h"

#include "lang/python/text.h"

struct str py_join(struct arena *a, struct str dir, struct str name)
{
	if (str_starts(name, S("/")))
		return name;
	bool slash = dir.n && dir.p[dir.n - 1] != '/';
	return py_concat(a, dir, slash ? S("/") : S(""), name);
}

/* The components of a path, without "." and empty ones; with `up`, ".." removes its predecessor. */
static struct strs components(struct arena *a, struct str path, bool up)
{
	struct strs list = {0};
	struct str part;
	while (str_next(&path, '/', &part)) {
		if (!part.n || str_eq(part, S(".")))
			continue;
		if (!up || !str_eq(part, S("..")))
			strs_add(a, &list, part);
		else if (list.n)
			list.n--;
	}
	return list;
}

/* Normalises a path. `up` resolves ".."; the path must be absolute then. */
static struct str normal(struct arena *a, struct str path, bool up)
{
	ARENA(tmp);
	/* POSIX leaves the meaning of exactly two leading slashes open, so they stay; three or more are one. */
	bool two = str_starts(path, S("//")) && !str_starts(path, S("///"));
	struct str root = two ? S("//") : str_starts(path, S("/")) ? S("/") : S("");
	struct strs list = components(&tmp, path, up);
	if (!root.n && !list.n)
		return S(".");
	return py_concat(a, root, str_join(&tmp, &list, S("/")), S(""));
}

struct str py_pathlib(struct arena *a, struct str path)
{
	return normal(a, path, false);
}

struct str py_abspath(struct arena *a, struct str path, struct str cwd)
{
	ARENA(tmp);
	return normal(a, py_join(&tmp, cwd, path), true);
}

struct str py_relpath(struct arena *a, struct str path, struct str start, struct str cwd)
{
	ARENA(tmp);
	struct strs to = components(&tmp, py_join(&tmp, cwd, path), true), rel = {0};
	struct strs from = components(&tmp, py_join(&tmp, cwd, start), true);
	size_t same = 0;
	while (same < to.n && same < from.n && str_eq(to.v[same], from.v[same]))
		same++;
	for (size_t i = same; i < from.n; i++)
		strs_add(&tmp, &rel, S(".."));
	for (size_t i = same; i < to.n; i++)
		strs_add(&tmp, &rel, to.v[i]);
	return rel.n ? str_join(a, &rel, S("/")) : S(".");
}

struct str py_basename(struct str path)
{
	size_t slash = str_rchr(path, '/');
	return slash < path.n ? str_sub(path, slash + 1, path.n) : path;
}

struct str py_dirname(struct str path)
{
	size_t slash = str_rchr(path, '/');
	struct str head = slash < path.n ? str_sub(path, 0, slash + 1) : S("");
	size_t n = head.n;
	while (n && head.p[n - 1] == '/')
		n--;
	return n ? str_sub(head, 0, n) : head;
}

struct str py_ext(struct str path)
{
	struct str name = py_basename(path);
	size_t dot = str_rchr(name, '.');
	for (size_t i = 0; i < dot && dot < name.n; i++)
		if (name.p[i] != '.')
			return str_sub(name, dot, name.n);
	return S("");
}

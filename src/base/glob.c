/* Glob patterns; see glob.h. Matching backtracks to the last star only, so it is quadratic at worst; a walk starts at
 * the deepest folder that the pattern names without a wildcard. fnmatch(3) matches the names between two slashes. */
#include "base/glob.h"

#include <fnmatch.h>

#include "base/fs.h"

/* The length of the text up to its first wildcard. */
static size_t plain_length(struct str text)
{
	return str_until(text, "*?[");
}

bool glob_is_pattern(struct str text)
{
	return plain_length(text) < text.n;
}

/* The names in a path, as texts for fnmatch(). */
static struct strs names_of(struct arena *a, struct str path)
{
	struct strs names = str_split(a, path, '/');
	for (size_t i = 0; i < names.n; i++)
		names.v[i] = str_dup(a, names.v[i]);
	return names;
}

bool glob_match(struct str pattern, struct str path)
{
	ARENA(tmp);
	const int how = FNM_NOESCAPE | FNM_PERIOD;
	struct strs p = names_of(&tmp, pattern), s = names_of(&tmp, path);
	size_t i = 0, j = 0, star = SIZE_MAX, mark = 0;
	while (j < s.n) {
		if (i < p.n && str_eq(p.v[i], S("**"))) {
			star = i++;
			mark = j;
		} else if (i < p.n && fnmatch(p.v[i].p, s.v[j].p, how) == 0) {
			i++;
			j++;
		} else if (star != SIZE_MAX && !str_starts(s.v[mark], S("."))) {
			i = star + 1;
			j = ++mark;
		} else {
			return false;
		}
	}
	while (i < p.n && str_eq(p.v[i], S("**")))
		i++;
	return i == p.n;
}

bool glob_match_any(const char *const *patterns, struct str path)
{
	while (*patterns && !glob_match(str_from(*patterns), path))
		patterns++;
	return *patterns;
}

struct glob_walk {
	struct arena *a;
	struct str base, dir, pattern;
	size_t depth; /* no path that matches has more folders */
	struct strs *out;
};

/* A virtual environment, or a folder of a tool, has no sources of the project. A hidden folder is searched only if the
 * pattern names a hidden name. */
static struct err *visit(void *user, struct fs_entry *e)
{
	ARENA(tmp);
	struct glob_walk *w = user;
	struct str name = path_base(e->path), full = path_join(&tmp, w->dir, e->path);
	struct str path = w->base.n ? path_join(&tmp, w->base, e->path) : e->path;
	struct stat st = e->st;
	if (S_ISDIR(st.st_mode)) {
		bool hidden = str_contains(w->pattern, S("/.")) || str_starts(w->pattern, S("."));
		e->prune = str_eq(name, S("__pycache__")) || str_eq(name, S("node_modules")) ||
			   fs_exists(path_join(&tmp, full, S("pyvenv.cfg"))) ||
			   (str_starts(name, S(".")) && !hidden) ||
			   str_count(path, '/') >= w->depth;
		return NULL;
	}
	if (S_ISLNK(st.st_mode) && !fs_try_stat(full, &st))
		return NULL;
	if (S_ISREG(st.st_mode) && glob_match(w->pattern, path))
		strs_add(w->a, w->out, str_dup(w->a, path));
	return NULL;
}

struct err *glob_files(struct arena *a, struct str dir, struct str pattern, struct strs *ret)
{
	*ret = (struct strs){0};
	pattern = path_clean(a, pattern);
	if (!glob_is_pattern(pattern)) {
		struct str path = path_join(a, dir, pattern);
		if (fs_exists(path) && !fs_is_dir(path))
			strs_add(a, ret, pattern);
		return NULL;
	}
	/* the leading folders, up to the first wildcard: "src/ext" for "src/ext/(star).cu" */
	struct str plain = str_sub(pattern, 0, plain_length(pattern));
	size_t base = str_rchr(plain, '/');
	base = base < plain.n ? base : 0;
	struct glob_walk w = {
		.a = a, .base = str_sub(pattern, 0, base), .pattern = pattern, .out = ret};
	w.depth = str_contains(pattern, S("**")) ? SIZE_MAX : str_count(pattern, '/');
	w.dir = base ? path_join(a, dir, w.base) : dir;
	if (!fs_is_dir(w.dir))
		return NULL;
	TRY(fs_walk(w.dir, visit, &w));
	strs_sort(ret);
	return NULL;
}

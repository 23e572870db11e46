/* Glob patterns; see glob.h. Matching backtracks to the last star only, so it is quadratic at worst; a walk starts at
 * the deepest folder that the pattern names without a wildcard. */
#include "base/glob.h"

#include "base/fs.h"
#include "base/vec.h"

bool glob_is_pattern(struct str text)
{
	for (size_t i = 0; i < text.n; i++)
		if (text.p[i] == '*' || text.p[i] == '?' || text.p[i] == '[')
			return true;
	return false;
}

/* Matches [a-z] or [!a-z]. *n is the length of the set in the pattern, 0 when it is not closed. */
static bool set_match(struct str p, char c, size_t *n)
{
	size_t i = 1;
	bool negate = i < p.n && (p.p[i] == '!' || p.p[i] == '^');
	i += negate;
	bool hit = false;
	for (size_t first = i; i < p.n && (p.p[i] != ']' || i == first); i++) {
		if (i + 2 < p.n && p.p[i + 1] == '-' && p.p[i + 2] != ']') {
			hit |= c >= p.p[i] && c <= p.p[i + 2];
			i += 2;
		} else {
			hit |= c == p.p[i];
		}
	}
	*n = i < p.n ? i + 1 : 0;
	return hit != negate;
}

/* Matches one segment; neither side has a "/". */
static bool segment_match(struct str p, struct str s)
{
	size_t i = 0, j = 0, star = SIZE_MAX, mark = 0;
	while (j < s.n) {
		size_t set = 0;
		if (i < p.n && p.p[i] == '*') {
			star = i++;
			mark = j;
		} else if (i < p.n && p.p[i] == '[' &&
			   set_match(str_sub(p, i, p.n), s.p[j], &set) && set) {
			i += set;
			j++;
		} else if (i < p.n && !(p.p[i] == '[' && set) &&
			   (p.p[i] == '?' || p.p[i] == s.p[j])) {
			i++;
			j++;
		} else if (star != SIZE_MAX) {
			i = star + 1;
			j = ++mark;
		} else {
			return false;
		}
	}
	while (i < p.n && p.p[i] == '*')
		i++;
	return i == p.n;
}

static bool parts_match(struct strs p, struct strs s)
{
	size_t i = 0, j = 0, star = SIZE_MAX, mark = 0;
	while (j < s.n) {
		if (i < p.n && str_eq(p.v[i], S("**"))) {
			star = i++;
			mark = j;
		} else if (i < p.n && segment_match(p.v[i], s.v[j]) &&
			   (!str_starts(s.v[j], S(".")) || str_starts(p.v[i], S(".")))) {
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

bool glob_match(struct str pattern, struct str path)
{
	ARENA(tmp);
	return parts_match(str_split(&tmp, pattern, '/'), str_split(&tmp, path, '/'));
}

struct glob_walk {
	struct arena *a;
	struct str base, dir, pattern;
	struct strs *out;
};

/* Is it a folder without sources of the project? A hidden folder is searched if the pattern names a hidden name. */
static bool is_foreign(const struct glob_walk *w, struct str path)
{
	ARENA(tmp);
	struct str name = path_base(path);
	if (str_eq(name, S("__pycache__")) || str_eq(name, S("node_modules")))
		return true;
	struct str dir = path_join(&tmp, w->dir, path);
	return fs_exists(path_join(&tmp, dir, S("pyvenv.cfg"))) ||
	       (str_starts(name, S(".")) && !str_contains(w->pattern, S("/.")) &&
		       !str_starts(w->pattern, S(".")));
}

static struct err *visit(void *user, const struct fs_entry *e, bool *prune)
{
	struct glob_walk *w = user;
	if (S_ISDIR(e->st.st_mode)) {
		*prune = is_foreign(w, e->path);
		return NULL;
	}
	struct stat st = e->st;
	ARENA(tmp);
	if (S_ISLNK(st.st_mode) && !fs_try_stat(path_join(&tmp, w->dir, e->path), &st))
		return NULL;
	struct str path = w->base.n ? path_join(&tmp, w->base, e->path) : e->path;
	if (S_ISREG(st.st_mode) && glob_match(w->pattern, path))
		strs_add(w->a, w->out, str_dup(w->a, path));
	return NULL;
}

/* The leading folders of a pattern, up to the first wildcard: "src/ext" for "src/ext/(star).cu". */
static struct str literal_base(struct str pattern)
{
	size_t end = 0;
	for (size_t i = 0; i < pattern.n; i++) {
		if (pattern.p[i] != '/')
			continue;
		if (glob_is_pattern(str_sub(pattern, end, i)))
			break;
		end = i;
	}
	return str_sub(pattern, 0, end);
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
	struct glob_walk w = {
		.a = a, .base = literal_base(pattern), .pattern = pattern, .out = ret};
	w.dir = w.base.n ? path_join(a, dir, w.base) : dir;
	if (!fs_is_dir(w.dir))
		return NULL;
	TRY(fs_walk(w.dir, visit, &w));
	strs_sort(ret);
	return NULL;
}

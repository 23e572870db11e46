/* Which files of DIR a run of hipify takes: the sources that were named, without those excluded.
 * Paths are looked up in DIR first, as setup.py that runs in DIR sees them, then in the current
 * folder.
 */
#include "cli/cmd_hipify.h"

#include "base/fs.h"

/* Where a path that the user gave lies: DIR first, then the current folder; "" = nowhere. */
static struct str find(struct arena *a, struct str dir, struct str path)
{
	struct str inside = path_join(a, dir, path);
	if (fs_present(inside))
		return path_abs(a, inside);
	return fs_present(path) ? path_abs(a, path) : S("");
}

static struct err *one_source(struct hipify_job *job, struct str given)
{
	struct arena *a = job->a;
	struct hipify_options *o = &job->o;
	struct str path = find(a, o->dir, given);
	if (!path.n)
		return err_new(E_NOENT, "no source '%.*s' in '%.*s' or the current folder",
			STR(given), STR(o->dir));
	if (fs_is_dir(path))
		return err_hint(err_new(E_USAGE, "the source '%.*s' is a folder", STR(given)),
			"name its files, or leave SOURCE out to take all that match");
	struct str rel = path_rel(a, path, path_abs(a, o->dir));
	if (o->mode == HIPIFY_STANDALONE && !path_is_inside(rel))
		return err_hint(err_new(E_USAGE, "the source '%.*s' is outside of '%.*s'",
					STR(given), STR(o->dir)),
			"give the folder that holds both");
	if (o->mode == HIPIFY_STANDALONE)
		strs_add(a, &o->only, rel);
	else if (!strs_has(&o->sources, path))
		strs_add(a, &o->sources, path);
	return NULL;
}

static bool is_excluded(struct arena *a, const struct strs *exclude, struct str rel)
{
	struct str part;
	VEC_EACH (const struct str, x, exclude) {
		if (str_eq(rel, *x) || str_starts(rel, str_fmt(a, "%.*s/", STR(*x))))
			return true;
		for (struct str rest = rel; str_next(&rest, '/', &part);)
			if (str_eq(part, *x))
				return true;
	}
	return false;
}

/* A SOURCE is translated whatever the patterns say, so those that are excluded go here. */
static struct err *drop_excluded(struct hipify_job *job)
{
	struct hipify_options *o = &job->o;
	struct str dir = path_abs(job->a, o->dir);
	size_t n = 0, given = o->sources.n;
	for (size_t i = 0; i < given; i++)
		if (!is_excluded(job->a, &o->exclude, path_rel(job->a, o->sources.v[i], dir)))
			o->sources.v[n++] = o->sources.v[i];
	o->sources.n = n;
	return given && !n ? err_new(E_USAGE, "every SOURCE is excluded") : NULL;
}

/* The engine of PyTorch knows patterns only. */
static void exclude_by_pattern(struct arena *a, struct hipify_options *o)
{
	struct strs given = o->ignore;
	o->ignore = (struct strs){0};
	VEC_EACH (const struct str, p, &given)
		strs_add(a, &o->ignore, *p);
	hipify_ignore_names(a, &o->exclude, &o->ignore);
}

struct err *hipify_choose_sources(struct hipify_job *job, const struct strs *described)
{
	const struct strs *given = job->args->sources.n ? &job->args->sources : described;
	const struct strs none = {0};
	struct hipify_options *o = &job->o;
	if (job->args->sources.n && !fs_is_dir(o->dir))
		return err_new(
			E_USAGE, "'%.*s' is a file: what follows it has no folder", STR(o->dir));
	if (o->mode == HIPIFY_TORCH)
		given = &none;
	VEC_EACH (const struct str, s, given)
		TRY(one_source(job, *s));
	o->keep = job->args->sources.n > 0 && o->mode == HIPIFY_STANDALONE;
	if (o->mode != HIPIFY_STANDALONE)
		exclude_by_pattern(job->a, o);
	return drop_excluded(job);
}

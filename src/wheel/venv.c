/* Lists the distributions of a virtual environment; see wheel.h. Sources: PEP 405 for the folders; the specification of
 * recording installed projects, by which the paths of RECORD are relative to site-packages. */
#include "base/fs.h"
#include "devcode/devcode.h"
#include "wheel/wheel.h"

enum { TEXT = 64 << 20, ROWS = 1 << 20 };

/* info: its dist-info folder, below the environment's. */
static struct err *read_dist(struct arena *a, struct str dir, struct str info,
	const struct map *files, struct venv_dists *ret)
{
	struct str text, site = path_dir(info);
	struct dist_record rows;
	struct venv_dist dist = {0};
	TRY(fs_read_below(a, dir, path_join(a, info, S("RECORD")), TEXT, &text));
	TRY(dist_record_parse(a, text, ROWS, &rows));
	VEC_EACH (const struct dist_row, e, &rows) {
		struct strs both = {0};
		const struct devcode_file *f =
			map_get(files, path_clean(a, path_join(a, site, e->path)));
		if (!f)
			continue;
		dist.files++;
		dist.size += f->size;
		VEC_EACH (const struct code_object, o, &f->objects)
			dist.stored += o->stored;
		if (f->side)
			continue;
		for (size_t i = 0; i < f->served.n; i++)
			if (!dist.asked || strs_has(&dist.served, f->served.v[i]))
				strs_add(a, &both, f->served.v[i]);
		dist.asked = true;
		dist.served = both;
	}
	if (dist.files && dist_stem_cut(info, &dist.name, &dist.version))
		*VEC_PUSH(a, ret) = dist;
	return NULL;
}

struct err *venv_dists(
	struct arena *a, struct str dir, const struct devcode *d, struct venv_dists *ret)
{
	struct strs sites = {0}, names = {0};
	struct str lib = path_join(a, dir, S("lib")), windows = S("Lib/site-packages");
	struct map files = {.a = a};
	if (fs_is_dir(path_join(a, dir, windows)))
		strs_add(a, &sites, windows);
	if (fs_is_dir(lib))
		TRY(fs_list(a, lib, &names));
	for (size_t i = 0; i < names.n; i++) {
		struct str site = str_fmt(a, "lib/%.*s/site-packages", STR(names.v[i]));
		if (str_starts(names.v[i], S("python")) && fs_is_dir(path_join(a, dir, site)))
			strs_add(a, &sites, site);
	}
	if (!sites.n)
		return err_hint(
			err_new(E_NOENT, "'%.*s' has no lib/pythonX/site-packages", STR(dir)),
			"--venv wants the folder of a virtual environment, which has a pyvenv.cfg");
	VEC_EACH (struct devcode_file, f, &d->files)
		map_put(&files, f->path, f);
	for (size_t i = 0; i < sites.n; i++) {
		struct str site = path_join(a, dir, sites.v[i]);
		TRY(fs_list(a, site, &names));
		for (size_t k = 0; k < names.n; k++)
			if (dist_stem(names.v[k]).n)
				err_free(read_dist(
					a, dir, path_join(a, sites.v[i], names.v[k]), &files, ret));
	}
	return NULL;
}

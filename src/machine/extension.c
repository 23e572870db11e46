/* Packages of a Python environment whose libraries link to torch's, and the ROCm libraries that they miss: an extension
 * is compiled for one torch and one ROCm. In each package only libraries directly in its folder are read; modules of a
 * single file are next to the folders. Source: torch.utils.cpp_extension of PyTorch (the libraries that it links),
 * setup.py of torchvision, torch-scatter, flash-attn. */
#include "machine/python.h"

enum { FOLDERS_MAX = 1000, FILES_MAX = 64 }; /* read in one environment */

struct extensions {
	struct python_env *e;
	struct strs dirs; /* folders that the loader searches for torch's libraries */
	unsigned folders, files;
};

static bool needs_one(const struct library *l, const char *const *names)
{
	VEC_EACH (const struct str, s, &l->needed)
		if (str_starts_one_of(*s, names))
			return true;
	return false;
}

static struct str major_of(struct str version)
{
	return str_sub(version, 0, str_chr(version, '.'));
}

/* Does torch's ROCm, or the package itself, have the ROCm library that `l` in the folder `dir` needs? */
static bool is_there(struct extensions *x, const struct library *l, struct str dir, struct str name)
{
	const struct machine_torch *t = &x->e->py->torch;
	struct root *r = x->e->r;
	const struct str hip = S("libamdhip64");
	struct str version;
	/* the HIP that torch needs; a torch that bundles ROCm names the files without numbers */
	struct str here = major_of(t->hip);
	VEC_EACH (const struct str, s, &t->needed)
		if (str_eq(path_library(*s, &version), hip) && version.n) {
			here = major_of(version);
			break;
		}
	if (str_eq(path_library(name, &version), hip) && version.n && here.n)
		return str_eq(major_of(version), here);
	struct str lib = path_join(r->a, str_sub(t->path, 1, t->path.n), S("lib"));
	struct str base = str_sub(name, 0, str_find(name, S(".so")) + 3);
	if (strs_has(&t->needed, name) || find_library(r, &x->dirs, name).n ||
		root_has_file(r, path_join(r->a, lib, base)))
		return true;
	struct strs own = search_dirs(x->e, dir, l, true);
	return find_library(r, &own, name).n > 0;
}

/* Reads a library of the package `name`, which is an extension if it needs torch. */
static void read_library(struct extensions *x, struct str name, struct str path)
{
	static const char *const torch[] = {"libtorch", "libc10", NULL},
				 *const cuda[] = {"libtorch_cuda", "libc10_cuda", NULL},
				 *const hip[] = {"libtorch_hip", "libc10_hip", "libamdhip64", NULL};
	struct machine_python *py = x->e->py;
	struct arena *a = x->e->r->a;
	struct machine_extension *found = NULL;
	struct library l;
	size_t mark = root_mark(x->e->r);
	if (++x->files > FILES_MAX || library_read(x->e->r, path, &l) != ROOT_OK ||
		!needs_one(&l, torch)) {
		root_forget(x->e->r, mark);
		return;
	}
	name = clean_text(a, name);
	found = VEC_FIND(struct machine_extension, &py->extensions, name, name);
	if (!found) {
		found = VEC_PUSH(a, &py->extensions);
		found->name = name;
		found->path = shown_path(a, path);
		found->build = S("cpu");
	}
	if (needs_one(&l, cuda))
		found->build = S("cuda");
	else if (needs_one(&l, hip) && !str_eq(found->build, S("cuda")))
		found->build = S("rocm");
	VEC_EACH (const struct str, s, &l.needed)
		if (is_rocm_library(*s) && !is_there(x, &l, path_dir(path), *s))
			strs_put(a, &found->missing, *s);
}

static void read_libraries(struct extensions *x, struct str name, struct str dir)
{
	struct strs files;
	if (++x->folders > FOLDERS_MAX)
		return;
	root_list(x->e->r, dir, &files);
	for (size_t i = 0; i < files.n && x->files < FILES_MAX; i++)
		if (str_ends(files.v[i], S(".so")))
			read_library(x, name, path_join(x->e->r->a, dir, files.v[i]));
}

/* Does an earlier folder of the search path have an entry of this name? */
static bool is_hidden(const struct python_env *e, size_t site, struct str name)
{
	for (size_t i = 0; i < site; i++)
		if (root_real(e->r, path_join(e->r->a, e->sites.v[i], name)).n)
			return true;
	return false;
}

/* likely: the entries whose names are typical of extensions, which are read first; the others, only in the active
 * environment, as that takes time. */
static void read_sites(struct extensions *x, bool likely)
{
	const struct machine_names *of = machine_names_table();
	struct python_env *e = x->e;
	struct strs names;
	for (size_t i = 0; i < e->sites.n; i++) {
		root_list(e->r, e->sites.v[i], &names);
		VEC_EACH (const struct str, entry, &names) {
			struct str path = path_join(e->r->a, e->sites.v[i], *entry);
			struct str name = str_sub(*entry, 0, str_chr(*entry, '.'));
			if (str_contains_one_of(*entry, of->extensions) != likely ||
				is_hidden(e, i, *entry))
				continue;
			if (str_ends(*entry, S(".so")))
				read_library(x, name, path);
			else if (name.n == entry->n && !str_is_one_of(name, of->no_extensions))
				read_libraries(x, name, path);
			if (str_eq(*entry, S("torchaudio")))
				read_libraries(x, name, path_join(e->r->a, path, S("lib")));
		}
	}
}

void gather_extensions(struct python_env *e)
{
	struct extensions x = {.e = e};
	struct machine_torch *t = &e->py->torch;
	struct library l = {.runpath = t->runpath};
	if (!str_eq(t->build, S("rocm")) || !t->path.n)
		return;
	struct str lib = path_join(e->r->a, str_sub(t->path, 1, t->path.n), S("lib"));
	x.dirs = search_dirs(e, lib, &l, !t->unloaded);
	read_sites(&x, true);
	if (e->py->active)
		read_sites(&x, false);
}

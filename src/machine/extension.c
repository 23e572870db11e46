/* Packages of a Python environment whose libraries link to torch's, and the ROCm libraries that they miss: an extension
 * is compiled for one torch and one ROCm. In each package only libraries directly in its folder are read; modules of a
 * single file are next to the folders. Source: torch.utils.cpp_extension of PyTorch (the libraries that it links),
 * setup.py of torchvision, torch-scatter, flash-attn. */
#include "machine/python.h"

enum { FOLDERS_MAX = 1000, FILES_MAX = 64 }; /* read in one environment */

struct looking {
	struct environment *e;
	struct strs dirs; /* folders that the loader searches for torch's libraries */
	unsigned folders, files;
};

static bool needs_one(const struct library *l, const char *const *names)
{
	VEC_EACH (const struct str, s, &l->needed)
		for (size_t i = 0; names[i]; i++)
			if (str_starts(*s, str_from(names[i])))
				return true;
	return false;
}

static struct str major_of(struct str version)
{
	struct str major, rest;
	str_cut(version, '.', &major, &rest);
	return major;
}

/* The major version of the HIP that torch needs; a torch that bundles ROCm names the files without numbers. */
static struct str hip_of(const struct machine_torch *t)
{
	struct str hip = S("libamdhip64.so.");
	VEC_EACH (const struct str, s, &t->needed)
		if (str_starts(*s, hip))
			return major_of(str_sub(*s, hip.n, s->n));
	return major_of(t->hip);
}

static bool is_there(struct looking *k, const struct library *l, struct str dir, struct str name)
{
	const struct machine_torch *t = &k->e->py->torch;
	struct arena *a = k->e->r->a;
	struct str hip = S("libamdhip64.so."), here = hip_of(t);
	struct str base = str_sub(name, 0, str_find(name, S(".so")) + 3);
	struct str lib = path_join(a, str_sub(t->path, 1, t->path.n), S("lib"));
	if (str_starts(name, hip) && here.n)
		return str_eq(major_of(str_sub(name, hip.n, name.n)), here);
	if (strs_has(&t->needed, name) || find_library(k->e->r, &k->dirs, name).n ||
		root_has_file(k->e->r, path_join(a, lib, base)))
		return true;
	struct strs own = search_dirs(k->e, dir, l, true);
	return find_library(k->e->r, &own, name).n > 0;
}

static struct machine_extension *extension(struct looking *k, struct str name, struct str path)
{
	struct machine_python *py = k->e->py;
	VEC_EACH (struct machine_extension, x, &py->extensions)
		if (str_eq(x->name, name))
			return x;
	struct machine_extension *x = VEC_PUSH(k->e->r->a, &py->extensions);
	*x = (struct machine_extension){.name = name,
		.path = clean_long(k->e->r->a, str_fmt(k->e->r->a, "/%.*s", STR(path))),
		.build = S("cpu")};
	return x;
}

static void look_at(struct looking *k, struct str name, struct str path)
{
	static const char *const torch[] = {"libtorch", "libc10", NULL},
				 *const cuda[] = {"libtorch_cuda", "libc10_cuda", NULL},
				 *const hip[] = {"libtorch_hip", "libc10_hip", "libamdhip64", NULL};
	struct library l;
	size_t mark = root_mark(k->e->r);
	if (++k->files > FILES_MAX || library_read(k->e->r, path, &l) != ROOT_OK ||
		!needs_one(&l, torch)) {
		root_forget(k->e->r, mark);
		return;
	}
	struct machine_extension *x = extension(k, clean_text(k->e->r->a, name), path);
	if (needs_one(&l, cuda))
		x->build = S("cuda");
	else if (needs_one(&l, hip) && !str_eq(x->build, S("cuda")))
		x->build = S("rocm");
	VEC_EACH (const struct str, s, &l.needed)
		if (is_rocm_library(*s) && !is_there(k, &l, path_dir(path), *s))
			strs_put(k->e->r->a, &x->missing, *s);
}

static void look_in(struct looking *k, struct str name, struct str dir)
{
	struct strs files;
	if (++k->folders > FOLDERS_MAX)
		return;
	root_list(k->e->r, dir, &files);
	for (size_t i = 0; i < files.n && k->files < FILES_MAX; i++)
		if (str_ends(files.v[i], S(".so")))
			look_at(k, name, path_join(k->e->r->a, dir, files.v[i]));
}

/* Does an earlier folder of the search path have an entry of this name? */
static bool is_hidden(const struct looking *k, size_t site, struct str name)
{
	const struct environment *e = k->e;
	for (size_t i = 0; i < site; i++)
		if (root_real(e->r, path_join(e->r->a, e->sites.v[i], name)).n)
			return true;
	return false;
}

static void look_at_entry(struct looking *k, struct str site, struct str entry)
{
	static const char *const not_these[] = {"torch", "functorch", "nvidia", "numpy", NULL};
	struct arena *a = k->e->r->a;
	struct str path = path_join(a, site, entry);
	size_t dot = str_chr(entry, '.');
	struct str name = str_sub(entry, 0, dot);
	if (str_ends(entry, S(".so")))
		look_at(k, name, path);
	else if (dot == entry.n && !str_is_one_of(name, not_these))
		look_in(k, name, path);
	if (str_eq(entry, S("torchaudio")))
		look_in(k, name, path_join(a, path, S("lib")));
}

/* Is the entry's name typical of extensions? These are read first, and the others only in the active environment, as
 * that takes time. */
static bool is_likely(struct str entry)
{
	static const char *const parts[] = {"torch", "cuda", "hip", "rocm", "flash", "xformers",
		"vllm", "apex", "pyg_lib", "aiter", "mamba", "detectron", "mmcv"};
	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++)
		if (str_contains(entry, str_from(parts[i])))
			return true;
	return false;
}

static void look_at_all(struct looking *k, bool likely)
{
	const struct environment *e = k->e;
	struct strs names;
	for (size_t s = 0; s < e->sites.n; s++) {
		root_list(e->r, e->sites.v[s], &names);
		for (size_t i = 0; i < names.n; i++)
			if (is_likely(names.v[i]) == likely && !is_hidden(k, s, names.v[i]))
				look_at_entry(k, e->sites.v[s], names.v[i]);
	}
}

void gather_extensions(struct environment *e)
{
	struct looking k = {.e = e};
	struct arena *a = e->r->a;
	struct machine_torch *t = &e->py->torch;
	struct library l = {.runpath = t->runpath};
	if (!str_eq(t->build, S("rocm")) || !t->path.n)
		return;
	k.dirs = search_dirs(
		e, path_join(a, str_sub(t->path, 1, t->path.n), S("lib")), &l, !t->unloaded);
	look_at_all(&k, true);
	if (e->py->active)
		look_at_all(&k, false);
}

/* The torch of a Python environment: its version file, parsed as text, its libraries, the ROCm libraries that the
 * loader would find for it, and the GPUs that they have data files for. Sources: torch/version.py and torch/lib of the
 * wheels of PyTorch and AMD; ld.so(8) for the order of folders. rocBLAS and hipBLASLt look for Tensile's files next to
 * themselves, MIOpen for its databases in ../share/miopen/db (their names: devcode/side.c). */
#include "lang/python/literal.h"
#include "machine/python.h"
#include "target/cut_list.h"

enum { VERSION_HEAD = 64 << 10, CUT_LIST_HEAD = 1 << 20 };

/* ---- torch/version.py ---- */

/* The value of a variable that is a string, such as hip: Optional[str] = '6.4.43484-123eb5128'; else "". */
static struct str python_text(struct arena *a, struct py_module *m, struct str name)
{
	const struct py_value *v;
	struct err *e = py_get(a, m, name, &v);
	struct str text = !e && v && v->kind == PY_STRING ? clean_text(a, v->text) : S("");
	err_free(e);
	return text;
}

static void read_version(struct python_env *e, struct str dir, struct machine_torch *t)
{
	ARENA(tmp);
	struct py_module m;
	struct str text = S(""), cuda = S(""), xpu = S("");
	if (dir.n)
		root_head(e->r, path_join(e->r->a, dir, S("version.py")), VERSION_HEAD, &text);
	struct err *err = py_read(&tmp, text, S("version.py"), &m);
	if (!err) {
		t->version = str_dup(e->r->a, python_text(&tmp, &m, S("__version__")));
		t->hip = str_dup(e->r->a, python_text(&tmp, &m, S("hip")));
		cuda = python_text(&tmp, &m, S("cuda"));
		xpu = python_text(&tmp, &m, S("xpu"));
	}
	err_free(err);
	VEC_EACH (const struct machine_package, p, &e->py->packages)
		if (!t->version.n && str_eq(p->name, S("torch")))
			t->version = p->version;
	bool cpu = str_contains(t->version, S("+cpu"));
	/* "2.9.1+rocm6.4", "2.12.0+rocm7.10.0a20251006" */
	struct str local = str_sub(t->version, str_find(t->version, S("rocm")) + 4, t->version.n);
	t->rocm = major_minor(e->r->a, t->hip.n ? t->hip : local);

	t->build = t->rocm.n ? S("rocm")
		   : cuda.n  ? S("cuda")
		   : xpu.n   ? S("xpu")
		   : cpu     ? S("cpu")
			     : S("");
}

/* ---- libraries ---- */

bool is_rocm_library(struct str name)
{
	return str_starts_one_of(name, machine_names_table()->rocm_libraries);
}

/* Adds the absolute folders in a list separated by ':'; $ORIGIN stands for the library's own folder. */
static void add_paths(struct arena *a, struct strs *dirs, struct str list, struct str origin)
{
	struct str one;
	for (unsigned i = 0; i < MANY_FOLDERS && str_next(&list, ':', &one); i++) {
		one = str_replace(a, one, S("${ORIGIN}"), S("$ORIGIN"));
		one = str_replace(a, one, S("$ORIGIN"), str_fmt(a, "/%.*s", STR(origin)));
		one = path_clean(a, one);
		if (str_starts(one, S("/")))
			strs_put(a, dirs, str_sub(one, 1, one.n));
	}
}

/* Resolves links below /opt: /opt/rocm is one in recordings as well, and files are recorded in their real folder. */
static struct str below_opt(struct root *r, struct str dir)
{
	struct str real = str_starts(dir, S("opt/")) ? root_real(r, dir) : S("");
	return real.n ? real : dir;
}

/* Adds these folders in `dir`. */
static void put_folders(
	struct arena *a, struct strs *dirs, struct str dir, const char *const *folders)
{
	for (; *folders; folders++)
		strs_put(a, dirs, path_join(a, dir, str_from(*folders)));
}

struct strs search_dirs(
	struct python_env *e, struct str origin, const struct library *l, bool wheels)
{
	const struct machine_names *known = machine_names_table();
	struct arena *a = e->r->a;
	struct strs dirs = {0}, rocm = {0};
	struct str path;
	root_variable(e->r, S("LD_LIBRARY_PATH"), &path);
	VEC_EACH (const struct str, dir, &e->rocm_dirs)
		if (wheels)
			put_folders(a, &rocm, *dir, known->rocm_folders);
	if (!e->py->torch.bundled)
		strs_put_all(a, &dirs, &rocm);
	add_paths(a, &dirs, l->rpath, origin);
	add_paths(a, &dirs, path, origin);
	add_paths(a, &dirs, l->runpath, origin);
	strs_put(a, &dirs, origin);
	strs_put_all(a, &dirs, &rocm);
	put_folders(a, &dirs, S(""), known->usual_folders);
	VEC_EACH (const struct machine_sdk, s, &e->m->sdks)
		if (s->path.n && !str_eq(s->kind, S("pip")))
			put_folders(a, &dirs, str_sub(s->path, 1, s->path.n), known->rocm_folders);
	VEC_EACH (struct str, dir, &dirs)
		*dir = below_opt(e->r, *dir);
	return dirs;
}

/* ---- files that are chosen by GPU ---- */

struct side_file {
	const char *start, *ends[6]; /* ends with NULL */
};

static bool is_side_file(struct str file, const struct side_file *s, struct str *ret_gpu)
{
	struct target_word w;
	struct str rest = file;
	if (!str_ends_one_of(file, s->ends) || !str_starts(file, str_from(s->start)) ||
		!target_word(&rest, &w))
		return false;
	*ret_gpu = w.text;
	return w.stem == w.text.n; /* not a family of GPUs */
}

/* Adds the GPUs that have a data file in the folder; one file for each GPU is recorded. */
static void add_side_files(
	struct root *r, struct str dir, const struct side_file *s, struct strs *ret)
{
	struct strs names;
	struct str gpu;
	root_list(r, dir, &names);
	VEC_EACH (const struct str, name, &names)
		if (is_side_file(*name, s, &gpu) && !strs_has(ret, gpu) &&
			root_has_file(r, path_join(r->a, dir, *name)))
			strs_add(r->a, ret, str_dup(r->a, gpu));
}

/* Adds the GPUs that Tensile has kernels for. It loads TensileLibrary_lazy_GPU.dat first; before ROCm 5.2, and for
 * handwritten kernels, Kernels.so-... or TensileLibrary_gfx... Newer trees have a folder for each GPU. */
static void add_tensile(struct root *r, struct str dir, struct strs *ret)
{
	static const struct side_file lazy = {"TensileLibrary_lazy_", {".dat"}},
				      gpus = {"gfx", {""}};
	static const struct side_file old[] = {
		{"Kernels.so-000-", {".hsaco"}}, {"TensileLibrary_gfx", {".co"}}};
	struct strs names;
	struct str gpu;
	add_side_files(r, dir, &lazy, ret);
	root_list(r, dir, &names);
	VEC_EACH (const struct str, name, &names)
		if (is_side_file(*name, &gpus, &gpu) && str_eq(gpu, *name))
			add_side_files(r, path_join(r->a, dir, gpu), &lazy, ret);
	for (size_t i = 0; !ret->n && i < 2; i++)
		add_side_files(r, dir, &old[i], ret);
}

/* The folder of Tensile's files: inner/library, or in Debian inner/5/library. */
static struct str tensile_dir(struct root *r, struct str lib, const char *inner)
{
	struct strs names;
	struct str dir = path_join(r->a, lib, str_from(inner));
	struct str plain = path_join(r->a, dir, S("library"));
	if (root_real(r, plain).n)
		return plain;
	root_list(r, dir, &names);
	VEC_EACH (const struct str, name, &names) {
		struct str one = str_fmt(r->a, "%.*s/%.*s/library", STR(dir), STR(*name));
		if (root_real(r, one).n)
			return one;
	}
	return plain;
}

void gather_sdk_rocblas(struct root *r, struct machine *m)
{
	VEC_EACH (struct machine_sdk, s, &m->sdks) {
		struct str lib = path_join(r->a, str_sub(s->path, 1, s->path.n), S("lib"));
		if (!str_eq(s->kind, S("tree")))
			continue;
		add_tensile(r, tensile_dir(r, lib, "rocblas"), &s->rocblas);
		targets_sort(&s->rocblas);
	}
}

/* A ROCm library whose data files are read, by the beginning of its name: the environment variable that sets their
 * folder, that folder relative to the library's, and the library's folder once it is found. */
struct side_library {
	const char *name, *variable, *inner;
	struct str dir;
	struct strs *targets;
	const struct side_file *files; /* NULL: Tensile's */
};

static void read_sides(struct python_env *e, const struct side_library *l)
{
	struct arena *a = e->r->a;
	struct str dir;
	root_variable(e->r, str_from(l->variable), &dir);
	dir = path_clean(a, dir);
	if (str_starts(dir, S("/")))
		dir = below_opt(e->r, str_sub(dir, 1, dir.n));
	else if (!l->dir.n)
		return;
	else if (l->files)
		dir = path_clean(a, path_join(a, l->dir, str_from(l->inner)));
	else
		dir = tensile_dir(e->r, l->dir, l->inner);
	if (l->files)
		add_side_files(e->r, dir, l->files, l->targets);
	else
		add_tensile(e->r, dir, l->targets);
	targets_sort(l->targets);
}

struct str find_library(struct root *r, const struct strs *dirs, struct str name)
{
	VEC_EACH (const struct str, dir, dirs)
		if (root_has_file(r, path_join(r->a, *dir, name)))
			return *dir;
	return S("");
}

/* Does torch load ROCm's libraries from rocm wheels before it loads its own libraries? A torch that bundles no ROCm
 * does, in AMD's wheels by an added module (ROCm/TheRock#734), in later releases by its own code
 * (pytorch/pytorch#188724). A torch that was built locally against such wheels may not. */
static bool loads_wheels(struct python_env *e, struct str torch)
{
	enum { INIT_HEAD = 512 << 10 };
	struct str text, init = path_join(e->r->a, torch, S("__init__.py"));
	return e->rocm_dirs.n && !e->py->torch.bundled &&
	       (root_has_file(e->r, path_join(e->r->a, torch, S("_rocm_init.py"))) ||
		       (root_head(e->r, init, INIT_HEAD, &text) == ROOT_OK &&
			       str_contains(text, S("rocm_sdk"))));
}

struct torch_search { /* the search for the libraries that one torch needs */
	struct python_env *e;
	struct machine_torch *t;
	struct strs dirs, all; /* all: `dirs` and the rocm wheels that it does not load from */
};

static struct str add_needed(struct torch_search *s, struct str name)
{
	struct root *r = s->e->r;
	struct str dir = find_library(r, &s->dirs, name);
	strs_put(r->a, &s->t->needed, name);
	if (dir.n)
		return dir;
	strs_put(r->a, &s->t->missing, name);
	dir = find_library(r, &s->all, name);
	s->t->unloaded = s->t->unloaded || dir.n;
	return dir;
}

/* Finds the needs of libtorch_hip.so and the data files of the ROCm libraries among them, then the needs of the
 * libraries that are loaded with it. A library that one of them loads is available to the others, so their search paths
 * add up. */
static void read_needed(
	struct python_env *e, struct machine_torch *t, struct str lib, const struct library *l)
{
	static const char *const others[] = {"libtorch_cpu.so", "libtorch_python.so", "libtorch.so",
		"libc10_hip.so", "libc10.so", "libshm.so", "libcaffe2_nvrtc.so"};
	static const struct side_file miopen = {
		"gfx", {".db", ".kdb", ".db.txt", ".fdb.txt", ".model"}};
	struct side_library sides[] = {
		{"librocblas.so", "ROCBLAS_TENSILE_LIBPATH", "rocblas", {0}, &t->rocblas, NULL},
		{"libhipblaslt.so", "HIPBLASLT_TENSILE_LIBPATH", "hipblaslt", {0}, &t->hipblaslt,
			NULL},
		{"libMIOpen.so", "MIOPEN_SYSTEM_DB_PATH", "../share/miopen/db", {0}, &t->miopen,
			&miopen}};
	bool wheels = loads_wheels(e, path_dir(lib));
	struct torch_search s = {.e = e, .t = t};
	struct library other;
	s.dirs = search_dirs(e, lib, l, wheels);
	s.all = search_dirs(e, lib, l, true);
	VEC_EACH (const struct str, name, &l->needed) {
		if (!is_rocm_library(*name))
			continue;
		struct str dir = add_needed(&s, *name);
		for (size_t i = 0; i < 3; i++)
			if (str_starts(*name, str_from(sides[i].name)))
				sides[i].dir = dir;
	}
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++) {
		struct str path = path_join(e->r->a, lib, str_from(others[i]));
		if (library_read(e->r, path, &other) != ROOT_OK)
			continue;
		struct strs more = search_dirs(e, lib, &other, wheels);
		strs_put_all(e->r->a, &s.dirs, &more);
		VEC_EACH (const struct str, name, &other.needed)
			if (is_rocm_library(*name))
				add_needed(&s, *name);
	}
	/* the runtime of ROCm 7.2 and later opens librocdxg.so in WSL (ROCm/librocdxg:README.md) */
	uint64_t rocm[2];
	if (e->m->has_dxg && str_numbers(t->rocm, rocm, 2) == 2 &&
		(rocm[0] > 7 || (rocm[0] == 7 && rocm[1] >= 2)) &&
		!find_library(e->r, &s.dirs, S("librocdxg.so")).n &&
		!find_library(e->r, &s.dirs, S("librocdxg.so.1")).n)
		strs_put(e->r->a, &t->missing, S("librocdxg.so"));
	for (size_t i = 0; i < 3; i++) {
		if (!sides[i].dir.n && t->bundled)
			sides[i].dir = lib;
		read_sides(e, &sides[i]);
	}
}

/* The GPUs that are in both lists; if one list is empty (not known), those of the other. */
static struct strs both(struct arena *a, const struct strs *x, const struct strs *y)
{
	struct strs list = {0};
	VEC_EACH (const struct str, s, x)
		if (!y->n || strs_has(y, *s))
			strs_add(a, &list, *s);
	return x->n ? list : *y;
}

static void read_torch_libraries(struct python_env *e, struct str dir, struct machine_torch *t)
{
	static const struct {
		const char *file;
		struct str build;
	} kinds[] = {{"libtorch_hip.so", S_INIT("rocm")}, {"libtorch_cuda.so", S_INIT("cuda")},
		{"libtorch_xpu.so", S_INIT("xpu")}, {"libtorch_cpu.so", S_INIT("cpu")},
		{"libtorch.so", S_INIT("cpu")}};
	struct str lib = path_join(e->r->a, dir, S("lib"));
	struct strs names;
	struct library l, first = {0};
	size_t kind = 0, n = sizeof(kinds) / sizeof(*kinds);
	while (kind < n &&
		!root_has_file(e->r, path_join(e->r->a, lib, str_from(kinds[kind].file))))
		kind++;
	if (kind < n)
		t->build = kinds[kind].build;
	root_list(e->r, lib, &names);
	for (size_t i = 0; i < names.n; i++) {
		struct str path = path_join(e->r->a, lib, names.v[i]);
		struct str version, stem = path_library(names.v[i], &version);
		if (str_eq(stem, S("libamdhip64")))
			t->bundled = root_has_file(e->r, path) || t->bundled;
		if (str_eq(stem, S("libhsa-runtime64")))
			t->bundled_hsa = root_has_file(e->r, path) || t->bundled_hsa;
		if (kind || !str_starts(names.v[i], S("libtorch_hip")) ||
			library_read(e->r, path, &l) != ROOT_OK)
			continue;
		t->targets = both(e->r->a, &t->targets, &l.targets);
		t->split = t->split || l.archives;
		strs_put_all(e->r->a, &t->shadowed, &l.empty);
		if (str_eq(names.v[i], str_from(kinds[0].file)))
			first = l;
	}
	t->runpath = first.runpath.n ? first.runpath : first.rpath;
	if (!kind)
		read_needed(e, t, lib, &first);
	VEC_EACH (const struct str, s, &t->needed) { /* "libamdhip64.so.6" */
		struct str version;
		if (!t->rocm.n && str_eq(path_library(*s, &version), S("libamdhip64")))
			t->rocm = version;
	}
}

/* ---- the whole ---- */

/* Was torch slimmed? The cut list is in the folder that was slimmed, or in torch's dist-info. */
static bool is_slim(struct python_env *e, struct str torch)
{
	struct strs dirs = {0};
	struct str text;
	STRS_ADD(e->r->a, &dirs, path_dir(torch), e->dir);
	VEC_EACH (const struct machine_package, p, &e->py->packages)
		if (str_eq(p->name, S("torch")))
			strs_add(e->r->a, &dirs, str_sub(p->path, 1, p->path.n));
	if (root_has_file(e->r, path_join(e->r->a, torch, S(CUT_LIST))))
		return true;
	VEC_EACH (const struct str, dir, &dirs)
		if (root_head(e->r, path_join(e->r->a, *dir, S(CUT_LIST)), CUT_LIST_HEAD, &text) ==
				ROOT_OK &&
			str_contains(text, S("torch/lib")))
			return true;
	return false;
}

/* rocm-sdk-devel brings its files as an archive, which `rocm-sdk init` removes once it has unpacked it into a folder beside
 * (ROCm/TheRock, its template of the wheel rocm). */
static void read_devel(struct python_env *e)
{
	static const char *const archives[] = {"_devel.tar", "_devel.tar.xz"};
	struct arena *a = e->r->a;
	VEC_EACH (const struct str, site, &e->sites) {
		struct str dir = path_join(a, *site, S("rocm_sdk_devel"));
		bool packed = false, expanded = false;
		for (size_t i = 0; i < 2 && root_real(e->r, dir).n; i++)
			packed |= root_has_file(e->r, path_join(a, dir, str_from(archives[i])));
		VEC_EACH (const struct str, other, &e->rocm_dirs)
			expanded |= str_starts(path_base(*other), S("_rocm_sdk_devel"));
		if (!e->py->rocm_devel.n)
			e->py->rocm_devel = packed && expanded ? S("stale")
					    : packed           ? S("packed")
					    : expanded         ? S("expanded")
							       : S("");
	}
}

void gather_torch(struct python_env *e)
{
	struct machine_torch *t = &e->py->torch;
	read_devel(e);
	VEC_EACH (const struct str, dir, &e->rocm_dirs) {
		struct machine_sdk s = {.kind = S("pip")};
		if (!str_starts(path_base(*dir), S("_rocm_sdk_core")))
			continue;
		s.path = shown_path(e->r->a, *dir);
		read_components(e->r, *dir, &s);
		VEC_EACH (const struct machine_package, p, &e->py->packages)
			if (str_eq(p->name, S("rocm-sdk-core")))
				s.version = p->version;
		*VEC_PUSH(e->r->a, &e->m->sdks) = s;
	}
	for (size_t i = 0; e->py->has_torch && i < e->sites.n && !t->path.n; i++) {
		struct str dir = path_join(e->r->a, e->sites.v[i], S("torch"));
		if (!root_exists(e->r, dir))
			continue;
		t->path = shown_path(e->r->a, dir);
		read_version(e, dir, t);
		read_torch_libraries(e, dir, t);
		t->slim = is_slim(e, dir);
	}
	if (e->py->has_torch && !t->path.n)
		read_version(e, S(""), t);
}

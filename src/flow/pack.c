/* Puts linked modules, the generated loader and pure-Python files into a wheel. */
#include "base/fs.h"
#include "flow/build.h"
#include "make/make.h"
#include "wheel/wheel.h"

/* The loader of a plain shared library, a Python file. */
static struct str loader_text(struct arena *a, struct str lib)
{
	return str_fmt(a,
		"\"\"\"Loads %.*s, which lies beside this file. Made by rocsmith.\n"
		"\n"
		"Functions of the library are attributes of this module (and of `lib`);\n"
		"declare their types as ctypes wants them: `f.argtypes = [ctypes.c_int]`.\n"
		"\"\"\"\n"
		"import ctypes as _ctypes\n"
		"import os as _os\n"
		"\n"
		"_path = _os.path.join(_os.path.dirname(_os.path.abspath(__file__)), \"%.*s\")\n"
		"try:\n"
		"    lib = _ctypes.CDLL(_path)\n"
		"except OSError as _error:\n"
		"    raise ImportError(\n"
		"        \"cannot load %%s: %%s (are the ROCm libraries installed?)\"\n"
		"        %% (_path, _error)\n"
		"    ) from _error\n"
		"\n"
		"\n"
		"def __getattr__(name):\n"
		"    if name.startswith(\"__\"):\n"
		"        raise AttributeError(name)\n"
		"    return getattr(lib, name)\n",
		STR(lib), STR(lib));
}

static void add_modules(const struct make *make, struct wheel_spec *w, struct strs *elfs)
{
	struct arena *a = make->a;
	VEC_EACH (const struct plan_module, m, &make->plan->modules) {
		struct str path = make_module_path(make, m);
		struct str data = str_fmt(
			a, "%.*s-%.*s.data/", STR(wheel_normalise(a, w->name)), STR(w->version));
		strs_add(a, elfs, path);
		*VEC_PUSH(a, &w->files) = (struct wheel_file){
			.name = m->program ? str_fmt(a, "%.*s%.*s", STR(data), STR(m->file))
					   : m->file,
			.path = path,
			.executable = true};
		if (m->loader)
			*VEC_PUSH(a, &w->files) = (struct wheel_file){.name = m->loader_file,
				.content = loader_text(a, path_base(m->file))};
	}
}

static bool is_executable(struct str path)
{
	struct stat st;
	struct err *e = fs_stat(path, &st);
	bool yes = !e && (st.st_mode & 0100);
	err_free(e);
	return yes;
}

static void add_python(struct arena *a, const struct plan *p, struct wheel_spec *w)
{
	struct str dir = path_clean(a, path_join(a, p->project, p->python_dir));
	VEC_EACH (const struct str, name, &p->python_files) {
		struct str path = path_join(a, dir, *name);
		*VEC_PUSH(a, &w->files) = (struct wheel_file){
			.name = *name, .path = path, .executable = is_executable(path)};
	}
}

/* LICENSE, COPYING, NOTICE of the project, as core metadata 2.4 wants them. */
static void add_licenses(struct arena *a, const struct plan *p, struct wheel_spec *w)
{
	static const char *const names[] = {
		"LICENSE", "LICENSE.txt", "LICENSE.md", "COPYING", "NOTICE", "AUTHORS", NULL};
	for (size_t i = 0; names[i]; i++) {
		struct str path = path_join(a, p->project, str_from(names[i]));
		if (fs_exists(path) && !fs_is_dir(path))
			*VEC_PUSH(a, &w->info) = (struct wheel_file){
				.name = str_fmt(a, "licenses/%s", names[i]), .path = path};
	}
}

struct err *build_pack(const struct make *m, struct str out, struct build_result *ret)
{
	struct arena *a = m->a;
	const struct plan *p = m->plan;
	struct wheel_spec w = {.name = p->name,
		.version = p->version,
		.summary = p->summary,
		.license = p->license,
		.requires_python = p->requires_python,
		.requires = p->requires,
		.python = p->python_tag,
		.abi = p->abi_tag,
		.jobs = m->jobs};
	struct wheel_platform platform;
	struct strs elfs = {0};
	struct stat st;
	TRY(wheel_epoch(&w.epoch));
	if (!w.python.n) { /* "3.14" -> "cp314" */
		struct str major, minor;
		str_cut(m->sdk_python, '.', &major, &minor);
		w.python = str_fmt(a, "cp%.*s%.*s", STR(major), STR(minor));
		w.abi = w.python;
	}
	add_modules(m, &w, &elfs);
	add_python(a, p, &w);
	add_licenses(a, p, &w);
	TRY(wheel_platform(a, &elfs, &platform));
	w.platform = platform.tag;
	ret->platform_why = platform.why;
	TRY(fs_mkdirs(out));
	TRY(wheel_build(a, &w, out, &ret->wheel));
	TRY(fs_stat(ret->wheel, &st));
	ret->wheel_size = (uint64_t)st.st_size;
	return build_provenance(a, p, NULL, NULL, ret);
}

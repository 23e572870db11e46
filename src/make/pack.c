/* Puts linked modules, the generated loader and pure-Python files into a wheel. */
#include "make/build.h"

#include "base/fs.h"
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

static void add_file(struct arena *a, struct wheel_spec *w, struct wheel_file f)
{
	*VEC_PUSH(a, &w->files) = f;
}

static void add_modules(struct build *b, struct wheel_spec *w, struct strs *elfs)
{
	struct arena *a = b->a;
	VEC_EACH (const struct plan_module, m, &b->plan->modules) {
		struct str path = path_join(a, b->mod, flat_name(a, m->file));
		strs_add(a, elfs, path);
		add_file(a, w,
			(struct wheel_file){.name = m->file, .path = path, .executable = true});
		if (m->loader)
			add_file(a, w,
				(struct wheel_file){.name = m->loader_file,
					.content = loader_text(a, path_base(m->file))});
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

static void add_python(struct build *b, struct wheel_spec *w)
{
	const struct plan *p = b->plan;
	struct str dir = path_clean(b->a, path_join(b->a, p->project, p->python_dir));
	VEC_EACH (const struct str, name, &p->python_files) {
		struct str path = path_join(b->a, dir, *name);
		add_file(b->a, w,
			(struct wheel_file){
				.name = *name, .path = path, .executable = is_executable(path)});
	}
}

/* LICENSE, COPYING, NOTICE of the project, as core metadata 2.4 wants them. */
static void add_licenses(struct build *b, struct wheel_spec *w)
{
	static const char *const names[] = {
		"LICENSE", "LICENSE.txt", "LICENSE.md", "COPYING", "NOTICE", "AUTHORS", NULL};
	for (size_t i = 0; names[i]; i++) {
		struct str path = path_join(b->a, b->plan->project, str_from(names[i]));
		if (fs_exists(path) && !fs_is_dir(path))
			*VEC_PUSH(b->a, &w->info) = (struct wheel_file){
				.name = str_fmt(b->a, "licenses/%s", names[i]), .path = path};
	}
}

struct err *pack_wheel(struct build *b)
{
	struct arena *a = b->a;
	const struct plan *p = b->plan;
	struct wheel_spec w = {.name = p->name,
		.version = p->version,
		.summary = p->summary,
		.license = p->license,
		.requires_python = p->requires_python,
		.requires = p->requires,
		.python = p->python_tag,
		.abi = p->abi_tag,
		.jobs = b->ret->jobs};
	struct wheel_platform platform;
	struct strs elfs = {0};
	TRY(wheel_epoch(&w.epoch));
	if (!w.python.n) { /* "3.14" -> "cp314" */
		struct str major, minor;
		str_cut(b->sdk_python, '.', &major, &minor);
		w.python = str_fmt(a, "cp%.*s%.*s", STR(major), STR(minor));
		w.abi = w.python;
	}
	add_modules(b, &w, &elfs);
	add_python(b, &w);
	add_licenses(b, &w);
	TRY(wheel_platform(a, &elfs, &platform));
	w.platform = platform.tag;
	b->ret->platform_why = platform.why;
	TRY(fs_mkdirs(b->o->out));
	TRY(wheel_build(a, &w, b->o->out, &b->ret->wheel));
	struct stat st;
	TRY(fs_stat(b->ret->wheel, &st));
	b->ret->wheel_size = (uint64_t)st.st_size;
	return NULL;
}

/* Configures, builds and installs a CMake project. The result is the install folder. */
#include "base/fs.h"
#include "base/glob.h"
#include "base/progress.h"
#include "foreign/foreign_int.h"

enum { MAX_CACHE = 64 << 20 };

static struct err *find_tool(struct foreign *f, const char *name, struct str *ret)
{
	*ret = foreign_program(f, name);
	if (ret->n)
		return NULL;
	return err_hint(err_new(E_TOOL_MISSING, "'%s' is not installed", name),
		"apt install cmake ninja-build");
}

struct err *foreign_check_cmake(struct foreign *f, struct str dir, struct str said)
{
	struct str cache;
	TRY(fs_read(f->a, path_join(f->a, dir, S("CMakeCache.txt")), MAX_CACHE, &cache));
	TRY(foreign_check_rocm(f, said));
	return foreign_check_rocm(f, cache);
}

struct err *foreign_cmake_build(struct foreign *f, struct str dir)
{
	struct proc p = {.cwd = dir};
	struct proc_result r;
	struct str cmake;
	TRY(find_tool(f, "cmake", &cmake));
	strs_add(f->a, &p.argv, cmake);
	proc_arg(f->a, &p, "--build", str_z(f->a, dir), "--parallel",
		str_fmt(f->a, "%u", f->jobs).p, NULL);
	if (foreign_is_part(f)) {
		proc_arg(f->a, &p, "--target", NULL);
		strs_add_all(f->a, &p.argv, f->targets);
	}
	if (f->keep_going && fs_exists(path_join(f->a, dir, S("build.ninja"))))
		proc_arg(f->a, &p, "--", "-k", "0", NULL);
	TRY(foreign_run(f, "build", &p, &r));
	foreign_step(f, "build")->done = true;
	return NULL;
}

/* Takes what was installed out of the staged root. What a project installs outside of its prefix belongs to no result. */
static struct err *take_installed(struct foreign *f, struct str stage, struct str prefix)
{
	struct str installed = str_fmt(f->a, "%.*s%.*s", STR(stage), STR(prefix));
	struct strs outside = {0};
	if (fs_is_dir(installed))
		TRY(fs_rename(installed, f->result));
	TRY(glob_files(f->a, stage, S("**/*"), &outside));
	if (outside.n)
		progress_warn("%zu of the files that '%.*s' installs are not in the result: the "
			      "first is '/%.*s'",
			outside.n, STR(f->plan->name), STR(outside.v[0]));
	return fs_remove_tree(stage);
}

struct err *foreign_cmake(struct foreign *f)
{
	struct arena *a = f->a;
	struct proc p = {.cwd = f->cmake}, q = {.cwd = f->cmake};
	struct proc_result r;
	struct str cmake, ninja, gpus = str_join(a, &f->plan->gpus, S(";"));
	struct str prefix = path_clean(a, path_abs(a, path_join(a, f->out, f->plan->name)));
	TRY(find_tool(f, "cmake", &cmake));
	if (foreign_installs_nothing(f) && !foreign_is_part(f))
		progress_warn("the CMake files of '%.*s' have no install(): what is built stays in "
			      "'%.*s'",
			STR(f->plan->name), STR(f->cmake));
	TRY(find_tool(f, "ninja", &ninja));
	TRY(fs_mkdirs(f->cmake));
	strs_add(a, &p.argv, cmake);
	proc_arg(a, &p, "-G", "Ninja", "-S", str_z(a, f->tree), "-B", str_z(a, f->cmake), NULL);
	const struct strs words = foreign_cmake_words(f);
	strs_add_all(a, &p.argv, &words);
	foreign_word(f, &p.argv, "-DCMAKE_BUILD_TYPE", S("Release"));
	foreign_word(f, &p.argv, "-DCMAKE_MAKE_PROGRAM", ninja);
	foreign_word(f, &p.argv, "-DCMAKE_INSTALL_PREFIX", prefix);
	foreign_word(f, &p.argv, "-DCMAKE_HIP_ARCHITECTURES", gpus);
	foreign_word(f, &p.argv, "-DAMDGPU_TARGETS", gpus);
	foreign_word(f, &p.argv, "-DGPU_TARGETS", gpus);
	if (foreign_variable(f, "CMAKE_MODULE_PATH").n)
		foreign_word(f, &p.argv, "-DCMAKE_MODULE_PATH",
			foreign_variable(f, "CMAKE_MODULE_PATH"));
	VEC_EACH (const struct str, o, &f->plan->foreign->options)
		strs_add(a, &p.argv, str_starts(*o, S("-")) ? *o : str_fmt(a, "-D%.*s", STR(*o)));
	TRY(foreign_run(f, "configure", &p, &r));
	TRY(foreign_check_cmake(f, f->cmake, r.out));
	foreign_step(f, "configure")->done = true;
	TRY(foreign_cmake_build(f, f->cmake));
	if (foreign_is_part(f))
		return NULL;
	TRY(fs_remove_tree(f->dist));
	TRY(fs_mkdirs(f->dist));
	f->result = path_join(a, f->dist, f->plan->name);
	strs_add(a, &q.argv, cmake);
	proc_arg(a, &q, "--install", str_z(a, f->cmake), "--prefix", str_z(a, prefix), NULL);
	/* a project's absolute DESTINATION, which --prefix does not change, stays in this folder, too */
	struct str stage = path_join(a, f->dist, S(".stage"));
	q.clear_env = true;
	strs_add_all(a, &q.setenv, &f->env);
	strs_fmt(a, &q.setenv, "DESTDIR=%.*s", STR(stage));
	TRY(foreign_run(f, "install", &q, &r));
	TRY(take_installed(f, stage, prefix));
	if (!fs_is_dir(f->result))
		return err_hint(
			err_hint(err_new(E_FOREIGN, "'%.*s' installs nothing", STR(f->plan->name)),
				"what it built is in '%.*s'", STR(f->cmake)),
			"add install() rules to its CMakeLists.txt for the files that you want");
	foreign_step(f, "install")->done = true;
	return NULL;
}

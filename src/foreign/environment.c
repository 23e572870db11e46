/* Makes the environment of a foreign build: the user's, without the variables of another ROCm, CUDA or Python, and with
 * the settings of this build. */
#include <stdlib.h>

#include "base/fs.h"
#include "base/glob.h"
#include "base/map.h"
#include "cache/cache.h"
#include "foreign/foreign_int.h"
#include "machine/machine.h"
#include "sdk/shims.h"

extern char **environ;

static void set_variable(struct foreign *f, struct str name, struct str value)
{
	struct str line = str_fmt(f->a, "%.*s=%.*s", STR(name), STR(value));
	struct str *old = strs_variable(&f->env, name);
	if (old)
		*old = line;
	else
		strs_add(f->a, &f->env, line);
}

struct str foreign_variable(const struct foreign *f, const char *name)
{
	const struct str *line = strs_variable(&f->env, str_from(name));
	return line ? str_sub(*line, strlen(name) + 1, line->n) : S("");
}

/* Arguments for CMake, which scikit-build, scikit-build-core and many a setup.py take from the environment, come from
 * several sides: the last one of a name wins there. */
void foreign_set_line(struct foreign *f, struct str line)
{
	struct str name, value;
	str_cut(line, '=', &name, &value);
	struct str old = foreign_variable(f, "CMAKE_ARGS");
	if (old.n && str_eq(name, S("CMAKE_ARGS")))
		value = str_fmt(f->a, "%.*s %.*s", STR(old), STR(value));
	set_variable(f, name, value);
}

struct str foreign_program(const struct foreign *f, const char *name)
{
	struct str path = foreign_variable(f, "PATH"), dir;
	while (str_next(&path, ':', &dir)) {
		struct str full = path_join(f->a, dir, str_from(name));
		if (fs_is_file(full))
			return full;
	}
	return S("");
}

/* CMAKE_CUDA_ARCHITECTURES may be `native`, for which CMake asks NVIDIA's GPUs; without one it wants an answer before
 * (CMakeTestCUDACompiler.cmake keeps the variable as it is). nvcc does not care. A project that downloads NVIDIA's CCCL gets ROCm's
 * Thrust and CUB (data/shims.yaml). */
struct strs foreign_cmake_words(const struct foreign *f)
{
	static const char *const downloads[] = {"CPM_CCCL_SOURCE", "FETCHCONTENT_SOURCE_DIR_CCCL"};
	struct strs words = {0};
	struct str cccl = path_join(f->a, f->rocm, S("cuda/cmake/cccl"));
	strs_add(f->a, &words, S("-DCMAKE_CUDA_ARCHITECTURES_NATIVE=" CUDA_ARCH "-real"));
	bool ours = f->rocm.n && fs_is_dir(cccl) && str_chr(cccl, ' ') == cccl.n;
	for (size_t i = 0; i < 2 && ours; i++)
		strs_fmt(f->a, &words, "-D%s=%.*s", downloads[i], STR(cccl));
	return words;
}

/* Lays out the SDK as a folder, and sets the variables that lead build systems there. The shims come first in PATH; the
 * user's LDFLAGS, CC and CXX are kept. All compilers together may use nine tenths of the memory that is free now; the
 * rest is a reserve for other programs of the build. */
static struct err *add_rocm(struct foreign *f, struct str *path)
{
	struct strs rocm = {0};
	struct str name, value;
	struct shim_options o = {.gpus = &f->plan->gpus,
		.log_dir = f->log,
		.jobs = f->jobs,
		.precompile = f->plan->foreign->precompile,
		.memory = machine_memory_free(S("")) / 10 * 9,
		.share = f->share,
		.objects = f->cache ? cache_own_dir(f->cache) : S(""),
		.lender = f->cache ? f->state : S(""),
		.sysroot = f->sysroot->root.n ? f->sysroot : NULL,
		.own_libc = !f->plan->host_native,
		.python_include = f->plan->host.python_include,
		.build_dir = f->dir,
		/* known projects have a way of their own for ROCm, and would find two kinds of GPU */
		.cuda = !f->plan->features.n && !hipify_is_checkout(f->plan->project),
		.project = f->dir};
	TRY_CTX(sdk_shims(f->a, f->sdk, f->rocm, &o, &rocm),
		"cannot lay out the SDK '%.*s' for other build systems", STR(f->sdk->name));
	VEC_EACH (const struct str, e, &rocm) {
		str_cut(*e, '=', &name, &value);
		struct str own = foreign_variable(f, str_z(f->a, name));
		bool compiler = str_eq(name, S("CC")) || str_eq(name, S("CXX"));
		if (str_eq(name, S("PATH")))
			*path = str_fmt(f->a, "%.*s:%.*s", STR(value), STR(*path));
		else if (str_eq(name, S("LDFLAGS")) && own.n)
			set_variable(f, name, str_fmt(f->a, "%.*s %.*s", STR(own), STR(value)));
		else if (!compiler || !own.n)
			set_variable(f, name, value);
	}
	return NULL;
}

/* Takes the user's folders of programs, but those of another CUDA, ROCm or Conda. */
static void take_user_path(struct foreign *f)
{
	const char *const *signs = build_variables_table()->other_folder;
	struct str rest = str_from(getenv("PATH")), dir;
	while (str_next(&rest, ':', &dir)) {
		bool theirs = false, system = str_contains(S(":" FOREIGN_PATH ":"),
					     str_fmt(f->a, ":%.*s:", STR(dir)));
		if (!str_starts(dir, S("/")) || system || !fs_is_dir(dir))
			continue;
		for (size_t i = 0; signs[i]; i++)
			theirs |= fs_exists(path_join(f->a, dir, str_from(signs[i])));
		strs_put(f->a, theirs ? &f->dropped : &f->user_path, str_dup(f->a, dir));
	}
}

struct err *foreign_environment(struct foreign *f)
{
	const struct build_variables *of = build_variables_table();
	struct arena *a = f->a;
	struct str gpus = str_join(a, &f->plan->gpus, S(";")), jobs = str_fmt(a, "%u", f->jobs);
	struct str path = S(FOREIGN_PATH), name, value;
	const char *epoch = getenv("SOURCE_DATE_EPOCH");
	for (char **e = environ; *e; e++) {
		str_cut(str_from(*e), '=', &name, &value);
		if (glob_match_any(of->other, name))
			strs_add(a, &f->dropped, str_dup(a, name));
		else if (glob_match_any(of->quiet, name) || glob_match_any(of->session, name))
			continue;
		else if (foreign_is_secret(name, value))
			strs_add(a, &f->withheld, str_dup(a, name));
		else
			set_variable(f, name, value);
	}
	take_user_path(f);
	strs_sort(&f->dropped);
	strs_sort(&f->withheld);
	if (f->rocm.n) /* only installing requirements needs no SDK */
		TRY(add_rocm(f, &path));
	struct strs dirs = {0};
	STRS_ADD(a, &dirs, path_join(a, f->venv, S("bin")), path);
	strs_add_all(a, &dirs, &f->user_path);
	set_variable(f, S("PATH"), str_join(a, &dirs, S(":")));
	set_variable(f, S("HOME"), f->home);
	set_variable(f, S("TMPDIR"), f->tmp);
	set_variable(f, S("XDG_CACHE_HOME"), path_join(a, f->home, S(".cache")));
	set_variable(f, S("VIRTUAL_ENV"), f->venv);
	set_variable(f, S("LC_ALL"), S("C.UTF-8"));
	set_variable(f, S("PYTHONUNBUFFERED"), S("1"));
	set_variable(f, S("PYTHONNOUSERSITE"), S("1"));
	set_variable(f, S("MAX_JOBS"), jobs);
	set_variable(f, S("CMAKE_BUILD_PARALLEL_LEVEL"), jobs);
	set_variable(f, S("SOURCE_DATE_EPOCH"), epoch ? str_from(epoch) : S("315532800"));
	for (size_t i = 0; of->gpus[i]; i++)
		set_variable(f, str_from(of->gpus[i]), gpus);
	if (f->plan->foreign->torch)
		set_variable(f, S("FORCE_CUDA"), S("1"));
	for (size_t i = 0; f->plan->foreign->torch && of->forces[i]; i++)
		set_variable(f, str_from(of->forces[i]), S("TRUE"));
	struct strs cmake = foreign_cmake_words(f);
	if (!f->plan->foreign->torch)
		foreign_set_line(
			f, str_fmt(a, "CMAKE_ARGS=%.*s", STR(str_join(a, &cmake, S(" ")))));
	VEC_EACH (const struct str, e, &f->plan->foreign->env)
		foreign_set_line(f, *e);
	return NULL;
}

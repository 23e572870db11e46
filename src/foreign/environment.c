/* Makes the environment of a foreign build: the user's, without the variables of another ROCm, CUDA or Python, and with
 * the settings of this build. */
#include <stdlib.h>

#include "base/fs.h"
#include "base/glob.h"
#include "base/map.h"
#include "foreign/foreign_int.h"
#include "machine/machine.h"
#include "sdk/shims.h"

extern char **environ;

/* Variables of another Python and of our own process, which are dropped silently. */
static const char *const quiet[] = {"PYTHON*", "VIRTUAL_ENV*", "_OLD_VIRTUAL*", "PIP_*",
	"LD_PRELOAD", "XDG_*", "MAKEFLAGS", "MFLAGS", "MAKELEVEL", "DESTDIR", "OLDPWD", "PWD",
	"SHLVL", "_", "ROCSMITH_*", NULL};
/* Variables of the login session, on which no build should depend. */
static const char *const session[] = {"SSH_*", "GPG_*", "DBUS_*", "DISPLAY", "WAYLAND_DISPLAY",
	"TMUX*", "STY", "WINDOW", "WINDOWID", "VTE_VERSION", "TERM_*", "COLORTERM", "LS_COLORS",
	"HISTFILE", "INVOCATION_ID", "JOURNAL_STREAM", "MAIL", "SUDO_*", "XAUTHORITY", NULL};
/* Variables that would lead the build to another ROCm, CUDA or Conda. The user set them on purpose, so a message names
 * those that are dropped. */
static const char *const foreign[] = {"ROCM*", "HIP*", "HSA_*", "HCC_*", "AMDGPU_TARGETS",
	"GPU_TARGETS", "GPU_ARCHS", "PYTORCH_ROCM_ARCH", "CUDA*", "CUDNN*", "NVCC",
	"NVCC_*PEND_FLAGS", "NVIDIA_*", "TORCH_CUDA_ARCH_LIST", "TORCH_NVCC_FLAGS", "CONDA*",
	"_CONDA*", "_CE_CONDA", "_CE_M", "MAMBA_*_PREFIX", "MAMBA_EXE", "LD_LIBRARY_PATH",
	"LIBRARY_PATH", "CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH", "PKG_CONFIG_*",
	"CMAKE_PREFIX_PATH", "CMAKE_MODULE_PATH", "CMAKE_TOOLCHAIN_FILE", "CMAKE_GENERATOR*", NULL};

static bool is_one_of(struct str name, const char *const *patterns)
{
	for (size_t i = 0; patterns[i]; i++)
		if (glob_match(str_from(patterns[i]), name))
			return true;
	return false;
}

static void set_variable(struct foreign *f, struct str name, struct str value)
{
	struct str line = str_fmt(f->a, "%.*s=%.*s", STR(name), STR(value));
	struct str *old = strs_variable(&f->env, name);
	if (old)
		*old = line;
	else
		strs_add(f->a, &f->env, line);
}

void foreign_set_line(struct foreign *f, struct str line)
{
	struct str name, value;
	str_cut(line, '=', &name, &value);
	set_variable(f, name, value);
}

struct str foreign_variable(const struct foreign *f, const char *name)
{
	const struct str *line = strs_variable(&f->env, str_from(name));
	return line ? str_sub(*line, strlen(name) + 1, line->n) : S("");
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

struct err *foreign_environment(struct foreign *f)
{
	/* the variables from which build systems read the list of GPUs */
	static const char *const gpu_names[] = {"PYTORCH_ROCM_ARCH", "GPU_ARCHS", "AMDGPU_TARGETS",
		"GPU_TARGETS", "CMAKE_HIP_ARCHITECTURES", "HIP_ARCHITECTURES", NULL};
	/* Without a GPU, the setup.py of these projects downloads a wheel for CUDA unless such a variable is set:
	 * https://github.com/Dao-AILab/causal-conv1d, flash-attention, state-spaces/mamba. */
	static const char *const forces[] = {"CAUSAL_CONV1D_FORCE_BUILD",
		"FLASH_ATTENTION_FORCE_BUILD", "MAMBA_FORCE_BUILD", NULL};
	struct arena *a = f->a;
	struct str gpus = str_join(a, &f->plan->gpus, S(";")), jobs = str_fmt(a, "%u", f->jobs);
	struct str path = S("/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"), name, value;
	const char *epoch = getenv("SOURCE_DATE_EPOCH");
	for (char **e = environ; *e; e++) {
		str_cut(str_from(*e), '=', &name, &value);
		if (is_one_of(name, foreign))
			strs_add(a, &f->dropped, str_dup(a, name));
		else if (is_one_of(name, quiet) || is_one_of(name, session))
			continue;
		else if (foreign_is_secret(name, value))
			strs_add(a, &f->withheld, str_dup(a, name));
		else
			set_variable(f, name, value);
	}
	strs_sort(&f->dropped);
	strs_sort(&f->withheld);
	TRY(add_rocm(f, &path));
	set_variable(f, S("PATH"), str_fmt(a, "%.*s/bin:%.*s", STR(f->venv), STR(path)));
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
	for (size_t i = 0; gpu_names[i]; i++)
		set_variable(f, str_from(gpu_names[i]), gpus);
	if (f->plan->foreign->torch)
		set_variable(f, S("FORCE_CUDA"), S("1"));
	for (size_t i = 0; f->plan->foreign->torch && forces[i]; i++)
		set_variable(f, str_from(forces[i]), S("TRUE"));
	VEC_EACH (const struct str, e, &f->plan->foreign->env)
		foreign_set_line(f, *e);
	return NULL;
}

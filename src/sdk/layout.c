/* Finds compilers, headers and libraries in a tree of any layout. It knows three layouts: AMD's (/opt/rocm:
 * PREFIX/{include,lib,llvm,amdgcn}, also the view that a debian SDK has), the dist folder of a ROCm source build
 * (PREFIX/lib/llvm, device libraries in PREFIX/lib/llvm/amdgcn or clang's resource folder) and Debian's
 * (PREFIX=/usr, PREFIX/lib/llvm-N with the device libraries in clang's resource folder, ROCm's headers among
 * all others).
 *
 * Flags: AMD's layout takes --rocm-path and --hip-path. In Debian's, --rocm-path makes clang look for
 * PREFIX/amdgcn/bitcode, which does not exist, and fail; so only --hip-path and the device libraries' folder are
 * passed. */
#include "base/fs.h"
#include "know/know.h"
#include "lang/python/version.h"
#include "sdk/provider.h"

enum { MAX_CMAKE = 1 << 20 };

/* The first existing path that matches a pattern, or "". */
static struct str first_path(
	struct arena *a, const struct sdk *sdk, struct str prefix, const char *const *patterns)
{
	for (; *patterns; patterns++) {
		struct str pattern = path_join(a, prefix, str_from(*patterns));
		unsigned n = str_contains(pattern, S("%N")) ? NEWEST_LLVM : 1;
		for (; n > 0; n--) {
			struct str path = str_replace(a, pattern, S("%N"), str_fmt(a, "%u", n));
			if (fs_exists(sdk_outside(a, sdk, path)))
				return path;
		}
	}
	return S("");
}

static bool amd_layout(struct str prefix, struct str bitcode)
{
	size_t n = prefix.n + 1;
	return !str_starts(str_sub(bitcode, n, bitcode.n), S("lib/llvm-"));
}

static struct err *missing(const struct sdk *sdk, struct str prefix, const char *what)
{
	struct str root = sdk->root.n ? sdk->root : S("/");
	if (str_eq(root, S("/")))
		return err_new(E_SDK, "there is no %s in '%.*s'", what, STR(prefix));
	return err_new(E_SDK, "there is no %s in '%.*s' of '%.*s'", what, STR(prefix), STR(root));
}

/* ---- versions ---- */
/* Reads set(PACKAGE_VERSION "6.4.43484") in the version file of a CMake package's folder. */
static struct err *read_version(struct arena *a, struct str dir, struct str name, struct sdk *sdk)
{
	const struct str key = S("set(PACKAGE_VERSION \"");
	struct strs files;
	struct str text, version;
	if (!fs_is_dir(dir))
		return NULL;
	TRY(fs_list(a, dir, &files));
	for (size_t i = 0; i < files.n; i++) {
		if (!str_ends(files.v[i], S("-config-version.cmake")) &&
			!str_ends(files.v[i], S("ConfigVersion.cmake")))
			continue;
		TRY(fs_read(a, path_join(a, dir, files.v[i]), MAX_CMAKE, &text));
		text = str_sub(text, str_find(text, key) + key.n, text.n);
		str_cut(str_sub(text, 0, str_chr(text, '\n')), '"', &version, &text);
		if (version.n)
			*VEC_PUSH(a, &sdk->components) = (struct sdk_component){
				.name = str_lower(a, name), .version = str_dup(a, version)};
		return NULL;
	}
	return NULL;
}

struct err *layout_find(struct arena *a, struct str prefix, struct sdk *sdk)
{
	const struct layout_names *layout = layout_names_table();
	sdk->clang = first_path(a, sdk, prefix, layout->clangs);
	if (!sdk->clang.n)
		return missing(sdk, prefix, "clang++");
	sdk->device_libs = first_path(a, sdk, prefix, layout->device_libs);
	if (!sdk->device_libs.n)
		return missing(sdk, prefix, "device library (amdgcn/bitcode)");
	sdk->include = path_join(a, prefix, S("include"));
	if (!fs_exists(sdk_outside(a, sdk, path_join(a, sdk->include, S("hip/hip_runtime.h")))))
		return missing(sdk, prefix, "HIP header (hip/hip_runtime.h)");
	sdk->hip_path = prefix;
	STRS_ADD(a, &sdk->path, path_dir(sdk->clang), path_join(a, prefix, S("bin")));
	for (const char *const *lib = layout->lib_dirs; *lib; lib++) {
		struct str dir = path_join(a, prefix, str_from(*lib));
		struct str cmake = path_join(a, sdk_outside(a, sdk, dir), S("cmake"));
		struct strs names = {0};
		if (!fs_exists(sdk_outside(a, sdk, path_join(a, dir, S("libamdhip64.so")))))
			continue;
		strs_add(a, &sdk->lib_dirs, dir);
		if (fs_is_dir(cmake))
			TRY(fs_list(a, cmake, &names));
		VEC_EACH (const struct str, name, &names)
			if (know_rocm_cmake(*name))
				TRY(read_version(a, path_join(a, cmake, *name), *name, sdk));
	}
	if (!sdk->lib_dirs.n)
		return missing(sdk, prefix, "HIP library (libamdhip64.so)");
	strs_fmt(a, &sdk->clang_flags, "--hip-path=%.*s", STR(prefix));
	if (amd_layout(prefix, sdk->device_libs))
		strs_fmt(a, &sdk->clang_flags, "--rocm-path=%.*s", STR(prefix));
	strs_fmt(a, &sdk->clang_flags, "--rocm-device-lib-path=%.*s", STR(sdk->device_libs));
	return NULL;
}

struct str version_after(struct str text, struct str mark)
{
	return version_release(str_sub(text, str_find(text, mark) + mark.n, text.n));
}

struct err *layout_clang_version(struct arena *a, const struct sdk *sdk, struct str *ret)
{
	struct proc p = {0};
	struct proc_result r;
	proc_arg(a, &p, sdk->clang.p, "--version", NULL);
	TRY(sdk_wrap(a, sdk, NULL, &p));
	TRY(proc_check(a, &p, &r));
	*ret = version_after(r.out, S("clang version "));
	if (!ret->n)
		return err_new(E_SDK, "'%.*s --version' prints no version", STR(sdk->clang));
	return NULL;
}

/* ROCM_PATH implies AMD's layout. In Debian's it would mislead hipcc, so the variables for the compiler and the device
 * libraries are set instead. */
void sdk_environment(struct arena *a, const struct sdk *sdk, struct strs *ret)
{
	if (amd_layout(sdk->hip_path, sdk->device_libs)) {
		strs_fmt(a, ret, "ROCM_PATH=%.*s", STR(sdk->hip_path));
		strs_fmt(a, ret, "HIP_PATH=%.*s", STR(sdk->hip_path));
	}
	strs_add(a, ret, S("HIP_PLATFORM=amd"));
	strs_fmt(a, ret, "HIP_CLANG_PATH=%.*s", STR(path_dir(sdk->clang)));
	strs_fmt(a, ret, "HIP_DEVICE_LIB_PATH=%.*s", STR(sdk->device_libs));
	strs_fmt(a, ret, "PATH=%.*s", STR(str_join(a, &sdk->path, S(":"))));
}

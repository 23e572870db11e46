/* Shim folders, which look like /opt/rocm to build systems that run on this machine.
 *
 * Foreign build systems (setup.py, CMake) use this machine's Python, libc and linker, and look for
 * ROCm below one prefix: hipcc, clang, device libraries, headers, libraries, CMake packages. Our SDK
 * is the root folder of another system, whose programs need that system's libc. The shim folder connects the two:
 *
 *     bin/               hipcc, hipconfig, amdclang(++), rocm_agent_enumerator, offload-arch, ...
 *     llvm/bin/          clang, clang++, clang-NN, ld.lld, llvm-*, clang-offload-bundler, ...
 *     llvm/lib/clang     clang's resource folder           -> the SDK's tree
 *     amdgcn             device libraries                  -> the SDK's tree
 *     host/              cc, c++, gcc, g++ of this machine, counted and logged like the others
 *     include, lib       ROCm's headers and libraries only -> the SDK's tree (no libc of its own)
 *     lib/cmake          the SDK's CMake packages (and FindHIP.cmake), whose prefix is this folder
 *     .info/             ROCm's version and version-dev, as AMD's packages write them
 *     toolchain.cmake    only with own_libc; likewise include-after/ (headers of this machine for Python.h)
 *     cuda/              what looks like a CUDA toolkit, for projects that know no HIP
 *     .rocsmith/         the configuration of the programs (cc.json), the ledger, the history
 *
 * The programs are links to rocsmith, which runs the SDK's program of that name (cc.h) by the SDK's own loader, without
 * a sandbox. So paths on command lines, in messages and in dependency files are paths of this machine; clang finds
 * this machine's libc, libstdc++ and crt files like any clang installed here, and finds the programs that it starts
 * (cc1, lld) beside itself in this folder. Objects are therefore built for this machine's libc, with the SDK's ROCm
 * libraries. A program linked with those needs the SDK's libc to run (`rocsmith sdk run --host`).
 *
 * If a build uses the SDK's other libraries (a PyTorch without third_party), its host code must target the SDK's libc,
 * too (shim_options.own_libc). The host compilers are then the SDK's clang with its tree as sysroot; toolchain.cmake
 * directs CMake to the tree for libraries, headers and packages, and to this machine for programs; bin/ has the SDK's
 * flatc and protoc. Programs that CMake builds and runs at once (try_run) get the SDK's loader; Python is this
 * machine's.
 *
 * The folder `cuda` is for CUDA_HOME: bin/nvcc translates and compiles (cc.h), include/ has CUDA's headers as HIP's
 * (hipify.h), lib64/ the names of its libraries for HIP's, and version.json, version.txt and pkgconfig/ the release.
 *
 * SDKs of the provider "prefix" get such a folder too: their programs run directly, and the rest links into the prefix.
 * A build that needs neither ledger nor log can use the prefix itself.
 */
#pragma once

#include "sdk/sysroot.h"

struct shim_options {
	/* The GPUs that rocm_agent_enumerator and offload-arch print; NULL or empty = none. */
	const struct strs *gpus;
	/* The folder of cc.jsonl, which gets a line for each run (cc.h); "" = no log */
	struct str log_dir;
	/* Bytes that all compilers of the build may use together; one that would not fit waits (cc.h); 0 = no limit */
	uint64_t memory;
	unsigned share; /* do device passes share front ends? enum front_share of cc/compile.h */
	struct str objects, lender; /* a cache of objects, as in struct cc_config; "" = none */
	bool cuda;                  /* make the folder `cuda` */
	struct str project;         /* nvcc translates what lies below it; "" = see cc_int.h */
	unsigned jobs;              /* MAX_JOBS and CMAKE_BUILD_PARALLEL_LEVEL; 0 = not set */
	struct strs precompile;     /* headers to precompile for the build's C++ (cc.h) */
	const struct sdk_sysroot *sysroot; /* a policy's; NULL = none */
	bool own_libc; /* host code targets the SDK's libc, not this machine's; needs a tree */
	/* With own_libc, files that CMake may still find on this machine; "" = none: */
	struct str python_include; /* folder of Python.h */
	struct str build_dir;      /* objects record paths below it relative to it */
};

/* Checks the path for a shim folder. E_USAGE if it has a space or another character that hipcc's shell would
 * interpret. */
MUST_USE struct err *sdk_shims_place(struct str dir);
/* Makes dir (absolute) a shim folder, or updates it: files that are right already are not touched, so that build
 * systems see no change. The history in dir/.rocsmith survives. Two callers must not run at a time. E_USAGE as with
 * sdk_shims_place(); E_SDK if the SDK's programs cannot be run this way.
 *
 * ret_env: "NAME=value" for a build that runs on this machine: ROCM_PATH, ROCM_HOME, HIP_PATH,
 * HIP_ROOT_DIR, HIP_PLATFORM, HIP_CLANG_PATH, HIP_DEVICE_LIB_PATH, HIPCXX, CMAKE_PREFIX_PATH,
 * CMAKE_MODULE_PATH (CMake itself does not read this one from the environment: pass it as -D),
 * LDFLAGS (ROCm's libraries need symbols of a libc that this machine lacks), with a ledger CC and CXX
 * (this machine's, counted), MAX_JOBS, CMAKE_BUILD_PARALLEL_LEVEL. PATH has only this
 * folder's bin (and cuda/bin); prepend it to the others. With `cuda`, CUDA_HOME, CUDA_PATH, CUDACXX, NVCC and
 * PKG_CONFIG_PATH, too. The caller adds the variables that select GPUs. */
MUST_USE struct err *sdk_shims(struct arena *a, const struct sdk *sdk, struct str dir,
	const struct shim_options *o, struct strs *ret_env);

/* Removes the checks for missing files from a file of CMake's exported targets (NAME-targets-CONFIG.cmake, as
 * install(EXPORT) writes it). find_package() aborts the whole configuration at the first such check, even if no one
 * uses the target, so a package that lacks one of several libraries would be useless: Debian's hipSOLVER 7.2.4 exports
 * roc::hipsolver_fortran, and no package has libhipsolver_fortran.so.1.0. Instead of the check, CMake prints the name
 * of the missing file; the target stays, and linking it fails with the file's name before ninja starts anything.
 * prefix: the value of ${_IMPORT_PREFIX}. Returns text itself if no file is missing, or if all are, since CMake's own
 * error is the best one then. */
struct str exports_without_missing(struct arena *a, struct str text, struct str prefix);

/* ---- private to sdk/: data/shims.yaml ---- */
struct shim_alias {
	const char *name, *program;
};
struct shim_variable {
	const char *name, *path;
	bool own_libc, cuda;
};
struct shim_data {
	const char *toolchain, *rocm_version, *pkgconfig;
	const char *const *tree_tools, *const *cuda_folders;
};
struct cuda_link {
	const char *path, *target;
};
struct cuda_file {
	const char *path, *text;
};
TABLE(shim_alias);
TABLE(shim_variable);
const struct shim_data *shim_data_table(void); /* one row */
TABLE(cuda_link);
TABLE(cuda_file);

/* Makes the folder `cuda` of a shim folder; private to sdk/. */
MUST_USE struct err *shims_cuda(struct arena *a, struct str dir);

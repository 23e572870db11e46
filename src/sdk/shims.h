/* A folder that looks like /opt/rocm to build systems that run on this machine.
 *
 * Foreign build systems (setup.py, CMake) use this machine's Python, libc and linker, and look for
 * ROCm below one prefix: hipcc, clang, device libraries, headers, libraries, CMake packages. An SDK
 * of ours is another system's root folder; its programs want that system's libc. The shim folder
 * joins the two:
 *
 *     bin/               hipcc, hipconfig, amdclang(++), rocm_agent_enumerator, offload-arch, ...
 *     llvm/bin/          clang, clang++, clang-NN, ld.lld, llvm-*, clang-offload-bundler, ...
 *     llvm/lib/clang     clang's resource folder           -> the SDK's tree
 *     amdgcn             device libraries                  -> the SDK's tree
 *     host/              cc, c++, gcc, g++ of this machine, counted and logged like the others
 *     include, lib       ROCm's headers and libraries only -> the SDK's tree (no libc of its own)
 *     lib/cmake          the SDK's CMake packages (and FindHIP.cmake), whose prefix is this folder
 *     .info/             version and version-dev: of ROCm, as AMD's packages write it
 *     toolchain.cmake    with own_libc only, as include-after/ (what Python.h needs of this machine)
 *     .rocsmith/         what the programs here need to know (cc.json), the ledger, the history
 *
 * The programs are links to rocsmith, which runs the SDK's program of that name (cc.h): by the
 * SDK's own loader, without a sandbox. So each path on a command line, in a message and in a
 * dependency file is one of this machine; clang finds this machine's libc, libstdc++ and crt files
 * as any clang installed here would; and what it starts itself (cc1, lld) is found beside it, in
 * this folder. An object's libc is therefore this machine's, ROCm's libraries are the SDK's. A
 * program linked with those runs where their libc is (`rocsmith sdk run --host`).
 *
 * Where a build uses the SDK's other libraries (a PyTorch without third_party), its host code must be
 * for the SDK's libc, too (shim_options.own_libc). The host compilers are then the SDK's clang with
 * its tree as sysroot; toolchain.cmake leads CMake to the tree for libraries, headers and packages,
 * and to this machine for programs; bin/ has the SDK's flatc and protoc. Programs that CMake makes to
 * run them at once (try_run) get the SDK's loader; Python stays this machine's.
 *
 * SDKs of the provider "prefix" get such a folder too: its programs are run as they are, and the
 * rest leads into the prefix; whoever needs neither ledger nor log can use the prefix itself.
 */
#pragma once

#include "sdk/sdk.h"

struct shim_options {
	/* What rocm_agent_enumerator and offload-arch print; NULL or empty: no GPU. */
	const struct strs *gpus;
	struct str log_dir; /* each run is a line of cc.jsonl in there (cc.h); "": none */
	uint64_t memory;    /* bytes that all compilers of the build may take together: those that
			     * would not fit wait (cc.h); 0 = they are not counted */
	unsigned jobs;      /* MAX_JOBS and CMAKE_BUILD_PARALLEL_LEVEL; 0 = not set */
	struct strs precompile; /* headers for C++ of the build (cc.h) */
	bool own_libc; /* host code is for the SDK's libc, not this machine's; needs a tree */
	/* With own_libc, what CMake may find on this machine all the same; "" = nothing: */
	struct str python_include; /* folder of Python.h */
	struct str build_dir;      /* in objects, paths below it are relative to it */
};

/* Can such a folder lie there? E_USAGE when the path has a space or another sign that hipcc's shell would
 * not leave alone. */
MUST_USE struct err *sdk_shims_place(struct str dir);
/* Makes dir (absolute) such a folder, or brings it up to date: what is right already is not touched,
 * so that build systems see no change. History in dir/.rocsmith survives. Not for two callers at a
 * time. E_USAGE as sdk_shims_place() has it; E_SDK when the SDK's programs cannot be run this way.
 *
 * ret_env: "NAME=value" for a build that runs on this machine: ROCM_PATH, ROCM_HOME, HIP_PATH,
 * HIP_ROOT_DIR, HIP_PLATFORM, HIP_CLANG_PATH, HIP_DEVICE_LIB_PATH, HIPCXX, CMAKE_PREFIX_PATH,
 * CMAKE_MODULE_PATH (CMake itself does not read this one from the environment: pass it as -D),
 * LDFLAGS (ROCm's libraries ask for symbols of a libc that is not here), with a ledger CC and CXX
 * (this machine's, counted), MAX_JOBS, CMAKE_BUILD_PARALLEL_LEVEL. PATH holds this folder's bin
 * only, to go in front of others. Which GPUs to build for is not in there: that is the caller's. */
MUST_USE struct err *sdk_shims(struct arena *a, const struct sdk *sdk, struct str dir,
	const struct shim_options *o, struct strs *ret_env);

/* Drops from a file of CMake's exported targets (NAME-targets-CONFIG.cmake, as install(EXPORT) writes it) the
 * checks of files that are not there. find_package() ends the whole configuration at the first such check,
 * whether anybody wants that target or not, so that a package which lacks one library of several is of no
 * use: Debian's hipSOLVER 7.2.4 exports roc::hipsolver_fortran, and no package has
 * libhipsolver_fortran.so.1.0. In the place of a check CMake prints what is missing; the target stays, and
 * linking it fails by the file's name before ninja starts anything. prefix: what ${_IMPORT_PREFIX} will be.
 * Returns text itself when nothing is missing, and when all files are, since CMake's own complaint is the
 * best one then. */
struct str exports_without_missing(struct arena *a, struct str text, struct str prefix);

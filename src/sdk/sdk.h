/* ROCm SDKs: their providers, their folders, and how to run their programs.
 *
 * An SDK is a tree with clang, device libraries, headers and libraries. Its receipt, sdk.json beside the tree,
 * records the provider, suite, components, packages with versions and hashes, the date of the archive index and
 * accepted exceptions; a file list for each package has sizes and hashes. An SDK lives in
 * FS_DATA "sdk/NAME", its downloads and private apt state in FS_CACHE "sdk/NAME". The components of an SDK have
 * different versions, so sdk_rocm() returns only the closest thing to "the" ROCm version.
 * The contract of a provider is in provider.h.
 *
 * Paths inside an SDK: Debian's layout puts ROCm into /usr, beside libc and everything else, which breaks builds
 * against another libc. So every installed SDK has a second view: relative links to the files of ROCm packages and
 * nothing else, laid out like AMD's packages, so that ROCM_PATH=/opt/rocm is valid inside:
 *     /opt/rocm/include          hip, hiprand, thrust, ...; no header of libc, kernel or libstdc++
 *     /opt/rocm/lib              libamdhip64.so, libhiprand.so.1, cmake/, ...; no libc.so, libm.so
 *     /opt/rocm/llvm             the LLVM that hipcc uses
 *     /opt/rocm/amdgcn/bitcode   device libraries
 * Measured (Debian 12, LLVM 21.1.8): with --hip-path=/usr clang adds "-idirafter /usr/include", which
 * includes the SDK's libc headers; with --hip-path=/opt/rocm it adds only ROCm's. With the SDK's
 * -L/usr/lib/x86_64-linux-gnu a call of fmod() binds to GLIBC_2.38; with -L/opt/rocm/lib it binds to the sysroot's
 * version (2.2.5). --rocm-path=/usr finds no device libraries in Debian's layout.
 *
 * A compile of a HIP source against the build machine's libc and libstdc++, in the sandbox:
 *     sdk.clang -x hip k.hip --offload-arch=gfx1201 -fPIC -shared
 *         --sysroot=/run/host --gcc-toolchain=/run/host/usr  (sdk_system_binds at "/run/host")
 *         sdk.clang_flags  -L each of sdk.lib_dirs  -lamdhip64
 * A compile against the SDK's own libc omits the line with --sysroot.
 */
#pragma once

#include "base/proc.h"
#include "formats/finding.h"

/* A requested SDK. */
struct sdk_spec {
	struct str provider; /* "debian", "rocm", "tarball", "artifacts", "prefix"; "" = debian */
	/* debian: "sid", "experimental", "trixie"; "" = sid. rocm: the version, "10.1" (its newest release) or a whole
	 * one; tarball, artifacts: the rest of its name */
	struct str suite;
	struct strs components; /* "compiler", "math", "dnn", "torch-build", "headers" or a library:
				 * "hiprand"; "compiler" is always part of a debian SDK */
	/* debian: unpack library kernels for these targets only, or "all"; empty = the targets that the SDK has, or
	 * all for a new SDK */
	struct strs gpus;
	struct str mirror;  /* debian: archive URL; "" = from the machine's apt configuration */
	struct str keyring; /* debian: "" = the machine's archive keyring */
	struct str prefix;  /* prefix: the tree */
	struct str
		from; /* rocm: index URL; tarball: file or URL; artifacts: folder; "" = the one before, or AMD's */
	struct strs links; /* rocm: folders or pages of wheels instead of an index */
	struct str sha256; /* tarball; "" only if unverified, which its receipt tells */
	bool unverified;
	bool refresh; /* debian: fetch a new archive index, and replace packages that changed */
};

struct sdk_component {
	struct str name, version; /* "clang" "21.1.8", "hip" "6.4.43484", "hiprand" "2.12.0" */
};

/* The way to start programs of the SDK on this machine. */
enum sdk_runner {
	SDK_DIRECT,    /* directly (prefix) */
	SDK_BWRAP,     /* bwrap, without network */
	SDK_BWRAP_NET, /* bwrap without a network namespace, where it may not make one */
	SDK_CHROOT,    /* root without user namespaces or bwrap: bind mounts and chroot */
	SDK_NORUN,     /* none works; sdk_wrap() reports why */
};

/* An open SDK. All paths are those that its programs see (inside the sandbox), unless noted. */
struct sdk {
	struct str name; /* "debian-sid", or the prefix path */
	struct str provider, suite;
	struct str
		root; /* the tree's folder on this machine, in a sandbox; "" = programs run directly */
	struct str dir;         /* our folder on this machine: receipt, file lists, probe results */
	struct str clang;       /* ".../clang++" */
	struct str device_libs; /* ".../amdgcn/bitcode" */
	struct str hip_path;    /* passed as --hip-path */
	struct str include;     /* the folder that holds only ROCm's headers (no libc) */
	struct strs lib_dirs;   /* folders of ROCm's libraries: -L, and the run-time search path */
	struct strs clang_flags; /* flags that every HIP compile needs for this layout; layout.c */
	struct strs path;        /* the folders of PATH inside */
	struct str index_date;   /* debian: date of the archive index that was used */
	struct strs notes;       /* accepted exceptions, one line each ("... has expired ...") */
	struct strs requested;   /* the components that were installed */
	struct strs gpus; /* some libraries have kernels for these GPUs only; empty = for all */
	VEC(struct sdk_component) components;
	struct str fingerprint; /* hex hash of packages and versions; part of every compile's key */
	uint64_t packages, bytes; /* installed, unpacked */
	uint64_t downloads;       /* bytes of packages in FS_CACHE, set by sdk_count_downloads() */
	enum sdk_runner runner;
};

/* The result of an install. */
struct sdk_done {
	uint64_t packages, bytes, repaired; /* repaired: packages */
	bool nothing;                       /* everything was installed already */
	struct strs wheels; /* paths of those that were made of it, see wheel/rocm.h */
};

/* Parses an SDK's name, as given by options, rocsmith.yaml and ROCSMITH_SDK: "debian", "debian:sid",
 * "debian-sid" (as `sdk list` prints it), "rocm:10.1", "prefix:/opt/rocm", or a folder with a slash in its name. Sets
 * provider and suite or prefix (as written, not made absolute), and clears the rest; does not check that the suite
 * exists. E_USAGE for any other word. */
MUST_USE struct err *sdk_spec_parse(struct arena *a, struct str word, struct sdk_spec *ret);
/* Installs, completes or repairs an SDK, and opens it. Installs nothing if everything is there. ret_done may be
 * NULL. */
MUST_USE struct err *sdk_install(
	struct arena *a, const struct sdk_spec *spec, struct sdk *ret, struct sdk_done *ret_done);
/* Translates a path inside the SDK to a path of this machine. */
struct str sdk_outside(struct arena *a, const struct sdk *sdk, struct str path);
/* The folders in which the compiler's libraries may be, on this machine. */
struct strs sdk_compiler_dirs(struct arena *a, const struct sdk *sdk);
/* A hash of the content of the compiler, its libraries, its linker and the device libraries: of all that decides what a
 * source becomes, besides the files that it includes. E_SDK if there is no clang. */
MUST_USE struct err *sdk_identity(struct arena *a, const struct sdk *sdk, struct str *ret);
/* The same files, each "STATE PATH" with fs_exact_state(). */
struct strs sdk_programs(struct arena *a, const struct sdk *sdk);
/* Opens an installed SDK; E_SDK if it is missing or lacks a component, a package, or kernels for a GPU. */
MUST_USE struct err *sdk_open(struct arena *a, const struct sdk_spec *spec, struct sdk *ret);
/* E_SDK if the SDK can neither be opened nor be installed by a build: a prefix, a tarball that is not installed. */
MUST_USE struct err *sdk_can_be_had(struct arena *a, const struct sdk_spec *spec);
/* Opens an SDK by name (see sdk_spec_parse()); "" = the one that ROCSMITH_SDK names, debian-sid, or the first one
 * installed. */
MUST_USE struct err *sdk_open_name(struct arena *a, struct str name, struct sdk *ret);
/* Lists the packages that sdk_install() would fetch and unpack. Changes nothing. */
MUST_USE struct err *sdk_preview(struct arena *a, const struct sdk_spec *spec, struct sdk_done *ret,
	struct strs *ret_packages);
/* Sets io->downloads. It stats every file, so only commands that show the figure should call it. */
MUST_USE struct err *sdk_count_downloads(struct arena *a, struct sdk *io);
/* The suite of Debian whose HIP has this version, "7" or "7.2"; "" if none has. */
struct str sdk_debian_suite(struct str hip);
/* Lists the suites that a spec may name. */
struct strs sdk_suites(struct arena *a);
/* Lists the names of the installed SDKs. */
MUST_USE struct err *sdk_names(struct arena *a, struct strs *ret);
/* Removes the SDK's folder, its downloads and private apt state; E_NOENT if there is none. */
MUST_USE struct err *sdk_remove(struct arena *a, struct str name);

/* The ROCm version of an SDK: "7.2.4", or "6.4" if only that is known; "" = unknown. Texts that are
 * written before the version is known contain SDK_ROCM instead. */
#define SDK_ROCM "@rocm@"
#define SDK_ROCM_PIN "@rocm-pin@"
struct str sdk_rocm(struct arena *a, const struct sdk *sdk);
/* Replaces SDK_ROCM and SDK_ROCM_PIN in a text. SDK_ROCM_PIN becomes "7.2.*" for a release "7.2.4", else the whole
 * version. */
struct str sdk_rocm_put(struct arena *a, const struct sdk *sdk, struct str text);
/* Adds the facts that recipes test: the SDK's versions and its paths. */
struct recipe_facts;
void sdk_recipe_facts(struct arena *a, const struct sdk *sdk, struct recipe_facts *ret);

/* A folder of the machine that a program of the SDK may see, at the same path unless `at` is set. */
struct sdk_bind {
	struct str path, at;
	bool writable;
};

struct sdk_binds VEC_OF(struct sdk_bind);

/* Turns p, whose argv has the SDK's paths, into the command to start: bwrap ..., chroot ..., or p unchanged. A bind
 * must not lie in /usr/{bin,lib,include,share,...}, /etc, /proc or /dev; a bind below another one must follow it.
 * argv[0] without a slash is looked up in sdk.path. The program has no terminal unless p inherits ours. Thread-safe. A
 * sandboxed start takes about 8 ms. binds: NULL for none. */
MUST_USE struct err *sdk_wrap(
	struct arena *a, const struct sdk *sdk, const struct sdk_binds *binds, struct proc *p);
/* Adds this machine's /usr, /lib, ..., read-only below the folder `at` (for --sysroot). */
void sdk_system_binds(struct arena *a, struct str at, struct sdk_binds *ret);
/* Adds, writable, every folder of this machine that does not hide the SDK's (/home, /root, /tmp, ...), for programs
 * that the user starts. */
MUST_USE struct err *sdk_all_binds(struct arena *a, const struct sdk *sdk, struct sdk_binds *ret);
/* Replaces this process by argv, run inside root by bind mounts ("FROM:AT:r" or ":w") and chroot; SDK_CHROOT starts a
 * separate process for this. Returns only on failure. */
MUST_USE struct err *sdk_enter(struct arena *a, struct str root, const struct strs *binds,
	struct str dir, const struct strs *argv);
/* Lists the variables by which build systems find the SDK (ROCM_PATH, HIP_PATH, ...), as "NAME=value", with the paths
 * that the SDK's programs see. PATH has only the SDK's folders; prepend them to the others. */
void sdk_environment(struct arena *a, const struct sdk *sdk, struct strs *ret);
/* Makes p, a program of this machine such as python3, run on the SDK's loader and libraries, without a sandbox, so that
 * a wheel can be imported on a machine without ROCm. Programs that p starts run as usual. argv[0] must be an ELF
 * program, a link to one, or a script whose interpreter is one. */
MUST_USE struct err *sdk_wrap_host(struct arena *a, const struct sdk *sdk, struct proc *p);
/* Adds the folders in which such a program finds the SDK's libraries, as paths of this machine. */
void sdk_library_dirs(struct arena *a, const struct sdk *sdk, struct strs *io);

struct sdk_target {
	struct str name;
	bool compiles;
	struct str why; /* clang's own error, or "" */
};

struct sdk_targets {
	VEC(struct sdk_target) list;
};

/* Tests which of these targets (NULL = all current ones) the SDK really compiles, with an empty kernel for each. The
 * results are stored with the SDK. */
MUST_USE struct err *sdk_probe(struct arena *a, const struct sdk *sdk, const struct strs *targets,
	struct sdk_targets *ret);
/* Compares the tree with its file lists, and reports missing, changed or torn files. Records damaged packages, so that
 * the next sdk_install() repairs them. */
MUST_USE struct err *sdk_check(struct arena *a, struct str name, struct findings *ret);
/* Loads each library of ROCm that an installed SDK has, and starts each of its programs, each by itself, and reports
 * those that fail. Adds their number to *io_tried; none if programs of the SDK cannot run here. */
MUST_USE struct err *sdk_try(
	struct arena *a, struct str name, size_t *io_tried, struct findings *ret);
/* The document of `sdk info` and `sdk install`; targets and done may be NULL. */
struct str sdk_json(struct arena *a, const struct sdk *sdk, const struct sdk_targets *targets,
	const struct sdk_done *done);
/* The version of an installed component, or "". */
struct str sdk_component_version(const struct sdk *sdk, const char *name);
/* A map of versions by name: FIELD_MAP("versions", struct sdk, components, sdk_component_fields). */
extern const struct json_field sdk_component_fields[];

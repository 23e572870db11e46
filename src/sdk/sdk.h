/* ROCm SDKs: the providers that they come from, the folders that they are in, and how to run their programs.
 *
 * An SDK is a tree with clang, device libraries, headers and libraries. Its receipt, sdk.json beside the tree,
 * has the provider, suite, components, packages with versions and hashes, the date of the archive index and
 * accepted exceptions; for each package there is a list of its files with sizes and hashes. An SDK lives in
 * FS_DATA "sdk/NAME", its downloads and private apt state in FS_CACHE "sdk/NAME". Components of one SDK have
 * different versions, so sdk_rocm() only says what comes closest to "the" ROCm version.
 * The contract of a provider is in provider.h.
 *
 * Paths inside. Debian's layout puts ROCm into /usr, among libc and everything else, which does not work for
 * a build against another libc. So every installed SDK has a second view: relative links to the files of ROCm
 * packages and nothing else, laid out like AMD's packages, so that ROCM_PATH=/opt/rocm is true inside:
 *     /opt/rocm/include          hip, hiprand, thrust, ...; no header of libc, kernel or libstdc++
 *     /opt/rocm/lib              libamdhip64.so, libhiprand.so.1, cmake/, ...; no libc.so, libm.so
 *     /opt/rocm/llvm             the LLVM that hipcc uses
 *     /opt/rocm/amdgcn/bitcode   device libraries
 * Measured (Debian 12, LLVM 21.1.8): with --hip-path=/usr clang adds "-idirafter /usr/include", the
 * SDK's libc headers included; with --hip-path=/opt/rocm it adds ROCm's only. With the SDK's
 * -L/usr/lib/x86_64-linux-gnu a use of fmod() binds to GLIBC_2.38; with -L/opt/rocm/lib to the
 * sysroot's own (2.2.5). --rocm-path=/usr finds no device libraries in Debian's layout.
 *
 * A compile of a HIP source against the build machine's libc and libstdc++, in the sandbox:
 *     sdk.clang -x hip k.hip --offload-arch=gfx1201 -fPIC -shared
 *         --sysroot=/run/host --gcc-toolchain=/run/host/usr  (sdk_system_binds at "/run/host")
 *         sdk.clang_flags  -L each of sdk.lib_dirs  -lamdhip64
 * Against the SDK's own libc: the same without the line of --sysroot.
 */
#pragma once

#include "base/proc.h"
#include "formats/finding.h"

/* A wish for an SDK. */
struct sdk_spec {
	struct str provider;    /* "debian", "prefix"; "" = debian */
	struct str suite;       /* debian: "sid", "experimental", "trixie"; "" = sid */
	struct strs components; /* "compiler", "math", "dnn", "torch-build", "headers" or a library:
				 * "hiprand"; "compiler" is always part of a debian SDK */
	struct strs gpus;       /* debian: of libraries that are unpacked now, kernels of these
				 * targets only; "all"; none: as the SDK has them, a new one all */
	struct str mirror;      /* debian: archive URL; "" = from the machine's apt configuration */
	struct str keyring;     /* debian: "" = the machine's archive keyring */
	struct str prefix;      /* prefix: the tree */
	bool refresh;           /* debian: take a new archive index, replace what changed */
};

struct sdk_component {
	struct str name, version; /* "clang" "21.1.8", "hip" "6.4.43484", "hiprand" "2.12.0" */
};

/* How programs of the SDK are started on this machine. */
enum sdk_runner {
	SDK_DIRECT,    /* they run as they are (prefix) */
	SDK_BWRAP,     /* bwrap, without network */
	SDK_BWRAP_NET, /* bwrap where it may not make a network namespace */
	SDK_CHROOT,    /* root without user namespaces or bwrap: bind mounts and chroot */
	SDK_NORUN,     /* not at all; sdk_wrap() says why */
};

/* An open SDK. All paths are as its programs see them (inside the sandbox). */
struct sdk {
	struct str name; /* "debian-sid", or the prefix path */
	struct str provider, suite;
	struct str root;  /* folder of the tree on this machine; "" when run directly */
	struct str dir;   /* our folder for it: receipt, file lists, answers of probes */
	struct str clang; /* ".../clang++" */
	struct str bundler, lld;
	struct str device_libs;  /* ".../amdgcn/bitcode" */
	struct str hip_path;     /* passed as --hip-path */
	struct str include;      /* folder that holds only ROCm's headers (no libc) */
	struct strs lib_dirs;    /* the same for libraries: -L, and the run-time search path */
	struct strs clang_flags; /* flags that every HIP compile needs for this layout; layout.c */
	struct strs path;        /* folders for PATH inside */
	struct str index_date;   /* debian: date of the archive index that was used */
	struct strs notes;       /* accepted exceptions, one line each ("... has expired ...") */
	struct strs requested;   /* the components that were installed */
	struct strs gpus;        /* some libraries have kernels of these only; none: of all */
	VEC(struct sdk_component) components;
	struct str
		fingerprint; /* hex hash over packages and versions: part of every compile's key */
	uint64_t packages, bytes; /* installed, unpacked */
	uint64_t downloads;       /* bytes of packages kept in FS_CACHE: sdk_count_downloads() */
	bool sandbox;             /* programs run in bwrap or chroot */
	enum sdk_runner runner;
};

/* The result of an install. */
struct sdk_done {
	uint64_t packages, fetched, bytes, repaired; /* fetched: bytes; repaired: packages */
	bool nothing;                                /* everything was there already */
};

/* The one parser of SDK names, for options, rocsmith.yaml and ROCSMITH_SDK: "debian", "debian:sid",
 * "debian-sid" (as `sdk list` prints it), "prefix:/opt/rocm", or a folder with a slash in its name. Sets
 * provider and suite or prefix (as written, not made absolute), and clears the rest; whether there is such a
 * suite is not checked. E_USAGE for any other word. */
MUST_USE struct err *sdk_spec_parse(struct arena *a, struct str word, struct sdk_spec *ret);
/* Installs (or completes, or repairs) and opens. A no-op when everything is there. ret_done may be
 * NULL. */
MUST_USE struct err *sdk_install(
	struct arena *a, const struct sdk_spec *spec, struct sdk *ret, struct sdk_done *ret_done);
/* Opens an installed SDK; E_SDK when it is not there or lacks a component, one of its packages, or kernels for a
 * GPU. */
MUST_USE struct err *sdk_open(struct arena *a, const struct sdk_spec *spec, struct sdk *ret);
/* Opens by name (see sdk_spec_parse()); "" = that of ROCSMITH_SDK, debian-sid, or the first one installed. */
MUST_USE struct err *sdk_open_name(struct arena *a, struct str name, struct sdk *ret);
/* Lists what sdk_install() would fetch and unpack, and changes nothing. */
MUST_USE struct err *sdk_preview(struct arena *a, const struct sdk_spec *spec, struct sdk_done *ret,
	struct strs *ret_packages);
/* Sets io->downloads. It looks at every file, so it is for commands that show the figure only. */
MUST_USE struct err *sdk_count_downloads(struct arena *a, struct sdk *io);
/* The suites that a spec may name. */
struct strs sdk_suites(struct arena *a);
/* Names of the installed SDKs. */
MUST_USE struct err *sdk_names(struct arena *a, struct strs *ret);
/* Removes the SDK's folder, its downloads and private apt state; E_NOENT when there is none. */
MUST_USE struct err *sdk_remove(struct arena *a, struct str name);

/* The ROCm version of an SDK: "7.2.4", or "6.4" when no more is known; "" = unknown. Texts that are written
 * before it is known have SDK_ROCM in its place. */
#define SDK_ROCM "@rocm@"
#define SDK_ROCM_PIN "@rocm-pin@"
struct str sdk_rocm(struct arena *a, const struct sdk *sdk);
/* Puts the version into such a text. SDK_ROCM_PIN becomes "7.2.*" for a release "7.2.4", or else the whole
 * version. */
struct str sdk_rocm_put(struct arena *a, const struct sdk *sdk, struct str text);
/* Adds the facts that recipes ask for: the SDK's versions and its place. */
struct recipe_facts;
void sdk_recipe_facts(struct arena *a, const struct sdk *sdk, struct recipe_facts *ret);

/* A folder of the machine that a program of the SDK may see, at the same path unless `at` is set */
struct sdk_bind {
	struct str path, at;
	bool writable;
};

struct sdk_binds {
	struct sdk_bind *v;
	size_t n, cap;
};

/* Turns p, whose argv has the SDK's paths, into the command that really runs: bwrap ..., chroot ..., or p as it
 * is. A bind may lie anywhere but in /usr/{bin,lib,include,share,...}, /etc, /proc and /dev; a bind below
 * another one has to follow it. argv[0] without a slash is looked up in sdk.path. The program has no terminal
 * unless p inherits it. Thread-safe. A sandboxed start takes about 8 ms. */
MUST_USE struct err *sdk_wrap(
	struct arena *a, const struct sdk *sdk, const struct sdk_binds *binds, struct proc *p);
/* Adds this machine's /usr, /lib, ..., read-only below the folder `at` (for --sysroot). */
void sdk_system_binds(struct arena *a, struct str at, struct sdk_binds *ret);
/* Adds every folder of this machine that does not hide the SDK (/home, /root, /tmp, ...), writable, for programs
 * that a person starts. */
MUST_USE struct err *sdk_all_binds(struct arena *a, const struct sdk *sdk, struct sdk_binds *ret);
/* Becomes argv inside root, by bind mounts ("FROM:AT:r" or ":w") and chroot; SDK_CHROOT starts this as a process
 * of its own. Returns only on failure. */
MUST_USE struct err *sdk_enter(struct arena *a, struct str root, const struct strs *binds,
	struct str dir, const struct strs *argv);
/* Variables by which build systems find the SDK (ROCM_PATH, HIP_PATH, ...), as "NAME=value", with paths as the
 * SDK's programs see them. PATH holds the SDK's folders only, to be put in front of others. */
MUST_USE struct err *sdk_environment(struct arena *a, const struct sdk *sdk, struct strs *ret);
/* Turns p, a program of this machine such as its python3, into a run on the SDK's loader and libraries, without a
 * sandbox, so that a wheel can be imported where no ROCm is installed. Programs that p starts run as usual.
 * argv[0] must be an ELF program, a link to one, or a script that names one. */
MUST_USE struct err *sdk_wrap_host(struct arena *a, const struct sdk *sdk, struct proc *p);
/* Adds the folders, with paths of this machine, in which such a program finds the SDK's libraries. */
void sdk_library_dirs(struct arena *a, const struct sdk *sdk, struct strs *io);

struct sdk_target {
	struct str name;
	bool compiles;
	struct str why; /* clang's own error, or "" */
};

struct sdk_targets {
	VEC(struct sdk_target) list;
};

/* Finds out which of these targets (NULL: of all current ones) the SDK really compiles, by an empty kernel for
 * each. The answers are kept with the SDK. */
MUST_USE struct err *sdk_probe(struct arena *a, const struct sdk *sdk, const struct strs *targets,
	struct sdk_targets *ret);
/* Compares the tree with its file lists, and finds missing, changed or torn files. Damaged packages are noted, so
 * that the next sdk_install() repairs them. */
MUST_USE struct err *sdk_check(struct arena *a, struct str name, struct findings *ret);
/* The document of `sdk info` and `sdk install`; targets and done may be NULL. */
struct str sdk_json(struct arena *a, const struct sdk *sdk, const struct sdk_targets *targets,
	const struct sdk_done *done);
/* The version of an installed component, or "". */
struct str sdk_component_version(const struct sdk *sdk, const char *name);
/* A map of versions by name: FIELD_MAP("versions", struct sdk, components, sdk_component_fields). */
extern const struct json_field sdk_component_fields[];

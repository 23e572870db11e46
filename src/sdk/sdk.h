/* ROCm SDKs: where they come from (providers), where they are, how to run their programs.
 *
 * An SDK is a tree with clang, device libraries, headers and libraries, described by a manifest
 * (sdk.json beside the tree: provider, suite, components, packages with versions and hashes, files
 * with sizes and hashes, date of the archive index, accepted exceptions).
 *
 * The contract of a provider (debian, prefix now; wheels, tarball, artifacts to come):
 *   resolve   spec -> list of items (name, version, url, size, sha256), no writes but its own cache
 *   fetch     items -> cache, resumable, verified
 *   unpack    items -> a staged tree, files recorded in the manifest; runs no code of the items
 *   layout    tree -> struct sdk: finds clang, device libraries, headers, versions per component
 *   run       how a program inside the tree is started (directly, or in a sandbox)
 * Versions differ between components of one SDK; nothing here speaks of "the" ROCm version.
 */
#pragma once

#include "base/proc.h"
#include "formats/finding.h"

/* What is wanted. */
struct sdk_spec {
	struct str provider; /* "debian" or "prefix" */
	struct str suite;    /* debian: "sid", "experimental", "trixie" */
	struct strs
		components; /* "compiler", "math", "dnn", "torch-build" or a library: "hiprand" */
	struct str mirror;  /* debian: archive URL; "" = from the machine's apt configuration */
	struct str keyring; /* debian: "" = the machine's archive keyring */
	struct str prefix;  /* prefix: the tree */
};

struct sdk_component {
	struct str name, version; /* "clang" "21.1.8", "hip" "6.4.43484", "hiprand" "2.12.0" */
};

/* What is there. All paths are as seen by programs of the SDK (inside its sandbox). */
struct sdk {
	struct str name; /* "debian-sid", or the prefix path */
	struct str provider, suite;
	struct str root;  /* folder of the tree on this machine; "" or "/" when run directly */
	struct str clang; /* ".../clang++" */
	struct str bundler, lld;
	struct str device_libs; /* ".../amdgcn/bitcode" */
	struct str hip_path;    /* passed as --hip-path, "/usr" for Debian's layout */
	struct str
		include; /* folder that holds only ROCm's headers (no libc), e.g. for -idirafter */
	struct strs lib_dirs;
	struct strs clang_flags; /* flags that every compile needs for this layout, with reasons in
				    sdk.c */
	struct str index_date;   /* debian: date of the archive index that was used */
	VEC(struct sdk_component) components;
	struct str
		fingerprint; /* hex hash over packages and versions: part of every compile's key */
	bool sandbox;        /* programs run in bwrap or chroot */
};

/* Installs (or completes, or repairs) and opens. A no-op when everything is there. */
MUST_USE struct err *sdk_install(struct arena *a, const struct sdk_spec *spec, struct sdk *ret);
/* Opens an installed one; E_SDK when it is not there or lacks a component. */
MUST_USE struct err *sdk_open(struct arena *a, const struct sdk_spec *spec, struct sdk *ret);

/* A folder of the machine that a program of the SDK may see, at the same path unless `at` is set.
 */
struct sdk_bind {
	struct str path, at;
	bool writable;
};

struct sdk_binds {
	struct sdk_bind *v;
	size_t n, cap;
};

/* Turns p (argv in terms of the SDK's paths) into what really runs: bwrap ..., chroot ... or p as
 * it is. With host_root set, the machine's root is visible read-only below that path (for
 * --sysroot). */
MUST_USE struct err *sdk_wrap(struct arena *a, const struct sdk *sdk, const struct sdk_binds *binds,
	struct str host_root, struct proc *p);
/* Turns p (a program of this machine, such as its python3) into a run on the SDK's loader and
 * libraries: how a wheel is imported where no ROCm is installed. */
MUST_USE struct err *sdk_wrap_host(struct arena *a, const struct sdk *sdk, struct proc *p);
/* Which of these targets the SDK really compiles (an empty kernel is compiled for each; the answer
 * is remembered with the SDK). ret_ok[i] for targets.v[i]; ret_why[i] is clang's own error. */
MUST_USE struct err *sdk_probe(struct arena *a, const struct sdk *sdk, const struct strs *targets,
	bool *ret_ok, struct str *ret_why);
/* Compares the tree with its manifest: missing, changed or torn files. */
MUST_USE struct err *sdk_check(struct arena *a, struct str name, struct findings *ret);
/* Names of the components that provide these headers ("hiprand/hiprand.h" -> "hiprand"). */
struct strs sdk_components_for_headers(struct arena *a, const struct strs *headers);

/* The plan: project x GPU set x SDK x host, resolved into everything that a build will do.
 *
 * A plan is made from a project folder (rocsmith.yaml, or nothing but .cu files) and the facts of
 * the machine; it has a JSON form that a person can read, edit and feed back in (`build
 * PLAN.json`). Each choice has a reason, which `rocsmith why` prints.
 */
#pragma once

#include "machine/machine.h"
#include "target/target.h"

struct plan_source {
	struct str path;   /* relative to the project */
	struct str output; /* translated file, relative to the translated tree */
	bool translate;    /* CUDA: goes through hipify */
};

/* A Python extension module, or (module == "") one shared library with a loader. */
struct plan_module {
	struct str name;     /* "saxpy" of PyInit_saxpy; may have dots: "pkg._ext" */
	struct str file;     /* in the wheel: "saxpy.abi3.so" */
	VEC(size_t) sources; /* indices into plan.sources */
	bool loader;         /* plain shared library, loaded by a generated Python file */
};

struct plan_reason {
	struct str subject, choice, why; /* "host libc", "this machine's glibc 2.36", "..." */
};

struct plan {
	struct str project; /* absolute folder */
	struct str name, version, summary, license;
	struct strs gpus; /* canonical target ids */
	VEC(struct plan_source) sources;
	struct strs includes;  /* folders, relative to the project */
	struct strs libraries; /* linked: "hiprand" */
	struct strs defines, flags;
	struct strs python_files; /* packed as they are, relative to the project */
	struct str python_dir;    /* folder that they are relative to */
	VEC(struct plan_module) modules;
	struct str sdk_provider, sdk_suite, sdk_prefix, sdk_mirror;
	struct strs sdk_components;
	bool host_native; /* host side against this machine's libc, else the SDK's */
	struct host host;
	struct str python_tag, abi_tag, requires_python;
	VEC(struct plan_reason) reasons;
	struct findings findings;
};

struct plan_request {
	struct str dir;   /* project folder */
	struct strs gpus; /* words of --gpu; "native", "all" allowed; empty = native */
	struct str sdk;   /* "debian", "debian:sid", "prefix:/opt/rocm" or "" */
	struct str mirror, python;
	struct str sysroot; /* for tests: facts of another machine */
};

MUST_USE struct err *plan_make(struct arena *a, const struct plan_request *r, struct plan *ret);
MUST_USE struct err *plan_read(struct arena *a, struct str path, struct plan *ret);
struct str plan_json(struct arena *a, const struct plan *p);

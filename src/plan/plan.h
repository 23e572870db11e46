/* The plan: project x GPU set x SDK x host, resolved into everything that a build will do.
 *
 * A plan is made from a project folder (rocsmith.yaml, or nothing but .cu files; or setup.py,
 * pyproject.toml, CMakeLists.txt, which then build it: struct plan_foreign) and the facts of
 * the machine; it has a JSON form that a person can read, edit and feed back in (`build
 * PLAN.json`). Each choice has a reason, which `rocsmith why` prints. Making a plan reads the
 * project and the machine; it writes nothing and needs no SDK. A plan is complete when plan_make()
 * or plan_read() returns, and nobody changes it from then on; plan_waves() adds findings.
 *
 * A known project (PyTorch, torchvision, ...) is a description that rocsmith ships
 * (recipes/projects/, in the grammar of rocsmith.yaml), applied to sources that are elsewhere: what
 * can be chosen there is in plan.features.
 *
 * The keys of rocsmith.yaml: doc/man/rocsmith.yaml.5.scd. Limits: 4,096 sources, 65,536 packed
 * files, 16 MiB per source.
 */
#pragma once

#include "hipify/options.h"
#include "machine/machine.h"
#include "sdk/sdk.h"
#include "source/fetch.h"
#include "source/source.h"
#include "target/target.h"

enum plan_lang { PLAN_HIP, PLAN_CXX, PLAN_C }; /* .cu and .hip; .cpp .cc .cxx; .c */

struct plan_source {
	struct str path;   /* relative to the project */
	struct str output; /* relative to the translated tree: "src/a.hip" for "src/a.cu" */
	enum plan_lang lang;
};

/* A Python extension module, (loader) one shared library with a generated loader, or a program. */
struct plan_module {
	struct str name;        /* "saxpy" of PyInit_saxpy, with its package: "pkg._ext" */
	struct str file;        /* in the wheel: "pkg/_ext.abi3.so" */
	struct strs sources;    /* paths of plan.sources, in the order of linking */
	bool loader;            /* plain shared library, loaded by a generated Python file */
	struct str loader_file; /* in the wheel: "saxpy/__init__.py"; "" unless loader */
	bool program; /* has main(): an executable; file is "scripts/NAME", for the wheel's scripts */
};

/* A feature of the project and what was chosen for it, as the description's rules say. */
struct plan_feature {
	struct str name, about; /* "flash-attention" */
	struct str choice;      /* "off" */
	struct str why, source; /* source: where one can read it, or "" */
	bool asked;             /* --feature */
};

struct plan_reason {
	struct str subject, choice, why; /* "host libc", "glibc 2.36 of this machine", "..." */
};

/* What a build takes, as its description says; memory and disk in MiB. All 0: not known. */
struct plan_cost {
	uint64_t host_seconds, device_seconds; /* of CPU time; the latter for each GPU */
	uint64_t disk, device_disk;            /* of the build folder */
	uint64_t sdk_disk;                     /* of an SDK that is to be installed */
	uint64_t memory;                       /* of the largest compile */
};

/* A file that the build's copy gets. */
struct plan_file {
	struct str path, text;
};

/* A build by the project's own build system (foreign/): what it is, and what goes into it. */
struct plan_foreign {
	enum source_system system; /* never SOURCE_OWN */
	struct str file;           /* that tells the system: "setup.py" */
	struct str backend;        /* of a Python project, see source.h */
	struct strs backend_path;
	struct strs requires;   /* requirements of its Python environment */
	struct strs with;       /* wheels that are installed there, absolute paths */
	struct strs without;    /* patterns of what these need, but the build does not */
	struct strs options;    /* arguments for CMake, settings for a back end: NAME=VALUE */
	struct strs env;        /* NAME=VALUE for everything that the build starts */
	struct strs precompile; /* sets of headers for its C++, with a space between */
	/* Of a Python project whose script configures CMake first: that script with its arguments, and
	 * CMake's folder in the tree. Empty: the back end does all in one. */
	struct strs configure;
	struct str cmake;
	bool torch;                /* one of `with` is a torch */
	struct source_tree source; /* what the folder was made of; kind "": it is the user's */
	struct str release; /* of the sources, without what is added: "2.6.0"; "" = unknown */
	VEC(struct plan_file) files; /* that the copy gets beside those of the project */
	struct plan_cost cost;
	bool device;        /* it has sources for the GPU, so the result must have its code */
	bool torch_as_rocm; /* it counts as one for ROCm, whatever it was built for */
};

/* What a build will need of this machine, as it is now: build_forecast(). Bytes and seconds. */
struct forecast {
	bool known; /* false: nobody knows what this project needs */
	struct str dir, sdk_dir;
	uint64_t disk, sdk; /* to be written in dir, in sdk_dir; 0: it is there already */
	uint64_t disk_free, sdk_free;
	bool one_disk;                /* both are on one */
	uint64_t memory, memory_free; /* of the largest compile; of the machine, 0 = unknown */
	double cpu, seconds;          /* of all compiles, and with so many jobs */
	unsigned jobs;
	bool history; /* time and memory are those of earlier builds in dir */
};

struct plan {
	struct str project; /* absolute folder */
	struct str name, version, summary, license;
	struct strs gpus; /* canonical target ids, in the order asked for, unique */
	VEC(struct plan_source) sources;
	struct strs headers;   /* files of the project that the sources include */
	struct strs external;  /* other headers that they include, as written: "curand.h" */
	struct strs includes;  /* folders, relative to the project */
	struct strs libraries; /* linked: "hiprand" */
	struct strs defines, flags;
	struct strs python_files; /* packed as they are, relative to python_dir */
	struct str python_dir;    /* folder that they are relative to, relative to the project */
	VEC(struct plan_module) modules;
	struct sdk_spec sdk;          /* a prefix is absolute */
	struct hipify_options hipify; /* as the section of rocsmith.yaml says it */
	bool host_native;             /* host side against this machine's libc, else the SDK's */
	bool needs_python;            /* some source includes Python.h */
	struct strs python_headers;   /* folders of numpy and the like, of that Python: absolute */
	bool no_kernels;              /* a wheel without device code is right */
	struct plan_foreign *foreign; /* NULL: our own build of .cu sources, by modules */
	struct host host;
	struct str python_tag, abi_tag, requires_python; /* tag "" = of the SDK's Python */
	struct strs requires;                            /* Requires-Dist */
	VEC(struct plan_feature) features;
	VEC(struct plan_reason) reasons;
	struct findings findings;
	/* Not in a saved plan: */
	struct str file;                 /* that it was read from; "" = it was made just now */
	const struct sdk *here;          /* the SDK, as far as it is installed; NULL = it is not, or
	                                  * nobody asked */
	const struct forecast *forecast; /* for who prints the plan; else NULL */
};

struct plan_request {
	/* Project folder; or the name of a known project; or a word of source/fetch.h for another one's
	 * sources. */
	struct str dir;
	/* Where the sources of a known project are, as source/fetch.h has it; "" = where its
	 * description says. */
	struct str source;
	struct strs features; /* NAME=CHOICE */
	struct str suffix;    /* of the version; .p NULL = as we choose it */
	struct str config;    /* description to use instead of DIR/rocsmith.yaml, or "" */
	struct strs
		gpus;   /* words of --gpu; "native", "all" allowed; empty = project's, or native */
	struct str sdk; /* a name of sdk_spec_parse(), or "" */
	struct str mirror, keyring, python;
	bool refresh;              /* of sources that are fetched, as source/fetch.h has it */
	struct strs with, without; /* as in struct plan_foreign; wheels relative to this folder */
	bool torch_as_rocm;
	bool any_gpu;       /* no target at all will do: for explaining */
	struct str sysroot; /* facts (GPUs, host files) of another machine, or "" */
};

/* E_PROJECT, E_SYNTAX, E_GFX, E_NO_GPU, E_MODULE, E_PLAN; located in the user's file where there is
 * one. */
MUST_USE struct err *plan_make(struct arena *a, const struct plan_request *r, struct plan *ret);
/* Reads a saved plan, strictly: unknown keys, another schema, a project or source that is gone, or
 * a machine whose C library changed are errors. It may be a stranger's: nothing that it names is run. */
MUST_USE struct err *plan_read(struct arena *a, struct str path, struct plan *ret);
/* Fills plan->findings: where sources assume waves of 32 lanes, when a target has 64. The file "waves" of
 * a build folder tells what sources that did not change have; keep: it is written for the next time. */
MUST_USE struct err *plan_waves(struct arena *a, struct plan *p, struct str build_dir, bool keep);
/* Is the Python of a saved plan still what it was? Runs it: for who is about to build. */
MUST_USE struct err *plan_meet_python(struct arena *a, const struct plan *p);
/* Its JSON form: json_document(a, 2, plan_fields, plan). */
extern const struct json_field plan_fields[], plan_reason_fields[], plan_feature_fields[];
/* Can it be one of plan.python_headers? *ret_source: the file there that modules are linked with, or "". */
bool plan_is_header_folder(struct str dir, struct str *ret_source);
/* What a build of the known project takes, as its description says; false: nobody knows. */
bool plan_known_cost(struct arena *a, struct str name, struct plan_cost *ret);
/* Puts in what only the SDK knows, which is there now: its ROCm version, in place of SDK_ROCM. */
void plan_settle(struct arena *a, const struct sdk *sdk, struct plan *plan);
/* The section `hipify` of DIR/rocsmith.yaml alone; all empty when there is none. The rest of the
 * file is checked as well. */
MUST_USE struct err *plan_hipify_read(struct arena *a, struct str dir, struct hipify_options *ret);

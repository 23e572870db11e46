/* The plan: project x GPU set x SDK x host, resolved into everything that a build will do.
 *
 * A plan is made from a project folder (rocsmith.yaml, or nothing but .cu files; or setup.py, pyproject.toml or
 * CMakeLists.txt, which then build it: struct plan_foreign) and the facts of the machine. It has a JSON form that a
 * person can read, edit and feed back in (`build PLAN.json`). Each choice has a reason, which `rocsmith why` prints.
 * Making a plan reads the project and the machine; it writes nothing and needs no SDK. The result is a wish (struct
 * plan_wish); once the SDK is installed, plan_settle() turns the wish into the plan that a build follows.
 *
 * A known project (PyTorch, torchvision, ...) is a description that rocsmith ships (recipes/projects/, in the grammar
 * of rocsmith.yaml), applied to sources that are elsewhere; plan.features has the choices made for it.
 *
 * The keys of rocsmith.yaml: doc/man/rocsmith.yaml.5.scd. Limits: 4,096 sources, 65,536 packed files, 16 MiB per
 * source.
 */
#pragma once

#include "base/map.h"
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

/* A feature of the project and the choice that the rules of the description made for it. */
struct plan_feature {
	struct str name, about; /* "flash-attention" */
	struct str choice;      /* "off" */
	struct str why, source; /* source: the page that says so, or "" */
	bool asked;             /* chosen by --feature */
};

struct plan_reason {
	struct str subject, choice, why; /* "host libc", "glibc 2.36 of this machine", "..." */
};

/* The cost of a build, by its description; memory and disk in MiB. All 0: not known. */
struct plan_cost {
	uint64_t host_seconds, device_seconds; /* CPU time; the latter for each GPU */
	uint64_t
		chain_seconds; /* steps that wait for each other: the shortest build on any number of cores */
	/* The part of host_seconds and of device_seconds that is done after each twentieth of the steps, in per cent: twenty
	 * numbers each, or none. The order of the steps is the project's, so these are alike on all machines. */
	struct strs host_pace, device_pace;
	uint64_t disk, device_disk; /* size of the build folder; the latter for each GPU */
	uint64_t sdk_disk;          /* size of an SDK that is still to be installed */
	uint64_t memory;            /* peak of the largest compile */
};

/* A file that is written into the build's copy of the project. */
struct plan_file {
	struct str path, text;
};

/* A build by the project's own build system (foreign/), and the input of that system. */
struct plan_foreign {
	enum source_system system; /* never SOURCE_OWN */
	struct str file;           /* the file by which the system was recognised: "setup.py" */
	struct str backend;        /* PEP 517 back end of a Python project, see source.h */
	struct strs backend_path;
	struct strs requires;   /* requirements of its Python environment */
	struct strs with;       /* wheels that are installed there, absolute paths */
	struct strs without;    /* patterns of requirements of these that the build does not need */
	struct strs options;    /* arguments for CMake, settings for a back end: NAME=VALUE */
	struct strs env;        /* NAME=VALUE for everything that the build starts */
	struct strs allow;      /* sonames that the machines which use the wheel bring */
	struct strs precompile; /* sets of headers to precompile for its C++, separated by blanks */
	/* A Python project whose script configures CMake in a step of its own: the script with its
	 * arguments, and CMake's folder in the tree. Empty: the back end does all in one step. */
	struct strs configure;
	struct str cmake;
	bool torch;                /* one of `with` is a torch */
	struct source_tree source; /* origin of a fetched folder; kind "": it is the user's own */
	struct str release; /* version of the sources, without our suffix: "2.6.0"; "" = unknown */
	VEC(struct plan_file) files; /* written into the copy, beside the project's own */
	struct plan_cost cost;
	bool device;        /* it has sources for the GPU, so the result must have device code */
	struct strs advice; /* switches that turn code for GPUs on, which this build leaves alone */
	struct strs links;  /* SDK components for CUDA's libraries that its scripts name */
	bool gpu_off;       /* the user has turned code for GPUs off */
	bool own_hip;       /* the project's own way for AMD's GPUs is taken */
	bool torch_as_rocm; /* treat the torch as one for ROCm, whatever it was built for */
};

/* The demands of a build, and what this machine has free now, in bytes and seconds; see build_forecast(). */
struct forecast {
	bool known; /* false: neither description nor history has the needs of this project */
	struct str dir, sdk_dir;
	uint64_t disk, sdk; /* bytes still to be written to dir and sdk_dir */
	uint64_t disk_free, sdk_free;
	bool one_disk;                /* dir and sdk_dir are on one file system */
	uint64_t memory, memory_free; /* peak of the largest compile; the machine's, 0 = unknown */
	double cpu, seconds;          /* CPU time of all compiles; wall time with `jobs` of them */
	double chain;                 /* the part of cpu that no number of jobs makes shorter */
	double cores; /* the part of the machine's cores that its present load leaves to these jobs */
	unsigned jobs;
	bool history; /* time and memory were measured by earlier builds in dir */
};

struct plan {
	struct str project; /* absolute folder */
	struct str name, version, summary, license;
	struct strs gpus; /* canonical target ids, unique, in the requested order */
	VEC(struct plan_source) sources;
	struct strs
		headers; /* files of the project, and of absolute includes, that sources include */
	struct strs external;  /* other headers that they include, as written: "curand.h" */
	struct strs includes;  /* folders, relative to the project, or absolute and outside of it */
	struct strs libraries; /* linked: "hiprand" */
	struct strs defines, flags;
	struct strs python_files; /* packed as they are, relative to python_dir */
	struct str python_dir;    /* folder of python_files, relative to the project */
	VEC(struct plan_module) modules;
	struct sdk_spec sdk;          /* a prefix is absolute */
	struct hipify_options hipify; /* the section `hipify` of rocsmith.yaml */
	/* The glibc of a policy, 28 for manylinux_2_28, 0 = none; and a folder with one's headers and libraries, or "" */
	unsigned policy;
	struct str policy_sysroot;
	bool host_native;             /* build for this machine's libc, not the SDK's */
	bool needs_python;            /* some source includes Python.h */
	struct strs python_headers;   /* include folders of numpy and the like, absolute */
	struct strs build_requires;   /* installed for our own build, which finds headers in them */
	bool no_kernels;              /* the result may lack device code: there is no kernel */
	struct plan_foreign *foreign; /* NULL: our own build of .cu sources, by modules */
	struct host host;
	struct str python_tag, abi_tag, requires_python; /* tag "": the SDK's Python decides */
	struct strs requires;                            /* Requires-Dist */
	VEC(struct plan_feature) features;
	VEC(struct plan_reason) reasons;
	struct findings findings;
	struct map scans; /* texts that plan_make() read, by path; see struct plan_scan */
	const struct forecast *forecast; /* set by a caller that prints the plan; never saved */
};

/* A plan before its SDK is known: version, environment and files may have the placeholder SDK_ROCM for the SDK's ROCm
 * version. plan_make() and plan_read() return a wish, which is not changed afterwards; plan_settle() turns it into the
 * plan that a build follows. */
struct plan_wish {
	struct plan plan;
	struct str file;        /* the file it was read from; "" = made by plan_make() */
	const struct sdk *here; /* the installed SDK; NULL = not installed or not looked up */
};

struct plan_request {
	/* A project folder, the name of a known project, or the sources of another project (a word of
	 * source/fetch.h). */
	struct str dir;
	struct str source; /* sources of a known project (source/fetch.h); "": the description's */
	struct str
		lock; /* a lock file that has them (cli/project_opts.h makes it `source`), or "" */
	struct strs features; /* NAME=CHOICE */
	struct str suffix;    /* suffix of the version; .p NULL: chosen by plan_make() */
	unsigned number;      /* build number of a known project; 0: PYTORCH_BUILD_NUMBER, or 1 */
	struct str config;    /* description to use instead of DIR/rocsmith.yaml, or "" */
	struct strs gpus; /* words of --gpu, also "native", "all"; empty = project's, or native */
	struct str sdk;   /* a name of sdk_spec_parse(), or "" */
	struct str mirror, keyring, python;
	bool refresh;              /* fetch sources again, see source/fetch.h */
	struct strs with, without; /* see struct plan_foreign; relative to the current folder */
	struct strs promised;      /* members of `with` that another build will make */
	bool torch_as_rocm;
	struct str policy_tag; /* "manylinux_2_28"; cli/project_opts.h makes it `policy` */
	unsigned policy;       /* see struct plan */
	struct str policy_sysroot;
	bool any_gpu;       /* accept a plan without any target, for `rocsmith why` */
	struct str sysroot; /* root of another machine to read GPUs and host files from, or "" */
};

/* Fails with E_PROJECT, E_SYNTAX, E_GFX, E_NO_GPU, E_MODULE or E_PLAN, located in the user's file if there is one. */
MUST_USE struct err *plan_make(
	struct arena *a, const struct plan_request *r, struct plan_wish *ret);
/* Reads a saved plan, strictly: unknown keys, another schema, a project or source that is gone, or a machine whose C
 * library changed are errors. The plan may come from a stranger, so no program that it names is run. */
MUST_USE struct err *plan_read(struct arena *a, struct str path, struct plan_wish *ret);
/* Settles a plan: copies the wish with SDK_ROCM replaced by the ROCm version of the SDK. sdk NULL: SDK_ROCM stays. */
void plan_settle(struct arena *a, const struct plan_wish *wish, const struct sdk *sdk,
	const struct findings *findings, struct plan *ret);
/* Is host code for this machine, but made with a sysroot for an older glibc (sdk/sysroot.h)? */
bool plan_needs_sysroot(const struct plan *p);
/* The requirement on AMD's wheels of ROCm for a project that is built with these as the SDK; "" with another SDK, against a
 * torch, which requires them, and for known projects, whose descriptions say it. */
struct str plan_rocm_wheels(struct arena *a, const struct plan *plan, const struct sdk *sdk);
/* If a target has waves of 64 lanes, finds the places where sources assume 32. */
MUST_USE struct err *plan_waves(struct arena *a, const struct plan *p, struct findings *ret);
/* Finds the targets that the SDK's rocBLAS has no kernels for, if the sources need it: known of Debian's (data/targets.yaml). */
MUST_USE struct err *plan_kernels(struct arena *a, const struct plan *p, struct findings *ret);
/* Finds the names that HIP has no counterpart for, and that every HIP build comes across: each name once; and a texture, if a
 * target has none. A project with a way of its own for AMD's GPUs is not searched. */
MUST_USE struct err *plan_names(struct arena *a, const struct plan *p, struct findings *ret);
/* Fails unless the Python of a saved plan is still the same. Runs that Python, so only a build may call this. */
MUST_USE struct err *plan_meet_python(struct arena *a, const struct plan_wish *wish);
/* The JSON form of a plan: json_document(a, 2, plan_fields, plan). */
extern const struct json_field plan_fields[], plan_reason_fields[], plan_feature_fields[],
	plan_forecast_fields[];
/* Adds the include folders of headers that the sources want to plan->python_headers, from folders of packages separated by
 * ':'; the one folder that has the installed build_requires, if there are some. */
MUST_USE struct err *plan_find_headers(struct arena *a, struct plan *plan, struct str path);
/* May the folder be one of plan.python_headers? *ret_source: a source in it that every module is linked with, or "". */
bool plan_is_header_folder(struct str dir, struct str *ret_source);
/* The projects that the known project is built against or pins, by its description. E_USAGE if it is not known. */
MUST_USE struct err *plan_known_after(struct arena *a, struct str name, struct strs *ret);
/* The cost of building the known project, by its description; false if the description has none. */
bool plan_known_cost(struct arena *a, struct str name, struct plan_cost *ret);
/* Reads the section `hipify` of DIR/rocsmith.yaml; all members are empty if there is none. The rest of the
 * file is checked as well. */
MUST_USE struct err *plan_hipify_read(struct arena *a, struct str dir, struct hipify_options *ret);

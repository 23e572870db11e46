/* Builds a project of .cu sources itself: translated sources -> objects -> linked modules, as jobs.
 *
 * Each source takes the passes of cc/compile.h, each module a link. The sources are never modified: hipify makes a
 * translated copy of the tree for the compilers, and places in their messages are mapped back to the user's files.
 *
 * A build folder has hip/ (translated sources), obj/ (objects, and code objects of each GPU), mod/ (linked modules),
 * log/ (the output of each compiler run), stamp/ and tmp/. The output contains no path of this machine: the same
 * sources, plan and SDK give the same modules, wherever the project lies.
 *
 * A project's flags may make a compiler run code of the project. In a sandbox that code sees the SDK, the project,
 * hip/, obj/ and this machine's system folders (but no /etc); it can write only into its job's own folder below tmp/,
 * and has no network and no terminal.
 *
 * The caller fills in the first part of struct make, then calls make_open(), make_translate() and make_compile(), in
 * this order. Packing and verifying the modules is done elsewhere (flow/).
 */
#pragma once

#include "cc/compile.h"
#include "hipify/hipify.h"
#include "jobs/job.h"
#include "plan/plan.h"
#include "sdk/sysroot.h"

struct make {
	/* The caller fills in: */
	struct arena *a;
	const struct plan *plan;
	const struct sdk *sdk;
	struct str sdk_python; /* "3.14": version of the SDK's Python headers, if they are used */
	const struct sdk_sysroot *sysroot; /* a policy's; root "" = none */
	struct str dir;                    /* build folder, absolute */
	unsigned jobs;
	bool keep_going;        /* after a failure, run all jobs that do not depend on it */
	enum front_share share; /* do device passes share front ends (cc/compile.h)? */
	double began;           /* mono_now() at the start of the whole build */
	struct cache *cache;    /* keeps objects, or NULL */
	struct str identity;    /* sdk_identity(), if there is a cache */
	struct strs programs;   /* sdk_programs(), from before that */

	/* make_open(): the folders, and the paths that compilers can see */
	struct str hip, obj, mod, log, stamp, tmp;
	struct sdk_binds binds;

	/* make_translate() */
	struct hipify_options translation;
	struct hipify_tree tree; /* hipify_tree_free() */
	struct strs outputs;     /* the file in hip/ of each source; empty: the plan's outputs */
	size_t edits;            /* replacements made by hipify */
	struct findings findings;

	/* make_compile() */
	struct jobs set;
	struct front_memory *memory;
	struct make_headers *headers;
	VEC(struct job *) shared; /* their objects are linked into every module */
	struct err *failures;     /* with keep_going: those after the one returned; owned */
	struct findings warnings; /* warnings of finished and up-to-date jobs, each place once */
	struct strs warned;       /* the same, with the places in translated files */
};

MUST_USE struct err *make_open(struct make *m);
/* Makes the translated tree in m->hip. A source that cannot be read is an error with its place. Names without a
 * counterpart in HIP are findings, since the compiler may never see them; those that it is certain to reject are an
 * error. */
MUST_USE struct err *make_translate(struct make *m);
/* Compiles and links all modules. On failure, the reports in m->set still record the work that was done.
 * E_COMPILE and E_LINK carry the compiler's own first error, located in the user's source. */
MUST_USE struct err *make_compile(struct make *m);
/* Fills m->set, for make_compile() and for a dry run. A dry run has no folders, so only the reports are valid then. */
void make_jobs(struct make *m);

/* ---- headers.c ----
 * obj/hip_runtime.hip includes hip/hip_runtime.h. The third pass of a build that would compile that header in the same way
 * as two others (for one GPU, or for the host) precompiles it into obj/HASH.pch, for sources that begin with it. The jobs' keys and
 * objects are those without it. A pass that fails with it runs again without. Builds with a cache go without it: the cache's keys
 * have the headers' texts, and clang looks at the time and size of a header only. */
struct make_headers { /* thread-safe */
	pthread_mutex_t lock;
	struct arena *a;
	VEC(struct header_group) groups;
};
/* After the last job: if this build has made files, those go that it did not use, as their options are no more. */
MUST_USE struct err *make_headers_prune(const struct make *m);
/* A job's `run`: runs its compiler, with the precompiled header if the source begins with that header; makes it first if it is due. */
MUST_USE struct err *make_run_pass(
	struct arena *tmp, struct job *j, struct proc_result *ret, struct strs *io_inputs);

/* The place in m->hip, relative to it, of a file or folder of plan->includes that lies outside of the project. */
#define MAKE_OUTSIDE "outside.rocsmith"
struct str make_outside(const struct make *m, struct str path);
/* The translated file of a source of the plan, relative to m->hip. */
struct str make_output(const struct make *m, const struct plan_source *src);
/* The path of the linked module. */
struct str make_module_path(const struct make *m, const struct plan_module *module);
/* Returns E_COMPILE or E_LINK for a failed run, with the compiler's first error, located in the user's file. */
MUST_USE struct err *make_diagnose(
	struct arena *tmp, const struct job *j, const struct proc_result *r);
/* Adds the compiler warnings of a finished job to m->warnings. said: the output of its run. */
void make_add_warnings(struct make *m, const struct job *j, struct str said);

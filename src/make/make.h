/* Our own build of a project: translated sources -> objects -> linked modules, as jobs.
 *
 * For each HIP source one device pass per GPU, a bundle of what they made, and a host pass that
 * embeds it; a link for each module. The sources are never modified: hipify makes a translated copy
 * of the tree, compilers read that, and what they say is led back to the user's file.
 *
 * A build folder holds hip/ (translated sources), obj/ (objects, bundles), mod/ (linked modules),
 * log/ (what each compiler run said), stamp/ and tmp/. No name of a folder gets into the output: same
 * sources, plan and SDK give the same modules, wherever the project lies.
 *
 * A project's flags may make a compiler run code of the project. In a sandbox that code sees the SDK,
 * the project, hip/ and obj/, of this machine its system folders (and no /etc), can write a folder
 * below tmp/ that is its step's alone, and has no network and no terminal.
 *
 * The caller fills the first part of struct make; then make_open(), make_translate(),
 * make_compile(), in this order. What comes after them (a wheel, its proof) is no business of ours.
 */
#pragma once

#include "hipify/hipify.h"
#include "jobs/job.h"
#include "plan/plan.h"
#include "sdk/sdk.h"

struct make {
	/* What is wanted: */
	struct arena *a;
	const struct plan *plan;
	const struct sdk *sdk;
	struct str sdk_python; /* "3.14": of the SDK's Python headers, where those are used */
	struct str dir;        /* build folder, absolute */
	unsigned jobs;
	bool keep_going; /* after a failure make all that does not need it */
	double began;    /* mono_now() at the start of the whole build */

	/* make_open(): its folders, and what compilers see of the machine */
	struct str hip, obj, mod, log, stamp, tmp;
	struct sdk_binds binds;

	/* make_translate() */
	struct hipify_options translation;
	struct hipify_tree tree; /* hipify_tree_free() */
	struct strs outputs;     /* for each source its file in hip/; empty: those of the plan */
	size_t edits;            /* replacements made by hipify */
	struct findings findings;

	/* make_compile() */
	struct jobs set;
	VEC(struct job *) shared; /* whose objects are linked into every module */
	struct err *failures;     /* keep_going: those behind the one that is returned; owned */
	struct findings
		warnings;   /* of all steps that are done, up to date or not: each place once */
	struct strs warned; /* these, as the compiler has them */
};

MUST_USE struct err *make_open(struct make *m);
/* The translated tree in m->hip. A source that cannot be read is an error with its place; names
 * without a counterpart are findings, and the compiler decides whether they matter. */
MUST_USE struct err *make_translate(struct make *m);
/* Everything up to linked modules. On failure the reports in m->set still tell what was done.
 * E_COMPILE and E_LINK carry the compiler's own first error, located in the user's source. */
MUST_USE struct err *make_compile(struct make *m);
/* Fills m->set, for make_compile() and for a dry run: without folders only reports mean a thing. */
void make_jobs(struct make *m);

/* The translated file of a source of the plan, relative to m->hip. */
struct str make_output(const struct make *m, const struct plan_source *src);
/* Where the linked module is. */
struct str make_module_path(const struct make *m, const struct plan_module *module);
/* E_COMPILE or E_LINK for a failed run: the compiler's first error, in the user's file. */
MUST_USE struct err *make_diagnose(
	struct arena *tmp, const struct make *m, const struct job *j, const struct proc_result *r);
/* Adds to m->warnings what the compiler said of a job that is done. */
void make_add_warnings(struct make *m, const struct job *j, struct str said);

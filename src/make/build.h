/* A build in progress, shared by the files of make/. Private to make/. */
#pragma once

#include "jobs/graph.h"
#include "jobs/stamp.h"
#include "make/make.h"

#define HOST_ROOT "/run/host" /* where a sandboxed compiler sees this machine's root */
/* The machine's Python headers, for a compiler that sees nothing else of the machine. */
#define PYTHON_ROOT "/run/python"

struct build {
	struct arena *a; /* of the main thread */
	const struct plan *plan;
	const struct make_options *o;
	struct make_result *ret;
	struct str hip, obj, mod, log, stamp, tmp; /* folders of the build, absolute */
	struct sdk_binds binds;
	struct hipify_options translation;
	struct hipify_tree tree;
	struct stamps *stamps;
	struct graph graph;
	struct step *steps; /* as many as graph nodes; stable addresses */
	size_t nsteps;
	struct progress *progress;
	struct str
		sdk_python; /* "3.14": version of the SDK's Python headers, where they are used */
};

struct step {
	struct build *b;
	struct make_step report;
	struct proc proc;    /* in terms of the SDK's paths; argv empty: a bundle, made by us */
	struct str output;   /* final; the program writes output.part */
	struct str depfile;  /* or "" */
	struct strs inputs;  /* files known beforehand, absolute */
	struct strs targets; /* of a bundle: one per input */
	const struct plan_source *source; /* or NULL */
};

/* ---- compile.c ---- */
/* The steps of a plan, in an order where needs come first. With b->hip etc. empty only their
 * reports are meaningful. */
void steps_make(struct build *b);

/* ---- step.c ---- */
struct err *step_run(struct arena *tmp, void *step); /* for graph_add() */
/* A file name for anything below obj/, stamp/ or log/: "src/a.cu" -> "src_a.cu-1f3a9c02". */
struct str flat_name(struct arena *a, struct str path);

/* ---- diagnose.c ---- */
/* E_COMPILE or E_LINK for a failed run: the compiler's first error, in the user's file. */
MUST_USE struct err *diagnose(struct arena *tmp, const struct step *s, const struct proc_result *r);

/* ---- translate.c ---- */
/* The translated tree in b->hip; b->plan then names the outputs that there are. */
MUST_USE struct err *translate(struct build *b);

/* ---- pack.c ---- */
MUST_USE struct err *pack_wheel(struct build *b);

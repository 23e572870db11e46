/* Jobs: what a build is made of, whoever drives it. Knows no compiler and no HIP.
 *
 * A job makes one output file, by a program or by a function of ours. Its key is a hash over what
 * decides the output: the tool chain, the command line, and (in its stamp) the content
 * of every file that it read the last time, as its depfile tells. A job whose stamp still holds is
 * not run; what the run that made the output took is remembered with it. The output is written
 * elsewhere and renamed when it is whole, the stamp comes last: a set that was killed at any moment
 * goes on where it was.
 *
 * A program writes into a folder of its own, which is all that it need be able to write; what it left
 * there is taken only when it is a regular file, since a compiler may run code of the project.
 *
 * Who builds (make/ for our own build of .cu sources) fills a set with jobs and answers three
 * questions through struct job_hooks: how the program really starts, where on this machine a file
 * lies that a depfile names, and what a failed run means to the user. Jobs run on the threads of a
 * graph, each as soon as those that it needs are done.
 *
 * The seam for scheduling is between the two: the graph decides when a job that is ready may start,
 * and asks nothing but the number of threads. A ledger of memory belongs there (a job starts when
 * its share is free), a history beside the stamps: `report` of a job that ran tells what it took,
 * and stamps keep it, so that the next run of the same job can be predicted.
 */
#pragma once

#include "base/hash.h"
#include "base/proc.h"
#include "base/vec.h"

/* ---- graph.c: steps, run in parallel as their needs are met; it knows nothing of what they do ----
 * Steps are added in order; a step may need only steps added before it, so there are no cycles. */
struct graph_node {
	struct err *(*run)(struct arena *tmp, void *user);
	void *user;
	VEC(size_t) needs; /* indices of earlier nodes */
	/* state, set by graph_run() */
	VEC(size_t) feeds;
	size_t waiting;
	struct err *failure;
};

struct graph {
	struct graph_node *v;
	size_t n, cap;
};

/* The index of a new node. */
size_t graph_add(struct arena *a, struct graph *g,
	struct err *(*run)(struct arena *tmp, void *user), void *user);
void graph_need(struct arena *a, struct graph *g, size_t node, size_t earlier);
/* Runs all with at most `jobs` at once and returns the failure of the first node in order of
 * adding. ret_more NULL: after a failure no step is started; those that run finish, and their
 * failures are dropped. Else all steps that do not need the failed one are run, and what else fails
 * goes to *ret_more as a chain of "also". */
MUST_USE struct err *graph_run(
	struct arena *a, struct graph *g, unsigned jobs, struct err **ret_more);

/* ---- job.c ---- */
struct job_report {          /* what ran, or was up to date */
	struct str kind;     /* "device", "bundle", "host", "c++", "c", "link" */
	struct str name;     /* source or file */
	struct str gpu;      /* of a device pass */
	double start;        /* seconds since the build began; 0 when cached */
	double seconds, cpu; /* wall, user + system; of the run that made the output */
	uint64_t memory;     /* peak, bytes */
	bool cached;         /* was up to date */
	bool done;           /* false: not reached, or failed */
};

#define JOB_OUT "out"

struct job {
	struct jobs *set;
	size_t node; /* in the graph */
	struct job_report report;
	struct proc proc; /* writes work/JOB_OUT; argv empty: make() writes part */
	struct err *(*make)(struct arena *tmp, struct job *j, struct str part);
	struct str output;  /* final */
	struct str work;    /* the program's folder, empty when it starts, on the disk of output */
	struct str depfile; /* that the program writes into work, or "" */
	struct strs inputs; /* files known beforehand, absolute */
	struct strs key;    /* words that decide the output and stand in no command */
};

/* What only the builder knows. Called from several threads. */
struct job_hooks {
	/* Turns p, a copy of j->proc, into what really runs. */
	struct err *(*wrap)(struct arena *tmp, const struct job *j, struct proc *p);
	/* The file that a depfile names (absolute, clean), as a path of this machine; "" for one
	 * that the tool chain's fingerprint stands for. */
	struct str (*locate)(struct arena *tmp, const struct job *j, struct str path);
	/* The error of a run that ended with a status other than 0. */
	struct err *(*explain)(struct arena *tmp, const struct job *j, const struct proc_result *r);
};

struct jobs {
	struct arena *a;
	const struct job_hooks *hooks;
	const void *user;      /* of the hooks */
	struct str stamps_dir; /* a stamp for each job */
	struct str toolchain;  /* fingerprint of all that runs */
	double began;          /* mono_now() at the start of the whole build */
	VEC(struct job *) all; /* in order; needs come first */
	struct graph graph;
	struct stamps *stamps;
	struct progress *progress;
};

/* A new job at the end of the set. */
struct job *job_add(struct jobs *set, const char *kind, struct str name);
/* What its program said when it made the output that is there: warnings. Kept beside the stamp. */
struct str job_said(struct arena *a, const struct job *j);
void job_need(const struct job *later, const struct job *earlier);
/* Runs all but what is up to date, at most n at once. Returns the failure of the first in order;
 * with ret_more not NULL, jobs that do not need a failed one run on, and their failures go there.
 */
MUST_USE struct err *jobs_run(struct jobs *set, unsigned n, struct err **ret_more);
/* A file name for anything that belongs to a path: "src/a.cu" -> "src_a.cu-1f3a9c02". */
struct str job_file_name(struct arena *a, struct str path);

/* ---- stamp.c: is the output of a job up to date? ----
 * A stamp holds the hash of the command, size and time and hash of the output, and path, size, time
 * and hash of every file that was read. A file whose size and time are as remembered is not read
 * again; one that was changed within a second of being hashed is (its time proves nothing). */
struct stamp_cost { /* of the run that made the output; kept with it */
	double seconds, cpu;
	uint64_t memory;
};

struct stamps; /* hashes of files seen in this build; thread-safe; heap */

struct stamps *stamps_new(void);
void stamps_freep(struct stamps **s);

/* What is compared: text that names command, environment and SDK, and the output. */
struct stamp_key {
	struct str file; /* of the stamp */
	struct digest command;
	struct str output;
};

/* True when the output is there, as stamped, and every remembered file has its old content. */
bool stamp_fresh(struct stamps *s, const struct stamp_key *k, struct stamp_cost *ret);
/* Remembers; inputs are absolute paths (those that cannot be read are remembered as absent). */
MUST_USE struct err *stamp_write(struct stamps *s, const struct stamp_key *k,
	const struct strs *inputs, const struct stamp_cost *cost);

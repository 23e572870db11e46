/* Jobs: the steps of a build, whoever drives it. Nothing in here knows a compiler or HIP.
 *
 * A job makes one output file, by a program or by a function of ours. Its key is a hash over everything that decides
 * the output: the tool chain, the command line, and (in its stamp) the content of every file that it read the last
 * time, according to its depfile. A job whose stamp still holds is not run; the costs of the run that made the output
 * are kept with it. The output is written elsewhere and renamed when it is complete, and the stamp comes last: a set that
 * was killed at any moment resumes where it was.
 *
 * A program may write only into a folder of its own. What it leaves there is taken only if it is a regular file, since
 * a compiler may run code of the project.
 *
 * The builder (make/ for our own build of .cu sources) fills a set with jobs and answers three questions through struct
 * job_hooks: how the program is really started, where on this machine a file lies that a depfile names, and what a
 * failed run means to the user. Jobs run on the threads of a graph, each as soon as the jobs that it needs are done.
 *
 * Scheduling belongs between the two: the graph decides when a ready job may start, and knows only the number of
 * threads. A ledger of memory would make a job wait for its share; the history for its prediction is in the stamps.
 */
#pragma once

#include "base/hash.h"
#include "base/proc.h"
#include "base/vec.h"

/* ---- graph.c: steps that run in parallel, each when those that it needs are done ----
 * A step may need only steps that were added before it, so there are no cycles. */
struct graph_node {
	struct err *(*run)(struct arena *tmp, void *user);
	void *user;
	VEC(size_t) needs; /* indices of earlier nodes */
	/* set by graph_run() */
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
/* Runs all steps, at most `jobs` at once, and returns the failure of the first one in the order of adding. If ret_more
 * is NULL, no step is started after a failure; running ones finish, and their failures are dropped. Otherwise all steps
 * that do not need a failed one are run, and further failures go to *ret_more as a chain of "also". */
MUST_USE struct err *graph_run(
	struct arena *a, struct graph *g, unsigned jobs, struct err **ret_more);

/* ---- job.c ---- */
struct job_report {          /* a job that ran, or was up to date */
	struct str kind;     /* "device", "bundle", "host", "c++", "c", "link" */
	struct str name;     /* source or file */
	struct str gpu;      /* of a device pass, else "" */
	double start;        /* seconds since the build began; 0 when cached */
	double seconds, cpu; /* wall; user + system: of the run that made the output */
	uint64_t memory;     /* peak, bytes */
	bool cached;         /* it was up to date */
	bool done;           /* false: it failed, or was not reached */
};

#define JOB_OUT "out"

struct job {
	struct jobs *set;
	size_t node; /* in the graph */
	struct job_report report;
	struct proc proc; /* writes WORK/JOB_OUT; if argv is empty, make() writes `part` */
	struct err *(*make)(struct arena *tmp, struct job *j, struct str part);
	struct str output;  /* final */
	struct str work;    /* the program's folder: empty when it starts, on the disk of output */
	struct str depfile; /* in work, written by the program; or "" */
	struct strs inputs; /* files that are known beforehand, absolute */
	struct strs key;    /* words that decide the output but are in no command */
};

/* What only the builder knows. They are called from several threads. */
struct job_hooks {
	/* Changes p, a copy of j->proc, into the program that really runs. */
	struct err *(*wrap)(struct arena *tmp, const struct job *j, struct proc *p);
	/* The path on this machine of a file that a depfile names (absolute, clean); "" if the tool chain's
	 * fingerprint covers it. */
	struct str (*locate)(struct arena *tmp, const struct job *j, struct str path);
	/* The error of a run that ended with a status other than 0. */
	struct err *(*explain)(struct arena *tmp, const struct job *j, const struct proc_result *r);
};

struct jobs {
	struct arena *a;
	const struct job_hooks *hooks;
	const void *user;      /* of the hooks */
	struct str stamps_dir; /* has a stamp for each job */
	struct str toolchain;  /* fingerprint of all that runs */
	double began;          /* mono_now() at the start of the whole build */
	VEC(struct job *) all; /* in order: a job comes after those that it needs */
	struct graph graph;
	struct stamps *stamps;
	struct progress *progress;
};

/* Adds a job at the end of the set. */
struct job *job_add(struct jobs *set, const char *kind, struct str name);
/* The warnings that its program printed when it made the present output; kept beside the stamp. */
struct str job_said(struct arena *a, const struct job *j);
void job_need(const struct job *later, const struct job *earlier);
/* Runs the jobs that are not up to date, at most n at once. Failures and ret_more are as for graph_run(). */
MUST_USE struct err *jobs_run(struct jobs *set, unsigned n, struct err **ret_more);
/* A unique file name for a path: "src/a.cu" -> "src_a.cu-1f3a9c02". */
struct str job_file_name(struct arena *a, struct str path);

/* ---- stamp.c: is the output of a job up to date? ----
 * A stamp has the hash of the command; size, time and hash of the output; and path, size, time and hash of every file
 * that was read. A file whose size and time have not changed is not read again, unless it was written within a second of
 * being hashed: then its time proves nothing. */
struct stamp_cost { /* what the run that made the output took */
	double seconds, cpu;
	uint64_t memory;
};

struct stamps; /* the hashes of files in this build; thread-safe; heap */

struct stamps *stamps_new(void);
void stamps_freep(struct stamps **s);

/* What a stamp is compared with. */
struct stamp_key {
	struct str file;       /* of the stamp */
	struct digest command; /* over command, environment and SDK */
	struct str output;
};

/* True if the output is there, as stamped, and every file that was read has its old content. */
bool stamp_fresh(struct stamps *s, const struct stamp_key *k, struct stamp_cost *ret);
/* Writes the stamp. inputs: absolute paths; those that cannot be read are recorded as absent. */
MUST_USE struct err *stamp_write(struct stamps *s, const struct stamp_key *k,
	const struct strs *inputs, const struct stamp_cost *cost);

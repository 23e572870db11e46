/* Jobs, the steps of a build. Nothing here depends on a compiler or on HIP.
 *
 * A job makes one output file, by a program or by one of our functions. Its key is a hash of everything that decides
 * the output: the tool chain, the command line, and (in its stamp) the content of every file that it read last time,
 * according to its depfile. A job whose stamp is still valid is not run; the stamp also has the costs of the run that
 * made the output. The output is written elsewhere and renamed when it is complete, and the stamp is written last, so a
 * set that was killed at any moment resumes where it was.
 *
 * A program may write only into its job's own folder. Its output is accepted only if it is a regular file, since a
 * compiler may run code of the project.
 *
 * The builder (make/ for our own build of .cu sources) fills a set with jobs and provides three hooks (struct
 * job_hooks): they start the program, map a path in a depfile to one on this machine, and turn a failed run into an
 * error for the user.
 *
 * Jobs run on the threads of a pool, once the jobs that they need are done, and there is memory for them: a program's share is the
 * peak of its last run, which its stamp has, else that of the same job for another GPU, else what the builder expects. Of
 * those that fit, the one that takes longest runs first: the end of a build then waits for short ones, and what is too large to
 * run beside another large one gets small ones beside it. A program that is killed for lack of memory runs once
 * more when no other does. Compilers that other build systems start divide the memory by a file instead (cc/ledger.c).
 */
#pragma once

#include <pthread.h>

#include "base/hash.h"
#include "base/map.h"
#include "base/proc.h"
#include "base/vec.h"
#include "cc/cached.h"

/* ---- job.c ---- */
struct job_cost {            /* the cost of the run that made an output */
	double seconds, cpu; /* wall time, and user + system time */
	uint64_t memory;     /* peak, bytes */
};

struct job_report {       /* a job that ran, or was up to date */
	struct str kind;  /* "device", "bundle", "host", "c++", "c", "link" */
	struct str name;  /* source or file */
	struct str gpu;   /* the GPU of a device pass; "" otherwise */
	struct str front; /* device: its front end if it ran: "direct", "made", "shared"; or "" */
	double start;     /* seconds since the build began; 0 if cached */
	struct job_cost cost;
	bool cached;         /* the output was up to date */
	bool restored;       /* the output is from the cache; the costs are those of finding it */
	bool done;           /* false if it failed or was not reached */
	VEC(unsigned) after; /* numbers of the reports that it needed; each is less than its own */
};

#define JOB_OUT "out"

struct job {
	struct jobs *set;
	unsigned number; /* its place in the set */
	struct job_report report;
	struct proc proc; /* writes WORK/JOB_OUT; if argv is empty, make() writes `part` */
	struct err *(*make)(struct arena *tmp, struct job *j, struct str part);
	/* Runs proc in a way of its own, perhaps with several programs; or NULL. Files that decide whether the output
	 * may be believed are added to *io_inputs: one that is absent now must stay so. */
	struct err *(*run)(
		struct arena *tmp, struct job *j, struct proc_result *ret, struct strs *io_inputs);
	struct str output; /* final path */
	struct str work; /* the program's folder: empty at its start, on the same disk as output */
	struct str depfile;      /* written by the program into work; or "" */
	struct strs inputs;      /* files known to be read, absolute paths */
	struct strs key;         /* words that decide the output but are not on the command line */
	VEC(struct job *) feeds; /* the jobs that need it */
	size_t waiting;          /* number of jobs that it needs and that are not done */
	/* its program's costs; set by the builder for one that never ran, then by jobs_run() */
	struct job_cost expected;
	uint64_t held;       /* bytes; its share while it runs */
	bool known;          /* it ran before */
	bool starved, alone; /* its program ran out of memory, and runs when no other does */
	/* If this folder has a file NAME.bad, the job's output is made anew: one in the cache may be wrong. Or "". */
	struct str doubts;
	struct job_kept *later; /* jobs_keep() gives it to the cache */
	struct err *failure;    /* set by jobs_run() */
};

/* The builder's part of a job. Hooks are called from several threads. */
struct job_hooks {
	/* Changes p, a copy of j->proc, to the command that is run in fact, for example in a sandbox. */
	struct err *(*wrap)(struct arena *tmp, const struct job *j, struct proc *p);
	/* The path on this machine of a file that a depfile names (absolute, clean); "" if the tool chain's
	 * fingerprint covers it. */
	struct str (*locate)(struct arena *tmp, const struct job *j, struct str path);
	/* The error of a run with a nonzero exit status. */
	struct err *(*explain)(struct arena *tmp, const struct job *j, const struct proc_result *r);
};

struct jobs {
	struct arena *a;
	const struct job_hooks *hooks;
	const void *user;      /* the builder's own data, which the hooks use */
	struct str stamps_dir; /* has a stamp for each job */
	struct str toolchain;  /* fingerprint of all programs that run */
	/* outputs of programs with a depfile are taken from here, and kept there; or NULL */
	struct cache *cache;
	struct str identity; /* a hash of the content of all programs that run; for the cache */
	const struct strs *programs;   /* their files: cached_same() */
	VEC(struct cached_root) roots; /* likewise */
	double began;                  /* mono_now() at the start of the whole build */
	VEC(struct job *) all;         /* in order: a job comes after those that it needs */
	struct progress *progress;
	uint64_t memory; /* bytes that all programs share; 0: what is free when jobs_run() begins */
	/* set by jobs_run(); the lock protects what is below it, and the counters of jobs */
	struct stamps *stamps;
	struct pool *pool;
	bool keep_going;
	unsigned most;
	pthread_mutex_t lock;
	VEC(struct job *) ready;    /* not up to date, and all that they need is done */
	unsigned checking, running; /* jobs whose stamps are read; that run */
	uint64_t used;              /* the shares of those that run */
	bool looking;               /* something is ready, and waits for memory */
	bool stop;
};

/* Adds a job at the end of the set. */
struct job *job_add(struct jobs *set, const char *kind, struct str name);
/* Runs a program with the settings of the job's own. */
MUST_USE struct err *job_run_program(
	struct arena *tmp, const struct job *j, const struct strs *argv, struct proc_result *ret);
/* The warnings that the job's program printed when it made the current output; stored beside the stamp. */
struct str job_said(struct arena *a, const struct job *j);
/* A job may need only jobs that were added before it, so there are no cycles. */
void job_need(struct job *later, struct job *earlier);
/* Runs the jobs that are not up to date, at most n at once, and returns the first failure in the order of adding. If ret_more is
 * NULL, no job is started after a failure; running ones finish, and their failures are dropped. Otherwise all jobs that do not
 * need a failed one are run, and further failures go to *ret_more, chained by err.also. Once for a set. */
MUST_USE struct err *jobs_run(struct jobs *set, unsigned n, struct err **ret_more);
/* Gives the cache the outputs that a later job might have doubted, and none did. Once for a set, after jobs_run(). */
void jobs_keep(struct jobs *set);
/* A unique file name for a path: "src/a.cu" -> "src_a.cu-1f3a9c02". */
struct str job_file_name(struct arena *a, struct str path);

/* ---- stamp.c: is the output of a job up to date? ----
 * A stamp has the hash of the command; size, mtime and hash of the output; and path, size, mtime and hash of every file
 * that was read. A file whose size and mtime have not changed is not read again, unless it was written within a second
 * of being hashed: then a later change may have the same mtime. */
struct stamps { /* the hashes of files in this build; thread-safe */
	pthread_mutex_t lock;
	struct map seen; /* path -> struct stamped_file */
};
#define STAMPS(name, arena)                                                                        \
	struct stamps name = {.lock = PTHREAD_MUTEX_INITIALIZER, .seen = {.a = (arena)}}

/* The values that a stamp is compared with. */
struct stamp_key {
	struct str file;       /* path of the stamp */
	struct digest command; /* hash of command, environment and SDK */
	struct str output;
};

/* Returns true if the output exists as stamped, and every file that was read has its old content. */
bool stamp_fresh(struct stamps *s, const struct stamp_key *k, struct job_cost *ret);
/* Reads the costs of the run that wrote this stamp, up to date or not. Returns false, and leaves *io, if there is none. */
bool stamp_last(struct str file, struct job_cost *io);
/* Writes the stamp. inputs: absolute paths; those that cannot be read are recorded as absent. */
MUST_USE struct err *stamp_write(struct stamps *s, const struct stamp_key *k,
	const struct strs *inputs, const struct job_cost *cost);

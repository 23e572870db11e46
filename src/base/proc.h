/* Runs programs: posix_spawn with an argv array, never a shell.
 *
 * Each child leads its own process group, so that a timeout or Ctrl-C also ends everything that it started: by SIGTERM,
 * and after GRACE seconds by SIGKILL. The trace has a line for every run (argv, times, memory, status).
 * For proc_run() an exit status other than 0 is no error: check ret->status, or use proc_check().
 */
#pragma once

#include "base/err.h"

struct proc {
	struct strs argv;   /* argv.v[0] is looked up in PATH when it has no slash */
	struct str cwd;     /* "" = ours */
	struct strs setenv; /* "NAME=value" adds or replaces, "NAME" removes */
	bool clear_env;     /* start from an empty environment instead of ours */
	struct str input;   /* fed to its stdin; "" = stdin is /dev/null */
	struct str log;     /* file that gets a copy of stdout and stderr, or "" */
	bool merge;         /* stderr goes to the captured output as well */
	bool inherit;       /* child uses our stdin, stdout and stderr; nothing is captured */
	bool only_err;      /* child uses our stdin and stdout; stderr is captured */
	/* Called for each line of output as it comes, without its end, cut after 4 KiB; or NULL */
	void (*line)(void *user, struct str line);
	/* Called about once a second while it runs; or NULL. False ends it, as its time limit does. */
	bool (*tick)(void *user);
	void *user;
	size_t limit;     /* bytes of output kept (the last ones); 0 = 4 MiB */
	uint64_t most;    /* bytes of output, more end it: E_LIMIT; 0 = any number */
	unsigned timeout; /* seconds, 0 = none */
};

struct proc_result {
	int status;            /* exit status, or 128 + signal */
	bool timed_out;        /* then status is that of the kill */
	struct str out;        /* stdout (and stderr when merged), in the caller's arena */
	struct str err;        /* stderr, unless merged */
	double start, seconds; /* start on the monotonic clock */
	double cpu;            /* seconds, user + system, with children that it waited for */
	uint64_t memory;       /* peak, bytes */
};

/* Adds the costs of a run to those of others before it: `start` is that of the first, `memory` the largest. */
void proc_add_costs(struct proc_result *io, const struct proc_result *r);
/* Runs and waits. E_TOOL_MISSING when argv[0] cannot be found, E_CANCELLED after SIGINT/SIGTERM. */
MUST_USE struct err *proc_run(struct arena *a, const struct proc *p, struct proc_result *ret);
/* The same, but a status other than 0 (or a timeout) is E_TOOL_FAILED (E_TIMEOUT) with the program's name, the status
 * in words, and the last lines of output as detail. */
MUST_USE struct err *proc_check(struct arena *a, const struct proc *p, struct proc_result *ret);
/* Does the program say that a disk is full? */
bool proc_lacks_space(struct str output);
/* The error of proc_check() for a finished run; E_NOSPACE if its output says so. */
MUST_USE struct err *proc_failure(const struct proc *p, const struct proc_result *r);

/* Becomes the program, with our process, terminal and signals; of p, only argv and setenv count. Returns only if that
 * fails. */
MUST_USE struct err *proc_become(const struct proc *p);

/* The full path of a program in PATH, or the empty view. */
struct str proc_find(struct arena *a, struct str name);
/* Appends argv pieces: proc_arg(a, &p, "-o", "x", NULL). */
void proc_arg(struct arena *a, struct proc *p, ...) __attribute__((sentinel));

/* Installs handlers for SIGINT, SIGTERM and SIGHUP that set a flag, upon which proc_run() ends its child. Call once,
 * from main. */
void cancel_init(void);
bool cancelled(void);
int cancel_signal(void);                 /* the signal that came, or 0 */
MUST_USE struct err *cancel_check(void); /* E_CANCELLED after a signal */
double mono_now(void);                   /* seconds on the monotonic clock */

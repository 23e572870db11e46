/* Compilers of an SDK that run among this machine's programs: what the programs of a shim folder do.
 *
 * Every program of a shim folder (made by sdk/shims.h) is rocsmith itself under another name. Called by such a name, or
 * as `rocsmith cc NAME ARG...`, it runs the SDK's program of that name. All that it has to know is in the folder:
 *
 *     .rocsmith/cc.json         struct cc_config
 *     .rocsmith/programs/NAME   link to the SDK's program
 *     .rocsmith/ledger          which compiler uses how much memory now
 *     .rocsmith/history         what earlier compiles needed: memory, time
 *     .rocsmith/pch/            precompiled headers
 *
 * A program of another libc runs here without a sandbox because its own loader starts it, with the tree's library
 * folders. Two things follow. /proc/self/exe is the loader, so --argv0 tells the program where it is: in the shim
 * folder. And clang must believe that (-no-canonical-prefixes): then it finds its headers, ld.lld and the device
 * libraries there, and starts itself (cc1) by a name that is rocsmith again.
 *
 * The first of these processes counts, logs and retries; those that it starts (clang by hipcc, cc1 by clang) become
 * their program at once, because ROCSMITH_CC is in their environment. A compiler that was killed for want of memory, or
 * reports that it has none, is run once more, alone; its stderr is held back until it ends. A compile for several GPUs
 * is done in passes (compile.h). If the project's description names headers for it (cc_config.precompile), C++ that
 * clang compiles for the host gets them precompiled (pch.c in cc_int.h). Its objects are the same.
 */
#pragma once

#include "base/proc.h"

struct cc_config {
	struct str loader;       /* the tree's ld.so; "": programs are started directly */
	struct str library_path; /* for the loader */
	struct strs flags;       /* for clang's driver, in front */
	struct str sysroot;      /* that host code is compiled against; "": this machine */
	struct strs host_flags;  /* likewise, unless the caller names a target or another sysroot */
	struct strs link_flags;  /* at the end, if it links */
	struct strs compile_flags; /* in front, if C, C++ or HIP is compiled */
	struct strs gpus;          /* printed by programs that list GPUs */
	struct str log_dir;        /* its cc.jsonl gets a line for each run; "": none */
	struct strs precompile;    /* sets of headers for C++: a source gets the first that fits */
	uint64_t memory;           /* bytes for all compilers together; 0: not counted */
};

struct cc {
	struct str dir, name; /* the shim folder, the program */
};

/* Programs that cc answers itself, because they list GPUs; and this machine's own compilers, which are counted and
 * logged like the SDK's. NULL-terminated. */
extern const char *const cc_gpu_programs[], *const cc_host_programs[];

struct str cc_file(struct arena *a, struct str dir, const char *name); /* dir/.rocsmith/NAME */
/* A hash of this folder's sources. As long as it is the same, the same command gives the same object. */
extern const char cc_rules[];
MUST_USE struct err *cc_config_write(
	struct arena *a, struct str dir, const struct cc_config *config);
/* Are we running under a name of a shim folder? The kernel's answer counts, not argv[0]. */
bool cc_called(struct arena *a, struct cc *ret);
/* Runs the program, or becomes it. ret_status: its exit status, or 128 + signal. E_TOOL_MISSING with did-you-mean if the
 * SDK has no such program. */
MUST_USE struct err *cc_run(
	struct arena *a, const struct cc *cc, const struct strs *args, int *ret_status);

/* The progress of a build whose compilers run through the folder. The time left is estimated from how long the remaining
 * sources took before, as far as the history knows them, else from the compiles of this build. */
struct cc_follow {
	struct str dir, log; /* the shim folder, cc.jsonl */
	double start;        /* mono_now() */
	unsigned jobs;
	uint64_t at;                          /* bytes of the log that have been read */
	unsigned seen, found;                 /* compiles of this build; those the history knew */
	double seconds;                       /* the sum over all */
	double found_seconds, found_expected; /* sums over those it knew: now, and in the history */
	unsigned left; /* sources in the history that this build has not compiled yet */
	double left_seconds;
	uint64_t left_memory; /* the largest peak in the history */
};

/* jobs: how many compilers run at once at most. */
void cc_follow_start(struct str dir, struct str log_dir, unsigned jobs, struct cc_follow *ret);
/* Reads the news. ret_now: names of the sources that compilers work on now. */
void cc_follow_look(struct arena *a, struct cc_follow *f, struct strs *ret_now);
/* Seconds until `steps` more steps are done; 0 = not known yet. */
double cc_follow_left(const struct cc_follow *f, uint64_t steps);

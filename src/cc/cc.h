/* Compilers of an SDK that run among this machine's programs: what the programs of a shim folder do.
 *
 * A shim folder (sdk/shims.h makes it) has programs that are all rocsmith itself, each a name of the
 * same file. Called by such a name, or as `rocsmith cc NAME ARG...`, it runs the SDK's program of
 * that name; what it has to know is in the folder:
 *
 *     .rocsmith/cc.json         struct cc_config
 *     .rocsmith/programs/NAME   link to the SDK's program
 *     .rocsmith/ledger          who uses how much memory now
 *     .rocsmith/history         what compiles needed before: memory, time
 *     .rocsmith/pch/            precompiled headers
 *
 * How a program of another libc runs here without a sandbox: its own loader starts it, with the
 * tree's folders of libraries. Two things follow. /proc/self/exe is the loader, so a program is told
 * by --argv0 where it is: in the shim folder. And clang must believe it (-no-canonical-prefixes):
 * then it finds its headers, ld.lld and the device libraries there, and starts itself (cc1) by a
 * name that is rocsmith again.
 *
 * The first of these processes counts, logs and retries; those that it starts (clang by hipcc, cc1
 * by clang) become their program at once: ROCSMITH_CC in their environment says so. A compiler that
 * was killed for want of memory, or says that it has none, is run once more, alone. For that its
 * stderr is kept until it ends. Where the folder is for a project whose description names headers for
 * that (cc_config.precompile), C++ that clang compiles for the host gets them precompiled: see pch.c in
 * cc_int.h. Its objects are the same.
 */
#pragma once

#include "base/proc.h"

struct cc_config {
	struct str loader;       /* the tree's ld.so; "": the programs run as they are */
	struct str library_path; /* for the loader */
	struct strs flags;       /* what clang's driver gets first */
	struct str sysroot;      /* what host code is compiled against, "": this machine */
	struct strs host_flags;  /* the same, unless the caller names a target or another sysroot */
	struct strs link_flags;  /* what it gets last where it links */
	struct strs compile_flags; /* what it gets first where C, C++ or HIP is compiled */
	struct strs gpus;          /* what programs that list GPUs print */
	struct str log_dir;        /* cc.jsonl in there gets a line for each run; "": none */
	struct strs precompile;    /* sets of headers for C++: of each source the first that fits */
	uint64_t memory;           /* for all compilers together; 0: not counted */
};

struct cc {
	struct str dir, name; /* the shim folder, the program */
};

/* Names that cc answers itself: they list GPUs; and compilers that are this machine's own, counted and
 * logged like the SDK's. NULL-terminated. */
extern const char *const cc_gpu_programs[], *const cc_host_programs[];

struct str cc_file(struct arena *a, struct str dir, const char *name); /* dir/.rocsmith/NAME */
/* A hash of this folder's sources: by the same rules the same command compiles the same. */
extern const char cc_rules[];
MUST_USE struct err *cc_config_write(
	struct arena *a, struct str dir, const struct cc_config *config);
/* Are we running by a name of a shim folder? As the kernel has it, whatever argv[0] says. */
bool cc_called(struct arena *a, struct cc *ret);
/* Runs the program, or becomes it. ret_status: its exit status, or 128 + signal. E_TOOL_MISSING with
 * did-you-mean when the SDK has no such program. */
MUST_USE struct err *cc_run(
	struct arena *a, const struct cc *cc, const struct strs *args, int *ret_status);

/* How far a build is whose compilers run by the folder, for who shows its progress. What is left is told
 * by how long its sources took before, as far as the history knows them, else by how long those took
 * that this build has done. */
struct cc_follow {
	struct str dir, log; /* the shim folder, cc.jsonl */
	double start;        /* mono_now() */
	unsigned jobs;
	uint64_t at;          /* bytes of the log that are known */
	unsigned seen, found; /* compiles of this build; those that the history knew */
	double seconds;       /* that all took, one after the other */
	double found_seconds, found_expected; /* those that it knew, now and then */
	unsigned left; /* sources that the history knows, less those that were found */
	double left_seconds;
	uint64_t left_memory; /* of the largest that the history knows */
};

/* jobs: how many run at a time at most. */
void cc_follow_start(struct str dir, struct str log_dir, unsigned jobs, struct cc_follow *ret);
/* Looks at what is new. ret_now: names of what compilers work on now. */
void cc_follow_look(struct arena *a, struct cc_follow *f, struct strs *ret_now);
/* Seconds until so many more steps are done; 0 = not known yet. */
double cc_follow_left(const struct cc_follow *f, uint64_t steps);

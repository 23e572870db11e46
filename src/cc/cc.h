/* Runs the compilers of an SDK among this machine's programs, on behalf of the programs of a shim folder.
 *
 * Every program of a shim folder (made by sdk/shims.h) is rocsmith itself under another name. Called by such a name, or
 * as `rocsmith cc NAME ARG...`, it runs the SDK's program of that name. The folder contains all its settings:
 *
 *     .rocsmith/cc.json         struct cc_config
 *     .rocsmith/programs/NAME   link to the SDK's program
 *     .rocsmith/ledger          the memory that each running compiler may use
 *     .rocsmith/history         the memory and time that earlier compiles took
 *     .rocsmith/pch/            precompiled headers
 *     .rocsmith/cuda/           CUDA's sources as HIP
 *
 * A program linked against another libc runs here without a sandbox because its own loader starts it, with the SDK's
 * library folders. Then /proc/self/exe is the loader, so --argv0 gives the program a path in the shim folder, and
 * -no-canonical-prefixes makes clang use that path. So clang finds its headers, ld.lld and the device libraries in the
 * shim folder, and starts itself (cc1) by a name that is rocsmith again.
 *
 * The outermost of these processes counts memory, logs and retries. The ones it starts (clang by hipcc, cc1 by clang)
 * find ROCSMITH_CC in their environment and exec their program at once. A compiler that was killed for lack of memory,
 * or reports that it has none, is run once more, alone; its stderr is held back until it ends. A compile for several
 * GPUs is split into passes (compile.h), whose output may come from a cache of objects (cached.h). C++ that clang compiles for the host uses precompiled headers if the project's
 * description lists some (cc_config.precompile, pch.c in cc_int.h). The objects are the same as without.
 */
#pragma once

#include "base/proc.h"

struct node;

/* The release of CUDA that the folder `cuda` of a shim folder claims: all that projects accept, and none that needs GPUs
 * newer than most of them know. nvcc, headers and version.json agree. */
#define CUDA_MAJOR "12"
#define CUDA_MINOR "4"
#define CUDA_BUILD "131"
#define CUDA_NUMBER "12040"
#define CUDA_ARCH "80" /* the compute capability for which projects choose their code */
#define CUDA_RELEASE CUDA_MAJOR "." CUDA_MINOR
#define CUDA_RELEASE_FULL CUDA_RELEASE "." CUDA_BUILD

struct cc_config {
	struct str loader;       /* the SDK's ld.so; "": programs are started directly */
	struct str library_path; /* the loader's search path */
	struct strs flags;       /* first arguments of clang's driver */
	struct str sysroot;      /* sysroot of host code; "": this machine's root */
	struct strs host_flags; /* the next arguments, unless the caller sets a target or sysroot */
	struct strs link_flags; /* last arguments of a link */
	struct strs root_flags,
		root_links; /* arguments for the sysroot of a policy, also of gcc; see sdk/sysroot.h */
	struct strs compile_flags; /* the next arguments when C, C++ or HIP is compiled */
	struct strs gpus;          /* printed by programs that list GPUs */
	struct str log_dir;        /* folder of cc.jsonl, a line for each run; "": no log */
	struct strs precompile;    /* sets of C++ headers: a source gets the first that fits */
	uint64_t memory;           /* bytes for all compilers together; 0: not counted */
	struct str share; /* do device passes share front ends? front_share_names[], or "" = off */
	/* A cache of objects: cache_own_dir(), or "" = none; the folder of the lender's socket; what sdk_identity() says */
	struct str objects, lender, identity;
	struct strs programs; /* the compiler's files as they were then, sdk_programs() */
	/* nvcc translates files of this folder ("": any), but none of the SDK's, for its ROCm version */
	struct str project, sdk, rocm;
};

struct cc {
	struct str dir, name; /* the shim folder, the program */
};

/* Programs that cc implements itself, because they list GPUs; and this machine's own compilers, which are counted and
 * logged like the SDK's. NULL-terminated. */
extern const char *const cc_gpu_programs[], *const cc_host_programs[];

struct str cc_file(struct arena *a, struct str dir, const char *name); /* dir/.rocsmith/NAME */
/* A hash of the sources of cc/. While it is the same, the same command gives the same object. */
extern const char cc_rules[];
MUST_USE struct err *cc_config_write(
	struct arena *a, struct str dir, const struct cc_config *config);
/* Was this process started by a name in a shim folder? Relies on /proc/self/exe, not on argv[0]. */
bool cc_called(struct arena *a, struct cc *ret);
/* Runs the program, or replaces this process with it. ret_status: its exit status, or 128 + signal. Fails with
 * E_TOOL_MISSING and a did-you-mean hint if the SDK has no such program. */
MUST_USE struct err *cc_run(
	struct arena *a, const struct cc *cc, const struct strs *args, int *ret_status);

/* The progress of a build whose compilers run through the folder, and the time that it still needs.
 *
 * The work left is counted in seconds of CPU time, which do not depend on what else the machine does: for sources in the
 * history by what they took then, for others by the steps of their kind that ran in this build; ninja's manifest has how
 * many steps of each kind are left. The work is divided by the CPU time that the build's compilers got for each second
 * of late, so the result follows the machine's other load. Times are those of mono_now(). */
enum {
	FOLLOW_KINDS = 5, /* as enum cc_kind of cc_int.h; CC_OTHER: steps that compile nothing */
	FOLLOW_PARTS = 20
};

struct cc_follow {
	struct str dir, log; /* the shim folder, cc.jsonl */
	unsigned jobs;
	uint64_t at;                      /* bytes of the log that have been read */
	double looked;                    /* when */
	unsigned seen, found;             /* compiles of this build; those in the history */
	double cpu;                       /* the sum over all compiles of this build */
	double found_cpu, found_expected; /* sums over `found`: now, and in the history */
	double ran[FOLLOW_KINDS];         /* compiles of this build, by kind */
	double took[FOLLOW_KINDS];        /* their CPU time */
	double planned[FOLLOW_KINDS];     /* the steps of this ninja; all 0: unknown */
	/* the CPU time of all steps of the manifest by the project's description, set by the caller, and that of the
	 * steps of this ninja; 0: unknown */
	double whole, prior;
	/* the part of `whole` that is done after each twentieth of the manifest's steps, set by the caller; all 0: unknown */
	double pace[FOLLOW_PARTS];
	double chain; /* seconds of steps that wait for each other, set by the caller; 0: unknown */
	double before, of_all; /* the manifest's steps that were done before this ninja, and all */
	double late_cpu, late_seconds; /* the CPU time of the last minutes, and their length */
	unsigned left; /* sources in the history that this build has not compiled yet */
	double left_seconds;
	uint64_t left_memory; /* the largest peak in the history */
};

/* Calls fn for each run of a program in cc.jsonl that began at `since` (seconds since 1970) or later. What it is given is
 * gone after the call. A line that a killed run left torn is skipped; without a log there are no runs. */
typedef struct err *cc_run_fn(void *user, const struct node *run);
MUST_USE struct err *cc_log_runs(struct str log_dir, double since, cc_run_fn *fn, void *user);
/* jobs: the most compilers that run at once. */
void cc_follow_start(
	struct str dir, struct str log_dir, unsigned jobs, double now, struct cc_follow *ret);
/* A ninja begins: what was compiled before it, as tests of a configuration, no longer counts. Its manifest (as CMake
 * writes it) says of which kinds the steps are that the .ninja_log beside it lacks. steps: how many of them ninja is
 * about to do. Without a manifest, steps of all kinds count alike. */
void cc_follow_steps(struct cc_follow *f, struct str manifest, uint64_t steps, double now);
/* Reads the log's new lines. ret_now: the names of the sources being compiled now. */
void cc_follow_look(struct arena *a, struct cc_follow *f, double now, struct strs *ret_now);
/* The estimated seconds until `steps` more steps are done; 0 = not known yet. */
double cc_follow_left(const struct cc_follow *f, uint64_t steps);

/* Splits the compile of one source for any number of GPUs into passes of the compiler.
 *
 * This is the only file that depends on how HIP is compiled. make/ turns the passes of a .cu source into jobs; the shim
 * (cc.h) runs those of a foreign build's command one after another. A HIP source takes a device pass for each GPU, a
 * step that bundles their code objects, and a host pass that embeds the bundle. With the same -cuid in all of them, the
 * object is byte for byte that of a single clang run for all GPUs (measured with clang 21), but passes can run in
 * parallel, are cached and measured one by one, and a further GPU costs only its own pass. A device pass can take its
 * front end from that of another GPU (front_pass() below): callers see only passes and their dependencies.
 */
#pragma once

#include "base/proc.h"
#include "base/vec.h"

struct compile_step {
	const char *kind;       /* name of the pass that makes the object: "host", "c++", "c" */
	struct strs words;      /* arguments of all passes: source, language, flags */
	struct strs host_words; /* further arguments of the pass that makes the object */
	struct strs gpus;       /* none for a source without device code */
	struct str object;      /* the result */
	struct str parts;       /* code objects and bundle are PARTS.GPU.co and PARTS.hipfb */
	struct str work;        /* folder in which each pass gets a folder to write into */
	bool depfiles;          /* each pass writes a dependency file */
};

struct compile_pass {
	const char *kind;   /* "device", "bundle", or step->kind */
	struct str gpu;     /* the GPU of a device pass; "" otherwise */
	struct strs argv;   /* the compiler's arguments; empty: run compile_join() instead */
	size_t first, end;  /* range of earlier passes whose outputs it reads */
	struct str work;    /* the compiler writes `out` and `dep` into this folder */
	struct str out;     /* WORK/out */
	struct str depfile; /* WORK/dep, or "" */
	struct str output;  /* path to which `out` is renamed after success */
};

struct compile_passes VEC_OF(struct compile_pass);

/* Adds a pass of the compiler that makes `output`, with the arguments that all passes of the step share. */
struct compile_pass *compile_add_pass(struct arena *a, const struct compile_step *step,
	struct compile_passes *io, struct str output);
/* The passes of a step, in an order in which they can run. */
void compile_passes(struct arena *a, const struct compile_step *step, struct compile_passes *ret);
/* Runs the pass that needs no compiler: bundles the code objects of these GPUs, in this order, into one file. */
MUST_USE struct err *compile_join(
	const struct strs *gpus, const struct strs *objects, struct str path);

/* Reads a step from a command line of hipcc or clang's driver (name). Returns false if the command must run unsplit:
 * with any option whose meaning for separate passes is not known (relocatable device code, saved temporaries, response
 * files, debug information, options for one side ...). The ids of its variables do not depend on the GPUs, nor on where the
 * folders in `places` are. */
bool compile_read(struct arena *a, struct str name, const struct strs *args,
	const struct strs *places, struct compile_step *ret);

/* Does a source begin with <hip/hip_runtime.h>, behind nothing but comments and the line that hipify writes first? */
bool compile_begins(struct str text, struct str path);
/* The arguments that precompile `header`, which includes hip/hip_runtime.h alone, into `made` for passes of HIP like this
 * one, whose arguments are `args`; also MADE.d, its dependency file. They are the same for passes whose headers are compiled
 * alike. False if the pass cannot use it; see pch.c in cc_int.h. */
bool compile_headers(struct arena *a, const struct strs *args, struct str header, struct str made,
	struct strs *ret);

/* ---- one front end for many GPUs ----
 *
 * A device pass is a front end, which makes LLVM's intermediate representation (IR) of the source, and a back end. The
 * front end's result depends on the GPU only by what clang tells it about that GPU. So passes of one source whose front
 * ends get the same input share one of them, which runs without optimisation; in the IR, the GPU's name and features are replaced
 * (ir.c). Each has its own back end, with the device libraries of its GPU, and its own link. The object is byte for byte that of the
 * direct pass. Two passes share if these agree:
 *
 *     words      of the compiler's own command line (cc1), without the GPU's name, device libraries and outputs
 *     wave       the size of waves, by the "target-features" that this clang gives to an empty kernel
 *     text       of the source after preprocessing, without plain functions that were not emitted (front_reduce() in cc_int.h)
 *     builtins   of those in that text, the ones that this clang accepts for the GPU (__has_builtin)
 *     identity   of the compiler
 *
 * TargetInfo for AMDGPU derives macros, size of waves and all answers about builtins from name and features; the name itself
 * is asked only by what front_refuses() finds (doc/decisions/009-shared-front-ends.md: what was read, and what was measured).
 * To ask for the builtins that the IR has would not do: one may become plain IR, as
 * __builtin_amdgcn_global_atomic_fadd_f32 does, or be selected elsewhere, too, as __builtin_amdgcn_sdot4 is: clang
 * refuses them for gfx1100, but the IR made for another GPU compiles there without a word.
 *
 * GPUs whose rows in the compiler's table of processors are equal get the same code from the same IR (processors.c). The
 * first of them runs its back end; for the others its object is cloned, if device libraries, which ask for the GPU's number, decide
 * the same for both.
 *
 * In any doubt the pass is direct: words of cc1 that are in no list (debug information, sanitizers, profiles, relocatable
 * device code, LTO, plugins, fast arithmetic: `in_ir` in data/clang.yaml), functions with target attributes, questions about the processor, a driver that does not run
 * cc1 and lld, any failure or message of a back end. A failure is always that of a direct pass, with its messages. */
enum front_share { FRONT_OFF, FRONT_AUTO, FRONT_PROVE };
extern const char *const front_share_names[];     /* NULL-terminated */
enum front_share front_share_of(struct str name); /* FRONT_OFF for any other name */

struct front_memory; /* thread-safe; heap */
struct front_memory *front_memory_new(void);
void front_memory_freep(struct front_memory **m);

struct front {
	enum front_share share;
	struct str store;    /* folder for the IR of a source; made when it is needed */
	struct str identity; /* a word for the compiler, if the store outlives the build */
	struct str
		turn; /* a word for this build: what was seen in it decides only whether a pass is direct */
	struct str
		hints; /* folder for the compiler's table of processors; "": no object is cloned */
	struct str compiler;         /* its program on this machine */
	const struct strs *programs; /* its files with their states (cached_same()), or NULL */
	struct front_memory *memory; /* shared by passes of this process, or NULL */
	struct str cwd;              /* the programs' folder; "" = ours */
	/* The path on this machine of a file that a program names; or NULL: it is the same. */
	struct str (*outside)(struct arena *a, const struct front *f, struct str path);
	const struct strs *libraries, *gpus; /* folders of its libraries; all GPUs of the source */
	/* Runs a program with the settings of the pass. */
	struct err *(*run)(struct arena *a, const struct front *f, const struct strs *argv,
		struct proc_result *ret);
	void *user;
};

enum front_how { FRONT_DIRECT, FRONT_MADE, FRONT_SHARED, FRONT_CLONED };
extern const char *const front_how_names[];

struct front_result {
	struct proc_result run; /* status and messages; costs of all programs together */
	enum front_how how;
	const char *why; /* the reason for a direct pass, or "" */
	struct str
		said; /* shared: the messages of the front end, which the pass that ran it printed */
	struct str
		doubt; /* if this file appears later, the object is no longer to be believed; or "" */
	double proof; /* CPU seconds of the direct pass that it was compared with; in run.cpu, too */
	bool differs; /* the objects of both ways differ: OUTPUT.shared has the one that was not used */
};

/* Bytes that a run of this kind ("device", "host", "c++", "c", "link") takes if nothing is known of it. */
uint64_t compile_memory(struct str kind);

/* Runs a device pass, whose driver's arguments are argv, program first; with FRONT_AUTO, one in fifty (by a hash of
 * what decides it) both ways, with FRONT_PROVE all. At a difference the direct object is used, and no pass uses that
 * front end again. Several threads may run passes with one store. */
MUST_USE struct err *front_pass(struct arena *a, const struct front *f,
	const struct compile_pass *pass, const struct strs *argv, struct front_result *ret);

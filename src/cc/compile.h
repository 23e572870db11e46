/* Splits the compile of one source for any number of GPUs into passes of the compiler.
 *
 * This is the only file that depends on how HIP is compiled. make/ turns the passes of a .cu source into jobs; the shim
 * (cc.h) runs those of a foreign build's command one after another. A HIP source takes a device pass for each GPU, a
 * step that bundles their code objects, and a host pass that embeds the bundle. With the same -cuid in all of them, the
 * object is byte for byte that of a single clang run for all GPUs (measured with clang 21), but passes can run in
 * parallel, are cached and measured one by one, and a further GPU costs only its own pass. If GPUs ever share a front
 * end, it belongs behind this interface: callers see only passes and their dependencies.
 */
#pragma once

#include "base/err.h"
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

struct compile_passes {
	struct compile_pass *v;
	size_t n, cap;
};

/* Adds a pass of the compiler that makes `output`, with the arguments that all passes of the step share. */
struct compile_pass *compile_add_pass(struct arena *a, const struct compile_step *step,
	struct compile_passes *io, struct str output);
/* The passes of a step, in an order in which they can run. */
void compile_passes(struct arena *a, const struct compile_step *step, struct compile_passes *ret);
/* Runs the pass that needs no compiler: bundles the code objects of these GPUs, in this order, into one file. */
MUST_USE struct err *compile_join(
	const struct strs *gpus, const struct strs *objects, struct str path);

/* Reads a step from a command line of hipcc or clang's driver (name). Returns false if the command must run unsplit:
 * for one GPU, or with any option whose meaning for separate passes is not known (relocatable device code, saved
 * temporaries, response files, debug information, options for one side ...). */
bool compile_read(
	struct arena *a, struct str name, const struct strs *args, struct compile_step *ret);

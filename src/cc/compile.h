/* One source compiled for any number of GPUs: which passes of the compiler that takes.
 *
 * This is the one place that knows how HIP is compiled. make/ turns the passes of a .cu source into jobs; the shim
 * (cc.h) runs those of a foreign build's command one after the other. A source of HIP takes a device pass for each GPU,
 * an offload bundle of their code objects, and a host pass that embeds the bundle. With the same -cuid everywhere, the
 * object is byte for byte the one of a single clang run for all GPUs (measured with clang 21), but passes run in
 * parallel, are kept and measured one by one, and a further GPU costs only its own pass. A front end that GPUs share
 * belongs behind this interface: callers see passes that need each other, not what is in them.
 */
#pragma once

#include "base/err.h"
#include "base/vec.h"

struct compile_step {
	const char *kind;  /* what the pass that makes the object is called: "host", "c++", "c" */
	struct strs words; /* of all passes, behind the compiler's name: source, language, flags */
	struct strs host_words; /* of the pass that makes the object only */
	struct strs gpus;       /* none for sources of the host */
	struct str object;      /* the result */
	struct str parts;       /* code objects and bundle are PARTS.GPU.co and PARTS.hipfb */
	struct str
		work; /* a folder without these, where each pass gets one of its own to write into */
	bool depfiles; /* each pass writes one */
};

struct compile_pass {
	const char *kind;   /* "device", "bundle", or step->kind */
	struct str gpu;     /* of a device pass, else "" */
	struct strs argv;   /* behind the compiler's name; empty: made by compile_join() */
	size_t first, end;  /* it reads the outputs of these earlier passes */
	struct str work;    /* the compiler writes `out` and `dep` in here */
	struct str out;     /* WORK/out */
	struct str depfile; /* WORK/dep, or "" */
	struct str output;  /* where `out` belongs when the pass has succeeded */
};

struct compile_passes {
	struct compile_pass *v;
	size_t n, cap;
};

/* The passes of a step in the order in which they can run. */
void compile_passes(struct arena *a, const struct compile_step *step, struct compile_passes *ret);
/* The pass without a compiler: joins the code objects of these GPUs, in this order, into one file. */
MUST_USE struct err *compile_join(
	const struct strs *gpus, const struct strs *objects, struct str path);

/* Reads a step from a command line of hipcc or clang's driver (name). False if the compiler is to run as it is, as a
 * direct pass: for one GPU, or with any word whose meaning for separate passes is not known (relocatable device code,
 * saved temporaries, response files, debug information, options for one side ...). */
bool compile_read(
	struct arena *a, struct str name, const struct strs *args, struct compile_step *ret);

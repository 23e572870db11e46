/* The passes of torch_text(), one after another; each is a step from a text to a text.
 *
 * A step takes scratch memory and its result from the arena it is given, and gives back the text it
 * got when there is nothing to do. Only text.c calls them.
 */
#pragma once

#include "hipify/torch/text/match.h"
#include "hipify/torch/text/text.h"
#include "hipify/torch/text/trace.h"

/* Plain replacements, made one after another over the whole text (str.replace in a loop). */
struct torch_replaces {
	struct torch_map map;
	struct torch_matcher *matcher;
	bool apart; /* no replacement makes or hides a key: what is not there at first never
		       comes */
};

struct torch_engine {
	enum torch_generation generation;
	struct torch_matcher *names, *caffe2;
	struct map special; /* key -> struct torch_entry *, instead of that of names */
	struct torch_replaces paths, math, cmake;
	struct torch_matcher *marks;        /* texts that tell device code */
	const struct torch_entry *bad_path; /* a mapping that Python would take as a template */
};

struct torch_step {
	const struct torch_engine *e;
	const struct torch_job *j;
	struct torch_trace *trace; /* may be NULL */
};

typedef struct err *torch_step_fn(
	const struct torch_step *s, struct arena *a, struct str text, struct str *ret);

torch_step_fn torch_step_names, torch_step_paths, torch_step_cmake, torch_step_math;
torch_step_fn torch_step_includes, torch_step_runtime; /* directive.c */

/* Kernel launches as processKernelLaunches() of PyTorch's hipify does them: doc/hipify.md, Launches.
 * Linear where launches stand apart from each other and nowhere else in the text, which is nearly
 * always so. Else each is searched for in the whole text, as the original does it: 4 GiB may be
 * searched for one text, a thousand launches in 4 MiB. More is E_HIPIFY, and so is a text that
 * launches without "(" would make larger than 128 MiB. *ret is text itself when nothing is done. */
MUST_USE struct err *torch_launches(
	struct arena *a, struct str text, struct torch_trace *trace, struct str *ret);

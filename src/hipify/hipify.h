/* CUDA to HIP translation of sources.
 *
 * One pass over a tokenizer that knows comments, strings, raw strings and preprocessor lines; the
 * name pairs are tables (data/cuda_names). Sources are never modified unless asked for in place.
 * Modes: standalone (this file's first part); torch and extension (identical to PyTorch's own)
 * follow behind the same interface. Exact semantics wanted there: shared reference hipify.md.
 */
#pragma once

#include "base/err.h"
#include "base/map.h"
#include "formats/finding.h"

enum hipify_status { HIPIFY_OK, HIPIFY_UNCHANGED, HIPIFY_SKIPPED, HIPIFY_FAILED };

/* A row of the tables; the accessors are below. */
struct hipify_rule;

/* One replacement, for --explain and --diff. In the order of the text, never overlapping; an
 * insertion has from == to. Copying the source and applying them gives hipify_text.text exactly. */
struct hipify_edit {
	size_t from, to; /* bytes of the source */
	struct str with;
	const struct hipify_rule *rule;
	unsigned line;
};

/* A name of CUDA that has no translation. */
struct hipify_left {
	struct str path, name;
	unsigned line, col;
	struct str suggestion; /* "" = none known */
	bool unsure;           /* looks like CUDA's names but is in no table */
};

struct hipify_lefts {
	struct hipify_left *v;
	size_t n, cap;
};

struct hipify_text {
	struct str text; /* the translated source */
	VEC(struct hipify_edit) edits;
	struct hipify_lefts left;
	struct strs
		headers; /* library headers it includes after translation: "hiprand/hiprand.h" */
	struct strs declared; /* names like CUDA's that it declares itself */
	bool warp_sync;       /* it calls *_sync warp functions */
};

/* What is known about the other files of a project; optional. */
struct hipify_context {
	struct map by_name; /* file name -> struct strs *: relative paths of the files named so */
	bool warp_sync;     /* some header of the project calls *_sync warp functions */
	struct str rocm;    /* "6.4.3": names that came later stay and are reported; "" = any */
};

/* Translates one source text. path is for messages; its extension tells whether this is a whole
 * program part (.cu, .hip), which gets "#include <hip/hip_runtime.h>" in front when it lacks it,
 * because nvcc includes cuda_runtime.h by itself. E_HIPIFY with the place when it cannot be read as
 * C++ (unterminated comment or string, bad UTF-8, NUL bytes). */
MUST_USE struct err *hipify_text(
	struct arena *a, struct str source, struct str path, struct hipify_text *ret);
/* The same, as hipify_tree() does it for a file of a project. */
MUST_USE struct err *hipify_text_in(struct arena *a, struct str source, struct str path,
	const struct hipify_context *context, struct hipify_text *ret);

struct hipify_file {
	struct str source, output; /* relative to the folder / the output folder */
	enum hipify_status status;
	struct err *error; /* of HIPIFY_FAILED; freed by hipify_tree_free */
	size_t edits;
};

struct hipify_tree {
	VEC(struct hipify_file) files;
	struct hipify_lefts left;
	struct strs headers;
	struct strs removed; /* outputs that are gone because their sources are */
	struct hipify_context context;
};

struct hipify_options {
	struct str dir, out; /* out "" = nothing is written (--check, --diff) */
	struct strs only;    /* relative paths; empty = every source and header below dir */
	bool keep;           /* earlier outputs of sources that are not in only stay */
	struct strs exclude; /* folders or files: names, or paths relative to dir */
	struct str rocm;     /* as in struct hipify_context */
	unsigned jobs;
};

/* Translates a folder into out: x.cu -> x.hip, other names kept, headers too. out then holds every
 * source and header, changed or not; other files are not copied. Unchanged outputs are not
 * rewritten (HIPIFY_SKIPPED), outputs of inputs that are gone are removed (a manifest in
 * out/.rocsmith knows what we made; other files are never touched). HIPIFY_UNCHANGED: nothing to
 * translate in it. A file that fails does not stop the others. E_USAGE when out is dir or inside it
 * without being a hidden or build folder, E_LOCKED never: a second run waits for the first. */
MUST_USE struct err *hipify_tree(
	struct arena *a, const struct hipify_options *o, struct hipify_tree *ret);
void hipify_tree_free(struct hipify_tree *t);
bool hipify_is_source(struct str path);                          /* by its extension */
struct str hipify_output_name(struct arena *a, struct str path); /* x.cu -> x.hip */

/* A unified diff of one file (the output of diff -u, three lines of context); "" when equal. */
struct str hipify_diff(
	struct arena *a, struct str source, struct str path, const struct hipify_text *t);

/* What a row says. Texts live as long as the program. */
struct str hipify_rule_cuda(const struct hipify_rule *r);
struct str hipify_rule_hip(const struct hipify_rule *r);
struct str hipify_rule_kind(const struct hipify_rule *r);
struct str hipify_rule_header(const struct hipify_rule *r);
struct str hipify_rule_since(const struct hipify_rule *r);  /* ROCm version, "" = 6.4.3 or older */
struct str hipify_rule_source(const struct hipify_rule *r); /* what states the pair */
/* The table's file in the source tree, and its line. */
struct str hipify_rule_table(const struct hipify_rule *r, unsigned *ret_line);
/* All rows in table order, for lists and tests; NULL behind the last. */
const struct hipify_rule *hipify_rule_at(size_t i);

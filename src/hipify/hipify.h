/* CUDA to HIP translation of sources.
 *
 * One pass over a tokenizer that knows comments, strings, raw strings and preprocessor lines; the
 * name pairs are tables (data/cuda_names). Sources are never modified unless asked for in place.
 * Modes: standalone (this file's first part); torch and extension (identical to PyTorch's own)
 * follow behind the same interface. Exact semantics wanted there: shared reference hipify.md.
 */
#pragma once

#include "base/err.h"
#include "formats/finding.h"

enum hipify_status { HIPIFY_OK, HIPIFY_UNCHANGED, HIPIFY_SKIPPED, HIPIFY_FAILED };

/* One replacement, for --explain and --diff. */
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
};

struct hipify_text {
	struct str text; /* the translated source */
	VEC(struct hipify_edit) edits;
	VEC(struct hipify_left) left;
	struct strs
		headers; /* library headers it includes after translation: "hiprand/hiprand.h" */
};

/* Translates one source text. path is for messages. E_HIPIFY with the place when it cannot be read
 * as C++ (unterminated comment, bad UTF-8). */
MUST_USE struct err *hipify_text(
	struct arena *a, struct str source, struct str path, struct hipify_text *ret);

struct hipify_file {
	struct str source, output; /* relative to the folder / the output folder */
	enum hipify_status status;
	struct err *error; /* of HIPIFY_FAILED; freed by hipify_tree_free */
	size_t edits;
};

struct hipify_tree {
	VEC(struct hipify_file) files;
	VEC(struct hipify_left) left;
	struct strs headers;
};

struct hipify_options {
	struct str dir, out; /* out "" = nothing is written (--check, --diff) */
	struct strs only;    /* relative paths; empty = every source and header below dir */
	unsigned jobs;
};

/* Translates a folder into out: x.cu -> x.hip, other names kept, headers too. Unchanged inputs are
 * not rewritten, outputs of inputs that are gone are removed (a manifest in out knows them). A file
 * that fails does not stop the others. */
MUST_USE struct err *hipify_tree(
	struct arena *a, const struct hipify_options *o, struct hipify_tree *ret);
void hipify_tree_free(struct hipify_tree *t);

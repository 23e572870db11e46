/* CUDA to HIP translation of sources.
 *
 * One pass over a tokenizer that knows comments, strings, raw strings and preprocessor lines; the
 * name pairs are tables (data/cuda_names): that is the standalone mode. The modes torch and
 * extension give byte for byte what the hipify of a given PyTorch gives (folder torch/). Whatever
 * the mode, a translation is first computed as a set of files in memory (struct hipify_tree) and
 * then applied (changes/changes.h): in place, with the originals kept, or as an overlay folder.
 * hipify_run() is the whole.
 */
#pragma once

#include "changes/changes.h"
#include "formats/finding.h"
#include "hipify/options.h"
#include "hipify/torch/model/source.h"

struct hipify_rule; /* a row of the tables: cuda/names.h */

/* One replacement, for `hipify explain` and --diff. In the order of the text, never overlapping; an
 * insertion has from == to. Copying the source and applying them gives hipify_text.text exactly. */
struct hipify_edit {
	size_t from, to; /* bytes of the source */
	struct str with;
	const struct hipify_rule *rule; /* standalone mode; NULL = no row is behind it */
	unsigned line;
	struct hipify_reason
		*why; /* modes torch and extension: a list, in the order of the passes */
};

/* A rule of PyTorch's hipify that made an edit. */
struct hipify_reason {
	struct hipify_reason *next;
	const char *kind; /* "name", "path", "include", "launch", "math", "header", "cmake" */
	struct str from,
		to; /* the entry; without one, the text that this pass replaced and the new one */
	struct str table, file; /* "CUDA_IDENTIFIER_MAP", its file; "" = a rule of the algorithm */
	unsigned line;          /* in file */
};

/* A name of CUDA that has no translation. */
struct untranslated {
	struct str path, name;
	unsigned line, col;
	struct str suggestion; /* "" = none known */
	struct str since;      /* ROCm version that first has the suggested name, "" = unknown */
	bool unsure;           /* looks like CUDA's names but is in no table */
	bool certain; /* mode standalone: no compiler for HIP takes it; no #if, no unused macro, no
			 header that need not be included is round it */
};

struct untranslated_list {
	struct untranslated *v;
	size_t n, cap;
};

struct hipify_text {
	struct str text; /* the translated source */
	VEC(struct hipify_edit) edits;
	struct untranslated_list untranslated;
	struct strs headers;  /* library headers that it now includes: "hiprand/hiprand.h" */
	struct strs declared; /* names like CUDA's that it declares itself */
	struct strs gives;    /* headers of ours that it now includes: "rocsmith/device.h" */
	struct strs includes; /* names of files that it includes whatever is defined */
	bool warp_sync;       /* it calls *_sync warp functions */
};

/* Facts about the other files of a project; optional. */
struct hipify_context {
	struct map by_name; /* file name -> struct strs *: relative paths of the files named so */
	bool warp_sync;     /* some header of the project calls *_sync warp functions */
	struct str rocm;    /* "6.4.3": names that came later stay and are reported; "" = any */
	bool fnuz;          /* device code has no OCP types of 8 bits, see struct hipify_options */
};

/* Translates one source text. path is for messages; its extension tells whether this is a whole
 * program part (.cu, .hip), which gets "#include <hip/hip_runtime.h>" in front when it lacks it,
 * because nvcc includes cuda_runtime.h by itself. E_HIPIFY with the place when it cannot be read as
 * C++ (unterminated comment or string, bad UTF-8, NUL bytes). */
MUST_USE struct err *hipify_text(
	struct arena *a, struct str source, struct str path, struct hipify_text *ret);
/* The same, as hipify_run() does it for a file of a project. */
MUST_USE struct err *hipify_text_in(struct arena *a, struct str source, struct str path,
	const struct hipify_context *context, struct hipify_text *ret);

/* A change's mark: the original, run again on its own result, would change it again. */
enum { HIPIFY_REPEATS = 1 };

/* Is it the name of a header of ours, as results include it? See data/rocsmith. */
bool hipify_is_our_header(struct str path);

struct hipify_tree {
	struct torch_source torch; /* modes torch and extension: whose hipify it was */
	struct change_set changes;
	struct untranslated_list untranslated;
	struct strs headers; /* headers of ROCm's libraries that results include */
	struct hipify_context context;
	struct findings findings; /* modes torch and extension: what the user should know */
};

/* Translates a folder, and writes the results unless look_only: in place, or into out. Unchanged
 * outputs are not rewritten (CHANGE_SKIPPED), outputs of inputs that are gone are removed (a
 * manifest in .rocsmith knows what we made; other files are never touched). A file that fails does
 * not stop the others. A second run on the same tree waits for the first; when nothing changed
 * since, it does nothing. Mode standalone: x.cu -> x.hip, other names kept, headers too; out then
 * holds every source and header, changed or not, and no other file; E_USAGE when out is dir or
 * inside it without being excluded. */
MUST_USE struct err *hipify_run(
	struct arena *a, const struct hipify_options *o, struct hipify_tree *ret);
/* The changes that a run on this view would make, for a session of the caller's; nothing is written. */
MUST_USE struct err *hipify_changes(struct arena *a, const struct hipify_options *o,
	const struct view *view, struct hipify_tree *ret);
void hipify_tree_free(struct hipify_tree *t);

/* The bytes of a file as they were before any translation. */
MUST_USE struct err *hipify_source(
	struct arena *a, const struct hipify_options *o, struct str rel, struct str *ret);
/* One file, relative to o->dir, as hipify_run() translates it, with its edits; they refer to
 * *ret_source. E_NOENT when a run with these options does not take it. */
MUST_USE struct err *hipify_file_text(struct arena *a, const struct hipify_options *o,
	struct str rel, struct str *ret_source, struct hipify_text *ret);

bool hipify_is_source(struct str path);                          /* by its extension */
struct str hipify_output_name(struct arena *a, struct str path); /* x.cu -> x.hip */

/* CUDA to HIP translation of sources.
 *
 * One pass over a tokenizer that knows comments, strings, raw strings and preprocessor lines; the
 * name pairs are tables (data/cuda_names): that is the standalone mode. The modes torch and
 * extension reproduce the hipify of a given PyTorch byte for byte (folder torch/). In every
 * mode a translation is first computed as a set of files in memory (struct hipify_tree) and
 * then applied (changes/changes.h): in place, with the originals kept, or as an overlay folder.
 * hipify_run() does both steps.
 */
#pragma once

#include "changes/changes.h"
#include "formats/finding.h"
#include "hipify/options.h"
#include "hipify/torch/model/source.h"

struct hipify_rule; /* a row of the tables: cuda/names.h */

/* One replacement, for `hipify explain` and --diff. Edits are in text order and never overlap; an
 * insertion has from == to. Applying them all to the source gives exactly hipify_text.text. */
struct hipify_edit {
	size_t from, to; /* byte offsets in the source */
	struct str with;
	const struct hipify_rule *rule; /* standalone mode: the table row behind it, or NULL */
	unsigned line;
	struct hipify_reason
		*why; /* modes torch and extension: a list, in the order of the passes */
};

/* A rule of PyTorch's hipify that made an edit. */
struct hipify_reason {
	struct hipify_reason *next;
	const char *kind;    /* "name", "path", "include", "launch", "math", "header", "cmake" */
	struct str from, to; /* the table entry; without one, the text before and after this pass */
	struct str table, file; /* "CUDA_IDENTIFIER_MAP", its file; "" = a rule of the algorithm */
	unsigned line;          /* in file */
};

/* A CUDA name without a translation. */
struct untranslated {
	struct str path, name;
	unsigned line, col;
	struct str suggestion; /* "" = none known */
	struct str since;      /* ROCm version that first has the suggested name, "" = unknown */
	bool unsure;           /* named like CUDA's, but in no table */
	bool ptx;              /* inline PTX: an opcode, or "asm" */
	bool certain; /* standalone mode: every HIP build fails on it, since it is in no #if, no unused
			 macro and no header that might never be included */
};

struct untranslated_list VEC_OF(struct untranslated);

/* "'cublasDtpttr' has no counterpart in HIP", with the suggestion. */
struct str hipify_lacks(struct arena *a, const struct untranslated *u);

struct hipify_text {
	struct str text; /* the translated source */
	VEC(struct hipify_edit) edits;
	struct untranslated_list untranslated;
	struct strs
		headers; /* ROCm library headers that the result includes: "hiprand/hiprand.h" */
	struct strs declared; /* names in CUDA's style that the source declares itself */
	struct strs gives;    /* our own headers that the result includes: "rocsmith/device.h" */
	struct strs includes; /* project files that it includes unconditionally, by file name */
	bool warp_sync;       /* it calls *_sync warp functions */
	unsigned operators;   /* its own operators for vector types, for which HIP has some, too */
	bool texture_objects; /* it names the type of a texture's or surface's object */
	struct untranslated texture; /* the first place that reads or writes one; line 0: none */
};

/* Does it call warp functions that HIP hides, by themselves or as members of cooperative groups? */
bool hipify_uses_warps(struct str text);
/* A bit for each kind of functions that it calls, and nvcc declares without an include: min() and max(), assert(), those of
 * <stdio.h> and of <string.h>. A source that includes it may need a header for them. */
unsigned hipify_calls(struct str text);

/* Facts about the other files of a project; optional. */
struct hipify_context {
	struct map by_name; /* file name -> struct strs *: relative paths of the files named so */
	bool warp_sync;     /* some header of the project calls *_sync warp functions */
	unsigned calls;     /* hipify_calls() of all headers of the project */
	bool cublas_v1;  /* the project includes cuBLAS' first interface, and nowhere the second */
	struct str rocm; /* "6.4.3": names from later versions stay and are reported; "" = any */
	bool fnuz;       /* device code lacks the 8-bit OCP floats, see struct hipify_options */
	/* The text stands in for the file, under its name: each line keeps its number, and x.cu its extension. */
	bool stands_in;
	bool marks; /* see struct hipify_options */
};

/* Translates one source text. path appears in messages, and its extension tells whether this is a
 * translation unit (.cu, .hip). Such a unit gets "#include <hip/hip_runtime.h>" in front if it lacks
 * it, because nvcc includes cuda_runtime.h by itself. Fails with E_HIPIFY and the place if the text
 * cannot be read as C++ (unterminated comment or string, bad UTF-8, NUL bytes). context: the rest of the project, or
 * NULL. */
MUST_USE struct err *hipify_text(struct arena *a, struct str source, struct str path,
	const struct hipify_context *context, struct hipify_text *ret);

/* Marks on a change: the original hipify, run again on its own result, would change it again; it is a header of
 * rocsmith's own, which results include and which has no source. */
enum { HIPIFY_REPEATS = 1, HIPIFY_OURS };

/* Is this one of our own headers (data/rocsmith), named as results include it? */
bool hipify_is_our_header(struct str path);

struct hipify_tree {
	struct torch_source
		torch; /* modes torch and extension: the torch whose hipify was followed */
	struct change_set changes;
	struct untranslated_list untranslated;
	struct strs headers; /* ROCm library headers and our own headers that results include */
	struct untranslated
		texture; /* standalone mode: the first place of a source that has such objects; line 0: none */
	struct hipify_context context;
	struct findings findings; /* notes and warnings for the user */
};

/* Translates a folder and, unless look_only, writes the results: in place, or into out. Unchanged
 * outputs are not rewritten (CHANGE_SKIPPED), and outputs whose inputs are gone are removed (a
 * manifest in .rocsmith lists our outputs; other files are never touched). A file that fails does
 * not stop the others. A second run on the same tree waits for the first, and does nothing if
 * nothing has changed since. In standalone mode x.cu becomes x.hip and all other names are kept; out
 * then holds every source and header, changed or not, and no other file. E_USAGE if out is dir, or
 * inside it without being excluded. */
MUST_USE struct err *hipify_run(
	struct arena *a, const struct hipify_options *o, struct hipify_tree *ret);
/* Computes the changes that a run on this view would make, for a caller with its own session; writes nothing. */
MUST_USE struct err *hipify_changes(struct arena *a, const struct hipify_options *o,
	const struct view *view, struct hipify_tree *ret);
void hipify_tree_free(struct hipify_tree *t);

/* Reads the bytes that a file had before any translation. */
MUST_USE struct err *hipify_source(
	struct arena *a, const struct hipify_options *o, struct str rel, struct str *ret);
/* Translates the one file rel (relative to o->dir) as hipify_run() does, with its edits, which refer
 * to *ret_source. E_NOENT if a run with these options would not translate that file. */
MUST_USE struct err *hipify_file_text(struct arena *a, const struct hipify_options *o,
	struct str rel, struct str *ret_source, struct hipify_text *ret);

bool hipify_is_source(struct str path);                          /* by its extension */
struct str hipify_output_name(struct arena *a, struct str path); /* x.cu -> x.hip */

/* Headers that rocsmith gives (tools/gen_face.c): first those that results include (data/rocsmith), then CUDA's as HIP's,
 * for C and C++ that nobody translates. They do no harm to translated sources that come across them. */
struct hipify_header {
	struct str path; /* in an #include */
	struct str hip;  /* the header of HIP without which it is of no use */
	size_t at, n;    /* its part of the texts */
};
extern const struct hipify_header hipify_face[];
extern const size_t hipify_face_count, hipify_face_size; /* headers; bytes of all texts */
extern const struct str hipify_face_packed;              /* the texts, a frame of zstd */
/* Unpacks the texts. */
MUST_USE struct err *hipify_face_texts(struct arena *a, struct str *ret);

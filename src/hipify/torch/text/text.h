/* The passes of PyTorch's hipify over the text of one file.
 *
 * Order: names by the tables; v2: path mappings; includes; CMakeLists.txt; kernel launches; math
 * functions; the runtime header in front. What each does exactly says doc/hipify.md. The text is
 * valid UTF-8 whose line ends are already "\n" (py_decode). Each pass is linear in its input, but
 * for odd launches (passes.h), and gives back the text it got when it changes nothing, so that an
 * unchanged file costs no copy.
 */
#pragma once

#include "hipify/hipify.h"
#include "hipify/torch/model/tables.h"

struct torch_engine; /* the tables, compiled for matching; immutable, shared by threads */

struct torch_engine *torch_engine_new(struct arena *a, const struct torch_tables *t);

enum torch_form { TORCH_QUOTE, TORCH_ANGLE, TORCH_GENERIC_FILE }; /* the three include regexes */

/* Answers what an include path becomes; *ret untouched = the directive stays byte for byte. The
 * answer must live until torch_text() is over. */
typedef struct err *torch_include(
	void *user, enum torch_form form, struct str path, struct str *ret);

struct torch_job {
	struct str path; /* absolute: decides on CMakeLists.txt, .cu, PowKernel */
	enum { TORCH_NAMES, TORCH_SPECIAL, TORCH_CAFFE2 } map;
	bool launches;   /* rewrite <<<>>> */
	bool trace;      /* fill the edits */
	struct str head; /* goes in front of the result, without an edit */
	bool stays;      /* if the text does not change, return no result */
	torch_include *include;
	void *user;
};

/* ret->text is the result, in `a`, or source itself when there is no head or it stays; scratch memory
 * is freed. ret->edits are filled (against source, composed over all passes, each
 * with its reason) only when the job's trace is set. E_HIPIFY with a line where the original hangs
 * or dies: a "<<<" without ">>>" behind it, a launch without a name or with one argument. */
MUST_USE struct err *torch_text(struct arena *a, const struct torch_engine *e,
	const struct torch_job *j, struct str source, struct hipify_text *ret);

/* The line that marks a generated file, with its "\n". */
extern const struct str torch_breadcrumb;

/* The passes of PyTorch's hipify over the text of one file.
 *
 * Order: names from the tables; in v2, path mappings; includes; CMakeLists.txt; kernel launches; math
 * functions; the runtime header in front. doc/hipify.md specifies each pass. The text is
 * valid UTF-8 whose line ends are already "\n" (py_decode). Each pass is linear in its input, except
 * on odd launches (passes.h), and returns its input text if it changes nothing, so that an
 * unchanged file costs no copy.
 */
#pragma once

#include "hipify/hipify.h"
#include "hipify/torch/model/tables.h"

struct torch_engine; /* the tables, compiled for matching; immutable, shared by threads */

struct torch_engine *torch_engine_new(struct arena *a, const struct torch_tables *t);

enum torch_form { TORCH_QUOTE, TORCH_ANGLE, TORCH_GENERIC_FILE }; /* the three include regexes */

/* A callback that maps an include path to its new path; if it leaves *ret alone, the directive is kept
 * byte for byte. *ret must stay valid until torch_text() returns. */
typedef struct err *torch_include(
	void *user, enum torch_form form, struct str path, struct str *ret);

struct torch_job {
	struct str path; /* absolute; some passes depend on it (CMakeLists.txt, .cu, PowKernel) */
	enum { TORCH_NAMES, TORCH_SPECIAL, TORCH_CAFFE2 } map;
	bool launches; /* rewrite <<<>>> */
	bool trace;    /* fill the edits */
	torch_include *include;
	void *user;
};

/* ret->text is the result, in `a`; it is source itself if no pass changes it. If the job's trace is set, ret->edits gets the edits of source, composed over all
 * passes, with their reasons. E_HIPIFY with a line where the original hangs or aborts: a "<<<" without a
 * ">>>" after it, a launch without a name or with one argument. */
MUST_USE struct err *torch_text(struct arena *a, const struct torch_engine *e,
	const struct torch_job *j, struct str source, struct hipify_text *ret);

/* The line that marks a generated file, with its "\n". */
extern const struct str torch_breadcrumb;

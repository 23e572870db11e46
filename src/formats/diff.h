/* Unified diffs: read, and applied to a text the way patch(1) does. A recipe's are read strictly; a patch
 * of others may say anything in front of its files, and remove files.
 *
 * A hunk is looked for at its line, moved by what the hunk before it was, then further and further
 * away (down before up); when it fits nowhere, again with its outermost line of context left out at
 * both ends, and again with two (fuzz). A hunk with less context in front than behind, at line 1,
 * only fits the start of a file, one with less behind only its end. Hunks do not overlap. All hunks
 * fit, or nothing is changed.
 *
 * Paths lose their first component ("a/", "b/"). Renames, changes of modes and binary parts are errors.
 * Texts of a diff point into it.
 */
#pragma once

#include "base/err.h"
#include "base/vec.h"

struct diff_line {
	char kind;       /* ' ', '-', '+' */
	struct str text; /* with its newline, if it has one */
};

struct diff_hunk {
	size_t first; /* line of the old text, from 1; of an insertion into nothing the one behind */
	VEC(struct diff_line) lines;
};

struct diff_file {
	struct str path; /* clean, relative */
	bool adds;       /* the old side is /dev/null */
	bool removes;    /* the new side is */
	bool executable; /* and added as one */
	VEC(struct diff_hunk) hunks;
};

struct diff {
	struct diff_file *v;
	size_t n, cap;
};

enum diff_kind { DIFF_RECIPE, DIFF_PATCH };
/* At most 1 MiB of a recipe, 64 MiB of a patch, which may be empty; E_SYNTAX with the line. */
MUST_USE struct err *diff_parse(
	struct arena *a, struct str text, struct str name, enum diff_kind kind, struct diff *ret);

enum diff_fit {
	DIFF_FITS,
	DIFF_THERE, /* the text has it already: reversed, all hunks fit exactly */
	DIFF_NOT,   /* notes say which hunk does not fit */
};

/* old.p NULL = no such file. What a diff removes is empty afterwards, and to be removed. Of a text that fits, notes get a line for each hunk that was moved
 * or needed fuzz. E_LIMIT when looking would take too long. */
struct diff_result {
	enum diff_fit fit;
	struct str text;
	struct strs notes;
};
MUST_USE struct err *diff_apply(
	struct arena *a, const struct diff_file *f, struct str old, struct diff_result *ret);

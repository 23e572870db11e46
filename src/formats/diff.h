/* Unified diffs: reading them, and applying them to a text the way patch(1) does. The diff of a recipe is read
 * strictly; a patch by others may have any text in front of its files, and may remove files.
 *
 * A hunk is searched for at its line, shifted as the hunk before it was, then further and further
 * away (down before up). If it fits nowhere, the search is repeated without the outermost line of context at
 * both ends, and then without two (fuzz). A hunk at line 1 with less context in front than behind only
 * fits the start of a file, one with less behind only its end. Hunks do not overlap. Either all hunks
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
	size_t first; /* its first line in the old text, from 1; without old lines, the line behind it */
	VEC(struct diff_line) lines;
};

struct diff_file {
	struct str path; /* clean, relative */
	bool adds;       /* the old side is /dev/null */
	bool removes;    /* the new side is /dev/null */
	bool executable; /* it is added as an executable file */
	VEC(struct diff_hunk) hunks;
};

struct diff {
	struct diff_file *v;
	size_t n, cap;
};

enum diff_kind { DIFF_RECIPE, DIFF_PATCH };
/* Reads a diff of at most 1 MiB (recipe) or 64 MiB (patch, may be empty); E_SYNTAX with the line. */
MUST_USE struct err *diff_parse(
	struct arena *a, struct str text, struct str name, enum diff_kind kind, struct diff *ret);

enum diff_fit {
	DIFF_FITS,
	DIFF_THERE, /* the text has the changes already: in reverse, all hunks fit exactly */
	DIFF_NOT,   /* notes say which hunk does not fit */
};

/* Applies the hunks of a file. old.p NULL: there is no such file; a file that the diff removes has an empty result. If
 * all hunks fit, notes get a line for each that was moved or needed fuzz. E_LIMIT if the search takes too long. */
struct diff_result {
	enum diff_fit fit;
	struct str text;
	struct strs notes;
};
MUST_USE struct err *diff_apply(
	struct arena *a, const struct diff_file *f, struct str old, struct diff_result *ret);

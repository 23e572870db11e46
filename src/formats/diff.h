/* Unified diffs: reading them, and applying them to a text the way patch(1) does. The diff of a recipe is read
 * strictly; a third-party patch may have any text before its files, and may remove files.
 *
 * The search for a hunk begins at its line, shifted as far as the previous hunk was, and goes further and further
 * away (down before up). If the hunk fits nowhere, the search is repeated without the outermost line of context at
 * both ends, and then without two (fuzz). A hunk at line 1 with less leading than trailing context only fits the
 * start of a file, one with less trailing context only the end. Hunks do not overlap. Either all hunks fit, or
 * nothing is changed.
 *
 * Paths lose their first component ("a/", "b/"). Renames, mode changes and binary parts are errors. The lines of a
 * diff point into its text. */
#pragma once

#include "base/err.h"
#include "base/vec.h"

struct diff_line {
	char kind;       /* ' ', '-', '+' */
	struct str text; /* with its newline, if it has one */
};

struct diff_hunk {
	/* Number of its first line in the old text, from 1; without old lines, of the line behind the insertion. */
	size_t first;
	VEC(struct diff_line) lines;
};

struct diff_file {
	struct str path; /* clean, relative */
	bool adds;       /* the old side is /dev/null */
	bool removes;    /* the new side is /dev/null */
	bool executable; /* it is added, as an executable file */
	VEC(struct diff_hunk) hunks;
};

struct diff VEC_OF(struct diff_file);

enum diff_kind { DIFF_RECIPE, DIFF_PATCH };
/* Reads a diff of at most 1 MiB (recipe) or 64 MiB (patch, may be empty); E_SYNTAX with the line. */
MUST_USE struct err *diff_parse(
	struct arena *a, struct str text, struct str name, enum diff_kind kind, struct diff *ret);

enum diff_fit {
	DIFF_FITS,
	DIFF_THERE, /* the text already has the changes: in reverse, all hunks fit exactly */
	DIFF_NOT,   /* notes say which hunk does not fit */
};

/* Applies the hunks of a file. old.p is NULL if there is no such file; a file that the diff removes gets an empty
 * text. If all hunks fit, `notes` has a line for each one that was moved or needed fuzz. E_LIMIT if the search takes
 * too long. */
struct diff_result {
	enum diff_fit fit;
	struct str text;
	struct strs notes;
};
MUST_USE struct err *diff_apply(
	struct arena *a, const struct diff_file *f, struct str old, struct diff_result *ret);

/* Declarative cases: a file tells command lines, what they find and what they must answer.
 *
 * The format is documented in tests/cases/README.md. case_parse.c reads it, case_match.c compares
 * text with placeholders and JSON with a subset, case_tree.c makes and inspects the folder that a
 * case runs in, main.c runs the cases and speaks TAP.
 */
#pragma once

#include "base/buf.h"
#include "base/err.h"
#include "base/vec.h"

struct section {
	struct str name, arg; /* "@file a.txt 0755" -> "file", "a.txt 0755" */
	struct str text;      /* lines below it, "@@" undone, one newline at the end; may be "" */
	struct str raw;       /* heading and text as they stand in the file */
	unsigned line;
};

struct sections {
	struct section *v;
	size_t n, cap;
};

struct place {           /* the folder of a running case */
	struct str root; /* holds the three below */
	struct str tree; /* current folder of the command: <DIR> */
	struct str home; /* $HOME; ROCSMITH_HOME is below it: <HOME> */
	struct str tmp;  /* $TMPDIR: must be empty after each command */
};

/* E_SYNTAX with the line for an unknown section. */
MUST_USE struct err *case_parse(
	struct arena *a, struct str text, struct str path, struct sections *ret);
/* Words of a line; "two words" in double quotes are one. */
struct strs case_words(struct arena *a, struct str line);

/* Whole text against a pattern: <*> stands for anything inside a line, a line <...> for any number
 * of lines. */
bool match_text(struct str pattern, struct str text);
bool match_line(struct str pattern, struct str line);
/* NULL when text is one JSON value that has all that expected asks for, else what is wrong. */
const char *match_json(struct arena *a, struct str expected, struct str text);

MUST_USE struct err *place_make(struct arena *a, struct place *ret);
MUST_USE struct err *place_remove(const struct place *p);
/* Carries out @file, @hex, @dir, @copy, @link and @remove; data is the folder @copy reads from. */
MUST_USE struct err *place_setup(
	struct arena *a, const struct place *p, const struct section *s, struct str data);
/* The paths of the place as <DIR> and <HOME>, and back. */
struct str place_hide(struct arena *a, const struct place *p, struct str text);
struct str place_show(struct arena *a, const struct place *p, struct str text);
/* Every file, link and folder below dir with mode and content hash, one a line. */
MUST_USE struct err *tree_state(struct arena *a, struct str dir, bool content, struct str *ret);

/* The meaning of build and run logs: the entries of data/diagnoses/ and the signs of data/logs.yaml, compiled in, and
 * the reader that finds them in a log of any size. data/diagnoses/README.md is the manual of an entry.
 *
 * A log is read once, in blocks, in constant memory. Hyperscan searches for a part of every expression at once
 * (know/scan.h); only lines that have such a part are cleaned (colours, prefixes, typographic quotes, wrapped text) and
 * compared with the expression (know/match.h). The subject of the log (AMD, NVIDIA, a document) and the order of the
 * causes are decided only at its end.
 */
#pragma once

#include "formats/stream.h"
#include "know/scan.h"
#include "machine/machine.h"

struct diagnosis_match {     /* one message that the problem causes */
	const char *text;    /* an expression (know/match.h) over the cleaned line or lines */
	const char *near;    /* an expression that a line within 40 lines must match; or NULL */
	const char *without; /* an expression that must not match the same lines; or NULL */
	const char *alone; /* the only program that prints it: no sign of AMD is needed; or NULL */
	const char *needs; /* a sign that suffices instead of one of AMD; or NULL */
	const char *const *unless; /* signs, any of which makes the match context; or NULL */
	bool context;              /* the match is always context */
};

struct diagnosis_fix {
	const char *action, *command, *tradeoff; /* the last two may be NULL */
	const char *needs;         /* a sign without which the log gets no such advice; or NULL */
	const char *const *unless; /* signs, with any of which it gets none; or NULL */
};

struct diagnosis_refuted {
	const char *claim, *why, *evidence;
};

struct diagnosis_applies {
	const char *torch, *rocm, *gfx, *os;
};

struct diagnosis {
	const char *id, *stage, *title, *cause, *confidence; /* maintainer, source or users */
	enum severity severity;
	bool context;  /* means nothing without another symptom */
	bool generic;  /* many causes end in this message, so others come first */
	bool inferred; /* the message has not been seen in any log */
	bool decides;  /* if `when` does not hold, this is not the cause */
	struct diagnosis_applies applies;
	const char *when;            /* a condition (know/predicate.h) on the machine, or NULL */
	const char *const *explains; /* ids of entries that it causes, or NULL */
	const char *const *evidence;
	const struct diagnosis_match *match;     /* ends with text NULL */
	const struct diagnosis_fix *fix;         /* ends with action NULL */
	const struct diagnosis_refuted *refuted; /* ends with claim NULL; or NULL */
};
TABLE(diagnosis);
extern const struct json_field diagnosis_fields[]; /* an entry of `explain --list --json` */
extern const struct json_field diagnosis_fix_fields[];

/* A property of a log as a whole, or a line that reports an error. */
struct diagnosis_sign {
	const char *name, *text, *without;
	const char *see;   /* Hyperscan's pattern; NULL: derived from `text` */
	bool raw;          /* `text` is a Hyperscan pattern over the raw log; each match counts */
	bool once;         /* one match suffices, so the search for it then ends */
	bool last;         /* the last match counts, not the first */
	bool torn;         /* a match in mid-line: another process wrote into the line there */
	const char *cures; /* an entry whose problem is gone if this follows its message; or NULL */
	bool same; /* with `cures`: if the message names a URL, this line must name the same */
};
TABLE(diagnosis_sign);

/* A word that expressions write as {NAME}: the same message in several languages. */
struct diagnosis_word {
	const char *name, *text;
};
TABLE(diagnosis_word);

/* Another form of a character, which patterns see as that one; `to` "": as nothing. */
struct diagnosis_form {
	const char *from, *to;
};
TABLE(diagnosis_form);

/* A shape of the text around a message, for line.c: an expression, in which {NAME} stands for another shape; or several
 * expressions, one of which must match. */
struct diagnosis_shape {
	const char *name, *text;
	const char *const *any;
};
TABLE(diagnosis_shape);

/* The entry, or NULL. */
const struct diagnosis *diagnosis_find(struct str id);

struct log_line {
	uint64_t line;   /* from 1; 0 = none */
	struct str text; /* without colours and line end, at most 4 KiB */
};

struct log_cause {
	const struct diagnosis *entry;
	const char *id, *confidence, *title;
	struct log_line at;
	bool context_only; /* not certain to be a cause */
	bool asks_amd;     /* nothing in the log points to an AMD GPU, but the machine may */
	struct str reason; /* the reason for context_only, or for a low rank; or "" */
	struct str during; /* "building a.hip for gfx90a, gfx942", or "" */
	struct str here;   /* result of the condition on this machine; set by log_compare() */
	VEC(struct diagnosis_fix) fixes; /* remedies for the system and program of the log */
};

struct log_answer {
	VEC(struct log_cause) causes; /* most likely first */
	struct log_line first_error;  /* the first real error, with or without a known cause */
	uint64_t lines;
};
extern const struct json_field log_answer_fields[];

/* The compiled patterns, which can read any number of logs, one after another. */
struct log_patterns;
MUST_USE struct err *log_patterns_new(struct log_patterns **ret);
void log_patterns_freep(struct log_patterns **p);
/* Reads the stream to its end. */
MUST_USE struct err *log_read(
	struct arena *a, struct log_patterns *p, struct stream *s, struct log_answer *ret);
/* The same of the file with this path; *io is made if it is NULL. */
MUST_USE struct err *log_read_file(
	struct arena *a, struct log_patterns **io, struct str path, struct log_answer *ret);

/* Can log_compare() change the answer? */
bool log_asks_machine(const struct log_answer *answer);
/* Evaluates the conditions of the causes on the machine, and sets `here`: "fits this machine: kernel is 6.8.0-31". own:
 * the log is of that machine, so a cause becomes context if its condition decides and does not hold. An AMD GPU in the
 * machine, without an NVIDIA GPU, is the sign that causes of runs and installations need; compilers print the same for
 * every GPU. */
MUST_USE struct err *log_compare(
	struct arena *a, struct log_answer *answer, const struct machine *m, bool own);
/* Marks causes that another one explains as context, and sorts all. */
void log_sort(struct arena *a, struct log_answer *answer);

/* ---- lines of logs: line.c ---- */

/* Adds the line to out without colours, links and other escapes, and without carriage returns. */
void line_plain(struct buf *out, struct str line);
/* Adds the line to out as patterns see it: without colours and other escapes, every kind of quote as "'", runs of white
 * space as one space. Takes at most 8 KiB. */
void line_clean(struct buf *out, struct str line);
/* The offset of the message after time stamps and names of services, processes, tests. */
size_t line_lead(struct str clean);
/* Does this shape of data/logs.yaml ("own", "intro", "probe") match the line? */
bool line_has(struct str clean, const char *shape);
/* Do the words around the message at from..to show that the line only mentions it (a test's result, source, prose)? */
bool line_speaks(struct str clean, size_t from, size_t to);
/* Like line_speaks(), but also true if no program would print the text before the message. */
bool line_quotes(struct str clean, size_t from, size_t to);
/* Does the line's sentence continue in the next line? */
bool line_goes_on(struct str clean);

/* Was a line printed by a program, or written by a person (prose, lists, markup, source)? */
enum line_kind { LINE_ANY, LINE_OUTPUT, LINE_PROSE };
enum line_kind line_kind(struct str clean, bool indented);

/* The meaning of build and run logs: the entries of data/diagnoses/ and the signs of data/logs.yaml, compiled in, and the
 * reader that finds them in a log of any size. data/diagnoses/README.md is the manual of an entry.
 *
 * A log is read once, in pieces, with flat memory. Hyperscan looks for a part of every expression at once (know/scan.h); only
 * lines that have such a part are cleaned (colours, prefixes, typographic quotes, wrapped text) and compared with the
 * expression (know/match.h). Only the end of the log decides what it is about (AMD, NVIDIA, a document), and the order of
 * the causes.
 */
#pragma once

#include "formats/stream.h"
#include "know/scan.h"
#include "machine/machine.h"

struct diagnosis_match {     /* one way in which the problem shows */
	const char *text;    /* an expression (know/match.h) over the cleaned line or lines */
	const char *near;    /* or NULL: another, which a line within 40 must match */
	const char *without; /* or NULL: must not match the same lines */
	const char *alone; /* or NULL: the only program that prints it; no sign of AMD is needed */
	const char *needs; /* or NULL: a sign that is enough in place of one of AMD */
	const char *const *unless; /* or NULL: signs, with one of which it is only context */
	bool context;              /* never more than context */
};

struct diagnosis_fix {
	const char *action, *command, *tradeoff; /* the last two may be NULL */
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
	bool generic;  /* many causes end in it, so others come first */
	bool inferred; /* nobody has seen the line in a log */
	bool decides;  /* if `when` does not hold, it is not the cause */
	struct diagnosis_applies applies;
	const char *when;            /* a condition (know/predicate.h) on the machine, or NULL */
	const char *const *explains; /* ids of entries that it causes, or NULL */
	const char *const *evidence;
	const struct diagnosis_match *match;     /* ends with text NULL */
	const struct diagnosis_fix *fix;         /* ends with action NULL */
	const struct diagnosis_refuted *refuted; /* ends with claim NULL; or NULL */
};
const struct diagnosis *diagnosis_table(void);
extern const size_t diagnosis_count;
extern const struct json_field diagnosis_fields[]; /* an entry of `explain --list --json` */

/* Something to notice about a log as a whole, or a line that reports an error. */
struct diagnosis_sign {
	const char *name, *text, *without;
	const char *see; /* or NULL: what Hyperscan looks for instead of what it finds in `text` */
	bool raw;        /* `text` is a Hyperscan pattern for the log as it is; each match counts */
	bool once;       /* one is enough: it is not looked for any more */
	bool last;       /* the last one counts */
	bool torn;       /* a match in mid-line is where another process wrote into this line */
	const char
		*cures; /* or NULL: an entry whose problem is gone if this is behind its message */
	bool same;      /* `cures` only if both lines name the same URL, or not both name one */
};
const struct diagnosis_sign *diagnosis_sign_table(void);
extern const size_t diagnosis_sign_count;

/* A word that expressions use as {NAME}: one message in several languages. */
struct diagnosis_word {
	const char *name, *text;
};
const struct diagnosis_word *diagnosis_word_table(void);
extern const size_t diagnosis_word_count;

/* What stands around a message, for line.c: an expression, in which {NAME} stands for another shape, or several, one of
 * which is enough. */
struct diagnosis_shape {
	const char *name, *text;
	const char *const *any;
};
const struct diagnosis_shape *diagnosis_shape_table(void);
extern const size_t diagnosis_shape_count;

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
	bool context_only; /* it is not sure */
	bool asks_amd;     /* nothing in the log points to an AMD GPU, but the machine may */
	struct str reason; /* the reason for context_only, or for its place behind others; or "" */
	struct str during; /* "building a.hip for gfx90a, gfx942", or "" */
	struct str here;   /* how its condition fits the machine; log_compare() fills it */
};

struct log_answer {
	VEC(struct log_cause) causes; /* most likely first */
	struct log_line first_error;  /* the first real one, known or not */
	uint64_t lines;
};
extern const struct json_field log_answer_fields[];

/* The compiled patterns, for any number of logs, one after the other. */
struct log_patterns;
MUST_USE struct err *log_patterns_new(struct log_patterns **ret);
void log_patterns_freep(struct log_patterns **p);
/* Reads the stream to its end. */
MUST_USE struct err *log_read(
	struct arena *a, struct log_patterns *p, struct stream *s, struct log_answer *ret);

/* Would log_compare() add anything? */
bool log_asks_machine(const struct log_answer *answer);
/* Sets `here` of the causes that have a condition to whether it holds on the machine: "fits this machine: kernel is
 * 6.8.0-31". own: the log is of that machine, so a cause whose condition decides, and does not hold, becomes context. An
 * AMD GPU in the machine, without an NVIDIA GPU, is the sign that causes of runs and installations need; compilers print the
 * same whatever the GPU. */
MUST_USE struct err *log_compare(
	struct arena *a, struct log_answer *answer, const struct machine *m, bool own);
/* Makes context of the causes that others explain, and sorts them. */
void log_sort(struct arena *a, struct log_answer *answer);

/* ---- lines of logs: line.c ---- */

/* Adds the line to out as patterns see it: without colours and other escapes, every kind of quote as "'", runs of white
 * space as one blank. At most 4 KiB of it. */
void line_clean(struct buf *out, struct str line);
/* The offset of the message behind time stamps and names of services, processes, tests. */
size_t line_lead(struct str clean);
/* Does this shape of data/logs.yaml ("own", "intro", "probe") match it? */
bool line_has(struct str clean, const char *shape);
/* Do the words around the message at from..to show that the line only speaks of it (a test's result, source, prose)? */
bool line_speaks(struct str clean, size_t from, size_t to);
/* As line_speaks(); also true if something stands before the message that no program prints there. */
bool line_quotes(struct str clean, size_t from, size_t to);
/* Does its sentence go on in the next line? */
bool line_goes_on(struct str clean);

/* Was a line printed by a program, or written by a person (prose, lists, markup, source)? */
enum line_kind { LINE_ANY, LINE_OUTPUT, LINE_PROSE };
enum line_kind line_kind(struct str clean, bool indented);

/* The only code that prints: results to stdout, all other output to stderr. The arguments of a format are made
 * printable (term/printable.h), so that they can neither control a terminal nor end a line; only the format itself may
 * contain newlines.
 *
 * out_init() decides once about colour (--color, NO_COLOR, CLICOLOR_FORCE, TERM=dumb, tty) and verbosity (-q, -v).
 */
#pragma once

#include "base/err.h"
#include "formats/finding.h"

enum color_mode { COLOR_AUTO, COLOR_ALWAYS, COLOR_NEVER };
enum style { STYLE_PLAIN, STYLE_BOLD, STYLE_DIM, STYLE_RED, STYLE_GREEN, STYLE_YELLOW, STYLE_CYAN };

void out_init(enum color_mode color, int verbosity); /* -1 quiet, 0, 1 verbose, 2 very verbose */
/* Shows the progress of long work (base/progress.h) from now on: verb, object, done/total and ETA, in one transient
 * line on a terminal, else in plain lines at most every 10 s. Call out_init() first. */
void status_init(void);
int out_verbosity(void);
unsigned out_width(void); /* columns of the terminal; 100 if stdout is not one */
/* Prints result text to stdout: unchanged, but made printable for a terminal. */
void out_text(struct str s);
void out_fmt(const char *fmt, ...) PRINTF(1, 2);
/* Prints a line for each text, which begins with `lead`, our own. */
void out_lines(const char *lead, const struct strs *texts);
/* A line on stderr that the next output of any kind erases; "" just erases the last one. Any thread may call it. */
void out_transient(struct str line);
void say_text(struct str s); /* output of another program, to stderr, with its colours */
/* Prints text that is printable already to stderr; only the files of term/ call it. */
void say_lines(struct str s);
void say_status(struct str verb, const char *fmt, ...) PRINTF(2, 3); /* "   Compiled 3 sources" */
void say_warning(const char *fmt, ...) PRINTF(1, 2);
/* A warning for each text; of more than ten, only for the first ones, and their number, unless -v is given. */
void say_warnings(const struct strs *texts);
void say_hint(const char *fmt, ...) PRINTF(1, 2);
void say_verbose(const char *fmt, ...) PRINTF(1, 2); /* with -v only */
/* Prints the whole chain: causes, places with their source lines, then each hint once; with -v also the codes. */
void say_error(const struct err *e);
/* The chain as JSON: {"schema":"rocsmith.error/1",...}; see doc/man/rocsmith-errors.7.scd. */
struct str error_json(struct arena *a, const struct err *e);
bool out_used(void); /* was anything printed to stdout yet? */
/* The text in a style if stdout (or stderr) shows colours, else unchanged. */
struct str styled_out(struct arena *a, enum style style, struct str s);
struct str styled_err(struct arena *a, enum style style, struct str s);
struct str styled_severity(struct arena *a, enum severity severity); /* its name, for stdout */
/* Prints findings, except for notes, as warnings, and their fixes as hints. */
void say_findings(const struct findings *list);
/* Prints "error: PATH: MESSAGE [ID]; fix: FIX; or: FIX" to stdout; the path is left out if it equals `of`. */
void out_finding(struct arena *a, const struct finding *f, struct str of);
/* Flushes stdout; E_IO if writing failed (full disk). */
MUST_USE struct err *out_finish(void);
/* Has the reader closed the pipe, as in `rocsmith ... | head`? That is no error, but the rest was not written. */
bool out_reader_gone(void);

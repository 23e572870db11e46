/* The only code that prints: results to stdout, everything else to stderr. Whatever stands in for a
 * conversion of a format is made printable (term/printable.h): it can neither command a terminal nor end
 * a line. Only the format itself has line ends.
 *
 * out_init() decides once about colour (--color, NO_COLOR, CLICOLOR_FORCE, TERM=dumb, tty) and how
 * much is said (-q, -v).
 */
#pragma once

#include "base/err.h"
#include "formats/finding.h"

enum color_mode { COLOR_AUTO, COLOR_ALWAYS, COLOR_NEVER };
enum style { STYLE_PLAIN, STYLE_BOLD, STYLE_DIM, STYLE_RED, STYLE_GREEN, STYLE_YELLOW, STYLE_CYAN };

void out_init(enum color_mode color, int verbosity); /* -1 quiet, 0, 1 verbose, 2 very verbose */
/* After out_init(): shows the progress of long work (base/progress.h): verb, object, done/total and
 * ETA in one transient line on a terminal, plain lines at most every 10 s elsewhere. */
void status_init(void);
int out_verbosity(void);
unsigned out_width(void);    /* columns of the terminal, 100 when it is none */
void out_text(struct str s); /* result text, to stdout: as it is, but for a terminal printable */
void out_fmt(const char *fmt, ...) PRINTF(1, 2);
/* A line without an end, to stderr, that the next output of any kind takes away; "" only takes the
 * last one away. From any thread. */
void out_transient(struct str line);
void say_text(struct str s);  /* the same to stderr: what another program said, in its colours */
void say_lines(struct str s); /* to stderr, what is printable already; for the files of term/ */
void say_status(struct str verb, const char *fmt, ...) PRINTF(2, 3); /* "   Compiled 3 sources" */
void say_warning(const char *fmt, ...) PRINTF(1, 2);
void say_hint(const char *fmt, ...) PRINTF(1, 2);
void say_verbose(const char *fmt, ...) PRINTF(1, 2); /* with -v only */
/* The whole chain: causes, places with their source lines, then each hint once; with -v codes. */
void say_error(const struct err *e);
/* The same for programs: {"schema":"rocsmith.error/1",...}, see doc/man/rocsmith-errors.7.scd. */
struct str error_json(struct arena *a, const struct err *e);
bool out_used(void); /* has stdout got anything yet? */
/* s in a style for stdout / stderr, as that stream allows. */
struct str styled_out(struct arena *a, enum style style, struct str s);
struct str styled_err(struct arena *a, enum style style, struct str s);
struct str styled_severity(struct arena *a, enum severity severity); /* its name, for stdout */
/* "error: PATH: MESSAGE [ID]; fix: FIX; or: FIX", to stdout; without the path where it is `of`. */
void out_finding(struct arena *a, const struct finding *f, struct str of);
/* Flushes stdout: E_IO when writing failed (full disk). */
MUST_USE struct err *out_finish(void);
bool out_reader_gone(void); /* `rocsmith ... | head`: no error, but the rest was not written */

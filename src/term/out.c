/* Prints to stdout and stderr: streams, colours, messages. See out.h. */
#include "term/out.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "term/printable.h"

static int verbosity;
static bool color_out, color_err, used, reader_gone;

/* Guards the transient line on stderr, since any thread may report progress. */
static pthread_mutex_t line_lock = PTHREAD_MUTEX_INITIALIZER;
static bool line_shown;

static bool decide_color(enum color_mode mode, int fd)
{
	if (mode != COLOR_AUTO)
		return mode == COLOR_ALWAYS;
	const char *no = getenv("NO_COLOR");
	if (no && *no)
		return false;
	const char *force = getenv("CLICOLOR_FORCE"), *term = getenv("TERM");
	if (force && *force && strcmp(force, "0"))
		return true;
	return isatty(fd) && term && strcmp(term, "dumb");
}

void out_init(enum color_mode color, int v)
{
	styles_init();
	verbosity = v;
	color_out = decide_color(color, STDOUT_FILENO);
	color_err = decide_color(color, STDERR_FILENO);
}

bool out_used(void)
{
	return used;
}

int out_verbosity(void)
{
	return verbosity;
}

unsigned out_width(void)
{
	struct winsize w;
	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &w) == 0 && w.ws_col >= 20)
		return w.ws_col;
	return 100;
}

/* Writes to a stream; all output passes through here. s is printable already. */
static void emit(FILE *stream, struct str s)
{
	ARENA(tmp);
	s = styles_resolve(&tmp, s);
	used |= stream == stdout && s.n;
	if (fwrite(s.p, 1, s.n, stream) < s.n && stream == stdout)
		reader_gone |= errno == EPIPE;
}

static struct str styled(struct arena *a, bool on, enum style style, struct str s)
{
	static const unsigned codes[] = {
		[STYLE_BOLD] = 1,
		[STYLE_DIM] = 2,
		[STYLE_RED] = 31,
		[STYLE_GREEN] = 32,
		[STYLE_YELLOW] = 33,
		[STYLE_CYAN] = 36,
	};
	return on && style != STYLE_PLAIN ? style_mark(a, codes[style], s) : s;
}

struct str styled_out(struct arena *a, enum style style, struct str s)
{
	return styled(a, color_out, style, s);
}

struct str styled_err(struct arena *a, enum style style, struct str s)
{
	return styled(a, color_err, style, s);
}

struct str styled_severity(struct arena *a, enum severity severity)
{
	static const enum style styles[] = {
		[SEV_INFO] = STYLE_DIM, [SEV_WARNING] = STYLE_YELLOW, [SEV_ERROR] = STYLE_RED};
	return styled_out(a, styles[severity], str_from(severity_name(severity)));
}

void out_transient(struct str line)
{
	pthread_mutex_lock(&line_lock);
	if (line_shown)
		fputs("\r\033[K", stderr);
	line_shown = line.n > 0;
	emit(stderr, line);
	fflush(stderr);
	pthread_mutex_unlock(&line_lock);
}

void out_text(struct str s)
{
	ARENA(tmp);
	out_transient(S(""));
	emit(stdout, isatty(STDOUT_FILENO) ? printable(&tmp, s, "\n\t") : s);
}

void out_fmt(const char *fmt, ...)
{
	ARENA(tmp);
	PRINTABLE(text, &tmp, fmt);
	out_transient(S(""));
	emit(stdout, text);
}

void out_lines(const char *lead, const struct strs *texts)
{
	VEC_EACH (const struct str, text, texts)
		out_fmt("%s%.*s\n", lead, STR(*text));
}

void out_finding(struct arena *a, const struct finding *f, struct str of)
{
	bool whole = str_eq(f->path, of);
	out_fmt("%.*s: %.*s%s%.*s [%s]%s%.*s\n", STR(styled_severity(a, f->severity)),
		STR(whole ? S("") : f->path), whole ? "" : ": ", STR(f->message), f->id,
		f->fix.n ? "; fix: " : "", STR(str_join(a, &f->fix, S("; or: "))));
}

bool out_reader_gone(void)
{
	return reader_gone;
}

struct err *out_finish(void)
{
	bool whole = fflush(stdout) == 0;
	reader_gone |= !whole && errno == EPIPE;
	if ((whole && !ferror(stdout)) || reader_gone)
		return NULL;
	return err_errno("cannot write the result to standard output");
}

void say_lines(struct str s)
{
	out_transient(S(""));
	emit(stderr, s);
}

void say_text(struct str s)
{
	ARENA(tmp);
	say_lines(isatty(STDERR_FILENO) ? printable(&tmp, s, "\n\t\033") : s);
}

void say_findings(const struct findings *list)
{
	VEC_EACH (const struct finding, f, list) {
		if (f->severity == SEV_INFO)
			continue;
		say_warning("%.*s: %.*s", STR(f->path), STR(f->message));
		VEC_EACH (const struct str, fix, &f->fix)
			say_hint("%.*s", STR(*fix));
	}
}

static void say_labelled(enum style style, struct str label, struct str text)
{
	ARENA(tmp);
	say_lines(str_fmt(&tmp, "%.*s %.*s\n", STR(styled_err(&tmp, style, label)), STR(text)));
}

void say_status(struct str verb, const char *fmt, ...)
{
	if (verbosity < 0)
		return;
	ARENA(tmp);
	PRINTABLE(text, &tmp, fmt);
	say_labelled(STYLE_GREEN, str_fmt(&tmp, "%12.*s", STR(verb)), text);
}

void say_warning(const char *fmt, ...)
{
	ARENA(tmp);
	PRINTABLE(text, &tmp, fmt);
	say_labelled(STYLE_YELLOW, S("warning:"), text);
}

void say_warnings(const struct strs *texts)
{
	enum { SHOWN = 10 };
	size_t n = texts->n > SHOWN && verbosity <= 0 ? SHOWN : texts->n;
	for (size_t i = 0; i < n; i++)
		say_warning("%.*s", STR(texts->v[i]));
	if (n < texts->n)
		say_warning("%zu more like these are not shown: -v shows them", texts->n - n);
}

void say_hint(const char *fmt, ...)
{
	if (verbosity < 0)
		return;
	ARENA(tmp);
	PRINTABLE(text, &tmp, fmt);
	say_labelled(STYLE_CYAN, S("hint:"), text);
}

void say_verbose(const char *fmt, ...)
{
	if (verbosity <= 0)
		return;
	ARENA(tmp);
	PRINTABLE(text, &tmp, fmt);
	say_labelled(STYLE_DIM, S("note:"), text);
}

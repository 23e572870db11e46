/* The status line; see out.h. One lock guards all state, since progress comes from any thread. */
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#include "base/proc.h"
#include "base/progress.h"
#include "term/out.h"
#include "term/printable.h"

enum { NAME = 96, PLAIN_EVERY = 10 /* seconds between lines without a terminal */ };
static const double redraw_every = 0.1, quiet_first = 2.0;

struct progress {
	struct progress *next;
	char verb[24], object[NAME], now[NAME];
	enum unit unit;
	uint64_t total, done;
	double start, last_plain;
	double left, left_at; /* seconds left as the worker estimated at a time; 0 = no estimate */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct progress *newest;
static bool tty;
static double last_draw;

static void copy_name(char *to, size_t size, struct str s)
{
	ARENA(tmp);
	snprintf(to, size, "%.*s", STR(printable(&tmp, s, "")));
}

static struct str count_of(struct arena *a, const struct progress *p, uint64_t n)
{
	return p->unit == UNIT_BYTES ? human_bytes(a, n)
				     : str_fmt(a, "%llu", (unsigned long long)n);
}

static struct str describe(struct arena *a, const struct progress *p)
{
	double now = mono_now(), spent = now - p->start, left = p->left - (now - p->left_at);
	BUF(line, a);
	buf_fmt(&line, "%s", p->object);
	if (p->unit != UNIT_NONE)
		buf_fmt(&line, "  %.*s", STR(count_of(a, p, p->done)));
	if (p->unit != UNIT_NONE && p->total)
		buf_fmt(&line, "/%.*s", STR(count_of(a, p, p->total)));
	bool ask = p->left > PROGRESS_UNKNOWN / 2 && p->left <= 0;
	/* the first bytes of a download take much longer than those that follow */
	bool enough = p->done && (p->done >= p->total / 100 || spent > 10);
	if (ask && p->total && enough && p->done < p->total && spent > 1)
		left = spent * (double)(p->total - p->done) / (double)p->done;
	if (left > 0)
		buf_fmt(&line, "  ETA %.*s", STR(human_seconds(a, left)));
	if (p->now[0])
		buf_fmt(&line, "  %s", p->now);
	return buf_str(&line);
}

static void draw(struct progress *p)
{
	double now = mono_now();
	ARENA(a);
	if (tty && now - last_draw >= redraw_every) {
		unsigned width = out_width() - 1;
		struct str verb = styled_err(&a, STYLE_CYAN, str_fmt(&a, "%12s", p->verb));
		struct str line = text_cut(&a, describe(&a, p), width - 13);
		out_transient(str_fmt(&a, "%.*s %.*s", STR(verb), STR(line)));
		last_draw = now;
	} else if (!tty && now - p->start >= quiet_first && now - p->last_plain >= PLAIN_EVERY) {
		say_lines(str_fmt(&a, "%12s %.*s\n", p->verb, STR(describe(&a, p))));
		p->last_plain = now;
	}
}

static struct progress *begin(struct str verb, struct str object, enum unit unit, uint64_t total)
{
	struct progress *p = xmalloc(sizeof(*p));
	*p = (struct progress){.unit = unit, .total = total, .start = mono_now()};
	copy_name(p->verb, sizeof(p->verb), verb);
	copy_name(p->object, sizeof(p->object), object);
	pthread_mutex_lock(&lock);
	p->next = newest;
	newest = p;
	draw(p);
	pthread_mutex_unlock(&lock);
	return p;
}

static void add(struct progress *p, uint64_t done, struct str now)
{
	pthread_mutex_lock(&lock);
	p->done += done;
	if (now.n)
		copy_name(p->now, sizeof(p->now), now);
	if (p == newest)
		draw(p);
	pthread_mutex_unlock(&lock);
}

static void left(struct progress *p, double seconds)
{
	pthread_mutex_lock(&lock);
	p->left = seconds;
	p->left_at = mono_now();
	pthread_mutex_unlock(&lock);
}

static void end(struct progress *p)
{
	pthread_mutex_lock(&lock);
	struct progress **at = &newest;
	while (*at != p)
		at = &(*at)->next;
	*at = p->next;
	out_transient(S(""));
	pthread_mutex_unlock(&lock);
	free(p);
}

static void note(struct str verb, struct str text)
{
	say_status(verb, "%.*s", STR(text));
}

static void warn(struct str text)
{
	say_warning("%.*s", STR(text));
}

void status_init(void)
{
	static const struct progress_sink quiet = {.warn = warn};
	static const struct progress_sink sink = {
		.begin = begin, .add = add, .left = left, .end = end, .note = note, .warn = warn};
	const char *term = getenv("TERM");
	tty = isatty(STDERR_FILENO) && out_verbosity() == 0 && term && strcmp(term, "dumb");
	progress_listen(out_verbosity() < 0 ? &quiet : &sink);
}

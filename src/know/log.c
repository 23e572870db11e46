/* Reads a log and finds its causes; see diagnosis.h. */
#include "base/fs.h"
#include "base/proc.h"
#include "know/window.h"

enum {
	WRAP = 3,  /* lines to each side over which a message may be wrapped */
	NEAR = 40, /* lines */
	/* Steps (know/automaton.h), so that no log takes more than its length's share of time. */
	WORK = 16 << 20,      /* then a pattern is given up */
	WRAP_WORK = 4 << 20,  /* then it is compared with single lines only */
	OWN_WORK = 256 << 10, /* every pattern may take this, whatever the others took */
	ALL_WORK = 128 << 20, /* all patterns together may take this, */
	BYTE_WORK = 16,       /* and this for each byte of the log */
	MAX_TARGETS = 16,
	TORN = 64, /* the most torn lines that are mended in a block */
};

struct log_patterns {
	struct arena a;
	struct log_scan *scan, *rest; /* rest: without the signs marked `once` */
	struct expression step, target;
	VEC(struct log_pattern) v;
};

struct match_state {          /* the state of a pattern in this log */
	uint64_t work, until; /* hits before `until`, a byte of the log, have been compared */
	unsigned seen;
	bool quoted, own; /* own: the match itself names AMD's software */
	bool in_text;     /* the lines around the match read like a text */
	struct log_line at;
	struct str during;
};

struct log_pattern { /* a sign, or one message of an entry */
	const struct diagnosis_sign *sign;
	const struct diagnosis *entry;
	const struct diagnosis_match *match;
	struct {
		struct expression text, near, without;
	} x;
};

/* A torn line that was joined again, with the lines around it. */
struct mended {
	struct str text;
	size_t from, to; /* the part of text to search */
	uint64_t line;   /* line number of the first byte of text */
};

struct log_reader {
	struct arena *a;
	struct arena *tmp;
	struct log_patterns *p;
	struct match_state *found; /* one for each pattern */
	uint64_t work;             /* by all patterns */
	struct window w;
	struct arena *torn_arena;
	VEC(struct mended) torn;     /* mended lines of this block */
	bool mended;                 /* w is the window of a mended line */
	struct log_pattern *torn_by; /* the sign of a torn line, once one has matched */
};

/* ---- the step that failed ---- */

#define STEP                                                                                       \
	"(Building|Linking) [A-Z]+ [a-z ]+ ([^ ]+)|FAILED: (\\[code=[0-9]+\\] )?([^ ]+)"           \
	"|-c ([^ ]+\\.(c|cc|cpp|cxx|cu|hip))( |$)"
#define TARGET "--(offload-arch|cuda-gpu-arch|amdgpu-target)[= ](gfx[0-9a-z:+-]+)"

/* The nearest step that a build tool names at or above the line, and the targets of its command. */
static struct str doing(struct log_reader *r, struct span line)
{
	struct strs targets = {0};
	struct str step = S("");
	struct span at[2];
	for (int i = 0; i < NEAR && (!step.n || !targets.n) && (!i || window_up(&r->w, &line));
		i++) {
		struct str clean = window_clean(&r->w, line), rest = clean;
		if (!step.n && expression_fits(&r->p->a, &r->p->step, STEP, clean, at)) {
			step = str_trim(str_sub(clean, at[0].from, at[0].to));
			size_t blank = str_rchr(step, ' ');
			step = blank < step.n ? str_sub(step, blank + 1, step.n) : step;
		}
		while (targets.n < MAX_TARGETS &&
			expression_fits(&r->p->a, &r->p->target, TARGET, rest, at)) {
			struct str word = str_sub(rest, at[0].from, at[0].to);
			strs_put(r->tmp, &targets, str_sub(word, str_find(word, S("gfx")), word.n));
			rest = str_sub(rest, at[0].to, rest.n);
		}
		if (step.n && str_contains(clean, S("] Building ")))
			break;
	}
	if (!step.n)
		return S("");
	struct str list = str_join(r->tmp, &targets, S(", "));
	return str_fmt(r->a, "building %.*s%s%.*s", STR(step), list.n ? " for " : "", STR(list));
}

/* ---- a hit ---- */

static struct match_state *found_of(const struct log_reader *r, struct log_pattern *p)
{
	return &r->found[p - r->p->v.v];
}

struct joined_lines { /* the lines that a pattern is compared with, joined by spaces */
	struct str text;
	struct span lines[2 * WRAP + 1];
	size_t starts[2 * WRAP + 1]; /* offset of each line in text */
	size_t leads[2 * WRAP + 1];  /* bytes omitted at the start of each line */
	size_t n;
};

static struct joined_lines place_of(struct log_reader *r, struct span line, bool wrapped)
{
	struct joined_lines p = {0};
	BUF(b, r->tmp);
	size_t up = 0;
	while (wrapped && up < WRAP && window_up(&r->w, &line))
		up++;
	size_t max = wrapped ? up + 1 + WRAP : 1;
	do {
		if (b.n && b.p[b.n - 1] != ' ')
			buf_char(&b, ' ');
		struct str clean = window_clean(&r->w, line);
		p.lines[p.n] = line;
		p.starts[p.n] = b.n;
		p.leads[p.n] = wrapped ? line_lead(clean) : 0;
		buf_add(&b, str_sub(clean, p.leads[p.n++], clean.n));
	} while (p.n < max && window_down(&r->w, &line));
	p.text = b.n ? buf_str(&b) : S("");
	return p;
}

static bool is_near(struct log_reader *r, struct log_pattern *p, struct span line)
{
	const char *near = p->match->near;
	int up = 0;
	while (up < NEAR && window_up(&r->w, &line))
		up++;
	for (int i = 0; i <= up + NEAR; i++)
		if (expression_fits(&r->p->a, &p->x.near, near, window_clean(&r->w, line), NULL))
			return true;
		else if (!window_down(&r->w, &line))
			break;
	return false;
}

/* Is it the rest of a torn line, which read_torn() compares as a whole later? */
static bool is_torn_end(struct log_reader *r, struct span line)
{
	struct log_pattern *p = r->torn_by;
	struct span at[2];
	if (r->mended || !p || r->torn.n >= TORN || !window_up(&r->w, &line))
		return false;
	struct str clean = window_clean(&r->w, line),
		   said = str_sub(clean, line_lead(clean), clean.n);
	return expression_fits(&r->p->a, &p->x.text, p->sign->text, said, at) && at[0].from;
}

/* Compares a pattern with the line, or (wrapped) with it and the lines around it, and records a match in r->found. */
static bool compare(struct log_reader *r, struct log_pattern *p, struct span line, bool wrapped)
{
	const struct diagnosis_match *m = p->match;
	struct match_state *f = found_of(r, p);
	struct joined_lines place = place_of(r, line, wrapped);
	struct span at[2];
	if (!expression_fits(&r->p->a, &p->x.text, m->text, place.text, at))
		return false;
	if (m->without && expression_fits(&r->p->a, &p->x.without, m->without, place.text, NULL))
		return false;
	if (m->near && !is_near(r, p, line))
		return false;
	size_t from = at[0].from, to = at[0].to, k = place.n - 1;
	from += str_span(str_sub(place.text, from, to), " ");
	while (k && place.starts[k] > from) /* finds the line in which the match begins */
		k--;
	struct span first = place.lines[k];
	if (is_torn_end(r, first))
		return false;

	/* A document or a list may only mention the message. Lines of `explain` and `doctor` do, too: these begin with
	 * the id or have it in brackets. */
	size_t end = k + 1 < place.n ? place.starts[k + 1] : place.text.n;
	struct str whole = window_clean(&r->w, first), id = str_from(p->entry->id);
	size_t begins = from - place.starts[k] + place.leads[k];
	size_t ends = (to < end ? to : end) - place.starts[k] + place.leads[k];
	bool quoted = line_quotes(whole, begins < whole.n ? begins : whole.n,
			      ends < whole.n ? ends : whole.n) ||
		      window_is_introduced(&r->w, first) || str_starts(place.text, id) ||
		      str_contains(place.text, str_fmt(r->tmp, "[%.*s]", STR(id)));
	size_t last = k;
	while (last + 1 < place.n && place.starts[last + 1] < to)
		last++;
	bool in_text =
		!quoted && window_is_text(&r->w, (struct span){first.from, place.lines[last].to});
	if (f->seen && (quoted || in_text))
		return true;
	f->seen = 1;
	f->quoted = quoted || in_text;
	f->in_text = in_text;
	f->own = line_has(str_sub(place.text, from, to), "own");
	f->at = window_told(&r->w, r->a, first);
	f->during = doing(r, first);
	return true;
}

/* Joins a torn line and keeps it until after this block, because the scan is busy. Another process (make -j, pip's own
 * ninja) wrote into the line from offset `at` of its cleaned text on, and the rest of the line is the line below. */
static void keep_torn(struct log_reader *r, struct span line, size_t at)
{
	if (r->mended || r->torn.n >= TORN)
		return;
	struct span torn = line;
	BUF(b, r->torn_arena);
	int up = 0, k = 0;
	while (up < NEAR && window_up(&r->w, &line))
		up++;
	struct mended m = {.line = window_number(&r->w, line.from)};
	do {
		struct str clean = window_clean(&r->w, line);
		m.from = k == up - WRAP ? b.n : m.from;
		bool is_torn = line.from == torn.from;
		if (b.n && b.p[b.n - 1] != '\n' && r->w.buf[line.from] == ' ')
			buf_char(&b, ' '); /* line_clean() drops it at the start of a line */
		buf_add(&b, is_torn ? str_sub(clean, 0, at) : clean);
		if (!is_torn)
			buf_char(&b, '\n');
		m.to = k <= up + WRAP ? b.n : m.to;
	} while (k++ < up + NEAR && window_down(&r->w, &line));
	m.text = buf_str(&b);
	*VEC_PUSH(r->torn_arena, &r->torn) = m;
}

/* Compares a sign with the line, and records a match. A torn line is kept for later. */
static bool compare_sign(struct log_reader *r, struct log_pattern *p, struct span line)
{
	const struct diagnosis_sign *s = p->sign;
	struct str clean = window_clean(&r->w, line);
	/* a sign marked `once` may be anywhere in the line, also in a command */
	size_t lead = line_lead(clean);
	if (s->once)
		lead = str_starts(clean, S("$ ")) ? 2 : str_starts(clean, S("export ")) ? 7 : 0;
	struct str said = str_sub(clean, lead, clean.n);
	struct span at[2];
	if (!expression_fits(&r->p->a, &p->x.text, s->text, said, at))
		return false;
	if (s->torn) {
		r->torn_by = p;
		if (at[0].from)
			keep_torn(r, line, at[0].from + clean.n - said.n);
		return at[0].from > 0;
	}
	if ((s->without && expression_fits(&r->p->a, &p->x.without, s->without, said, NULL)) ||
		line_speaks(said, at[0].from, at[0].to))
		return false;
	found_of(r, p)->seen = 1;
	found_of(r, p)->at = window_told(&r->w, r->a, line);
	return true;
}

/* May the pattern compare more lines? What it may take grows with what has been read. */
static bool may_work(const struct log_reader *r, const struct match_state *f, uint64_t most)
{
	uint64_t all = ALL_WORK + BYTE_WORK * r->w.before;
	return f->work < OWN_WORK || (f->work < most + r->w.before && r->work < all);
}

static int on_hit(unsigned number, unsigned long long from, unsigned long long end, unsigned flags,
	void *user)
{
	struct log_reader *r = user;
	(void)from;
	(void)flags;
	struct log_pattern *p = &r->p->v.v[number];
	struct match_state *f = found_of(r, p);
	size_t byte = r->w.done + (size_t)(end ? end - 1 : 0);
	bool sign = p->sign, done = f->seen && !f->quoted && !(sign && p->sign->last);
	if (sign && p->sign->raw) {
		f->seen += f->seen < UINT32_MAX;
	} else if (!done && (r->mended || r->w.before + byte >= f->until) && may_work(r, f, WORK)) {
		struct arena_mark mark = arena_mark(r->tmp);
		uint64_t before = automaton_steps();
		struct span line = window_line(&r->w, byte);
		bool fits = sign ? compare_sign(r, p, line) : compare(r, p, line, false);
		/* a wrapped message may begin in the line above, also if its line alone looks like a quotation */
		if (!sign && (!fits || f->quoted) && may_work(r, f, WRAP_WORK))
			compare(r, p, line, true);
		if (!r->mended)
			f->until = r->w.before + window_covers(&r->w, byte);
		f->work += automaton_steps() - before;
		r->work += automaton_steps() - before;
		arena_rewind(r->tmp, mark);
	}
	return cancelled();
}

/* ---- the stream ---- */

static const struct match_state *sign_of(const struct log_reader *r, const char *name)
{
	for (size_t i = 0; i < r->p->v.n; i++)
		if (r->p->v.v[i].sign && !strcmp(r->p->v.v[i].sign->name, name))
			return &r->found[i];
	return r->found; /* no such sign: the tests make sure that this does not happen */
}

static struct err *read_torn(struct log_reader *r)
{
	const struct window whole = r->w;
	struct err *e = NULL;
	r->mended = true;
	for (size_t i = 0; i < r->torn.n && !e; i++) {
		const struct mended *m = &r->torn.v[i];
		r->w = (struct window){.buf = (char *)m->text.p,
			.n = m->text.n,
			.done = m->from,
			.line = m->line,
			.tmp = whole.tmp};
		e = scan_block(r->p->rest, str_sub(m->text, m->from, m->to), on_hit, r);
	}
	r->w = whole;
	r->mended = false;
	r->torn.v = NULL;
	r->torn.n = r->torn.cap = 0;
	arena_free(r->torn_arena);
	return e;
}

/* ---- the patterns ---- */

/* Made by tools/gen_scan.c: the patterns of all signs, then of all messages of entries, compiled; and the same without the
 * signs marked `once`. */
extern const struct str diagnosis_scan, diagnosis_scan_rest;

struct err *log_patterns_new(struct log_patterns **ret)
{
	CLEANUP(log_patterns_freep) struct log_patterns *p = xmalloc(sizeof(*p));
	memset(p, 0, sizeof(*p));
	TABLE_EACH (diagnosis_sign, sign)
		*VEC_PUSH(&p->a, &p->v) = (struct log_pattern){.sign = sign};
	TABLE_EACH (diagnosis, d)
		for (const struct diagnosis_match *m = d->match; m->text; m++)
			*VEC_PUSH(&p->a, &p->v) = (struct log_pattern){.entry = d, .match = m};
	TRY(scan_new(diagnosis_scan, &p->scan));
	TRY(scan_new(diagnosis_scan_rest, &p->rest));
	*ret = p;
	p = NULL;
	return NULL;
}

void log_patterns_freep(struct log_patterns **p)
{
	if (!*p)
		return;
	scan_freep(&(*p)->scan);
	scan_freep(&(*p)->rest);
	arena_free(&(*p)->a);
	free(*p);
	*p = NULL;
}

/* ---- the causes ---- */

#define NO_AMD "nothing else in the log points to an AMD GPU"

static struct str url_in(struct str s)
{
	size_t from = str_find(s, S("://"));
	size_t to = from + str_chr(str_sub(s, from, s.n), ' ');
	while (from && from < s.n && s.p[from - 1] != ' ')
		from--;
	return str_sub(s, from, to);
}

/* Does a later line show that the problem is gone? */
static bool is_cured(const struct log_reader *r, struct log_pattern *p, const struct match_state *f)
{
	struct str url = url_in(f->at.text);
	for (size_t i = 0; i < r->p->v.n; i++) {
		const struct diagnosis_sign *s = r->p->v.v[i].sign;
		const struct log_line *at = &r->found[i].at;
		if (s && s->cures && !strcmp(s->cures, p->entry->id))
			return at->line > f->at.line &&
			       (!s->same || !url.n || str_eq(url_in(at->text), url));
	}
	return false;
}

/* The reason to doubt that a match shows the cause; "" if there is none. */
static const char *doubt(
	const struct log_reader *r, struct log_pattern *p, const struct match_state *f)
{
	const struct diagnosis_match *m = p->match;
	if (f->quoted)
		return f->in_text ? "the lines around it read like a text about it"
				  : "the line only speaks of it";
	if (sign_of(r, "text")->seen)
		return "the text is a document that speaks of it";
	if (p->entry->severity == SEV_ERROR && sign_of(r, "passed")->at.line > f->at.line)
		return "what printed it ended well";
	if (is_cured(r, p, f))
		return "it was gone later in the log";
	if (p->entry->context || m->context)
		return "says little without another symptom";
	for (const char *const *sign = m->unless; sign && *sign; sign++)
		if (sign_of(r, *sign)->seen)
			return "something else in the log speaks against it";
	if (m->alone || (f->own && !m->needs) || sign_of(r, "amd")->seen)
		return "";
	if (sign_of(r, "other-maker")->seen)
		return "the log is of another maker's GPU";
	return m->needs && sign_of(r, m->needs)->seen ? "" : NO_AMD;
}

static unsigned rank_of(const struct log_cause *c)
{
	return (c->context_only ? 1000U : 0) + 100U * (unsigned)(SEV_ERROR - c->entry->severity) +
	       (c->entry->generic ? 50U : 0);
}

static int by_rank(const void *a, const void *b)
{
	const struct log_cause *x = a, *y = b;
	unsigned one = rank_of(x), other = rank_of(y);
	if (one != other)
		return one < other ? -1 : 1;
	return x->at.line < y->at.line ? -1 : x->at.line > y->at.line;
}

/* Adds the most certain match of each entry, and of equally certain ones the first. */
static void add_causes(struct log_reader *r, struct log_answer *ret)
{
	struct log_cause *last = NULL;
	for (size_t i = 0; i < r->p->v.n; i++) {
		struct log_pattern *p = &r->p->v.v[i];
		const struct match_state *f = &r->found[i];
		const struct diagnosis *d = p->entry;
		if (!d || !f->seen)
			continue;
		struct log_cause c = {.entry = d,
			.id = d->id,
			.confidence = d->confidence,
			.title = d->title,
			.at = f->at,
			.during = f->during,
			.reason = str_from(doubt(r, p, f))};
		c.context_only = c.reason.n > 0;
		c.asks_amd = str_eq(c.reason, str_from(NO_AMD));
		bool same = last && last->entry == d;
		if (!same)
			last = VEC_PUSH(r->a, &ret->causes);
		bool surer = !same ||
			     (c.context_only != last->context_only  ? !c.context_only
				     : c.asks_amd != last->asks_amd ? c.asks_amd
								    : c.at.line < last->at.line);
		if (surer)
			*last = c;
	}
}

/* Adds the remedies that exist on the system, and for the program, that the signs of the log show: no bash on Windows, no
 * torch for ollama. */
static void add_fixes(const struct log_reader *r, struct log_cause *c)
{
	for (const struct diagnosis_fix *f = c->entry->fix; f->action; f++) {
		bool fits = !f->needs || sign_of(r, f->needs)->seen;
		for (const char *const *sign = f->unless; sign && *sign; sign++)
			fits &= !sign_of(r, *sign)->seen;
		if (fits)
			*VEC_PUSH(r->a, &c->fixes) = *f;
	}
}

static void demote(struct log_cause *c, struct str reason)
{
	c->context_only = true;
	c->reason = reason;
}

void log_sort(struct arena *a, struct log_answer *answer)
{
	bool error = false, specific = false;
	VEC_EACH (struct log_cause, by, &answer->causes)
		VEC_EACH (struct log_cause, c, &answer->causes)
			if (!by->context_only && !c->context_only && by->entry->explains &&
				str_is_one_of(str_from(c->id), by->entry->explains))
				demote(c, str_fmt(a, "follows from %s", by->id));
	VEC_EACH (struct log_cause, c, &answer->causes) {
		bool is_error = !c->context_only && c->entry->severity == SEV_ERROR;
		error |= is_error;
		specific |= is_error && !c->entry->generic;
	}
	VEC_EACH (struct log_cause, c, &answer->causes) {
		if (!c->context_only && error && c->entry->severity != SEV_ERROR)
			demote(c, S("a warning beside an error"));
		else if (!c->context_only && specific && c->entry->generic)
			demote(c, S("many causes end in this message"));
	}
	VEC_SORT(&answer->causes, by_rank);
}

struct err *log_read(
	struct arena *a, struct log_patterns *p, struct stream *s, struct log_answer *ret)
{
	ARENA(tmp);
	ARENA(torn);
	struct log_reader reader = {.a = a, .tmp = &tmp, .p = p, .torn_arena = &torn}, *r = &reader;
	window_new(&r->w, r->tmp);
	r->found = arena_array(a, p->v.n, sizeof(*r->found));
	*ret = (struct log_answer){0};
	do {
		TRY(window_fill(&r->w, s));
		size_t to = window_searchable(&r->w);
		/* once AMD's software is certain to be in use, the signs marked `once` add nothing */
		struct log_scan *scan = sign_of(r, "amd")->seen ? p->rest : p->scan;
		TRY(scan_block(
			scan, (struct str){r->w.buf + r->w.done, to - r->w.done}, on_hit, r));
		TRY(read_torn(r));
		TRY(cancel_check());
		r->w.done = to;
		window_number(&r->w, to);
		window_slide(&r->w);
	} while (!r->w.ended);
	const struct match_state *first = sign_of(r, "error"), *last = sign_of(r, "failed");
	add_causes(r, ret);
	VEC_EACH (struct log_cause, c, &ret->causes) {
		bool follows = !c->context_only && first->at.line > c->at.line;
		if (follows && c->entry->severity != SEV_ERROR)
			demote(c, S("a warning beside an error"));
		add_fixes(r, c);
	}
	log_sort(a, ret);
	ret->first_error = first->seen ? first->at : last->at;
	const struct log_cause *top = ret->causes.n ? ret->causes.v : NULL;
	if (top && !top->context_only && top->entry->severity == SEV_ERROR &&
		(!ret->first_error.line || !first->seen || top->at.line < ret->first_error.line))
		ret->first_error = top->at;
	ret->lines = r->w.line - (r->w.n == 0 || r->w.buf[r->w.n - 1] == '\n');
	return NULL;
}

struct err *log_read_file(
	struct arena *a, struct log_patterns **io, struct str path, struct log_answer *ret)
{
	CLEANUP(fd_closep) int fd = -1;
	CLEANUP(stream_freep) struct stream *s = NULL;
	TRY(fs_open(path, &fd));
	if (!*io)
		TRY(log_patterns_new(io));
	s = stream_new(fd, S(""), path);
	return log_read(a, *io, s, ret);
}

const struct json_field diagnosis_fix_fields[] =
	FIELDS_ONLY(struct diagnosis_fix, action, command, tradeoff);
static const struct json_field error_fields[] = FIELDS_ONLY(struct log_line, line, text);
static const struct json_field cause_fields[] = {
	FIELD("id", struct log_cause, id),
	FIELD("line", struct log_cause, at.line),
	FIELD("text", struct log_cause, at.text),
	FIELD("confidence", struct log_cause, confidence),
	FIELD("context_only", struct log_cause, context_only),
	FIELD("title", struct log_cause, title),
	FIELD_OPTIONAL("reason", struct log_cause, reason),
	FIELD_OPTIONAL("during", struct log_cause, during),
	FIELD_OPTIONAL("here", struct log_cause, here),
	FIELD_LAST(FIELD_LIST("fixes", struct log_cause, fixes, diagnosis_fix_fields)),
};
const struct json_field log_answer_fields[] = {
	FIELD_CONST("schema", "rocsmith.explain/1"),
	FIELD_LIST("causes", struct log_answer, causes, cause_fields),
	FIELD_STRUCT("first_error", struct log_answer, first_error, error_fields),
	FIELD_LAST(FIELD("lines", struct log_answer, lines)),
};

const struct diagnosis *diagnosis_find(struct str id)
{
	TABLE_EACH (diagnosis, d)
		if (str_eq(id, str_from(d->id)))
			return d;
	return NULL;
}

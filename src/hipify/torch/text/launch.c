/* Rewrites the kernel launches of a text; see passes.h.
 *
 * The steps are those of PyTorch's processKernelLaunches(), add_dim3() and extract_arguments()
 * (utils/hipify/hipify_python.py, the same in all releases from 2.4 to 2.15). Like those, they replace
 * all occurrences of a text where one would expect a single position: this reproduces the odd cases.
 */
#include "hipify/torch/text/passes.h"

#include "base/proc.h"
#include "lang/python/text.h"
#include "lang/python/word.h"

/* The limit of bytes scanned for one text; they take some seconds. */
#define MOST_WORK ((uint64_t)1 << 32)
/* The limit of a text, in which each launch is replaced wherever it occurs: MOST_TIMES the input, and SMALL bytes. Launches
 * that contain each other double it again and again, and those without "(" come between all characters, so that a dozen
 * would fill any memory. */
enum { MOST_TIMES = 16, SMALL = 1 << 20 };

struct launch {
	size_t at, end; /* the offsets of "<<<" and of the end of ">>>" */
	size_t start,
		stop;    /* the range to replace: from the character before the name to the end of
			       the "("; stop == start if no "(" follows */
	size_t name_end; /* the end of the name and its template arguments */
	bool named;      /* there is a character before the name */
};

struct launch_work {
	struct arena *a;
	struct torch_trace *trace; /* or NULL */
	struct str text;
	char *masked;      /* text with comments and strings masked */
	VEC(size_t) joins; /* offsets in text where a line break after "detail::" was removed */
	VEC(struct launch) launches;
	uint64_t done; /* bytes scanned so far */
};

/* ---- joined lines ---- */

/* The end of the sequence "::", blanks, backslash, newline, blanks at `at`; `at` if it is not there. */
static size_t continued(struct str s, size_t at)
{
	size_t from = at;
	if (!str_starts(str_sub(s, at, s.n), S(":: ")))
		return from;
	at += 2 + str_span(str_sub(s, at + 2, s.n), " ");
	if (!str_starts(str_sub(s, at, s.n), S("\\\n ")))
		return from;
	return at + 2 + str_span(str_sub(s, at + 2, s.n), " ");
}

/* Joins lines that a macro breaks after "detail::", so that the name follows immediately. */
static void join_lines(struct launch_work *w, struct str s)
{
	struct str word = S("detai");      /* the "l" may be missing */
	size_t done = 0, at = 0, gone = 0; /* done: the end of the last match */
	struct torch_pass p = torch_pass_begin(w->a, s, w->trace, "launch");
	while ((at = py_str_find(s, word, at)) != SIZE_MAX) {
		bool apart = at > done && s.p[at - 1] == ' ';
		at += word.n;
		size_t colons = at + (at < s.n && s.p[at] == 'l'), end = continued(s, colons);
		if (!apart || end == colons)
			continue;
		torch_pass_edit(&p, (struct torch_patch){colons + 2, end, S(""), NULL});
		gone += end - (colons + 2);
		*VEC_PUSH(w->a, &w->joins) = end - gone;
		done = at = end;
	}
	w->text = torch_pass_end(&p);
}

/* An error at an offset of the joined text, with the line that it has in the original text. */
static struct err *at_line(const struct launch_work *w, size_t at, const char *what)
{
	size_t line = 1 + py_str_count(str_sub(w->text, 0, at), S("\n"));
	VEC_EACH (const size_t, join, &w->joins)
		line += *join <= at;
	struct loc loc = {.path = S(""), .line = (unsigned)line};
	return err_at(err_new(E_HIPIFY, "%s", what), loc);
}

/* Charges the bytes to the budget; fails if it is exhausted. */
static struct err *look_at(struct launch_work *w, const struct launch *l, size_t bytes)
{
	w->done += bytes;
	TRY(cancel_check());
	if (w->done <= MOST_WORK)
		return NULL;
	return err_hint(at_line(w, l->at, "the kernel launches are too many to search for"),
		"split the file: like PyTorch's own hipify, this searches all of it for each "
		"launch where some overlap or stand in comments");
}

/* ---- finding launches ---- */

/* Masks comments and strings with "x". */
static char *mask(struct arena *a, struct str s)
{
	char *ret = arena_alloc(a, s.n + 1), before = 0;
	char state = 0; /* '/': in a line comment, '*': in a block comment, '"': in a string */
	for (size_t i = 0; i < s.n; i++) {
		char c = s.p[i];
		bool comment = before == '/' && (c == '/' || c == '*');
		bool string = c == '"' && before != '\\' && before != '\'';
		bool ends = state == '/'   ? c == '\r' || c == '\n'
			    : state == '*' ? c == '/' && before == '*'
					   : c == '"' && before != '\\';
		if (!state)
			state = comment || string ? c : 0;
		else if (ends)
			state = 0;
		before = c;
		ret[i] = state ? 'x' : c;
	}
	return ret;
}

/* Finds the name in front of the "<<<" at l->at by scanning back over its template arguments, whose
 * angle brackets are counted. Sets start, name_end and named; false if there is no name. */
static bool find_name(struct str s, struct launch *l)
{
	enum { START, TEMPLATE, BEHIND, NAME } state = START;
	long angles = 0;
	size_t template_end = 0;
	for (size_t i = l->at; i > 0;) {
		size_t end = i;
		uint32_t c = utf8_prev(s, &i);
		if (c == '>' && state <= TEMPLATE) {
			template_end = state == START ? end : template_end;
			state = TEMPLATE;
			angles++;
		} else if (c == '<' && state <= TEMPLATE && --angles == 0 && state == TEMPLATE) {
			state = BEHIND;
		}
		if (state == TEMPLATE)
			continue;
		bool named = py_alnum(c) || (c && c < 0x80 && strchr("()_:#", (int)c));
		if (named && state != NAME) {
			state = NAME;
			l->name_end = template_end ? template_end : end;
		}
		l->start = i;
		l->named = !named;
		if (state == NAME && (!named || i == 0))
			return true;
	}
	return false;
}

/* Finds the pairs of "<<<" and ">>>" outside comments and strings, and the extent of each launch. */
static struct err *find_launches(struct launch_work *w)
{
	struct str s = {.p = w->masked, .n = w->text.n};
	for (size_t at = 0; (at = py_str_find(s, S("<<<"), at)) != SIZE_MAX;) {
		size_t end = py_str_find(s, S(">>>"), at);
		if (end == SIZE_MAX)
			return at_line(w, at, "a kernel launch without '>>>' behind its '<<<'");
		*VEC_PUSH(w->a, &w->launches) = (struct launch){.at = at, .end = end + 3};
		at = end + 3;
	}
	size_t round = 0; /* the first "(" after the launch */
	VEC_EACH (struct launch, l, &w->launches) {
		if (!find_name(w->text, l))
			return at_line(w, l->at, "a kernel launch without a name before its '<<<'");
		if (round != SIZE_MAX && round < l->end)
			round = py_str_find(w->text, S("("), l->end);
		l->stop = round == SIZE_MAX ? l->start : round + 1;
		TRY(look_at(w, l, l->at - l->start + l->stop - l->start));
	}
	return NULL;
}

/* ---- the new text of a launch ---- */

/* Wraps an argument in dim3(), wherever it occurs in the raw text around it. */
static struct str wrap(struct arena *a, struct str raw, struct str argument)
{
	struct str clean = py_str_replace(a, argument, S("\n"), S(""));
	clean = str_sub(clean, str_span(clean, " "), clean.n);
	while (clean.n && clean.p[clean.n - 1] == ' ')
		clean.n--;
	return py_str_replace(a, raw, clean, py_concat(a, S("dim3("), clean, S(")")));
}

/* Wraps the first two arguments of a launch. */
static bool add_dims(struct arena *a, struct str inside, struct str *piece)
{
	size_t first_end = 0, second_at = 0, second_end = 0;
	long depth = 0;
	unsigned count = 0;
	inside = py_str_replace(a, inside, S("<<<"), S(""));
	inside = py_str_replace(a, inside, S(">>>"), S(""));
	for (size_t i = 0; i < inside.n && count < 2; i++) {
		char c = inside.p[i];
		depth += (c == '(') - (c == ')');
		if (depth != 0 || (c != ',' && i != inside.n - 1))
			continue;
		size_t end = i + (c != ',');
		first_end = count ? first_end : end;
		second_at = count ? second_at : i + 1;
		second_end = end;
		count++;
	}
	if (count < 2)
		return false;
	/* The first argument is replaced within its text and the comma after it. */
	struct str first = str_sub(inside, 0, first_end);
	struct str second = str_sub(inside, second_at, second_end);
	first = wrap(a, str_sub(inside, 0, second_at), first);
	second = wrap(a, second, second);
	*piece = py_str_replace(
		a, *piece, str_sub(inside, 0, second_end), py_concat(a, first, second, S("")));
	return true;
}

/* Counts the arguments in a text such as "(a, b<c, d>)". */
static unsigned count_arguments(struct str s)
{
	long round = 0, angle = 0;
	unsigned n = 0;
	for (size_t i = 0; i < s.n; i++) {
		char c = s.p[i];
		round += (c == '(') - (c == ')');
		if (c == '<')
			angle++;
		else if (c == '>' && angle > 0 && s.p[i - 1] != '-')
			angle--;
		if (round == 0 && angle == 0)
			return n + 1;
		n += round == 1 && angle == 0 && c == ',';
	}
	return n;
}

/* Makes the text that replaces a launch. */
static struct err *make_hip(
	struct arena *a, const struct launch_work *w, const struct launch *l, struct str *ret)
{
	struct str piece = str_sub(w->text, l->start, l->stop);
	struct str name = str_sub(w->text, l->start, l->name_end);
	struct str masked = {.p = w->masked + l->at, .n = l->end - l->at};
	if (!add_dims(a, str_sub(w->text, l->at, l->end), &piece))
		return at_line(w, l->at, "a kernel launch with fewer than two arguments");
	if (piece.n)
		piece.n--;
	/* Launches with fewer than four parameters get zeros for the others. */
	struct str group = py_str_replace(a, masked, S("<<<"), S("("));
	unsigned n = count_arguments(py_str_replace(a, group, S(">>>"), S(")")));
	struct str zeros = S(", 0, 0, 0, 0>>>");
	zeros = str_sub(zeros, n < 4 ? 3 * n : 12, zeros.n);
	piece = py_str_replace(a, piece, S(">>>"), zeros);
	piece = py_str_replace(a, piece, S("<<<"), S(", "));
	piece = py_str_replace(a, piece, S(">>>"), S(", "));
	piece = py_str_replace(a, piece, name, py_concat(a, S("("), name, S(")")));
	*ret = py_concat(a, S("hipLaunchKernelGGL("), piece, S(""));
	return NULL;
}

/* ---- replacing ---- */

/* Is every "<<<" of the text that of a launch, without any overlap of launches? Then the text of a launch
 * occurs only at launches with that same text, before and after replacements that create no "<<<":
 * wherever else it occurred, scanning back from its "<<<" and forward to its "(" would find a launch
 * with the same bounds. A launch at the very start of the file has no character before its name that
 * would bound it there, so its text must not occur again. */
static bool stand_apart(const struct launch_work *w)
{
	size_t at = 0, end = 0;
	VEC_EACH (const struct launch, l, &w->launches) {
		if (l->start < end || l->stop == l->start)
			return false;
		struct str old = str_sub(w->text, l->start, l->stop);
		if (!l->named && py_str_find(w->text, old, 1) != SIZE_MAX)
			return false;
		if (py_str_find(w->text, S("<<<"), at) != l->at)
			return false;
		at = l->at + 1;
		end = l->stop;
	}
	return py_str_find(w->text, S("<<<"), at) == SIZE_MAX;
}

/* Replaces each launch at its own position. If one of the new texts would create a "<<<", does nothing
 * and leaves *ret_done false. */
static struct err *replace_in_place(struct launch_work *w, struct str *ret, bool *ret_done)
{
	struct str *hips = arena_array(w->a, w->launches.n, sizeof(*hips)), *hip = hips;
	VEC_EACH (const struct launch, l, &w->launches) {
		TRY(make_hip(w->a, w, l, hip));
		if (str_ends(*hip, S("<")) || str_contains(*hip, S("<<<")))
			return NULL;
		hip++;
	}
	struct torch_pass p = torch_pass_begin(w->a, w->text, w->trace, "launch");
	hip = hips;
	VEC_EACH (const struct launch, l, &w->launches)
		torch_pass_edit(&p, (struct torch_patch){l->start, l->stop, *hip++, NULL});
	*ret = torch_pass_end(&p);
	*ret_done = true;
	return NULL;
}

/* Replaces the text of one launch wherever it occurs in *s, by a new text allocated from a. */
static struct err *replace_one(
	struct launch_work *w, const struct launch *l, struct arena *a, struct str *s)
{
	ARENA(tmp);
	struct str old = str_sub(w->text, l->start, l->stop), hip;
	TRY(make_hip(&tmp, w, l, &hip));
	TRY(look_at(w, l, s->n));
	size_t n = py_str_count(*s, old), most = MOST_TIMES * w->text.n + SMALL;
	if (n && hip.n > (most - (s->n - n * old.n)) / n)
		return at_line(w, l->at,
			"kernel launches in each other, or without '(' behind them, make the text "
			"too large");
	struct torch_pass p = torch_pass_begin(a, *s, w->trace, "launch");
	for (size_t at = 0; old.n && (at = py_str_find(*s, old, at)) != SIZE_MAX; at += old.n)
		torch_pass_edit(&p, (struct torch_patch){at, at + old.n, hip, NULL});
	if (!old.n) {
		hip = py_str_replace(&tmp, *s, old, hip);
		torch_pass_edit(&p, (struct torch_patch){0, s->n, hip, NULL});
	}
	*s = torch_pass_end(&p);
	return NULL;
}

static struct err *replace_one_by_one(struct launch_work *w, struct str *ret)
{
	ARENA(one);
	ARENA(other);
	struct arena *busy = &one, *spare = &other; /* busy holds `now`, if it is a new text */
	struct str now = w->text;
	VEC_EACH (const struct launch, l, &w->launches) {
		const char *before = now.p;
		TRY(replace_one(w, l, spare, &now));
		if (now.p == before)
			continue;
		struct arena *full = spare;
		spare = busy;
		busy = full;
		arena_free(spare);
	}
	*ret = now.p == w->text.p ? now : str_dup(w->a, now);
	return NULL;
}

struct err *torch_launches(
	struct arena *a, struct str text, struct torch_trace *trace, struct str *ret)
{
	struct launch_work w = {.a = a, .trace = trace};
	bool done = false;
	*ret = text;
	join_lines(&w, text);
	*ret = w.text;
	if (py_str_find(w.text, S("<<<"), 0) == SIZE_MAX)
		return NULL;
	w.masked = mask(a, w.text);
	TRY(find_launches(&w));
	if (stand_apart(&w))
		TRY(replace_in_place(&w, ret, &done));
	return done ? NULL : replace_one_by_one(&w, ret);
}

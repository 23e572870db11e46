/* Rewrites the kernel launches of a text; see launch.h.
 *
 * The original looks for all launches in one text, then replaces the text of each in what the
 * earlier replacements left, wherever it stands, comments included. Here equal launches share a
 * struct launch_shape; most shapes are found through the index of launch_all.c, and the few that
 * need not begin or end where the index looks are searched for in the whole text, as the original
 * does with all of them.
 */
#include "hipify/torch/text/launch.h"

#include <string.h>

#include "base/proc.h"
#include "hipify/torch/text/launch_int.h"
#include "lang/python/text.h"

/* Bytes looked at or moved for one text; some seconds. Only texts whose launches contain each other
 * by the ten thousand come there, and those take the original hours. */
#define MOST_STEPS ((uint64_t)1 << 32)

bool launch_steps(struct launch_work *w, size_t n)
{
	w->steps += n;
	return w->steps <= MOST_STEPS && !cancelled();
}

static void work_free(struct launch_work *w)
{
	for (size_t i = 0; i < sizeof(w->mem) / sizeof(*w->mem); i++)
		arena_free(&w->mem[i]);
}

/* The end of a "::", blanks, backslash, newline, blanks at `at`; or at. */
static size_t continued(struct str s, size_t at)
{
	size_t from = at;
	if (!str_starts(str_sub(s, at, s.n), S(":: ")))
		return from;
	for (at += 2; at < s.n && s.p[at] == ' '; at++)
		;
	if (!str_starts(str_sub(s, at, s.n), S("\\\n ")))
		return from;
	for (at += 2; at < s.n && s.p[at] == ' '; at++)
		;
	return at;
}

/* "detail::", when a macro goes on in the next line behind it: the name is joined to it. */
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

/* Lines are those of the text that was given. */
static struct err *at_line(const struct launch_work *w, size_t at, const char *what)
{
	size_t line = 1 + py_str_count(str_sub(w->text, 0, at), S("\n"));
	VEC_EACH (const size_t, join, &w->joins)
		line += *join <= at;
	struct loc loc = {.path = S(""), .line = (unsigned)line};
	return err_at(err_new(E_HIPIFY, "%s", what), loc);
}

static struct err *too_much(const struct launch_work *w, const struct launch *l)
{
	TRY(cancel_check());
	if (l->stop == l->start)
		return at_line(w, l->at,
			"kernel launches without '(' behind them make the text too large");
	return err_hint(at_line(w, l->at,
				"the kernel launches contain each other too often to be rewritten"),
		"PyTorch's own hipify replaces each launch in the whole text and would take hours");
}

/* Pairs of "<<<" and ">>>" outside comments and strings. */
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
	return NULL;
}

/* True when each place where old stands can be found from a "<<<" by looking back to the name and
 * forward to the first "(" behind the first ">>>", now and after other replacements. */
static bool can_be_indexed(const struct launch_work *w, const struct launch *l)
{
	struct str old = str_sub(w->text, l->start, l->stop);
	return old.n >= 2 && py_str_find(w->text, S(">>>"), l->at) == l->end - 3 &&
	       w->text.p[l->at - 1] != '<' && old.p[old.n - 2] != '<' &&
	       py_str_find(old, S("hipLaunchKernelGGL("), 0) == SIZE_MAX;
}

static void note_tail(struct launch_work *w, struct str tail, size_t head)
{
	size_t *longest = map_get(&w->tails, tail);
	if (!longest) {
		longest = NEW(w->a, size_t);
		map_put(&w->tails, tail, longest);
		w->longest = tail.n > w->longest ? tail.n : w->longest;
		w->lengths[tail.n / 8] |= (unsigned char)(1u << (tail.n % 8));
	}
	*longest = head > *longest ? head : *longest;
}

static struct launch_shape *shape_of(struct launch_work *w, const struct launch *l)
{
	struct str old = str_sub(w->text, l->start, l->stop);
	struct launch_shape *first = map_get(&w->shapes, old), *shape = first;
	size_t head = l->at - l->start;
	while (shape && shape->head != head)
		shape = shape->twin;
	if (shape)
		return shape;
	shape = NEW(w->a, struct launch_shape);
	*shape = (struct launch_shape){.old = old, .head = head, .twin = first};
	map_put(&w->shapes, old, shape);
	note_tail(w, str_sub(w->text, l->at, l->stop), head);
	return shape;
}

/* Where each launch begins and ends, and which are equal. */
static struct err *measure(struct launch_work *w)
{
	size_t round = 0; /* the first "(" behind the launch */
	VEC_EACH (struct launch, l, &w->launches) {
		l->found = launch_name(w->text, 0, l);
		if (l->found == LAUNCH_NONE)
			return at_line(w, l->at, "a kernel launch without a name before its '<<<'");
		if (round != SIZE_MAX && round < l->end)
			round = py_str_find(w->text, S("("), l->end);
		l->stop = round == SIZE_MAX ? l->start : round + 1;
		if (!launch_steps(w, l->at - l->start) || !launch_steps(w, l->stop - l->start))
			return too_much(w, l);
	}
	VEC_EACH (struct launch, l, &w->launches)
		if (l->found == LAUNCH_NAMED && can_be_indexed(w, l))
			l->shape = shape_of(w, l);
	return NULL;
}

static struct err *make_hip(struct launch_work *w, const struct launch *l, struct str *ret)
{
	ARENA(tmp);
	struct str text;
	if (!launch_hip(&tmp, w, l, &text))
		return at_line(w, l->at, "a kernel launch with fewer than two arguments");
	*ret = str_dup(w->a, text);
	return NULL;
}

static struct err *replace(struct launch_work *w, uint32_t nth)
{
	struct launch *l = &w->launches.v[nth];
	struct launch_shape *shape = l->shape;
	bool good;
	if (shape) {
		if (!shape->made)
			TRY(make_hip(w, l, &shape->hip));
		shape->made = true;
		good = launch_replace_shape(w, nth);
	} else {
		struct str hip;
		TRY(make_hip(w, l, &hip));
		good = launch_replace_text(w, str_sub(w->text, l->start, l->stop), hip);
	}
	return good ? NULL : too_much(w, l);
}

static struct err *rewrite(struct launch_work *w)
{
	w->masked = arena_alloc(w->a, w->text.n + 1);
	launch_mask(w->text, w->masked);
	TRY(find_launches(w));
	w->shapes.a = w->tails.a = w->a;
	w->lengths = arena_alloc(w->a, w->text.n / 8 + 1);
	TRY(measure(w));
	for (uint32_t i = 0; i < w->launches.n; i++)
		TRY(replace(w, i));
	launch_finish(w);
	return NULL;
}

struct err *torch_launches(
	struct arena *a, struct str text, struct torch_trace *trace, struct str *ret)
{
	ARENA(tmp);
	CLEANUP(work_free) struct launch_work w = {.a = &tmp, .trace = trace};
	join_lines(&w, text);
	w.now = w.text;
	if (py_str_find(w.text, S("<<<"), 0) != SIZE_MAX)
		TRY(rewrite(&w));
	*ret = w.now.p == text.p ? text : str_dup(a, w.now);
	return NULL;
}

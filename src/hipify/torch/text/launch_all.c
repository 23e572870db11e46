/* Replaces launches in a text: output.replace(old, new) of the original for one launch after the
 * other, in linear time.
 *
 * A launch's text ("old") can only stand round a "<<<" of the text at hand, and there it is what
 * one finds by looking back to the name and forward to the "(" (launch.c leaves others to
 * launch_replace_text). So each "<<<" whose tail ("<<<" to "(") is that of some launch becomes a
 * place, and places with equal texts are the members of a shape. A replacement
 *   - ends the places that it covers, and those left of it whose tail it cuts: new text begins with
 *     "hipLaunchKernelGGL(", which no indexed launch contains;
 *   - changes the head (the name) of places right of it that looked back into it: these are read
 *     anew, with the end of the new text before them.
 * Replacements are kept as regions over the text and put together at the end.
 */
#include <stdlib.h>
#include <string.h>

#include "hipify/torch/text/launch_int.h"
#include "lang/python/text.h"

/* The text of a launch without "(" comes between all characters; a few of those fill any memory. */
enum { MOST_TEXT = 1 << 27 };

struct place {
	size_t at, stop;            /* "<<<", and behind its "(" */
	size_t start;               /* of its text; or as far as looking back went */
	size_t eaten;               /* bytes of the region before that belong to its text */
	const size_t *reach;        /* the longest head that a launch with this tail has */
	struct launch_shape *shape; /* NULL = its text is no launch's */
	uint32_t region;            /* that covers it, + 1 */
	uint32_t crossers;          /* places that looked back across this one: a list */
	uint32_t alive; /* this place + 1, or some place + 1 before it when it is dead */
	uint32_t since; /* the launch + 1 whose replacement changed its head */
	uint32_t seen;  /* how many regions there were when its head was read */
};

struct region {
	size_t from, to;
	struct str with;
	uint32_t place; /* that was replaced */
};

struct link {
	uint32_t place, next; /* next + 1 */
};

struct launch_index {
	struct launch_work *w;
	struct arena *a;
	struct str text;
	VEC(struct place) places;
	VEC(struct region) regions;
	VEC(struct link) links;
	uint32_t nth; /* the launch being replaced, + 1 */
	bool good;    /* not too much work */
};

static void list_add(struct launch_index *x, uint32_t *list, uint32_t place)
{
	*VEC_PUSH(x->a, &x->links) = (struct link){.place = place, .next = *list};
	*list = (uint32_t)x->links.n;
}

static void steps(struct launch_index *x, size_t n)
{
	x->good = launch_steps(x->w, n) && x->good;
}

/* ---- reading heads ---- */

static void join_shape(struct launch_index *x, uint32_t k, struct str text, size_t head)
{
	struct place *p = &x->places.v[k];
	struct launch_shape *shape = map_get(&x->w->shapes, text);
	while (shape && shape->head != head)
		shape = shape->twin;
	p->shape = shape;
	steps(x, text.n);
	if (shape)
		list_add(x, &shape->members, k);
}

/* A launch at p.at in s, not looking back further than its tail's launches do. */
static bool read_head(struct str s, struct place *p, struct launch *ret)
{
	size_t floor = ret->at > *p->reach ? ret->at - *p->reach : 0;
	while (floor > 0 && ((unsigned char)s.p[floor] & 0xc0) == 0x80)
		floor--;
	bool named = launch_name(s, floor, ret) == LAUNCH_NAMED;
	if (!named)
		ret->start = floor;
	return named;
}

static void cross(struct launch_index *x, uint32_t k)
{
	size_t start = x->places.v[k].start;
	for (uint32_t j = k; j-- > 0 && x->places.v[j].at >= start;) {
		list_add(x, &x->places.v[j].crossers, k);
		steps(x, 16);
	}
}

/* Reads the head of a place where no replacement is near. */
static void settle(struct launch_index *x, uint32_t k)
{
	struct place *p = &x->places.v[k];
	struct launch l = {.at = p->at};
	p->shape = NULL;
	bool named = read_head(x->text, p, &l);
	p->start = l.start;
	steps(x, p->at - p->start);
	if (named)
		join_shape(x, k, str_sub(x->text, p->start, p->stop), p->at - p->start);
}

/* The region before a place, if there is one near enough to matter. */
static struct region *region_before(struct launch_index *x, uint32_t k)
{
	const struct place *p = &x->places.v[k];
	for (uint32_t j = k; j-- > 0;) {
		const struct place *q = &x->places.v[j];
		if (q->region)
			return &x->regions.v[q->region - 1];
		if (p->at - q->at > *p->reach)
			return NULL;
	}
	return NULL;
}

/* Reads the head again after a replacement left of it. It was longer before, so that the places
 * that it lies across know it already. */
static void settle_again(struct launch_index *x, uint32_t k)
{
	ARENA(tmp);
	struct place *p = &x->places.v[k];
	const struct region *r = region_before(x, k);
	p->since = x->nth;
	p->seen = (uint32_t)x->regions.n;
	p->eaten = 0;
	if (!r || r->to + *p->reach < p->at) {
		settle(x, k);
		return;
	}
	/* What is now in front of it, as far as it matters. */
	size_t n = r->with.n < *p->reach + 3 ? r->with.n : *p->reach + 3;
	struct str parts[] = {
		str_sub(r->with, r->with.n - n, r->with.n), str_sub(x->text, r->to, p->stop)};
	struct str s = str_join(&tmp, &(struct strs){.v = parts, .n = 2}, S(""));
	struct launch l = {.at = n + p->at - r->to};
	bool named = read_head(s, p, &l);
	steps(x, s.n);
	p->eaten = l.start < n ? n - l.start : 0;
	p->start = p->eaten ? r->to - 1 : r->to + l.start - n;
	p->shape = NULL;
	if (named)
		join_shape(x, k, str_sub(s, l.start, s.n), l.at - l.start);
}

/* ---- replacing ---- */

static void die(struct launch_index *x, uint32_t k)
{
	x->places.v[k].alive = k;
	x->places.v[k].shape = NULL;
}

/* The last living place before k, + 1. */
static uint32_t living_before(struct launch_index *x, uint32_t k)
{
	uint32_t found = k, next;
	while (found && x->places.v[found - 1].alive != found)
		found = x->places.v[found - 1].alive;
	for (; k && x->places.v[k - 1].alive != k; k = next) {
		next = x->places.v[k - 1].alive;
		x->places.v[k - 1].alive = found;
	}
	return found;
}

static void check_head(struct launch_index *x, uint32_t k, const struct region *r)
{
	const struct place *p = &x->places.v[k];
	bool hit = p->alive == k + 1 && p->at >= r->to && p->start < r->to;
	if (hit && p->seen != x->regions.n)
		settle_again(x, k);
}

/* Places whose heads lie across place k. */
static void check_crossers(struct launch_index *x, uint32_t k, const struct region *r)
{
	for (uint32_t link = x->places.v[k].crossers; link;) {
		struct link l = x->links.v[link - 1];
		link = l.next;
		steps(x, 16);
		check_head(x, l.place, r);
	}
}

/* Takes place k out of the text, with all places in its text; *first and *last are these. */
static void cover(struct launch_index *x, uint32_t k, uint32_t *first, uint32_t *last)
{
	uint32_t region = (uint32_t)x->regions.n;
	struct region r = x->regions.v[region - 1];
	struct place *v = x->places.v;
	for (*first = k; *first > 0 && v[*first - 1].at + 3 > r.from && !v[*first - 1].region;)
		--*first;
	for (*last = k; *last + 1 < x->places.n && v[*last + 1].at < r.to;)
		++*last;
	for (uint32_t j = *first; j <= *last; j++) {
		v[j].region = region;
		die(x, j);
	}
	for (uint32_t j = living_before(x, *first); j && v[j - 1].stop > r.from;
		j = living_before(x, j - 1))
		die(x, j - 1);
}

static void replace_place(struct launch_index *x, uint32_t k)
{
	struct place p = x->places.v[k];
	struct region r = {.from = p.start, .to = p.stop, .with = p.shape->hip, .place = k};
	uint32_t first, last;
	if (p.eaten) {
		struct region *before = region_before(x, k);
		before->with.n -= p.eaten;
		r.from = before->to;
	}
	*VEC_PUSH(x->a, &x->regions) = r;
	cover(x, k, &first, &last);
	for (uint32_t j = first; j <= last; j++)
		check_crossers(x, j, &r);
	if (last + 1 < x->places.n) {
		check_head(x, last + 1, &r);
		check_crossers(x, last + 1, &r);
	}
}

static int by_number(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	return (x > y) - (x < y);
}

/* The places where a shape stands, from left to right; the list is empty then. */
static uint32_t *members(struct launch_index *x, struct launch_shape *shape, size_t *ret_n)
{
	size_t n = 0;
	bool sorted = true;
	for (uint32_t l = shape->members; l; l = x->links.v[l - 1].next)
		n++;
	uint32_t *v = arena_array(x->a, n + 1, sizeof(*v));
	*ret_n = n;
	for (uint32_t l = shape->members; l; l = x->links.v[l - 1].next) {
		v[--n] = x->links.v[l - 1].place;
		sorted = sorted && v[n] <= v[n + 1 < *ret_n ? n + 1 : n];
	}
	if (!sorted)
		qsort(v, *ret_n, sizeof(*v), by_number);
	shape->members = 0;
	return v;
}

/* ---- the index ---- */

/* Adds the "<<<" at `at` as a place when some launch ends like it; stop is behind its "(". */
static void add_place(struct launch_index *x, size_t at, size_t stop)
{
	const struct launch_work *w = x->w;
	size_t n = stop - at;
	if (n > w->longest || !(w->lengths[n / 8] >> (n % 8) & 1))
		return;
	steps(x, n);
	const size_t *reach = map_get(&w->tails, str_sub(x->text, at, stop));
	if (!reach)
		return;
	struct place p = {.at = at, .stop = stop, .reach = reach};
	*VEC_PUSH(x->a, &x->places) = p;
	x->places.v[x->places.n - 1].alive = (uint32_t)x->places.n;
}

static void find_places(struct launch_index *x)
{
	struct str s = x->text;
	size_t close = 0, round = 0;
	for (size_t at = 0; (at = py_str_find(s, S("<<<"), at)) != SIZE_MAX;) {
		if (close < at + 3)
			close = py_str_find(s, S(">>>"), at + 3);
		if (close != SIZE_MAX && round < close + 3)
			round = py_str_find(s, S("("), close + 3);
		if (close == SIZE_MAX || round == SIZE_MAX)
			return;
		add_place(x, at, round + 1);
		/* In a run of "<" only the first three can be a launch's. */
		while (at < s.n && s.p[at] == '<')
			at++;
	}
}

static void open_index(struct launch_work *w)
{
	struct arena *a = &w->mem[2];
	arena_free(a);
	w->index = NEW(a, struct launch_index);
	*w->index = (struct launch_index){.w = w, .a = a, .text = w->now, .good = true};
	VEC_EACH (const struct map_entry, e, &w->shapes)
		for (struct launch_shape *s = e->value; s; s = s->twin)
			s->members = 0;
	steps(w->index, w->now.n + 32 * w->shapes.n);
	find_places(w->index);
	for (uint32_t k = 0; k < w->index->places.n; k++) {
		settle(w->index, k);
		cross(w->index, k);
	}
}

bool launch_replace_shape(struct launch_work *w, uint32_t nth)
{
	struct launch_shape *shape = w->launches.v[nth].shape;
	if (!w->index)
		open_index(w);
	struct launch_index *x = w->index;
	size_t n = 0;
	x->nth = nth + 1;
	const uint32_t *v = shape->members ? members(x, shape, &n) : NULL;
	for (size_t i = 0; i < n; i++) {
		const struct place *p = &x->places.v[v[i]];
		if (p->shape == shape && p->since != x->nth)
			replace_place(x, v[i]);
	}
	steps(x, n);
	return x->good;
}

/* ---- putting together ---- */

/* Makes text, which lies in the other arena, the text at hand. */
static void turn(struct launch_work *w, struct str text)
{
	arena_free(&w->mem[w->turn]);
	w->turn = 1 - w->turn;
	w->now = text;
}

void launch_finish(struct launch_work *w)
{
	struct launch_index *x = w->index;
	w->index = NULL;
	if (!x || !x->regions.n)
		return;
	struct torch_pass p = torch_pass_begin(&w->mem[1 - w->turn], w->now, w->trace, "launch");
	for (uint32_t k = 0; k < x->places.n; k++) {
		uint32_t nth = x->places.v[k].region;
		const struct region *r = nth ? &x->regions.v[nth - 1] : NULL;
		if (r && r->place == k)
			torch_pass_edit(&p, (struct torch_patch){r->from, r->to, r->with, NULL});
	}
	turn(w, torch_pass_end(&p));
}

bool launch_replace_text(struct launch_work *w, struct str old, struct str with)
{
	launch_finish(w);
	if (!launch_steps(w, w->now.n))
		return false;
	size_t n = py_str_count(w->now, old);
	if (!n)
		return true;
	if (!old.n && (with.n > MOST_TEXT / n || w->now.n > MOST_TEXT - n * with.n))
		return false;
	struct arena *a = &w->mem[1 - w->turn];
	struct torch_pass p = torch_pass_begin(a, w->now, w->trace, "launch");
	for (size_t at = 0; old.n && (at = py_str_find(w->now, old, at)) != SIZE_MAX; at += old.n)
		torch_pass_edit(&p, (struct torch_patch){at, at + old.n, with, NULL});
	if (!old.n) /* a launch without "(": its text comes between all characters */
		torch_pass_edit(&p, (struct torch_patch){0, w->now.n,
					    py_str_replace(a, w->now, old, with), NULL});
	turn(w, torch_pass_end(&p));
	return launch_steps(w, w->now.n);
}

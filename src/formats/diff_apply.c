/* Applying unified diffs; see diff.h. Lines count from 0 here. */
#include "base/buf.h"
#include "formats/diff.h"

enum { FUZZ = 2 };

/* Limit of compared lines: enough to search for 500 hunks all over a file of 100,000 lines. */
static const uint64_t WORK_LIMIT = 50000000;

struct attempt {
	struct arena *a;
	const struct diff_file *file;
	struct strs old;
	bool reverse;
	unsigned fuzz;    /* the most lines of context that may be ignored at each end */
	ptrdiff_t moved;  /* shift of the previous hunk */
	ptrdiff_t frozen; /* number of lines of `old` that are done */
	uint64_t work;
	struct buf out;
	struct strs notes;
};

/* A hunk in the form that is searched for: its old side, and the number of context lines at both ends. */
struct hunk_pattern {
	const struct diff_hunk *hunk;
	struct strs lines;
	ptrdiff_t first, front, behind;
};

/* The kind of a line in the direction of this attempt. */
static char kind_of(const struct attempt *t, const struct diff_line *l)
{
	if (!t->reverse || l->kind == ' ')
		return l->kind;
	return l->kind == '+' ? '-' : '+';
}

static struct hunk_pattern pattern_of(struct attempt *t, const struct diff_hunk *h)
{
	struct hunk_pattern p = {.hunk = h, .first = (ptrdiff_t)h->first - 1};
	size_t first = 0, last = h->lines.n;
	VEC_EACH (const struct diff_line, l, &h->lines)
		if (kind_of(t, l) != '+')
			strs_add(t->a, &p.lines, l->text);
	while (first < h->lines.n && h->lines.v[first].kind == ' ')
		first++;
	while (last > first && h->lines.v[last - 1].kind == ' ')
		last--;
	p.front = (ptrdiff_t)first;
	p.behind = (ptrdiff_t)(h->lines.n - last);
	if (t->reverse) /* the forward direction shifted it by an unknown number of lines */
		p.first = t->frozen;
	return p;
}

static bool matches(struct attempt *t, const struct hunk_pattern *p, ptrdiff_t at, ptrdiff_t front,
	ptrdiff_t behind)
{
	ptrdiff_t n = (ptrdiff_t)p->lines.n - behind;
	if (at < 0 || at + n > (ptrdiff_t)t->old.n)
		return false;
	for (ptrdiff_t i = front; i < n; i++) {
		t->work++;
		if (!str_eq(p->lines.v[i], t->old.v[at + i]))
			return false;
	}
	return true;
}

/* Finds the nearest place that matches, down before up. */
static bool search(struct attempt *t, const struct hunk_pattern *p, ptrdiff_t front,
	ptrdiff_t behind, ptrdiff_t *ret)
{
	ptrdiff_t guess = p->first + t->moved;
	ptrdiff_t last = (ptrdiff_t)t->old.n - (ptrdiff_t)p->lines.n + behind;
	ptrdiff_t most = last - guess > guess - t->frozen ? last - guess : guess - t->frozen;
	for (ptrdiff_t d = 0; d <= most && t->work < WORK_LIMIT; d++) {
		ptrdiff_t down = guess + d, up = guess - d;
		bool fits_down = down >= t->frozen && matches(t, p, down, front, behind);
		if (!fits_down && !(d && up >= t->frozen && matches(t, p, up, front, behind)))
			continue;
		*ret = fits_down ? down : up;
		return true;
	}
	return false;
}

/* Locates a hunk with as little fuzz as possible. A shorter context at one end means that the file ends there. */
static bool find(
	struct attempt *t, const struct hunk_pattern *p, ptrdiff_t *ret, ptrdiff_t *ret_fuzz)
{
	ptrdiff_t context = p->front > p->behind ? p->front : p->behind;
	ptrdiff_t end = (ptrdiff_t)t->old.n - (ptrdiff_t)p->lines.n;
	*ret_fuzz = 0;
	if (!p->lines.n) { /* a pure insertion fits at its line */
		*ret = p->first + t->moved;
		return *ret >= t->frozen && *ret <= (ptrdiff_t)t->old.n;
	}
	for (ptrdiff_t fuzz = 0; fuzz <= (ptrdiff_t)t->fuzz && fuzz <= context; fuzz++) {
		ptrdiff_t front = fuzz + p->front - context, behind = fuzz + p->behind - context;
		bool at_start = front < 0 && p->hunk->first <= 1, at_end = behind < 0, fits;
		front = front < 0 ? 0 : front;
		behind = behind < 0 ? 0 : behind;
		*ret = at_start ? 0 : end;
		*ret_fuzz = fuzz;
		if (at_start)
			fits = t->frozen <= p->front && matches(t, p, 0, 0, behind);
		else if (at_end)
			fits = end >= t->frozen && matches(t, p, end, front, 0);
		else
			fits = search(t, p, front, behind, ret);
		if (fits)
			return true;
	}
	return false;
}

static void copy_to(struct attempt *t, ptrdiff_t line)
{
	for (; t->frozen < line; t->frozen++)
		buf_add(&t->out, t->old.v[t->frozen]);
}

static struct err *try_apply(struct attempt *t, bool reverse, unsigned fuzz, bool *ret)
{
	const struct diff_file *f = t->file;
	*ret = true;
	t->reverse = reverse;
	t->fuzz = fuzz;
	t->moved = t->frozen = 0;
	t->out = (struct buf){.a = t->a};
	t->notes = (struct strs){0};
	for (size_t i = 0; *ret && i < f->hunks.n; i++) {
		struct hunk_pattern p = pattern_of(t, &f->hunks.v[i]);
		struct str far = S(""), loose = S("");
		ptrdiff_t at, lines, by;
		*ret = find(t, &p, &at, &lines);
		if (!*ret) {
			strs_fmt(t->a, &t->notes, "hunk %zu of %zu does not fit %.*s", i + 1,
				f->hunks.n, STR(f->path));
			break;
		}
		by = t->moved = reverse ? 0 : at - p.first;
		if (by)
			far = str_fmt(t->a, " %td %s further %s", by < 0 ? -by : by,
				by == 1 || by == -1 ? "line" : "lines", by < 0 ? "up" : "down");
		if (lines)
			loose = str_fmt(t->a, " with fuzz %td", lines);
		if (by || lines)
			strs_fmt(t->a, &t->notes, "hunk %zu of %.*s fits%.*s%.*s", i + 1,
				STR(f->path), STR(far), STR(loose));
		/* lines of context are copied from the file, since fuzz may have ignored them */
		VEC_EACH (const struct diff_line, l, &p.hunk->lines) {
			char kind = kind_of(t, l);
			if (kind != ' ')
				copy_to(t, at);
			if (kind == '+')
				buf_add(&t->out, l->text);
			t->frozen += kind == '-';
			at += kind != '+';
		}
	}
	if (*ret)
		copy_to(t, (ptrdiff_t)t->old.n);
	if (t->work < WORK_LIMIT)
		return NULL;
	return err_new(E_LIMIT, "the search for the place of a hunk in '%.*s' takes too long",
		STR(f->path));
}

/* Tries the exact fit first, and the reverse before fuzz: a file that has the changes must not get them twice. */
struct err *diff_apply(
	struct arena *a, const struct diff_file *f, struct str old, struct diff_result *ret)
{
	struct attempt t = {.a = a, .file = f};
	for (struct str rest = old; rest.n;) {
		size_t n = str_chr(rest, '\n') + 1;
		strs_add(a, &t.old, str_sub(rest, 0, n));
		rest = str_sub(rest, n, rest.n);
	}
	bool fits, there = false;
	*ret = (struct diff_result){.fit = DIFF_NOT};
	if (f->adds != !old.p) {
		struct str why = str_fmt(
			a, f->adds ? "%.*s is there already" : "no file %.*s", STR(f->path));
		TRY(f->adds && old.p ? try_apply(&t, true, 0, &there) : NULL);
		strs_add(a, &ret->notes, why);
		ret->fit = there && !t.out.n ? DIFF_THERE : DIFF_NOT;
		return NULL;
	}
	TRY(try_apply(&t, false, 0, &fits));
	if (!fits || t.notes.n) {
		TRY(try_apply(&t, true, 0, &there));
		if (!there)
			TRY(try_apply(&t, false, FUZZ, &fits));
	}
	ret->fit = there ? DIFF_THERE : fits ? DIFF_FITS : DIFF_NOT;
	ret->text = there ? old : buf_str(&t.out);
	if (!there)
		ret->notes = t.notes;
	if (ret->fit == DIFF_FITS && f->removes && ret->text.n) {
		ret->fit = DIFF_NOT;
		strs_fmt(a, &ret->notes, "%.*s has more than is removed", STR(f->path));
	}
	return NULL;
}

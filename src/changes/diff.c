/* The unified diff of two texts, as diff -u prints it, by the greedy algorithm of Myers (1986) over lines. Its cost
 * grows with the square of the number of differences, so after MOST_EDITS of them the search restarts at its current
 * position. The diff is then still correct, but perhaps not the shortest.
 */
#include "base/buf.h"
#include "changes/changes.h"

enum { CONTEXT = 3, MOST_EDITS = 256 };

struct diff_side {
	struct strs lines; /* with their newlines */
	bool *common;      /* per line: is it on both sides? */
};

/* The search works in rounds; each starts at the lines (i, k). row[e][e + c] is the furthest line of the old text that
 * a path with e edits reaches on the diagonal c. */
struct diff_search {
	struct diff_side old, new;
	size_t i, k;
	ptrdiff_t *row[MOST_EDITS + 1];
};

static struct diff_side split(struct arena *a, struct str text)
{
	struct diff_side s = {0};
	while (text.n) {
		size_t n = str_chr(text, '\n') + 1;
		strs_add(a, &s.lines, str_sub(text, 0, n));
		text = str_sub(text, n, text.n);
	}
	s.common = arena_array(a, s.lines.n + 1, sizeof(*s.common));
	return s;
}

/* ---- the search for common lines ---- */

static ptrdiff_t reach(const struct diff_search *d, ptrdiff_t e, ptrdiff_t c)
{
	return c < -e || c > e ? -1 : d->row[e][e + c];
}

/* Is the last edit of the best path an insertion (else a deletion)? */
static bool came_down(const struct diff_search *d, ptrdiff_t e, ptrdiff_t c)
{
	return c == -e || (c != e && reach(d, e - 1, c - 1) < reach(d, e - 1, c + 1));
}

/* The line at which the best path with e edits enters the diagonal c. */
static ptrdiff_t start(const struct diff_search *d, ptrdiff_t e, ptrdiff_t c)
{
	if (!e)
		return 0;
	return came_down(d, e, c) ? reach(d, e - 1, c + 1) : reach(d, e - 1, c - 1) + 1;
}

/* Marks the lines that the path to (e, c) keeps; the next round starts at its end. */
static void mark(struct diff_search *d, ptrdiff_t e, ptrdiff_t c)
{
	ptrdiff_t x = reach(d, e, c);
	size_t i = d->i + (size_t)x, k = d->k + (size_t)(x - c);
	for (; e >= 0; e--) {
		bool down = e && came_down(d, e, c);
		ptrdiff_t from = start(d, e, c);
		for (; x > from; x--) {
			d->old.common[d->i + (size_t)x - 1] = true;
			d->new.common[d->k + (size_t)(x - c) - 1] = true;
		}
		if (e)
			x = down ? from : from - 1;
		c += down ? 1 : -1;
	}
	d->i = i;
	d->k = k;
}

static void one_round(struct diff_search *d)
{
	ARENA(tmp);
	const struct strs *old = &d->old.lines, *new = &d->new.lines;
	size_t n = old->n - d->i, m = new->n - d->k;
	for (ptrdiff_t e = 0; e <= MOST_EDITS; e++) {
		d->row[e] = arena_array(&tmp, 2 * (size_t)e + 1, sizeof(**d->row));
		for (ptrdiff_t c = -e; c <= e; c += 2) {
			ptrdiff_t x = start(d, e, c);
			while (x >= 0 && x - c >= 0 && (size_t)x < n && (size_t)(x - c) < m &&
				str_eq(old->v[d->i + (size_t)x], new->v[d->k + (size_t)(x - c)]))
				x++;
			d->row[e][e + c] = x;
			if ((size_t)x < n || x - c < (ptrdiff_t)m)
				continue;
			mark(d, e, c);
			return;
		}
	}
	/* too many: the diagonal whose path came furthest within the texts */
	ptrdiff_t best = 0, most = -1;
	for (ptrdiff_t c = -MOST_EDITS; c <= MOST_EDITS; c += 2) {
		ptrdiff_t x = reach(d, MOST_EDITS, c), y = x - c;
		bool within = x >= 0 && y >= 0 && (size_t)x <= n && (size_t)y <= m;
		if (within && x + y > most) {
			most = x + y;
			best = c;
		}
	}
	mark(d, MOST_EDITS, best);
}

/* ---- printing ---- */

/* A line of the full diff; i and k count the lines of each text before it. */
struct diff_row {
	char sign;
	struct str line;
	size_t i, k;
	bool shown;
};

struct diff_rows VEC_OF(struct diff_row);

static void put_range(struct buf *out, char sign, size_t first, size_t count)
{
	if (count == 1)
		buf_fmt(out, "%c%zu", sign, first + 1);
	else
		buf_fmt(out, "%c%zu,%zu", sign, first + (count ? 1 : 0), count);
}

static void put_hunk(struct buf *out, const struct diff_row *from, const struct diff_row *last)
{
	buf_add(out, S("@@ "));
	put_range(out, '-', from->i, last->i + (last->sign != '+') - from->i);
	buf_char(out, ' ');
	put_range(out, '+', from->k, last->k + (last->sign != '-') - from->k);
	buf_add(out, S(" @@\n"));
	for (; from <= last; from++) {
		buf_char(out, from->sign);
		buf_add(out, from->line);
		if (!str_ends(from->line, S("\n")))
			buf_add(out, S("\n\\ No newline at end of file\n"));
	}
}

struct str changes_diff(struct arena *a, const struct changes_diff *what)
{
	ARENA(tmp);
	if (str_eq(what->old, what->new))
		return S("");
	struct diff_search d = {.old = split(&tmp, what->old), .new = split(&tmp, what->new)};
	while (d.i < d.old.lines.n || d.k < d.new.lines.n)
		one_round(&d);
	BUF(out, a);
	buf_fmt(&out, "--- %.*s\n+++ %.*s\n", STR(what->old_name), STR(what->new_name));
	struct diff_rows rows = {0};
	for (size_t i = 0, k = 0; i < d.old.lines.n || k < d.new.lines.n;) {
		bool gone = i < d.old.lines.n && !d.old.common[i];
		bool came = !gone && k < d.new.lines.n && !d.new.common[k];
		char sign = gone ? '-' : came ? '+' : ' ';
		struct str line = came ? d.new.lines.v[k] : d.old.lines.v[i];
		*VEC_PUSH(&tmp, &rows) =
			(struct diff_row){.sign = sign, .line = line, .i = i, .k = k};
		i += !came;
		k += !gone;
	}
	for (size_t i = 0; i < rows.n; i++)
		for (size_t k = i < CONTEXT ? 0 : i - CONTEXT; k <= i + CONTEXT && k < rows.n; k++)
			rows.v[k].shown = rows.v[k].shown || rows.v[i].sign != ' ';
	for (size_t from = 0, to; from < rows.n; from = to) {
		for (to = from + 1; to < rows.n && rows.v[to].shown == rows.v[from].shown;)
			to++;
		if (rows.v[from].shown)
			put_hunk(&out, &rows.v[from], &rows.v[to - 1]);
	}
	return buf_str(&out);
}

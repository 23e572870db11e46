/* The unified diff of two texts, as diff -u prints it: the greedy algorithm of Myers (1986) over
 * lines. Its cost grows with the square of the number of differences, so that a stretch with very
 * many of them is committed as far as it is known and the rest starts anew: the output is then
 * still right, if not the shortest.
 */
#include "base/buf.h"
#include "changes/changes.h"

#include <string.h>

enum { CONTEXT = 3, MOST_EDITS = 256 };

struct side {
	struct str *v; /* lines with their newlines */
	uint64_t *hash;
	size_t n;
	bool *common; /* the line stands on both sides */
};

struct diff {
	struct arena *a;
	struct side old, new;
	struct buf out;
};

/* ---- lines ---- */

static size_t line_end(struct str s, size_t from)
{
	const char *end = from < s.n ? memchr(s.p + from, '\n', s.n - from) : NULL;
	return end ? (size_t)(end - s.p) + 1 : s.n;
}

static struct side split(struct arena *a, struct str text)
{
	struct side s = {0};
	for (size_t from = 0; from < text.n; from = line_end(text, from))
		s.n++;
	s.v = arena_array(a, s.n + 1, sizeof(*s.v));
	s.hash = arena_array(a, s.n + 1, sizeof(*s.hash));
	s.common = arena_array(a, s.n + 1, sizeof(*s.common));
	size_t from = 0;
	for (size_t i = 0; i < s.n; i++) {
		size_t to = line_end(text, from);
		s.v[i] = str_sub(text, from, to);
		s.hash[i] = str_hash(s.v[i]);
		from = to;
	}
	return s;
}

static bool same(const struct diff *d, size_t i, size_t k)
{
	return d->old.hash[i] == d->new.hash[k] && str_eq(d->old.v[i], d->new.v[k]);
}

/* ---- which lines are common ---- */

/* One round: from (i, k) on; row[e][e + c] is how far in the old text the best path with e edits on
 * the diagonal c comes. */
struct round {
	struct diff *d;
	size_t i, k;
	ptrdiff_t *row[MOST_EDITS + 1];
};

static ptrdiff_t reach(const struct round *r, ptrdiff_t e, ptrdiff_t c)
{
	return c < -e || c > e ? -1 : r->row[e][e + c];
}

/* Is the last edit of the best path an insertion (else a deletion)? */
static bool came_down(const struct round *r, ptrdiff_t e, ptrdiff_t c)
{
	return c == -e || (c != e && reach(r, e - 1, c - 1) < reach(r, e - 1, c + 1));
}

static bool step(struct round *r, ptrdiff_t e, ptrdiff_t c)
{
	size_t n = r->d->old.n - r->i, m = r->d->new.n - r->k;
	ptrdiff_t x = 0;
	if (e)
		x = came_down(r, e, c) ? reach(r, e - 1, c + 1) : reach(r, e - 1, c - 1) + 1;
	while (x >= 0 && x - c >= 0 && (size_t)x < n && (size_t)(x - c) < m &&
		same(r->d, r->i + (size_t)x, r->k + (size_t)(x - c)))
		x++;
	r->row[e][e + c] = x;
	return (size_t)x >= n && x - c >= (ptrdiff_t)m;
}

/* Marks the lines that the path to (e, c) keeps, and gives back where it ends. */
static void mark(struct round *r, ptrdiff_t e, ptrdiff_t c)
{
	ptrdiff_t x = reach(r, e, c);
	size_t i = r->i + (size_t)x, k = r->k + (size_t)(x - c);
	for (; e >= 0; e--) {
		bool down = e && came_down(r, e, c);
		ptrdiff_t from = !e     ? 0
				 : down ? reach(r, e - 1, c + 1)
					: reach(r, e - 1, c - 1) + 1;
		for (; x > from; x--) {
			r->d->old.common[r->i + (size_t)x - 1] = true;
			r->d->new.common[r->k + (size_t)(x - c) - 1] = true;
		}
		if (e)
			x = down ? from : from - 1;
		c += down ? 1 : -1;
	}
	r->i = i;
	r->k = k;
}

/* The diagonal that came furthest within the texts. */
static ptrdiff_t furthest(const struct round *r, ptrdiff_t e)
{
	size_t n = r->d->old.n - r->i, m = r->d->new.n - r->k;
	ptrdiff_t best = 0, most = -1;
	for (ptrdiff_t c = -e; c <= e; c += 2) {
		ptrdiff_t x = reach(r, e, c), y = x - c;
		bool inside = x >= 0 && y >= 0 && (size_t)x <= n && (size_t)y <= m;
		if (inside && x + y > most) {
			most = x + y;
			best = c;
		}
	}
	return best;
}

static void one_round(struct round *r)
{
	ARENA(tmp);
	for (ptrdiff_t e = 0; e <= MOST_EDITS; e++) {
		r->row[e] = arena_array(&tmp, 2 * (size_t)e + 1, sizeof(**r->row));
		for (ptrdiff_t c = -e; c <= e; c += 2) {
			if (!step(r, e, c))
				continue;
			mark(r, e, c);
			return;
		}
	}
	mark(r, MOST_EDITS, furthest(r, MOST_EDITS));
}

/* ---- printing ---- */

static void put(struct diff *d, char sign, struct str line)
{
	buf_char(&d->out, sign);
	buf_add(&d->out, line);
	if (!str_ends(line, S("\n")))
		buf_add(&d->out, S("\n\\ No newline at end of file\n"));
}

static void put_range(struct diff *d, char sign, size_t first, size_t count)
{
	if (count == 1)
		buf_fmt(&d->out, "%c%zu", sign, first + 1);
	else
		buf_fmt(&d->out, "%c%zu,%zu", sign, first + (count ? 1 : 0), count);
}

struct span { /* lines of both sides */
	size_t i, i_end, k, k_end;
};

/* Behind the lines that differ from (i, k) on. */
static void skip_changed(const struct diff *d, size_t *i, size_t *k)
{
	while (*i < d->old.n && !d->old.common[*i])
		*i += 1;
	while (*k < d->new.n && !d->new.common[*k])
		*k += 1;
}

static void hunk(struct diff *d, const struct span *s)
{
	buf_add(&d->out, S("@@ "));
	put_range(d, '-', s->i, s->i_end - s->i);
	buf_char(&d->out, ' ');
	put_range(d, '+', s->k, s->k_end - s->k);
	buf_add(&d->out, S(" @@\n"));
	for (size_t i = s->i, k = s->k; i < s->i_end || k < s->k_end;) {
		size_t old = i, new = k;
		skip_changed(d, &i, &k);
		for (; old < i; old++)
			put(d, '-', d->old.v[old]);
		for (; new < k; new ++)
			put(d, '+', d->new.v[new]);
		for (; i < s->i_end && d->old.common[i] && d->new.common[k]; i++, k++)
			put(d, ' ', d->old.v[i]);
	}
}

static bool at_end(const struct diff *d, size_t i, size_t k)
{
	return i >= d->old.n && k >= d->new.n;
}

/* Behind the common lines from (i, k) on, at most `most` of them. */
static size_t common_lines(const struct diff *d, size_t i, size_t k, size_t most)
{
	size_t n = 0;
	while (n < most && i + n < d->old.n && k + n < d->new.n && d->old.common[i + n] &&
		d->new.common[k + n])
		n++;
	return n;
}

static void hunks(struct diff *d)
{
	size_t i = 0, k = 0;
	while (!at_end(d, i, k)) {
		size_t n = common_lines(d, i, k, SIZE_MAX), lead = n < CONTEXT ? n : CONTEXT;
		i += n;
		k += n;
		if (at_end(d, i, k))
			break;
		struct span s = {.i = i - lead, .k = k - lead};
		do {
			skip_changed(d, &i, &k);
			n = common_lines(d, i, k, 2 * CONTEXT + 1);
			if (n > 2 * CONTEXT || at_end(d, i + n, k + n))
				break;
			i += n;
			k += n;
		} while (true);
		n = n < CONTEXT ? n : CONTEXT;
		s.i_end = i + n;
		s.k_end = k + n;
		hunk(d, &s);
	}
}

struct str changes_diff(struct arena *a, const struct changes_diff *what)
{
	ARENA(tmp);
	if (str_eq(what->old, what->new))
		return S("");
	struct diff d = {.a = &tmp, .out = {.a = a}};
	d.old = split(&tmp, what->old);
	d.new = split(&tmp, what->new);
	struct round r = {.d = &d};
	while (r.i < d.old.n || r.k < d.new.n)
		one_round(&r);
	buf_fmt(&d.out, "--- %.*s\n+++ %.*s\n", STR(what->old_name), STR(what->new_name));
	hunks(&d);
	return buf_str(&d.out);
}

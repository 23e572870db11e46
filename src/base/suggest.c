/* Optimal string alignment distance over three rows; see str.h. */
#include "base/err.h"

#include <limits.h>

enum { WORD_LIMIT = 64 };

/* UINT_MAX if one of the words is too long. */
static unsigned edit_distance(struct str a, struct str b)
{
	unsigned rows[3][WORD_LIMIT + 1];
	if (a.n > WORD_LIMIT || b.n > WORD_LIMIT)
		return UINT_MAX;
	for (unsigned j = 0; j <= b.n; j++)
		rows[0][j] = j;
	for (unsigned i = 1; i <= a.n; i++) {
		unsigned *row = rows[i % 3], *prev = rows[(i - 1) % 3], *older = rows[(i + 1) % 3];
		row[0] = i;
		for (unsigned j = 1; j <= b.n; j++) {
			bool same = a.p[i - 1] == b.p[j - 1];
			row[j] = prev[j - 1] + !same;
			if (prev[j] + 1 < row[j])
				row[j] = prev[j] + 1;
			if (row[j - 1] + 1 < row[j])
				row[j] = row[j - 1] + 1;
			bool swapped = i > 1 && j > 1 && a.p[i - 1] == b.p[j - 2] &&
				       a.p[i - 2] == b.p[j - 1];
			if (swapped && older[j - 2] + 1 < row[j])
				row[j] = older[j - 2] + 1;
		}
	}
	return rows[a.n % 3][b.n];
}

struct str suggest(struct str word, const struct strs *candidates)
{
	size_t limit = word.n / 3 ? word.n / 3 : 1;
	struct str best = S("");
	for (size_t i = 0; i < candidates->n; i++) {
		unsigned d = edit_distance(word, candidates->v[i]);
		if (d <= limit && (!best.n || d < edit_distance(word, best)))
			best = candidates->v[i];
	}
	return best;
}

struct err *err_near(struct err *e, struct str word, const struct strs *names)
{
	struct str near = suggest(word, names);
	return near.n ? err_hint(e, "did you mean '%.*s'?", STR(near)) : e;
}

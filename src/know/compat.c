/* Finds the published wheel that serves a GPU; see compat.h. */
#include "know/compat.h"

#include "lang/python/version.h"
#include "target/target.h"

const char *const compat_how_names[] = {"exact", "generic", "override", NULL};

const struct compat_target *compat_of(struct str target)
{
	TABLE_EACH (compat_target, t)
		if (str_eq(str_from(t->target), target))
			return t;
	return NULL;
}

bool compat_serves(const char *const *targets, struct str target, enum compat_how how)
{
	struct target want = target_read(target);
	const struct compat_target *t = compat_of(want.name);
	struct str sibling = str_from(t ? t->as : NULL);
	for (const char *const *have = targets; have && *have; have++) {
		struct target h = target_read(str_from(*have));
		bool same = str_eq(h.name, want.name);
		if (how == COMPAT_OVERRIDE
				? str_eq(h.name, sibling)
				: same == (how == COMPAT_EXACT) && target_covers(&h, &want))
			return true;
	}
	return false;
}

bool compat_fits(const struct compat_wheel *w, struct str python)
{
	ARENA(tmp);
	const struct version *v;
	bool fits = true;
	struct err *e = python.n ? version_parse(&tmp, python, &v) : NULL;
	if (!e && python.n)
		e = version_match(v, str_from(w->python), &fits);
	fits = fits && !e;
	err_free(e);
	return fits;
}

bool compat_serves_all(const struct compat_wheel *w, const struct strs *also)
{
	for (size_t i = 0; also && i < also->n; i++)
		if (!compat_serves(w->targets, also->v[i], COMPAT_EXACT) ||
			compat_serves(w->no_blas, also->v[i], COMPAT_EXACT))
			return false;
	return true;
}

/* Is one of two versions the other, or its beginning? */
static bool agrees(struct str x, struct str y)
{
	struct str one = x.n < y.n ? x : y, other = x.n < y.n ? y : x;
	return str_starts(other, one) && (one.n == other.n || !one.n || other.p[one.n] == '.');
}

const struct compat_wheel *compat_find(const struct compat_query *q)
{
	TABLE_EACH (compat_wheel, w)
		if (q->amd == (w->amd != NULL) && q->unsure == w->unsure &&
			agrees(str_from(w->torch), q->torch) &&
			agrees(str_from(w->rocm), q->rocm) && compat_fits(w, q->python) &&
			compat_serves(w->targets, q->target, q->how) &&
			!(q->blas && compat_serves(w->no_blas, q->target, COMPAT_EXACT)) &&
			compat_serves_all(w, q->also))
			return w;
	return NULL;
}

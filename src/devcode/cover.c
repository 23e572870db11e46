/* Counts the bundles of a file that serve a target; see devcode.h. */
#include "base/buf.h"
#include "devcode/devcode.h"

void devcode_serves(const struct devcode *d, const struct target *want, bool ret[DEVCODE_TARGETS])
{
	for (size_t i = 0; i < d->targets.n; i++) {
		const struct target *have = &d->targets.v[i].t;
		ret[i] = target_covers(have, want) ||
			 (str_eq(have->name, want->name) && target_covers(want, have));
	}
}

/* The weight of an object: its kernels, or one when no kernels were counted. */
static int64_t weight(const struct code_object *o, bool kernels)
{
	return kernels || o->inner ? o->kernels : o->size > 0;
}

/* Are both in the same bundle? All bare objects count as one bundle. */
static bool same_bundle(const struct code_object *x, const struct code_object *y)
{
	return x->bundle == y->bundle ||
	       (x->encoding == DEVCODE_OBJECT && y->encoding == DEVCODE_OBJECT);
}

struct devcode_cover devcode_cover(const struct devcode_file *f, const bool *served)
{
	struct devcode_cover c = {0};
	bool kernels = false;
	VEC_EACH (const struct code_object, o, &f->objects) {
		kernels = kernels || o->kernels > 0;
		c.counts = c.counts || !o->inner || o->kernels > 0;
	}
	for (size_t i = 0, next; i < f->objects.n; i = next) {
		int64_t most = 0, have = 0;
		size_t largest = i;
		for (next = i; next < f->objects.n; next++) {
			const struct code_object *o = &f->objects.v[next];
			int64_t n = weight(o, kernels);
			if (!same_bundle(&f->objects.v[i], o))
				break;
			largest = n > most ? next : largest;
			most = n > most ? n : most;
			have = served[o->id] && n > have ? n : have;
		}
		if (!most)
			continue;
		if (!have && c.without < sizeof(c.first) / sizeof(*c.first))
			c.first[c.without] = largest;
		c.bundles++;
		c.without += !have;
		c.kernels += most;
		c.missing += most - have;
	}
	return c;
}

struct str devcode_cover_text(
	struct arena *a, const struct devcode_file *f, const struct devcode_cover *c)
{
	enum { MOST = sizeof(c->first) / sizeof(*c->first) };
	BUF(b, a);
	bool counted = c->without && f->objects.v[c->first[0]].kernels > 0;
	buf_fmt(&b, "%u of %u bundles", c->without, c->bundles);
	if (counted)
		buf_fmt(&b, " (%lld of %lld kernels)", (long long)c->missing,
			(long long)c->kernels);
	for (unsigned i = 0; i < c->without && i < MOST; i++) {
		const struct code_object *o = &f->objects.v[c->first[i]];
		buf_fmt(&b, "%s bundle %u at %llu", i ? "," : ":", o->bundle,
			(unsigned long long)o->place.bundle);
		if (counted)
			buf_fmt(&b, " (%lld kernel%s: '%.*s'%s)", (long long)o->kernels,
				o->kernels > 1 ? "s" : "", STR(o->kernel),
				o->kernels > 1 ? ", ..." : "");
	}
	buf_fmt(&b, "%s", c->without > MOST ? ", ..." : "");
	return buf_str(&b);
}

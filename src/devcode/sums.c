/* Totals over all files: sums by target, and the GPUs that they serve. */
#include <stdlib.h>

#include "devcode/scan.h"

static int by_target(const void *x, const void *y)
{
	return target_order(
		((const struct devcode_sum *)x)->target, ((const struct devcode_sum *)y)->target);
}

void devcode_count(struct arena *a, struct devcode_sums *sums, const struct devcode_file *f)
{
	VEC_EACH (struct code_object, o, &f->objects) {
		struct devcode_sum *s = NULL;
		VEC_EACH (struct devcode_sum, x, sums)
			s = str_eq(x->target, o->target) ? x : s;
		if (!s)
			s = VEC_PUSH(a, sums);
		s->target = o->target;
		s->objects++;
		s->size += o->size;
		s->stored += o->stored;
		s->debug = o->debug < 0 || s->debug < 0 ? -1 : s->debug + o->debug;
		s->versions |= o->version < 31 ? 1u << o->version : 0;
		s->kernels = o->kernels < 0 || s->kernels < 0 ? -1 : s->kernels + o->kernels;
	}
	if (sums->n)
		qsort(sums->v, sums->n, sizeof(*sums->v), by_target);
}

/* Notes in each file, and in the whole scan, whether one processor is served. */
static void judge_gpu(struct arena *a, struct devcode *d, struct str name)
{
	enum {
		ANSWERS = 1 << 18
	}; /* files times targets; above that devcode_file.served stays empty */
	bool served[DEVCODE_TARGETS], sets = false, all = true, some = false;
	struct target want = target_read(name);
	bool by_sets = sides_serve(d, &want, &sets);
	devcode_serves(d, &want, served);
	VEC_EACH (struct devcode_file, f, &d->files) {
		struct devcode_cover c = devcode_cover(f, served);
		bool does = c.bundles && !c.without;
		if (does && d->files.n * d->targets.n < ANSWERS)
			strs_add(a, &f->served, name);
		some = some || does;
		all = all && (does || !c.counts || (f->side && sets));
	}
	if (some)
		strs_add(a, &d->some, name);
	if (all && (by_sets || !sets))
		strs_add(a, &d->served, name);
}

void devcode_finish(struct arena *a, struct devcode *d)
{
	struct strs names = {0}; /* processors, without features */
	VEC_EACH (const struct devcode_target, t, &d->targets)
		if (t->t.name.n && !str_eq(t->name, S(DEVCODE_UNKNOWN)))
			strs_put(a, &names, str_sub(t->name, 0, str_chr(t->name, ':')));
	targets_sort(&names);
	d->served = d->some = (struct strs){0};
	d->sums = (struct devcode_sums){0};
	VEC_EACH (struct devcode_file, f, &d->files) {
		f->served = (struct strs){0};
		devcode_count(a, &d->sums, f);
	}
	for (size_t i = 0; i < names.n; i++)
		judge_gpu(a, d, names.v[i]);
	sides_judge(a, d);
	same_judge(a, d);
}

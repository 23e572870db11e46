/* Fills in a report and judges it; see slim.h. */
#include "base/fs.h"
#include "slim/slim_int.h"

void slim_note(struct arena *a, struct slim_report *r, struct str path, uint64_t before,
	const struct slim_plan *p)
{
	uint64_t after = p ? p->after : 0;
	r->before += before;
	r->after += after;
	r->stripped += p ? p->stripped : 0;
	for (size_t i = 0; p && i < p->targets.n; i++)
		slim_sum_add(a, &r->targets, &p->targets.v[i]);
	if (!p || p->changed)
		*VEC_PUSH(a, &r->files) = (struct slim_done){str_dup(a, path), before, after};
}

struct err *slim_check_served(
	struct arena *a, const struct slim_report *r, const struct slim_keep *k)
{
	VEC_EACH (const struct slim_sum, s, &r->targets)
		if (s->bytes && slim_keeps(k, s->target))
			return NULL;
	if (!r->targets.n)
		return NULL;
	return err_hint(err_new(E_GFX, "'%.*s' has no code for %.*s: nothing would be left",
				STR(r->path), STR(str_join(a, &r->gpus, S(", ")))),
		"it has code for %.*s", STR(cut_list_removed(a, r)));
}

struct err *slim_check_without(const struct slim_report *r)
{
	VEC_EACH (const struct str, glob, &r->without) {
		const struct strs one = {.v = (struct str *)(uintptr_t)glob, .n = 1};
		const struct slim_keep only = {.without = &one};
		bool hit = false;
		VEC_EACH (const struct slim_done, f, &r->files)
			hit = hit || (!f->after && slim_leaves_out(&only, f->path));
		if (!hit)
			return err_new(E_USAGE, "nothing in '%.*s' has a name like '%.*s'",
				STR(r->path), STR(*glob));
	}
	return NULL;
}

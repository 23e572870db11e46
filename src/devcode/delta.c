/* Compares the kernels of two scans; see kernels.h. */
#include "devcode/kernels.h"

static const struct json_field target_fields[] =
	FIELDS_ONLY(struct target_change, target, kernels_old, kernels_now, added, gone, changed,
		code_old, code_now, spilling_old, spilling_now);

static const struct json_field change_fields[] = {
	FIELD("change", struct kernel_change, change),
	FIELDS(struct kernel_change, target, name),
	FIELD_OPTIONAL("demangled", struct kernel_change, demangled),
	FIELD("path", struct kernel_change, path),
	FIELD_POINTER("old", struct kernel_change, old, code_kernel_fields),
	FIELD_LAST(FIELD_POINTER("now", struct kernel_change, now, code_kernel_fields)),
};

const struct json_field kernel_changes_fields[] = {
	FIELD_CONST("schema", "rocsmith.inspect-compare/1"),
	FIELDS(struct kernel_changes, old, now),
	FIELD_LIST("targets", struct kernel_changes, targets, target_fields),
	FIELD_LAST(FIELD_LIST("kernels", struct kernel_changes, kernels, change_fields)),
};

/* Notes what became of a kernel; one of the two may be NULL. rows: by target, the number of its row from 1, since a file may
 * claim as many targets as kernels. */
static void note_change(struct arena *a, struct map *rows, struct kernel_changes *r,
	const struct kernel_place *old, const struct kernel_place *now)
{
	/* vgprs, agprs, sgprs, spills, lds and scratch stand side by side */
	enum {
		RESOURCES = offsetof(struct code_kernel, scratch) -
			    offsetof(struct code_kernel, vgprs) + sizeof(uint64_t)
	};
	const struct kernel_place *one = now ? now : old;
	size_t row = (uintptr_t)map_get(rows, one->object->target);
	struct target_change *t = row ? &r->targets.v[row - 1] : VEC_PUSH(a, &r->targets);
	t->target = one->object->target;
	if (!row)
		map_put(rows, t->target, (void *)(uintptr_t)r->targets.n);
	struct kernel_change c = {.target = t->target,
		.name = one->kernel->name,
		.demangled = one->kernel->demangled,
		.path = one->file->path,
		.old = old ? old->kernel : NULL,
		.now = now ? now->kernel : NULL};
	t->kernels_old += old != NULL;
	t->kernels_now += now != NULL;
	t->code_old += old ? old->kernel->size : 0;
	t->code_now += now ? now->kernel->size : 0;
	t->spilling_old += old && kernel_spills(old->kernel);
	t->spilling_now += now && kernel_spills(now->kernel);
	t->added += !old;
	t->gone += !now;
	if (!old || !now)
		c.change = now ? "added" : "gone";
	else if (old->kernel->size != now->kernel->size)
		c.change = old->kernel->size < now->kernel->size ? "grown" : "shrunk";
	else if (memcmp(&old->kernel->vgprs, &now->kernel->vgprs, RESOURCES) != 0)
		c.change = "changed";
	else if (old->kernel->code != now->kernel->code)
		c.change = "bytes";
	else
		return;
	t->changed += old && now;
	*VEC_PUSH(a, &r->kernels) = c;
}

/* By how much the figure has become larger; a kernel that is gone weighs nothing. */
static int64_t more(const struct kernel_change *c, size_t which)
{
	static const struct code_kernel none;
	const struct code_kernel *x = c->old ? c->old : &none, *y = c->now ? c->now : &none;
	const uint64_t old[] = {kernel_spills(x), x->scratch, y->waves, x->size};
	const uint64_t now[] = {kernel_spills(y), y->scratch, x->waves, y->size};
	bool fewer_waves = which == 2;
	return fewer_waves && (!c->old || !c->now) ? 0 : (int64_t)(now[which] - old[which]);
}

static int worst_first(const void *x, const void *y)
{
	const struct kernel_change *a = x, *b = y;
	for (size_t i = 0; i < 4; i++) {
		int64_t p = more(a, i), q = more(b, i);
		if (p != q)
			return p > q ? -1 : 1;
	}
	int c = str_cmp(a->name, b->name);
	return c ? c : target_order(a->target, b->target);
}

void kernels_compare(struct arena *a, const struct devcode *old, const struct devcode *now,
	struct kernel_changes *ret)
{
	ARENA(tmp);
	MAP(rows, &tmp);
	struct kernel_places from = {0}, to = {0};
	*ret = (struct kernel_changes){.old = old->path, .now = now->path};
	kernels_list(&tmp, old, &from);
	kernels_list(&tmp, now, &to);
	for (size_t i = 0, k = 0; i < from.n || k < to.n;) {
		const struct kernel_place *x = i < from.n ? &from.v[i] : NULL;
		const struct kernel_place *y = k < to.n ? &to.v[k] : NULL;
		int c = x && y ? kernel_order(x, y) : x ? -1 : 1; /* the end of a list comes last */
		note_change(a, &rows, ret, c <= 0 ? x : NULL, c >= 0 ? y : NULL);
		i += c <= 0;
		k += c >= 0;
	}
	VEC_SORT(&ret->targets, target_order_first);
	VEC_SORT(&ret->kernels, worst_first);
}

/* Says what is found in a file, and compares objects with each other: by kernel names, to find kernels that a bundle has for one processor only; and by
 * hash, to find objects that are the same for several targets. */
#include <xxhash.h>

#include "devcode/scan.h"

/* ---- findings about the file that is being scanned ---- */

void scan_say(struct scan *s, const char *id, const char *fmt, ...)
{
	struct finding *f =
		finding_add(s->a, &s->out->findings, id, finding_severity(id), s->file->path);
	va_list ap;
	va_start(ap, fmt);
	finding_vsay(s->a, f, fmt, ap);
	va_end(ap);
}

void scan_damage(struct scan *s, const char *id, struct err *e)
{
	ARENA(tmp);
	struct strs chain = {0};
	for (const struct err *at = e; at; at = at->cause)
		strs_add(&tmp, &chain, str_from(at->msg));
	scan_say(s, id, "%.*s", STR(str_join(&tmp, &chain, S(": "))));
	err_free(e);
}

/* ---- kernels of one processor ---- */

static struct err *take_name(void *user, const struct elf_symbol *x)
{
	enum { MOST = 200 };
	struct scan *s = user;
	if (!x->section || !str_ends(x->name, S(".kd")))
		return NULL;
	struct str name = str_sub(x->name, 0, x->name.n - 3);
	uint64_t cost = 3 * sizeof(struct scan_name) + MOST; /* the list grows by doubling */
	TRY(budget_memory(s->names_budget, cost));
	s->names_taken += cost;
	struct scan_name *n = VEC_PUSH(s->names_in, &s->names);
	n->hash = XXH3_64bits(name.p, name.n);
	n->object = s->names_object;
	n->text = str_dup(s->names_in, str_sub(name, 0, MOST));
	return NULL;
}

struct err *names_take(struct scan *s, const struct elf *e, const struct code_object *o)
{
	s->names_object = (size_t)(o - s->file->objects.v);
	s->names_budget = e->src->budget;
	return elf_symbols(e, true, take_name, s);
}

static const struct gpu *gpu_of(const struct scan *s, size_t object)
{
	return s->out->targets.v[s->file->objects.v[object].id].t.gpu;
}

static int by_name(const void *x, const void *y)
{
	const struct scan_name *a = x, *b = y;
	if (a->hash != b->hash)
		return a->hash < b->hash ? -1 : 1;
	return (a->object > b->object) - (a->object < b->object);
}

/* The processor that has a kernel, among those of one wave size; `more`: there are others. Kernels for the other wave
 * size have other names anyway. */
struct owner {
	const struct gpu *one;
	bool more;
};

static void add_owner(struct owner by_wave[2], const struct gpu *gpu)
{
	struct owner *w = gpu ? &by_wave[gpu->wave32] : NULL;
	if (w && w->one && w->one != gpu)
		w->more = true;
	else if (w)
		w->one = gpu;
}

/* Equal names count as alone if only one processor has them although the bundle has kernels for others of its wave
 * size. */
void names_compare(struct scan *s, size_t first)
{
	struct scan_name *v = s->names.v;
	size_t total = s->names.n;
	struct owner have[2] = {0}; /* the processors with kernels in this bundle, by wave size */
	if (!s->names_in)
		return;
	for (size_t i = first; i < s->file->objects.n; i++)
		if (s->file->objects.v[i].kernels > 0)
			add_owner(have, gpu_of(s, i));
	if (total)
		qsort(v, total, sizeof(*v), by_name);
	for (size_t i = 0, n; i < total; i += n) {
		struct owner by_wave[2] = {0};
		for (n = 0; i + n < total && v[i + n].hash == v[i].hash; n++)
			add_owner(by_wave, gpu_of(s, v[i + n].object));
		for (size_t k = i; k < i + n; k++) {
			struct code_object *o = &s->file->objects.v[v[k].object];
			const struct gpu *gpu = gpu_of(s, v[k].object);
			if (!gpu || by_wave[gpu->wave32].more || !have[gpu->wave32].more)
				continue;
			if (!o->alone++)
				o->alone_kernel = str_dup(s->a, v[k].text);
		}
	}
	budget_return(s->names_budget, s->names_taken);
	arena_free(s->names_in);
	s->names_taken = 0;
	memset(&s->names, 0, sizeof(s->names));
}

void names_judge(struct scan *s)
{
	const struct devcode *d = s->out;
	for (size_t id = 0; id < d->targets.n; id++) {
		const struct code_object *shown = NULL;
		int64_t alone = 0, kernels = 0;
		VEC_EACH (const struct code_object, o, &s->file->objects) {
			if (o->id != id || o->alone < 0)
				continue;
			alone += o->alone;
			kernels += o->kernels;
			shown = shown || !o->alone ? shown : o;
		}
		if (shown)
			scan_say(s, "kernels-of-one-target",
				"%.*s: %lld of %lld kernels are there for no other GPU of its wave "
				"size: "
				"'%.*s' in bundle %u%s",
				STR(d->targets.v[id].name), (long long)alone, (long long)kernels,
				STR(shown->alone_kernel), shown->bundle, alone > 1 ? ", ..." : "");
	}
}

/* ---- identical objects ---- */

struct hashed_object {
	struct str sha256;
	unsigned id;
	uint64_t size;
};

struct same_group { /* targets with identical objects: "gfx1200, gfx1201" */
	struct str targets;
	uint64_t objects, size; /* size: bytes of the redundant copies */
};

static int by_hash(const void *x, const void *y)
{
	const struct hashed_object *a = x, *b = y;
	int c = str_cmp(a->sha256, b->sha256);
	return c ? c : (a->id > b->id) - (a->id < b->id);
}

void same_judge(struct arena *a, struct devcode *d)
{
	ARENA(tmp);
	VEC(struct hashed_object) all = {0};
	VEC(struct same_group) groups = {0};
	VEC_EACH (const struct devcode_file, f, &d->files)
		VEC_EACH (const struct code_object, o, &f->objects)
			if (o->sha256.n && o->size)
				*VEC_PUSH(&tmp, &all) = (struct hashed_object){
					.sha256 = o->sha256, .id = o->id, .size = o->size};
	VEC_SORT(&all, by_hash);
	for (size_t i = 0, n; i < all.n; i += n) {
		for (n = 1; i + n < all.n && str_eq(all.v[i + n].sha256, all.v[i].sha256);)
			n++;
		struct strs names = {0};
		for (size_t k = i; k < i + n; k++)
			strs_put(&tmp, &names, d->targets.v[all.v[k].id].name);
		targets_sort(&names);
		struct str targets = str_join(&tmp, &names, S(", "));
		struct same_group *g = VEC_FIND(struct same_group, &groups, targets, targets);
		if (names.n < 2)
			continue;
		if (!g)
			g = VEC_PUSH(&tmp, &groups);
		g->targets = targets;
		g->objects += n;
		g->size += all.v[i].size * (n - 1);
	}
	VEC_EACH (const struct same_group, g, &groups)
		finding_note(a, &d->findings, "objects-identical", d->path,
			"%llu objects for %.*s are identical: %llu bytes are there more than once",
			(unsigned long long)g->objects, STR(g->targets),
			(unsigned long long)g->size);
}

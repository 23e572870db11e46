/* kpack archives: device code that was split off from libraries; see formats/kpack.h. All objects of one PATH#NUMBER count
 * as a bundle. */
#include "formats/kpack.h"

#include <stdlib.h>

#include "devcode/scan.h"

struct pack_decoding {
	const struct bytes *src;
	char *p; /* malloc'ed */
	uint64_t size, have;
};

static void decoding_done(struct pack_decoding *d)
{
	free(d->p);
	budget_return(d->src->budget, d->p ? d->size : 0);
}

static struct err *piece(void *user, const void *p, size_t n, uint64_t at, bool *stop)
{
	struct pack_decoding *d = user;
	(void)stop;
	if (at != d->have || n > d->size - at)
		return err_new(E_BUNDLE, "an object is larger than the table says");
	memcpy(d->p + at, p, n);
	d->have += n;
	return NULL;
}

static struct err *look(struct scan *s, const struct bytes *src, const struct kpack *k,
	const struct kpack_object *x, struct code_object *o)
{
	CLEANUP(decoding_done) struct pack_decoding d = {.src = src, .size = x->size};
	TRY(budget_memory(src->budget, x->size));
	d.p = malloc(x->size ? (size_t)x->size : 1);
	if (!d.p)
		return err_new(E_LIMIT, "no memory for an object of %llu bytes",
			(unsigned long long)x->size);
	TRY(kpack_read(src, k, x, piece, &d));
	struct bytes bytes = bytes_mem((struct str){d.p, (size_t)d.have});
	bytes.budget = src->budget;
	object_look(s, &bytes, o);
	return NULL;
}

static struct err *add(struct scan *s, const struct bytes *src, const struct kpack *k,
	const struct kpack_object *x)
{
	struct code_object *o;
	TRY(object_add(s, src, x->target, &o));
	o->encoding = DEVCODE_KPACK;
	o->size = x->size;
	o->stored = x->stored;
	o->place =
		(struct code_place){.bundle = src->base - s->base + x->offset, .length = x->stored};
	struct err *e = s->flags ? look(s, src, k, x, o) : NULL;
	if (!e || (e->code != E_BUNDLE && e->code != E_LIMIT))
		return e;
	scan_damage(s, "bundle-damaged",
		err_wrap(e, "cannot decode %.*s#%u for %.*s", STR(x->path), x->index,
			STR(x->target)));
	return NULL;
}

struct err *scan_kpack(struct scan *s, const struct bytes *src)
{
	ARENA(tmp);
	struct kpack k;
	size_t first = 0;
	TRY(kpack_open(&tmp, src, &k));
	for (size_t i = 0; i < k.objects.n; i++) {
		const struct kpack_object *x = &k.objects.v[i], *next = x + 1;
		bool last = i + 1 == k.objects.n || next->index != x->index ||
			    !str_eq(next->path, x->path);
		s->whose = str_fmt(&tmp, " (%.*s#%u)", STR(x->path), x->index);
		TRY(add(s, src, &k, x));
		if (!last)
			continue;
		TRY(budget_memory(src->budget, x->path.n + sizeof(struct devcode_pack)));
		*VEC_PUSH(s->a, &s->file->packs) =
			(struct devcode_pack){str_dup(s->a, x->path), x->index};
		object_compare(s, first, s->file->objects.n);
		first = s->file->objects.n;
		s->file->bundles++;
	}
	return NULL;
}

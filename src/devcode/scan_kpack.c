/* kpack archives: device code that was split off from libraries; see formats/kpack.h. All objects of one PATH#NUMBER count
 * as a bundle. */
#include "formats/kpack.h"

#include "devcode/scan.h"

struct pack_decoding {
	struct object_bytes *bytes;
	uint64_t size;
};

static struct err *take_piece(void *user, const void *p, size_t n, uint64_t at, bool *stop)
{
	struct pack_decoding *d = user;
	(void)stop;
	if (at != d->bytes->n || n > d->size - at)
		return err_new(E_BUNDLE, "an object is larger than the table says");
	return object_bytes_add(d->bytes, d->size, (struct str){p, n});
}

static struct err *add_object(struct scan *s, const struct bytes *src, const struct kpack *k,
	const struct kpack_object *x)
{
	CLEANUP(object_bytes_free) struct object_bytes b = {.budget = src->budget};
	struct pack_decoding d = {&b, x->size};
	struct code_object *o;
	TRY(object_add(s, src, x->target, &o));
	o->encoding = DEVCODE_KPACK;
	o->size = x->size;
	o->stored = x->stored;
	o->place =
		(struct code_place){.bundle = src->base - s->base + x->offset, .length = x->stored};
	if (!s->flags)
		return NULL;
	struct err *e = kpack_read(src, k, x, take_piece, &d);
	struct bytes bytes = bytes_mem((struct str){b.p, b.n});
	bytes.budget = b.budget;
	if (!e)
		object_look(s, &bytes, o);
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
		TRY(add_object(s, src, &k, x));
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

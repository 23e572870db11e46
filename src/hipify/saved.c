/* Packs the report of a run into bytes and unpacks it; see hipify_int.h. */
#include "hipify/hipify_int.h"

#include "formats/le.h"

/* The size of a record whose texts are all empty: the least that unpacking may expect. */
enum { UNTRANSLATED_BYTES = 30, FINDING_BYTES = 20, TEXT_BYTES = 5 };

static void put_texts(struct buf *b, const struct strs *list)
{
	buf_le(b, list->n, 4);
	for (size_t i = 0; i < list->n; i++)
		pack_text(b, list->v[i]);
}

struct str saved_pack(struct arena *a, const struct hipify_tree *t)
{
	BUF(b, a);
	buf_le(&b, t->untranslated.n, 4);
	VEC_EACH (const struct untranslated, u, &t->untranslated) {
		buf_le(&b, u->unsure, 1);
		buf_le(&b, u->certain, 1);
		buf_le(&b, u->line, 4);
		buf_le(&b, u->col, 4);
		pack_text(&b, u->path);
		pack_text(&b, u->name);
		pack_text(&b, u->suggestion);
		pack_text(&b, u->since);
	}
	buf_le(&b, t->findings.n, 4);
	VEC_EACH (const struct finding, f, &t->findings) {
		buf_le(&b, f->severity, 1);
		pack_text(&b, str_from(f->id));
		pack_text(&b, f->message);
		pack_text(&b, f->path);
		put_texts(&b, &f->fix);
	}
	put_texts(&b, &t->headers);
	return buf_str(&b);
}

static void get_texts(struct arena *a, struct unpack *u, struct strs *ret)
{
	for (size_t n = unpack_count(u, TEXT_BYTES); n > 0; n--)
		strs_add(a, ret, unpack_text(u));
}

struct err *saved_load(struct arena *a, struct str bytes, struct hipify_tree *ret)
{
	struct unpack u = {.s = bytes};
	for (size_t n = unpack_count(&u, UNTRANSLATED_BYTES); n > 0; n--) {
		struct untranslated *name = VEC_PUSH(a, &ret->untranslated);
		name->unsure = unpack_bool(&u);
		name->certain = unpack_bool(&u);
		name->line = (unsigned)unpack_u64(&u, 4);
		name->col = (unsigned)unpack_u64(&u, 4);
		name->path = unpack_text(&u);
		name->name = unpack_text(&u);
		name->suggestion = unpack_text(&u);
		name->since = unpack_text(&u);
	}
	for (size_t n = unpack_count(&u, FINDING_BYTES); n > 0; n--) {
		struct finding *f = VEC_PUSH(a, &ret->findings);
		f->severity = (enum severity)unpack_kind(&u, SEV_ERROR);
		f->id = unpack_text(&u).p;
		f->message = unpack_text(&u);
		f->path = unpack_text(&u);
		get_texts(a, &u, &f->fix);
	}
	get_texts(a, &u, &ret->headers);
	return u.bad || u.s.n ? err_new(E_CORRUPT, "the report of the last run is damaged") : NULL;
}

/* Packs the report of a run into bytes and unpacks it; see hipify_int.h. */
#include "hipify/hipify_int.h"

#include "formats/le.h"

/* The size of a record whose texts are all empty: the least that unpacking may expect. */
enum { UNTRANSLATED_BYTES = 30, FINDING_BYTES = 20, TEXT_BYTES = 5 };

static void pass_texts(struct record *r, struct strs *io)
{
	record_list(r, io, sizeof(*io->v), TEXT_BYTES);
	VEC_EACH (struct str, text, io)
		record_text(r, text);
}

/* Writes the report, or reads it. */
static void pass_report(struct record *r, struct hipify_tree *io)
{
	record_list(r, &io->untranslated, sizeof(*io->untranslated.v), UNTRANSLATED_BYTES);
	VEC_EACH (struct untranslated, u, &io->untranslated) {
		record_bool(r, &u->unsure);
		record_bool(r, &u->certain);
		record_u32(r, &u->line);
		record_u32(r, &u->col);
		record_text(r, &u->path);
		record_text(r, &u->name);
		record_text(r, &u->suggestion);
		record_text(r, &u->since);
	}
	record_list(r, &io->findings, sizeof(*io->findings.v), FINDING_BYTES);
	VEC_EACH (struct finding, f, &io->findings) {
		struct str id = str_from(f->id);
		record_kind(r, &f->severity, SEV_ERROR);
		record_text(r, &id);
		record_text(r, &f->message);
		record_text(r, &f->path);
		pass_texts(r, &f->fix);
		f->id = id.p;
	}
	pass_texts(r, &io->headers);
}

struct str saved_pack(struct arena *a, const struct hipify_tree *t)
{
	BUF(b, a);
	struct hipify_tree whole = *t;
	pass_report(&(struct record){.out = &b}, &whole);
	return buf_str(&b);
}

struct err *saved_load(struct arena *a, struct str bytes, struct hipify_tree *ret)
{
	struct record r = {.a = a, .in = bytes};
	pass_report(&r, ret);
	return r.bad || r.in.n ? err_new(E_CORRUPT, "the report of the last run is damaged") : NULL;
}

/* Compares two wheels byte by byte, and reports why they differ; see archive.h. A single wheel is compared with itself,
 * unpacked and packed again. */
#include "base/fs.h"
#include "wheel/archive.h"

enum { PIECE = 1 << 20 };

static struct err *same_bytes(const struct bytes *x, const struct bytes *y, bool *ret)
{
	ARENA(tmp);
	size_t room = x->size < PIECE ? (size_t)x->size : PIECE;
	char *p = arena_alloc(&tmp, room), *q = arena_alloc(&tmp, room);
	*ret = x->size == y->size;
	for (uint64_t at = 0; *ret && at < x->size; at += PIECE) {
		size_t n = x->size - at < room ? (size_t)(x->size - at) : room;
		TRY(bytes_read(x, p, n, at));
		TRY(bytes_read(y, q, n, at));
		*ret = memcmp(p, q, n) == 0;
	}
	return NULL;
}

struct pair {
	struct arena *a;
	const struct zip *x, *y;
	struct wheel_comparison *ret;
};

static void say(struct pair *p, struct str name, const char *what)
{
	struct wheel_change *last =
		p->ret->members.n ? &p->ret->members.v[p->ret->members.n - 1] : NULL;
	if (!last || !str_eq(last->name, name)) {
		last = VEC_PUSH(p->a, &p->ret->members);
		last->name = name;
	}
	strs_add(p->a, &last->differs, str_from(what));
}

/* Different compressed bytes may unpack to the same content: size and CRC-32 decide which reason to name. */
static struct err *compare_member(
	struct pair *p, const struct zip_member *m, const struct zip_member *n)
{
	struct bytes x[] = {bytes_sub(&p->x->src, m->header, m->data - m->header),
		bytes_sub(&p->x->src, m->data, m->stored)};
	struct bytes y[] = {bytes_sub(&p->y->src, n->header, n->data - n->header),
		bytes_sub(&p->y->src, n->data, n->stored)};
	bool head, data, same = m->size == n->size && m->crc == n->crc, time = m->time == n->time;
	TRY(same_bytes(&x[0], &y[0], &head));
	TRY(same_bytes(&x[1], &y[1], &data));
	const struct {
		bool differs;
		const char *what;
	} all[] = {{!same, "content"}, {same && !data, "compression"}, {!time, "time"},
		{m->mode != n->mode, "mode"}, {!head && same && data && time, "header"}};
	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		if (all[i].differs)
			say(p, m->name, all[i].what);
	return NULL;
}

static struct err *compare(struct pair *p)
{
	struct wheel_comparison *r = p->ret;
	TRY(same_bytes(&p->x->src, &p->y->src, &r->same));
	if (r->same)
		return NULL;
	const struct zip_member *last = NULL;
	VEC_EACH (const struct zip_member, m, &p->x->members) {
		const struct zip_member *n = zip_find(p->y, m->name);
		if (n && last && n < last)
			strs_put(p->a, &r->differs, S("order"));
		last = n ? n : last;
		if (n)
			TRY(compare_member(p, m, n));
		else
			say(p, m->name, "only-first");
	}
	VEC_EACH (const struct zip_member, m, &p->y->members)
		if (!zip_find(p->x, m->name))
			say(p, m->name, "only-second");
	if (!r->differs.n && !r->members.n)
		strs_add(p->a, &r->differs, S("other"));
	return NULL;
}

static struct err *pack_again(
	struct arena *a, struct str dir, const struct wheel_request *q, struct str *ret)
{
	struct wheel_request r = *q;
	struct wheel_done done;
	r.to = path_join(a, dir, S("tree"));
	TRY(wheel_unpack(a, &r, &done));
	r.from = done.path;
	r.to = path_join(a, dir, S("wheel"));
	TRY(wheel_pack(a, &r, &done));
	*ret = done.path;
	return NULL;
}

struct err *wheel_compare(
	struct arena *a, const struct wheel_request *q, struct wheel_comparison *ret)
{
	CLEANUP(wheel_close) struct wheel x = {.zip.fd = -1};
	CLEANUP(wheel_close) struct wheel y = {.zip.fd = -1};
	struct pair p = {.a = a, .x = &x.zip, .y = &y.zip, .ret = ret};
	struct str scratch = {0}, other = q->to;
	struct err *e = NULL;
	*ret = (struct wheel_comparison){.path = q->from, .other = other};
	TRY(wheel_open(a, q->from, &x));
	if (!other.n) {
		struct wheel_request r = *q;
		r.time = q->epoch < 0 && x.members.n ? x.members.v[0].zip->time : 0;
		TRY(fs_tempdir(a, S(""), &scratch));
		e = pack_again(a, scratch, &r, &other);
	}
	e = e ? e : wheel_open(a, other, &y);
	e = e ? e : compare(&p);
	return scratch.n ? err_join(e, fs_remove_tree(scratch)) : e;
}

/* Compares two wheels byte by byte, and reports why they differ; see archive.h. A single wheel is compared with itself,
 * unpacked and packed again. */
#include "base/fs.h"
#include "wheel/archive.h"

static struct err *same_bytes(const struct bytes *x, const struct bytes *y, bool *ret)
{
	uint64_t same = 0;
	if (x->size == y->size)
		TRY(bytes_compare(x, y, &same));
	*ret = x->size == y->size && same == x->size;
	return NULL;
}

static void say(struct arena *a, struct wheel_comparison *r, struct str name, const char *what)
{
	struct wheel_change *last = r->members.n ? &r->members.v[r->members.n - 1] : NULL;
	if (!last || !str_eq(last->name, name)) {
		last = VEC_PUSH(a, &r->members);
		last->name = name;
	}
	strs_add(a, &last->differs, str_from(what));
}

static struct err *compare_wheels(struct arena *a, const struct zip *first,
	const struct zip *second, struct wheel_comparison *r)
{
	const struct bytes *x = &first->src, *y = &second->src;
	TRY(same_bytes(x, y, &r->same));
	if (r->same)
		return NULL;
	const struct zip_member *last = NULL;
	VEC_EACH (const struct zip_member, m, &first->members) {
		const struct zip_member *n = zip_find(second, m->name);
		if (!n) {
			say(a, r, m->name, "only-first");
			continue;
		}
		if (last && n < last)
			strs_put(a, &r->differs, S("order"));
		last = n;
		struct bytes heads[] = {bytes_sub(x, m->header, m->data - m->header),
			bytes_sub(y, n->header, n->data - n->header)};
		struct bytes contents[] = {
			bytes_sub(x, m->data, m->stored), bytes_sub(y, n->data, n->stored)};
		/* other compressed bytes may unpack to the same content: size and CRC-32 decide which reason to name */
		bool same = m->size == n->size && m->crc == n->crc, time = m->time == n->time;
		bool head, data;
		TRY(same_bytes(&heads[0], &heads[1], &head));
		TRY(same_bytes(&contents[0], &contents[1], &data));
		const struct {
			bool differs;
			const char *what;
		} all[] = {{!same, "content"}, {same && !data, "compression"}, {!time, "time"},
			{m->mode != n->mode, "mode"}, {!head && same && data && time, "header"}};
		for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
			if (all[i].differs)
				say(a, r, m->name, all[i].what);
	}
	VEC_EACH (const struct zip_member, m, &second->members)
		if (!zip_find(first, m->name))
			say(a, r, m->name, "only-second");
	if (!r->differs.n && !r->members.n)
		strs_add(a, &r->differs, S("other"));
	return NULL;
}

struct err *wheel_compare(
	struct arena *a, const struct wheel_request *q, struct wheel_comparison *ret)
{
	CLEANUP(wheel_close) struct wheel x = {.zip.fd = -1};
	CLEANUP(wheel_close) struct wheel y = {.zip.fd = -1};
	CLEANUP(fs_tempdirp) struct str scratch = {0};
	struct str other = q->to;
	*ret = (struct wheel_comparison){.path = q->from, .other = other};
	TRY(wheel_open(a, q->from, &x));
	if (!other.n) {
		struct wheel_request r = *q;
		struct wheel_done done = {0};
		r.time = q->epoch < 0 && x.members.n ? x.members.v[0].zip->time : 0;
		TRY(fs_tempdir(a, S(""), &scratch));
		r.to = path_join(a, scratch, S("tree"));
		TRY(wheel_unpack(a, &r, &done));
		r.from = done.path;
		r.to = path_join(a, scratch, S("wheel"));
		TRY(wheel_pack(a, &r, &done));
		other = done.path;
	}
	TRY(wheel_open(a, other, &y));
	return compare_wheels(a, &x.zip, &y.zip, ret);
}

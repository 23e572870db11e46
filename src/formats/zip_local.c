/* What both halves of the zip reader need (findings, the ZIP64 extra field); and local headers
 * against the central directory: whether members, headers and data descriptors fill the file without
 * overlap or gap. See zip.h. */
#include <stdlib.h>

#include "formats/zip_read.h"

enum { MAX_OF_A_KIND = 50 };

void zip_say(struct zip_reader *r, const char *id, enum severity severity, struct str member,
	const char *fmt, ...)
{
	size_t i = 0, kinds = sizeof(r->counts) / sizeof(r->counts[0]);
	while (i + 1 < kinds && r->counts[i].id && !str_eq(str_from(r->counts[i].id), str_from(id)))
		i++;
	r->counts[i].id = id;
	if (r->counts[i].n++ >= MAX_OF_A_KIND) {
		r->suppressed++;
		return;
	}
	va_list ap;
	va_start(ap, fmt);
	struct finding *f = finding_add(r->a, r->list, id, severity, str_dup(r->a, member));
	f->message = str_vfmt(r->a, fmt, ap);
	va_end(ap);
}

static void wide_values(struct str field, const bool want[3], struct zip_wide *w)
{
	uint64_t *values[] = {&w->size, &w->stored, &w->header};
	size_t at = 0;
	for (unsigned i = 0; i < 3; i++) {
		if (!want[i])
			continue;
		if (field.n - at < 8) {
			w->problem = "is too short for the values that it stands for";
			return;
		}
		*values[i] = le64(field.p + at);
		at += 8;
	}
	if (at < field.n && !w->problem)
		w->problem = at ? "has values that the header has already"
				: "stands for no value of the header";
}

void zip_wide_read(struct str extra, const bool want[3], struct zip_wide *w)
{
	while (extra.n >= 4) {
		unsigned id = le16(extra.p), n = le16(extra.p + 2);
		if (n > extra.n - 4)
			break;
		if (id == ZIP_EXTRA64 && w->length)
			w->problem = "occurs twice";
		else if (id == ZIP_EXTRA64) {
			w->length = n + 4;
			wide_values(str_sub(extra, 4, 4 + n), want, w);
		}
		extra = str_sub(extra, 4 + n, extra.n);
	}
	if (extra.n && !w->problem)
		w->problem = "or another extra field is cut short";
	if (!w->length && (want[0] || want[1] || want[2]))
		w->problem = "is missing";
}

/* ---- local headers ---- */
struct local {
	const char *p; /* the fixed part */
	struct str name, extra;
	uint64_t size, stored;
};

static struct err *read_local(
	struct arena *tmp, struct zip_reader *r, const struct zip_member *m, struct local *ret)
{
	uint64_t room = r->dir - m->header;
	size_t n = ZIP_LOCAL_SIZE + m->name.n + 64;
	n = room < n ? (size_t)room : n;
	char *p = arena_alloc(tmp, n + 1);
	TRY(r->z->src.read(&r->z->src, p, n, m->header));
	*ret = (struct local){.p = p};
	if (n < ZIP_LOCAL_SIZE || le32(p) != ZIP_LOCAL)
		return NULL;
	size_t want = ZIP_LOCAL_SIZE + (size_t)le16(p + 26) + le16(p + 28);
	if (want > room)
		return NULL;
	if (want > n) {
		ret->p = p = arena_alloc(tmp, want);
		TRY(r->z->src.read(&r->z->src, p, want, m->header));
	}
	ret->name = (struct str){.p = p + ZIP_LOCAL_SIZE, .n = le16(p + 26)};
	ret->extra = (struct str){.p = ret->name.p + ret->name.n, .n = le16(p + 28)};
	return NULL;
}

/* 4.5.3: a ZIP64 field in a local header has both sizes, and both 32-bit fields are marked. A copy
 * of the central one (which may have one size, or the offset) is what pypa/wheel#692 was about. */
static void local_sizes(struct zip_reader *r, const struct zip_member *m, struct local *l)
{
	struct zip_wide w = {.size = le32(l->p + 22), .stored = le32(l->p + 18)};
	bool marked = w.size == 0xffffffff || w.stored == 0xffffffff;
	const bool want[] = {marked, marked, false};
	bool half = marked && w.size != w.stored;
	zip_wide_read(l->extra, want, &w);
	l->size = w.size;
	l->stored = w.stored;
	if (w.problem)
		SAY_ERROR(r, "zip-zip64", m->name, "the ZIP64 extra field of its local header %s",
			w.problem);
	else if (half)
		SAY_ERROR(r, "zip-zip64", m->name,
			"the ZIP64 extra field of its local header has both sizes, its header one");
}

static void differ(struct zip_reader *r, const struct zip_member *m, const char *what)
{
	SAY_ERROR(r, "zip-local-header", m->name,
		"%s in the local header and in the central directory differ", what);
}

static void compare(struct zip_reader *r, const struct zip_member *m, const struct local *l)
{
	bool later = m->flags & ZIP_FLAG_DESCRIPTOR; /* crc and sizes may be zero here */
	uint32_t crc = le32(l->p + 14);
	if (!str_eq(l->name, m->name))
		differ(r, m, "the names");
	if (le16(l->p + 6) != m->flags)
		differ(r, m, "the flags");
	if (le16(l->p + 8) != m->method)
		differ(r, m, "the methods");
	if (crc != m->crc && !(later && !crc))
		differ(r, m, "the checksums");
	if ((l->size != m->size && !(later && !l->size)) ||
		(l->stored != m->stored && !(later && !l->stored)))
		differ(r, m, "the sizes");
}

static struct err *check_member(struct zip_reader *r, struct zip_member *m)
{
	ARENA(tmp);
	struct local l;
	m->data = UINT64_MAX;
	if (m->header > r->dir - r->shift) {
		SAY_ERROR(r, "zip-local-header", m->name, "its offset is behind the members");
		m->unsafe = true;
		return NULL;
	}
	m->header += r->shift;
	TRY(read_local(&tmp, r, m, &l));
	if (!l.name.p) {
		SAY_ERROR(r, "zip-local-header", m->name, "there is no local header at %llu",
			(unsigned long long)m->header);
		m->unsafe = true;
		return NULL;
	}
	m->data = m->header + ZIP_LOCAL_SIZE + l.name.n + l.extra.n;
	local_sizes(r, m, &l);
	compare(r, m, &l);
	if (m->stored <= r->dir - m->data)
		return NULL;
	SAY_ERROR(r, "zip-overlap", m->name, "its data runs into the central directory");
	m->unsafe = true;
	return NULL;
}

/* ---- who owns which bytes ---- */

/* 4.3.9: with or without a signature, sizes of 4 or 8 bytes. */
static bool descriptor_fits(const struct zip_member *m, const unsigned char *p, size_t n)
{
	bool sig = n == 16 || n == 24;
	const unsigned char *v = p + (sig ? 4 : 0);
	if (n != 12 && n != 16 && n != 20 && n != 24)
		return false;
	if ((sig && le32(p) != ZIP_DESCRIPTOR) || le32(v) != m->crc)
		return false;
	if (n >= 20)
		return le64(v + 4) == m->stored && le64(v + 12) == m->size;
	return le32(v + 4) == m->stored && le32(v + 8) == m->size;
}

static struct err *check_descriptor(
	struct zip_reader *r, const struct zip_member *m, uint64_t end, uint64_t next)
{
	unsigned char p[24] = {0};
	size_t n = next - end <= sizeof(p) ? (size_t)(next - end) : 0;
	if (n)
		TRY(r->z->src.read(&r->z->src, p, n, end));
	SAY_WARNING(r, "zip-data-descriptor", m->name,
		"sizes follow the data (a data descriptor): it cannot be unpacked as a stream");
	if (!descriptor_fits(m, p, n))
		SAY_ERROR(r, "zip-local-header", m->name, "its data descriptor is wrong");
	return NULL;
}

static struct err *check_end(struct zip_reader *r, struct zip_member *m, uint64_t next)
{
	uint64_t end = m->data + m->stored;
	if (end > next) {
		SAY_ERROR(r, "zip-overlap", m->name, "shares bytes with the next member");
		m->unsafe = true;
		return NULL;
	}
	if (m->flags & ZIP_FLAG_DESCRIPTOR)
		return check_descriptor(r, m, end, next);
	if (end < next)
		SAY_ERROR(r, "zip-gap", m->name, "%llu bytes behind it belong to no member",
			(unsigned long long)(next - end));
	return NULL;
}

static int by_header(const void *x, const void *y)
{
	const struct zip_member *a = *(struct zip_member *const *)x;
	const struct zip_member *b = *(struct zip_member *const *)y;
	return (a->header > b->header) - (a->header < b->header);
}

struct err *zip_check_local(struct zip_reader *r)
{
	struct zip *z = r->z;
	size_t n = 0;
	struct zip_member **v = arena_array(r->a, z->members.n + 1, sizeof(struct zip_member *));
	VEC_EACH (struct zip_member, m, &z->members) {
		TRY(check_member(r, m));
		if (m->data <= r->dir && m->stored <= r->dir - m->data)
			v[n++] = m;
	}
	if (n)
		qsort(v, n, sizeof(struct zip_member *), by_header);
	uint64_t first = n ? v[0]->header : r->dir;
	if (first > r->shift)
		SAY_ERROR(r, "zip-gap", z->path, "%llu bytes in front of the first member",
			(unsigned long long)(first - r->shift));
	for (size_t i = 0; i < n; i++)
		TRY(check_end(r, v[i], i + 1 < n ? v[i + 1]->header : r->dir));
	return NULL;
}

/* Writes and reads records; see le.h. Reading never leaves the text. */
#include "formats/le.h"

/* The next n bytes of what is read, or NULL. */
static const char *take(struct record *r, uint64_t n)
{
	if (r->bad || n > r->in.n) {
		r->bad = true;
		return NULL;
	}
	const char *p = r->in.p;
	r->in.p += n;
	r->in.n -= n;
	return p;
}

static uint64_t pass_number(struct record *r, uint64_t v, unsigned bytes)
{
	if (r->out) {
		buf_le(r->out, v, bytes);
		return v;
	}
	const char *p = take(r, bytes);
	v = 0;
	for (unsigned i = 0; p && i < bytes; i++)
		v |= (uint64_t)(unsigned char)p[i] << (8 * i);
	return v;
}

void record_raw(struct record *r, void *io, size_t n)
{
	if (r->out) {
		buf_add(r->out, (struct str){io, n});
		return;
	}
	const char *p = take(r, n);
	if (p)
		memcpy(io, p, n);
}

void record_bool(struct record *r, bool *io)
{
	*io = pass_number(r, *io, 1) == 1;
}

void record_kind(struct record *r, void *io, unsigned last)
{
	unsigned *kind = io;
	uint64_t v = pass_number(r, *kind, 1);
	if (r->out)
		return;
	r->bad = r->bad || v > last;
	*kind = r->bad ? 0 : (unsigned)v;
}

void record_u32(struct record *r, unsigned *io)
{
	*io = (unsigned)pass_number(r, *io, 4);
}

void record_u64(struct record *r, uint64_t *io)
{
	*io = pass_number(r, *io, 8);
}

void record_bytes(struct record *r, struct str *io)
{
	uint64_t n = pass_number(r, io->n, 4);
	if (r->out) {
		buf_add(r->out, *io);
		buf_char(r->out, 0);
		return;
	}
	const char *p = take(r, n + 1);
	r->bad = !p || p[n];
	*io = r->bad ? S("") : (struct str){.p = p, .n = (size_t)n};
}

void record_text(struct record *r, struct str *io)
{
	record_bytes(r, io);
	if (r->out || !memchr(io->p, 0, io->n))
		return;
	r->bad = true;
	*io = S("");
}

void record_list(struct record *r, void *io, size_t size, size_t least)
{
	struct { /* a VEC of any type */
		void *v;
		size_t n, cap;
	} list;
	memcpy(&list, io, sizeof(list));
	uint64_t n = pass_number(r, list.n, 4);
	if (r->out)
		return;
	r->bad = r->bad || n > r->in.n / least;
	list.n = list.cap = r->bad ? 0 : (size_t)n;
	list.v = arena_array(r->a, list.n, size);
	memcpy(io, &list, sizeof(list));
}

/* Zip archives from memory: end records, directory, local headers, then the content of every member
 * by all ways of reading, which must agree. */
#include <stdlib.h>
#include <zlib.h>

#include "formats/zip.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct sum {
	uint64_t n;
};

static struct err *count(void *user, const void *p, size_t n, bool *stop)
{
	(void)p;
	struct sum *s = user;
	s->n += n;
	*stop = s->n > 1 << 22;
	return NULL;
}

/* A third opinion, where the two libraries differ: libdeflate takes the codes 286 and 287 of fixed blocks, which RFC 1951
 * 3.2.6 says never occur, and the checksum may fit all the same. */
static bool zlib_takes(const uint8_t *data, const struct zip_member *m)
{
	z_stream s = {.next_in = (Bytef *)(uintptr_t)(data + m->data),
		.avail_in = (uInt)m->stored,
		.avail_out = (uInt)m->size + 1};
	unsigned char *out = malloc(s.avail_out);
	s.next_out = out;
	if (!out || inflateInit2(&s, -15) != Z_OK)
		abort();
	bool good = inflate(&s, Z_FINISH) == Z_STREAM_END && s.total_out == m->size;
	inflateEnd(&s);
	free(out);
	return good;
}

/* By the other library, and again behind its first pass: the same bytes. It may take what libdeflate refuses. */
static void look_again(const struct zip *z, const struct zip_member *m, const struct str *text,
	const uint8_t *data)
{
	CLEANUP(zip_view_close) struct zip_view *view = NULL;
	ARENA(a);
	struct str again;
	struct sum s = {0};
	struct zip_pass pass = {.fn = count, .user = &s};
	struct err *e = zip_view_open(z, m, &pass, &view);
	if (!e && view) {
		struct bytes src = zip_view_src(view);
		e = bytes_slice(&a, &src, 0, m->size, &again);
		if (!e && text && !str_eq(again, *text))
			abort();
	}
	if (e && text && e->code == E_ZIP && zlib_takes(data, m))
		abort();
	err_free(e);
}

static void read_member(const struct zip *z, const struct zip_member *m, const uint8_t *data)
{
	ARENA(a);
	struct str text;
	struct sum s = {0};
	if (m->size > 1 << 20)
		return;
	struct err *e = zip_read(&a, z, m, 1 << 20, &text), *f = zip_stream(z, m, count, &s);
	if (!e != !f || (!e && text.n != s.n))
		abort();
	look_again(z, m, e ? NULL : &text, data);
	err_free(e);
	err_free(f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	ARENA(a);
	struct zip z;
	struct findings found = {0};
	struct bytes src = bytes_mem((struct str){.p = (const char *)data, .n = size});
	struct err *e = zip_open_src(&a, &src, S("fuzz.zip"), &found, &z);
	for (size_t i = 0; !e && i < z.members.n && i < 100; i++) {
		const struct zip_member *m = &z.members.v[i];
		if (!m->unsafe && (m->data > size || m->stored > size - m->data))
			abort();
		read_member(&z, m, data);
	}
	err_free(e);
	return 0;
}

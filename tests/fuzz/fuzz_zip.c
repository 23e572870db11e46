/* Zip archives from memory: end records, directory, local headers, then the content of every member
 * by all ways of reading, which must agree. */
#include <stdlib.h>

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

/* By the other library, and again behind its first pass: the same bytes. It may take what libdeflate refuses. */
static void look_again(const struct zip *z, const struct zip_member *m, const struct str *text)
{
	CLEANUP(zip_view_close) struct zip_view *view = NULL;
	ARENA(a);
	struct str again;
	struct sum s = {0};
	struct zip_pass pass = {.fn = count, .user = &s};
	struct err *e = zip_view_open(z, m, &pass, &view);
	if (!e && view) {
		struct elf_src src = zip_view_src(view);
		e = elf_src_slice(&a, &src, 0, m->size, &again);
		if (!e && text && !str_eq(again, *text))
			abort();
	}
	if (e && text && e->code == E_ZIP)
		abort();
	err_free(e);
}

static void read_member(const struct zip *z, const struct zip_member *m)
{
	ARENA(a);
	struct str text;
	struct sum s = {0};
	if (m->size > 1 << 20)
		return;
	struct err *e = zip_read(&a, z, m, 1 << 20, &text), *f = zip_stream(z, m, count, &s);
	if (!e != !f || (!e && text.n != s.n))
		abort();
	look_again(z, m, e ? NULL : &text);
	err_free(e);
	err_free(f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	ARENA(a);
	struct zip z;
	struct findings found = {0};
	struct elf_src src = elf_src_mem((struct str){.p = (const char *)data, .n = size});
	struct err *e = zip_open_src(&a, &src, S("fuzz.zip"), &found, &z);
	for (size_t i = 0; !e && i < z.members.n && i < 100; i++) {
		const struct zip_member *m = &z.members.v[i];
		if (!m->unsafe && (m->data > size || m->stored > size - m->data))
			abort();
		read_member(&z, m);
	}
	err_free(e);
	return 0;
}

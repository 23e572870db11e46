/* Zip archives from memory: end records, directory, local headers, then the content of every member
 * by both ways of reading, which must agree. */
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

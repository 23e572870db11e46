/* ELF files and archives: every reader of formats/elf.h, and the whole scan for device code. What
 * is found must lie inside the input. */
#include <stdlib.h>

#include "devcode/devcode.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool good)
{
	if (!good)
		abort();
}

static struct err *count(void *user, const struct elf_symbol *s)
{
	check(s->name.p[s->name.n] == 0);
	++*(size_t *)user;
	return NULL;
}

static struct err *read_all(struct arena *a, const struct bytes *src)
{
	struct elf e;
	struct elf_dynamic d;
	size_t symbols = 0;
	TRY(elf_open(a, src, &e));
	VEC_EACH (struct elf_section, s, &e.sections) {
		struct str bytes;
		struct err *err = bytes_slice(a, src, s->offset, s->size, &bytes);
		check(err || bytes.n == s->size);
		err_free(err);
	}
	VEC_EACH (struct elf_segment, s, &e.segments)
		elf_offset_of(&e, s->vaddr);
	err_free(elf_symbols(&e, true, count, &symbols));
	TRY(elf_dynamic(a, &e, &d));
	check(d.defined.n + d.undefined.n <= symbols);
	return NULL;
}

static void scan(struct arena *a, const struct bytes *src, unsigned flags)
{
	struct devcode d = {0};
	struct err *e = devcode_scan_src(a, src, S("input"), flags, &d);
	devcode_finish(a, &d);
	VEC_EACH (struct devcode_file, f, &d.files) {
		VEC_EACH (struct code_object, o, &f->objects)
			check(o->encoding != DEVCODE_RAW || o->size <= src->size);
	}
	err_free(e);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	ARENA(a);
	struct bytes src = bytes_mem((struct str){.p = (const char *)data, .n = size});
	struct budget budget;
	budget_set(&budget, size);
	src.budget = &budget;
	err_free(read_all(&a, &src));
	scan(&a, &src, 0);
	scan(&a, &src, DEVCODE_KERNELS | DEVCODE_HASH | DEVCODE_DEBUG | DEVCODE_INNER);
	return 0;
}

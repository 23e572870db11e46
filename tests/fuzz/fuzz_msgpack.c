/* MessagePack: whatever comes, values are views of the input, and skipping agrees with reading; the
 * input also stands in the metadata note of a code object. */
#include <stdlib.h>
#include <string.h>

#include "devcode/devcode.h"
#include "formats/le.h"
#include "formats/msgpack.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool good)
{
	if (!good)
		abort();
}

static bool inside(struct str part, struct str whole)
{
	return !part.n || (part.p >= whole.p && part.p + part.n <= whole.p + whole.n);
}

static void read_flat(struct str all)
{
	struct str rest = all;
	struct msgpack_value v;
	for (size_t before = rest.n; msgpack_next(&rest, &v); before = rest.n) {
		check(rest.n < before);
		check(inside(v.text, all) && inside(rest, all));
	}
}

static void skip_and_find(struct str all)
{
	struct msgpack_value v;
	struct str rest = all;
	check(!msgpack_find(&rest, UINT64_MAX, S("no such key")) || inside(rest, all));
	check(inside(rest, all));
	rest = all;
	if (msgpack_next(&rest, &v) && v.kind == MSGPACK_MAP)
		check(!msgpack_find(&rest, v.number, S("amdhsa.kernels")) || inside(rest, all));
}

/* A code object of nothing but a header, one PT_NOTE and the note. */
static void read_as_note(struct str all)
{
	enum { EHDR = 64, PHDR = 56, NHDR = 12 };
	ARENA(a);
	size_t note = EHDR + PHDR, desc = note + NHDR + 8, n = desc + all.n;
	char *p = arena_alloc(&a, n);
	memcpy(p, "\177ELF\2\1\1\100\4", 9);
	put_le(p + 16, 3, 2);
	put_le(p + 18, 224, 2);
	put_le(p + 32, EHDR, 8);
	put_le(p + 48, 0x41, 4);
	put_le(p + 54, PHDR, 2);
	put_le(p + 56, 1, 2);
	put_le(p + EHDR, 4, 4);
	put_le(p + EHDR + 8, note, 8);
	put_le(p + EHDR + 32, n - note, 8);
	put_le(p + note, 7, 4);
	put_le(p + note + 4, all.n, 4);
	put_le(p + note + 8, 32, 4);
	memcpy(p + note + NHDR, "AMDGPU", 7);
	if (all.n)
		memcpy(p + desc, all.p, all.n);
	struct bytes src = bytes_mem((struct str){.p = p, .n = n});
	struct devcode d = {0};
	struct err *e = devcode_scan_src(&a, &src, S("input"), DEVCODE_KERNELS, &d);
	check(e || d.files.v[0].objects.v[0].kernels == 0);
	err_free(e);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str all = {.p = (const char *)data, .n = size};
	read_flat(all);
	skip_and_find(all);
	read_as_note(all);
	return 0;
}

/* The manifest of a folder that may come from anywhere: changes/manifest.h. The checksum is made
 * right, so that the records are reached; what is read is written and read again. */
#include <libdeflate.h>

#include "base/buf.h"
#include "base/fs.h"
#include "changes/manifest.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void little(struct buf *b, uint64_t v, unsigned bytes)
{
	for (unsigned i = 0; i < bytes; i++)
		buf_char(b, (char)(v >> (8 * i)));
}

static struct str sealed(struct arena *a, struct str body)
{
	BUF(b, a);
	buf_add(&b, S("rocsmith hipify manifest 5\n"));
	little(&b, libdeflate_crc32(libdeflate_crc32(0, b.p, b.n), body.p, body.n), 4);
	little(&b, body.n, 8);
	for (unsigned i = 0; i < sizeof(struct sum); i += 8) /* the seal, which is not read here */
		little(&b, 0, 8);
	buf_add(&b, body);
	return buf_str(&b);
}

/* Nothing that is read leads out of the folder, but by "../" in front, in place. */
static void check(const struct manifest *m)
{
	VEC_EACH (const struct made, e, &m->made) {
		struct str rest = e->output;
		while (m->kind == BASE_IN_PLACE && str_starts(rest, S("../")))
			rest = str_sub(rest, 3, rest.n);
		if (!path_is_inside(rest))
			__builtin_trap();
	}
}

static void read_twice(struct arena *a, struct str text)
{
	struct manifest m, again;
	CLEANUP(err_freep) struct err *e = manifest_parse(a, text, &m);
	if (e)
		return;
	check(&m);
	struct str out = manifest_text(a, &m);
	CLEANUP(err_freep) struct err *e2 = manifest_parse(a, out, &again);
	struct str out2 = manifest_text(a, &again);
	if (e2 || !str_eq(out, out2))
		__builtin_trap();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	ARENA(a);
	struct str s = {.p = (const char *)data, .n = size};
	read_twice(&a, s);
	read_twice(&a, sealed(&a, s));
	return 0;
}

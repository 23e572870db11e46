/* Counting kernels: the symbols NAME.kd of an object.
 *
 * Names of template kernels are long: all names of a library can be a tenth of it. So two cheap
 * counts are made first, the kernels that the metadata note announces and the symbols that look
 * like kernel descriptors; where they agree they are right. Else the names decide. */
#include "devcode/scan.h"

#include "formats/le.h"
#include "formats/msgpack.h"

enum { DESCRIPTOR = 64 /* bytes of a kernel descriptor */, STT_OBJECT = 1 };

/* NT_AMDGPU_METADATA of owner "AMDGPU": a map with the list amdhsa.kernels. -1: not to be seen in
 * the first bytes of the note. */
static int64_t announced(struct str note)
{
	enum { NHDR = 12, NAME = 8, METADATA = 32 };
	struct msgpack_value v;
	if (note.n < NHDR + NAME || le32(note.p) != sizeof("AMDGPU") ||
		le32(note.p + 8) != METADATA)
		return -1;
	struct str rest = str_sub(note, NHDR + NAME, note.n);
	if (!str_eq(str_sub(note, NHDR, NHDR + 7), (struct str){.p = "AMDGPU", .n = 7}) ||
		!msgpack_next(&rest, &v) || v.kind != MSGPACK_MAP ||
		!msgpack_find(&rest, v.number, S("amdhsa.kernels")) || !msgpack_next(&rest, &v))
		return -1;
	return v.kind == MSGPACK_ARRAY ? (int64_t)v.number : -1;
}

static struct err *count_announced(const struct elf *e, int64_t *ret)
{
	char window[1024];
	*ret = -1;
	VEC_EACH (struct elf_segment, s, &e->segments) {
		struct str note = {.p = window};
		if (s->type != ELF_PT_NOTE)
			continue;
		size_t want = s->filesz < sizeof(window) ? (size_t)s->filesz : sizeof(window);
		TRY(elf_src_peek(e->src, window, want, s->offset, &note.n));
		*ret = announced(note);
		break;
	}
	return NULL;
}

static struct err *count_descriptor(void *user, const struct elf_symbol *s)
{
	if (s->section && s->type == STT_OBJECT && s->size == DESCRIPTOR)
		++*(int64_t *)user;
	return NULL;
}

static struct err *count_name(void *user, const struct elf_symbol *s)
{
	if (s->section && str_ends(s->name, S(".kd")))
		++*(int64_t *)user;
	return NULL;
}

struct err *count_kernels(const struct elf *e, int64_t *ret)
{
	int64_t in_note;
	TRY(count_announced(e, &in_note));
	*ret = 0;
	if (in_note > 0)
		TRY(elf_symbols_unnamed(e, count_descriptor, ret));
	if (in_note > 0 && in_note == *ret)
		return NULL;
	*ret = 0;
	return elf_symbols(e, count_name, ret);
}

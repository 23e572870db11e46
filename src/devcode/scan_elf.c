/* Device code in ELF files: bundles in their sections, and bare code objects.
 *
 * The section .hip_fatbin has bundles back to back. Compilers and linkers have put bundles elsewhere, too (TensorFlow's
 * kernels are in .rodata, at 16-byte alignment, and nothing points at them), and some libraries have code objects in
 * arrays (libhsa-runtime64 in .data), so data is searched for the magics, which costs one pass over it. Without section
 * headers the loaded segments are searched. */
#include "devcode/scan.h"

#include <stdlib.h>

/* Collects .hip_fatbin and data; with all = true, every section that is loaded. Without section headers: segments. */
static void choose_ranges(struct arena *a, const struct elf *e, bool all, struct scan_ranges *r)
{
	/* unwind tables and tables of pointers never hold the program's own data */
	static const char *const tables[] = {
		".eh_frame", ".gcc_except_table", ".data.rel.ro", NULL};
	VEC_EACH (struct elf_section, x, &e->sections) {
		bool fatbin = str_eq(x->name, S(".hip_fatbin"));
		bool data = !(x->flags & ELF_EXECINSTR);
		for (size_t i = 0; tables[i]; i++)
			data = data && !str_starts(x->name, str_from(tables[i]));
		if (x->type != ELF_PROGBITS || !x->size)
			continue;
		if (fatbin || ((x->flags & ELF_ALLOC) && (data || all)))
			*VEC_PUSH(a, r) = (struct scan_range){.offset = x->offset,
				.size = x->size,
				.fatbin = fatbin,
				.name = x->name};
	}
	VEC_EACH (struct elf_segment, x, &e->segments)
		if (!e->sections.n && x->type == ELF_PT_LOAD && x->filesz)
			*VEC_PUSH(a, r) =
				(struct scan_range){.offset = x->offset, .size = x->filesz};
}

static int by_offset(const void *x, const void *y)
{
	const struct scan_range *a = x, *b = y;
	return (a->offset > b->offset) - (a->offset < b->offset);
}

struct err *scan_ranges(struct scan *s, const struct bytes *src, struct scan_ranges *r)
{
	uint64_t done = 0;
	if (r->n)
		qsort(r->v, r->n, sizeof(*r->v), by_offset);
	VEC_EACH (struct scan_range, x, r) {
		if (x->offset > src->size || x->size > src->size - x->offset)
			return err_new(E_ELF,
				"%.*s of %llu bytes at offset %llu is not inside the file",
				STR(x->name.n ? x->name : S("a segment")),
				(unsigned long long)x->size, (unsigned long long)x->offset);
	}
	VEC_EACH (const struct scan_range, x, r) {
		uint64_t from = x->offset > done ? x->offset : done, end = x->offset + x->size;
		done = end > done ? end : done;
		if (from < end && x->fatbin)
			TRY(scan_bundles(s, src, from, end, x->name));
		else if (from < end)
			TRY(scan_search(s, src, from, end, s->flags & DEVCODE_INNER));
	}
	return NULL;
}

struct err *scan_elf(struct scan *s, const struct bytes *src)
{
	ARENA(tmp);
	struct elf e;
	struct scan_ranges r = {0}, rest = {0};
	TRY(elf_open(&tmp, src, &e));
	if (e.machine == ELF_AMDGPU) {
		s->file->format = "object";
		return scan_object(s, src);
	}
	bool marked = elf_section(&e, S(".rocm_kpack_ref"));
	if (marked)
		scan_say_host(s, src);
	choose_ranges(&tmp, &e, false, &r);
	TRY(scan_ranges(s, src, &r));
	/* Something registers device code, so it must be somewhere. */
	if (s->file->bundles || marked || !elf_section(&e, S(".hipFatBinSegment")))
		return NULL;
	choose_ranges(&tmp, &e, true, &rest);
	return scan_ranges(s, src, &rest);
}

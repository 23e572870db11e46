/* Device code in ELF files, in Windows programs and DLLs, and in COFF objects of static libraries: bundles in their
 * sections, and bare code objects.
 *
 * The section .hip_fatbin has bundles back to back (.hip_fat in PE images, whose section names end after 8 bytes).
 * Compilers and linkers have put bundles elsewhere, too (TensorFlow's kernels are in .rodata, at 16-byte alignment, and
 * nothing points at them), and some libraries have code objects in arrays (libhsa-runtime64 in .data), so data is
 * searched for the magics, which costs one pass over it. The section .llvm.offloading is scan_offload.c's. Without section headers the loaded segments are searched. */
#include "devcode/scan.h"

#include "formats/kpack.h"

struct scan_range {            /* a part of the image that may contain bundles */
	uint64_t offset, size; /* offset first, for offset_order() */
	bool fatbin; /* bundles lie back to back from its first byte; other ranges are searched */
	bool last; /* machine code and the like: searched only if there is device code, but nowhere else */
	struct str name;
};

struct scan_ranges VEC_OF(struct scan_range);

/* Scans ranges in file order, and no byte twice: sections of hostile files may overlap. */
static struct err *scan_pass(
	struct scan *s, const struct bytes *src, const struct scan_ranges *r, bool all)
{
	uint64_t done = 0;
	VEC_EACH (const struct scan_range, x, r)
		if ((all || !x->last) && (x->offset > src->size || x->size > src->size - x->offset))
			return err_new(E_ELF,
				"%.*s of %llu bytes at offset %llu is not inside the file",
				STR(x->name.n ? x->name : S("a segment")),
				(unsigned long long)x->size, (unsigned long long)x->offset);
	VEC_EACH (const struct scan_range, x, r) {
		uint64_t from = x->offset > done ? x->offset : done, end = x->offset + x->size;
		if (x->last && !all)
			continue;
		done = end > done ? end : done;
		if (from < end && x->fatbin)
			TRY(scan_bundles(s, src, from, end, x->name));
		else if (from < end)
			TRY(scan_search(s, src, from, end, s->flags & DEVCODE_INNER));
	}
	return NULL;
}

/* Scans an image. marked: its device code was split off; registers: it registers device code, so that there must be
 * some. */
static struct err *scan_ranges(
	struct scan *s, const struct bytes *src, struct scan_ranges *r, bool marked, bool registers)
{
	ARENA(tmp);
	struct kpack_host h;
	struct err *e = marked ? kpack_host_read(&tmp, src, &h) : NULL;
	if (e)
		scan_damage(s, "file-damaged", e);
	else if (marked && !h.name.n)
		scan_say(s, "file-damaged",
			"the mark of a library without device code cannot be read");
	else if (marked)
		scan_say(s, "kpack-reference",
			"device code was split off into kpack archives: those of '%.*s' are in "
			"'%.*s', for wrappers of %zu number%s",
			STR(h.name), STR(str_join(&tmp, &h.patterns, S("', '"))), h.indexes.n,
			h.indexes.n == 1 ? "" : "s");
	VEC_SORT(r, offset_order);
	TRY(scan_pass(s, src, r, false));
	return s->file->bundles || marked || !registers ? NULL : scan_pass(s, src, r, true);
}

struct err *scan_elf(struct scan *s, const struct bytes *src)
{
	/* unwind tables and tables of pointers never hold the program's own data */
	static const char *const tables[] = {
		".eh_frame", ".gcc_except_table", ".data.rel.ro", NULL};
	ARENA(tmp);
	struct elf e;
	struct scan_ranges r = {0};
	TRY(elf_open(&tmp, src, &e));
	if (e.machine == ELF_AMDGPU) {
		s->file->format = "object";
		return scan_object(s, src);
	}
	VEC_EACH (const struct elf_section, x, &e.sections) {
		if (str_eq(x->name, S(".llvm.offloading"))) {
			struct bytes section = bytes_sub(src, x->offset, x->size);
			struct err *bad = scan_offload(s, &section);
			if (bad && (bad->code == E_IO || bad->code == E_CANCELLED))
				return bad;
			if (bad)
				scan_damage(s, "bundle-damaged", bad);
			continue;
		}
		bool fatbin = str_eq(x->name, S(".hip_fatbin"));
		bool last = x->flags & ELF_EXECINSTR || str_starts_one_of(x->name, tables);
		if (x->type == ELF_PROGBITS && x->size && (fatbin || x->flags & ELF_ALLOC))
			*VEC_PUSH(&tmp, &r) = (struct scan_range){
				x->offset, x->size, fatbin, last && !fatbin, x->name};
	}
	VEC_EACH (const struct elf_segment, x, &e.segments)
		if (!e.sections.n && x->type == ELF_PT_LOAD && x->filesz)
			*VEC_PUSH(&tmp, &r) =
				(struct scan_range){.offset = x->offset, .size = x->filesz};
	if (e.type == ELF_REL)
		TRY(scan_unlinked(s, src, &e));
	return scan_ranges(s, src, &r, elf_section(&e, S(".rocm_kpack_ref")),
		elf_section(&e, S(".hipFatBinSegment")));
}

struct err *scan_pe(struct scan *s, const struct bytes *src)
{
	ARENA(tmp);
	struct pe pe;
	struct scan_ranges r = {0};
	bool registers = false, marked = false;
	TRY(pe_open(&tmp, src, &pe));
	VEC_EACH (const struct pe_section, x, &pe.sections) {
		bool fatbin = str_starts(x->name, S(".hip_fat"));
		bool code = x->flags & (PE_CODE | PE_EXECUTE);
		registers = registers || str_starts(x->name, S(".hipFatB"));
		marked = marked || str_eq(x->name, S(".kpackrf"));
		if (x->size)
			*VEC_PUSH(&tmp, &r) = (struct scan_range){
				x->offset, x->size, fatbin, code && !fatbin, x->name};
	}
	return scan_ranges(s, src, &r, marked, registers);
}

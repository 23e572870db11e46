/* Device code in ELF files: where to look for bundles, and bare code objects.
 *
 * Bundles are where a section .hip_fatbin is, one behind the other. Compilers and linkers have put
 * them elsewhere too (TensorFlow's kernels lie in .rodata, at 16-byte alignment, with nothing that
 * points at them), and some libraries have code objects in arrays (libhsa-runtime64 in .data), so data is
 * searched for the magics; that costs one pass over it.
 * Without a section table the loaded segments are searched. */
#include "devcode/scan.h"

#include <stdlib.h>

#include "base/pool.h"

/* Tables of the compiler for unwinding, and of pointers: never data of the program. */
static bool is_table(struct str name)
{
	return str_starts(name, S(".eh_frame")) || str_starts(name, S(".gcc_except_table")) ||
	       str_starts(name, S(".data.rel.ro"));
}

/* .hip_fatbin and data; with all = true everything that is loaded. */
static void choose_sections(struct arena *a, const struct elf *e, bool all, struct scan_ranges *r)
{
	VEC_EACH (struct elf_section, x, &e->sections) {
		bool fatbin = str_eq(x->name, S(".hip_fatbin"));
		bool data = !(x->flags & ELF_EXECINSTR) && !is_table(x->name);
		if (x->type != ELF_PROGBITS || !x->size)
			continue;
		if (fatbin || ((x->flags & ELF_ALLOC) && (data || all)))
			*VEC_PUSH(a, r) = (struct scan_range){.offset = x->offset,
				.size = x->size,
				.fatbin = fatbin,
				.name = x->name};
	}
}

static void choose_segments(struct arena *a, const struct elf *e, struct scan_ranges *r)
{
	VEC_EACH (struct elf_segment, x, &e->segments) {
		if (x->type == ELF_PT_LOAD && x->filesz)
			*VEC_PUSH(a, r) =
				(struct scan_range){.offset = x->offset, .size = x->filesz};
	}
}

static int by_offset(const void *x, const void *y)
{
	const struct scan_range *a = x, *b = y;
	return (a->offset > b->offset) - (a->offset < b->offset);
}

/* Sorts them, takes out what two of them have. E_ELF: one is not inside the file. */
static struct err *ranges_settle(const struct bytes *src, struct scan_ranges *r)
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
		uint64_t end = x->offset + x->size;
		x->offset = x->offset > done ? x->offset : done;
		x->size = x->offset < end ? end - x->offset : 0;
		done = end > done ? end : done;
	}
	return NULL;
}

static struct err *scan_in_order(
	struct scan *s, const struct bytes *src, const struct scan_ranges *r, bool data)
{
	VEC_EACH (const struct scan_range, x, r) {
		uint64_t end = x->offset + x->size;
		if (x->size && x->fatbin)
			TRY(scan_bundles(s, src, x->offset, end, x->name));
		else if (x->size && data)
			TRY(scan_search(s, src, x->offset, end, s->flags & DEVCODE_INNER));
	}
	return NULL;
}

/* ---- data is searched by one thread while another one walks the bundles ---- */
struct beside {
	const struct bytes *src;
	const struct scan_ranges *r;
	bool any;
	struct err *e;
};

static struct err *search_beside(struct arena *tmp, void *user)
{
	(void)tmp;
	struct beside *b = user;
	VEC_EACH (const struct scan_range, x, b->r)
		if (!x->fatbin && !b->any && !b->e)
			b->e = scan_finds(b->src, x->offset, x->offset + x->size, &b->any);
	return NULL;
}

/* Where the data is small, or there is more to do than to list what there is, the bundles take all the time. */
static unsigned beside_threads(
	const struct scan *s, const struct bytes *src, const struct scan_ranges *r)
{
	enum { DATA = 1 << 20, BUNDLES = 64 << 20 };
	uint64_t data = 0, bundles = 0;
	VEC_EACH (const struct scan_range, x, r)
		*(x->fatbin ? &bundles : &data) += x->size;
	bool much = data >= DATA && bundles >= BUNDLES && !(s->flags & ~(unsigned)DEVCODE_INNER);
	return much ? scan_threads(s, src) : 1;
}

/* *ret: it is all done. Nearly no library that has .hip_fatbin has bundles elsewhere, too: then nothing is kept, and all
 * is to be done in order; so it is where there is something to say. */
static struct err *scan_beside(struct scan *s, const struct bytes *src, const struct scan_ranges *r,
	unsigned threads, bool *ret)
{
	struct devcode out = *s->out;
	struct devcode_file file = *s->file;
	struct scan mine = *s;
	struct beside b = {.src = src, .r = r};
	out.findings = (struct findings){.most = s->out->findings.most};
	mine.out = &out;
	mine.file = &file;
	mine.pool = pool_new(threads);
	pool_add(mine.pool, search_beside, &b);
	struct err *e = scan_in_order(&mine, src, r, false);
	e = err_join(err_join(e, pool_end(mine.pool)), b.e);
	*ret = !e && !b.any && !out.findings.n;
	if (*ret) {
		s->out->targets = out.targets;
		*s->file = file;
	}
	return e;
}

struct err *scan_ranges(struct scan *s, const struct bytes *src, struct scan_ranges *r)
{
	bool done = false;
	TRY(ranges_settle(src, r));
	unsigned threads = beside_threads(s, src, r);
	if (threads > 1)
		TRY(scan_beside(s, src, r, threads, &done));
	return done ? NULL : scan_in_order(s, src, r, true);
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
	if (e.sections.n)
		choose_sections(&tmp, &e, false, &r);
	else
		choose_segments(&tmp, &e, &r);
	TRY(scan_ranges(s, src, &r));
	/* Something registers device code, so it must be somewhere. */
	if (s->file->bundles || marked || !elf_section(&e, S(".hipFatBinSegment")))
		return NULL;
	choose_sections(&tmp, &e, true, &rest);
	return scan_ranges(s, src, &rest);
}

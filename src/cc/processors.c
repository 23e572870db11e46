/* Finds out which GPUs a compiler's back end cannot tell apart but for their names, and makes the object of one from that of
 * another; see cc_int.h.
 *
 * LLVM's back end has a table of processors: for each the address of its name, the sets of its features, and the address of its
 * model of scheduling (SubtargetSubTypeKV in llvm/MC/MCSubtargetInfo.h, sorted by name). It has no symbol, but in a shared object or a
 * program that can be loaded anywhere, each of these addresses has a relocation. So it is found as the only table in which
 * addresses of "gfx900", "gfx1030" and so on stand at one distance, in their order. */
#include <stdlib.h>

#include "base/buf.h"
#include "base/fs.h"
#include "base/hash.h"
#include "cc/cc_int.h"
#include "formats/elf.h"
#include "target/target.h"

enum {
	RELA = 4,
	RELATIVE = 8,
	RELATIVE_ARM = 1027,
	LEAST = 20,
	NARROW = 40,
	WIDE = 512,
	FLAGS_AT = 48
};

struct gpu_place {
	uint64_t addr; /* address of the name's text, later of the row; first, for offset_order() */
	struct str name;
};

struct gpu_places VEC_OF(struct gpu_place);

struct address_place {
	uint64_t addr, info, value;
};

/* Finds the names of GPUs that stand as texts of their own. */
static void find_names(
	struct arena *a, const struct elf *e, struct str file, struct gpu_places *ret)
{
	VEC_EACH (const struct elf_section, s, &e->sections) {
		if (s->type != ELF_PROGBITS || !(s->flags & ELF_ALLOC) ||
			s->flags & (ELF_WRITE | ELF_EXECINSTR) || s->offset > file.n ||
			s->size > file.n - s->offset)
			continue;
		struct str all = str_sub(file, s->offset, s->offset + s->size), rest = all;
		for (size_t at;
			(at = str_find(rest, (struct str){.p = "\0gfx", .n = 4})) < rest.n;) {
			rest = str_sub(rest, at + 1, rest.n);
			struct str name = str_sub(rest, 0, str_chr(str_sub(rest, 0, 24), 0));
			if (gpu_by_name(name))
				*VEC_PUSH(a, ret) = (struct gpu_place){
					.addr = s->addr + (uint64_t)(rest.p - all.p), .name = name};
		}
	}
	VEC_SORT(ret, offset_order);
}

struct address_reader {
	const struct elf *e;
	struct str file;
	size_t section;
	uint64_t at;
};

/* The next relocation that puts an address of the file itself somewhere. */
static bool next_address(struct address_reader *r, struct address_place *ret)
{
	uint64_t relative = r->e->machine == ELF_AARCH64 ? RELATIVE_ARM : RELATIVE;
	for (; r->section < r->e->sections.n; r->section++, r->at = 0) {
		const struct elf_section *s = &r->e->sections.v[r->section];
		if (s->type != RELA || s->offset > r->file.n || s->size > r->file.n - s->offset)
			continue;
		while (s->size - r->at >= sizeof(*ret)) {
			memcpy(ret, r->file.p + s->offset + r->at, sizeof(*ret));
			r->at += sizeof(*ret);
			if ((ret->info & UINT32_MAX) == relative)
				return true;
		}
	}
	return false;
}

/* Finds the places that hold addresses of these names. */
static void find_rows(struct arena *a, const struct elf *e, struct str file,
	const struct gpu_places *names, struct gpu_places *ret)
{
	struct address_reader reader = {.e = e, .file = file};
	struct address_place r;
	while (names->n && next_address(&reader, &r)) {
		const struct gpu_place key = {.addr = r.value};
		const struct gpu_place *name =
			bsearch(&key, names->v, names->n, sizeof(key), offset_order);
		if (name)
			*VEC_PUSH(a, ret) = (struct gpu_place){.addr = r.addr, .name = name->name};
	}
	VEC_SORT(ret, offset_order);
}

/* The table: rows at one distance, in the order of their names. false: there is none, or more than one. */
static bool find_table(
	const struct gpu_places *rows, size_t *ret_first, size_t *ret_n, uint64_t *ret_step)
{
	unsigned found = 0;
	for (size_t i = 0; i + 1 < rows->n;) {
		uint64_t step = rows->v[i + 1].addr - rows->v[i].addr;
		size_t n = 1;
		while (i + n < rows->n && rows->v[i + n].addr - rows->v[i + n - 1].addr == step &&
			str_cmp(rows->v[i + n - 1].name, rows->v[i + n].name) < 0)
			n++;
		if (n >= LEAST && step >= NARROW && step <= WIDE && step % 8 == 0) {
			found++;
			*ret_first = i;
			*ret_n = n;
			*ret_step = step;
		}
		i += n;
	}
	return found == 1;
}

/* The bytes of the table, with addresses as the loader would put them, or NULL. */
static char *read_table(
	struct arena *a, const struct elf *e, struct str file, uint64_t addr, uint64_t size)
{
	struct address_reader reader = {.e = e, .file = file};
	struct address_place r;
	uint64_t at = elf_offset_of(e, addr);
	if (at > file.n || size > file.n - at)
		return NULL;
	char *ret = arena_array(a, size, 1);
	memcpy(ret, file.p + at, size);
	while (next_address(&reader, &r))
		if (r.addr >= addr && r.addr - addr <= size - sizeof(r.value))
			memcpy(ret + (r.addr - addr), &r.value, sizeof(r.value));
	return ret;
}

/* Adds lines "gfx1030 HASH" for the GPUs of a file that has the table. */
static void read_rows(struct arena *a, const struct elf *e, struct str file, struct buf *io)
{
	struct gpu_places names = {0}, rows = {0};
	size_t first, n;
	uint64_t step;
	find_names(a, e, file, &names);
	find_rows(a, e, file, &names, &rows);
	if (!find_table(&rows, &first, &n, &step))
		return;
	const char *table = read_table(a, e, file, rows.v[first].addr, n * step);
	for (size_t i = 0; table && i < n; i++) {
		/* all but the name; and what our own table knows to be different is never alike */
		const struct gpu *g = gpu_by_name(rows.v[first + i].name);
		struct str row = {.p = table + i * step + 8, .n = step - 8};
		row = str_fmt(a, "%d %d %d %d %.*s", g->wave32, g->xnack, g->sramecc, g->is_generic,
			STR(sha256_hex(a, row)));
		buf_fmt(io, "%s %.*s\n", g->name, STR(str_sub(sha256_hex(a, row), 0, 32)));
	}
}

struct err *processors_file(
	struct arena *a, struct str compiler, const struct strs *dirs, struct str *ret)
{
	struct bytes_file f;
	struct elf e;
	struct elf_dynamic dyn = {0};
	struct err *error = bytes_open(compiler, &f);
	if (!error)
		error = elf_open_head(a, &f.src, &e);
	if (!error)
		error = elf_needs(a, &e, &dyn);
	bytes_close(&f);
	TRY(error);
	*ret = compiler;
	VEC_EACH (const struct str, name, &dyn.needed)
		for (size_t i = dirs->n; i-- && str_starts(*name, S("libLLVM"));)
			if (fs_is_file(path_join(a, dirs->v[i], *name)))
				*ret = path_join(a, dirs->v[i], *name);
	return NULL;
}

struct err *processors_read(struct arena *a, struct str path, struct str *ret)
{
	BUF(out, a);
	struct str file;
	struct elf e;
	TRY(fs_map(path, &file));
	const struct bytes src = bytes_mem(file);
	struct err *error = elf_open(a, &src, &e);
	if (!error)
		read_rows(a, &e, file, &out);
	fs_unmap(&file);
	*ret = buf_str(&out);
	return error;
}

struct str processors_row(struct str rows, struct str gpu)
{
	struct str line, name, row;
	while (str_next(&rows, '\n', &line))
		if (str_cut(line, ' ', &name, &row) && str_eq(name, gpu))
			return row;
	return S("");
}

bool processor_clone(
	struct arena *a, struct str object, struct str from, struct str to, struct str *ret)
{
	const struct gpu *one = gpu_by_name(from), *other = gpu_by_name(to);
	struct elf e;
	struct str rest = object, mark = str_fmt(a, "amdgcn-amd-amdhsa--%.*s", STR(from));
	size_t at = str_find(object, mark) + mark.n - from.n;
	rest = str_sub(object, at + from.n < object.n ? at + from.n : object.n, object.n);
	/* the name stands in the note alone */
	if (!one || !other || from.n != to.n || at >= object.n || str_contains(rest, from) ||
		str_contains(str_sub(object, 0, at), from) || !elf_header(object, &e) ||
		e.machine != ELF_AMDGPU || (e.flags & 0xff) != one->mach)
		return false;
	char *copy = arena_array(a, object.n, 1);
	memcpy(copy, object.p, object.n);
	memcpy(copy + at, to.p, to.n);
	copy[FLAGS_AT] = (char)other->mach; /* the low byte of e_flags */
	*ret = (struct str){.p = copy, .n = object.n};
	return true;
}

/* Finds everything that points at the bundles of an ELF file: dynamic relocations, symbols, and the wrappers of
 * programs without relocations. Sources: System V gABI (RELA, symbols; RELR in its draft of 2018), the psABI
 * supplements of x86-64 and AArch64 for the types. See slim_int.h. */
#include "slim/slim_int.h"

enum { RELA = 24, SYM = 24, WORD = 8, SHT_SYMTAB = 2, CHUNK = 2688 /* entries of 24 bytes */ };
enum { DT_SYMTAB, DT_RELA, DT_RELASZ, DT_JMPREL, DT_PLTRELSZ, DT_RELR, DT_RELRSZ, DT_COUNT };
static const uint64_t tags[DT_COUNT] = {6, 7, 8, 23, 2, 36, 35};

static const struct relocation_types {
	uint16_t machine;
	uint32_t relative, abs64, glob_dat;
} machines[] = {{ELF_X86_64, 8, 1, 6}, {ELF_AARCH64, 1027, 257, 1025}};

struct ref_finder {
	struct arena *a;
	const struct slim_plan *p;
	const struct elf *e;
	bool now;
	uint64_t from, to; /* the address range of all bundles */
	uint64_t value[DT_COUNT];
	const struct relocation_types *machine;
	size_t symbols; /* the first ones of out: those of dynamic symbols, by index */
	struct slim_refs *out;
};

uint64_t slim_addr(const struct slim_plan *p, size_t bundle, bool now)
{
	const struct elf_segment *s = &p->elf.segments.v[p->segment];
	const struct slim_bundle *b = &p->bundles.v[bundle];
	uint64_t at = p->mark.n ? p->from : b->now.offset;
	return (now ? at : b->old.offset) - s->offset + s->vaddr;
}

/* The index of the bundle that begins at an address, or SIZE_MAX. Bundles are sorted by address. */
static size_t bundle_at(const struct ref_finder *f, uint64_t addr)
{
	size_t low = 0, high = f->p->bundles.n;
	while (low < high) {
		size_t mid = low + (high - low) / 2;
		if (slim_addr(f->p, mid, f->now) < addr)
			low = mid + 1;
		else
			high = mid;
	}
	bool here = low < f->p->bundles.n && slim_addr(f->p, low, f->now) == addr;
	return here ? low : SIZE_MAX;
}

/* Adds a reference if the address is in the range. blame: offset of the bytes that hold the address, for messages. */
static struct err *add(struct ref_finder *f, uint64_t addr, uint64_t blame, struct slim_ref r)
{
	if (addr < f->from || addr >= f->to)
		return NULL;
	size_t bundle = bundle_at(f, addr);
	if (bundle == SIZE_MAX)
		return err_new(E_SLIM,
			"what is at offset %llu points into the middle of a bundle (address "
			"0x%llx)",
			(unsigned long long)blame, (unsigned long long)addr);
	TRY(budget_memory(f->e->src->budget, 2 * sizeof(struct slim_ref)));
	r.bundle = bundle;
	*VEC_PUSH(f->a, f->out) = r;
	return NULL;
}

typedef struct err *entry_fn(struct ref_finder *f, const char *p, uint64_t at);

static struct err *each(struct ref_finder *f, uint64_t offset, uint64_t size, entry_fn *fn)
{
	char p[CHUNK * RELA];
	size_t n;
	for (uint64_t at = 0; at + RELA <= size; at += n) {
		n = size - at < sizeof(p) ? (size_t)(size - at) / RELA * RELA : sizeof(p);
		TRY(bytes_read(f->e->src, p, n, offset + at));
		for (size_t i = 0; i < n; i += RELA)
			TRY(fn(f, p + i, offset + at + i));
	}
	return NULL;
}

/* ---- symbols ---- */

static bool is_address(unsigned section, unsigned type)
{
	enum { SHN_ABS = 0xfff1, STT_SECTION = 3, STT_TLS = 6 };
	return section && section != SHN_ABS && type != STT_SECTION && type != STT_TLS;
}

static struct err *dynamic_symbol(void *user, const struct elf_symbol *s)
{
	struct ref_finder *f = user;
	uint64_t at = elf_offset_of(f->e, f->value[DT_SYMTAB]) + (uint64_t)s->index * SYM + 8;
	if (!is_address(s->section, s->type))
		return NULL;
	return add(f, s->value, at, (struct slim_ref){.at = at, .symbol = s->index});
}

static struct err *static_symbol(struct ref_finder *f, const char *p, uint64_t at)
{
	bool is = is_address(le16(p + 6), p[4] & 15);
	return is ? add(f, le64(p + 8), at, (struct slim_ref){.at = at + 8}) : NULL;
}

/* ---- relocations ---- */

static struct err *in_place(struct ref_finder *f, uint64_t place)
{
	char word[WORD];
	uint64_t at = elf_offset_of(f->e, place);
	TRY(bytes_read(f->e->src, word, WORD, at));
	return add(f, le64(word), at, (struct slim_ref){.at = at, .pointer = true, .place = place});
}

static int by_symbol(const void *x, const void *y)
{
	const struct slim_ref *a = x, *b = y;
	return (a->symbol > b->symbol) - (a->symbol < b->symbol);
}

static struct err *rela(struct ref_finder *f, const char *p, uint64_t at)
{
	struct slim_ref key = {.symbol = le32(p + 12)}, *s = NULL;
	uint32_t type = le32(p + 8);
	struct slim_ref r = {.at = at + 16, .pointer = true, .place = le64(p)};
	size_t n = f->out->n;
	if (!key.symbol && type == f->machine->relative) {
		TRY(add(f, le64(p + 16), at, r));
		/* some linkers also write the address to the place that the relocation fills */
		return f->out->n > n ? in_place(f, le64(p)) : NULL;
	}
	if (f->symbols)
		s = bsearch(&key, f->out->v, f->symbols, sizeof(key), by_symbol);
	if (!s)
		return NULL;
	if ((type != f->machine->abs64 && type != f->machine->glob_dat) || le64(p + 16))
		return err_new(E_SLIM, "a relocation of type %u at offset %llu points at a bundle",
			type, (unsigned long long)at);
	r.at = 0;
	r.symbol = key.symbol;
	return add(f, slim_addr(f->p, s->bundle, f->now), at, r);
}

/* Reads RELR: an even word is an address; an odd one is a bitmap of the 63 words behind the last one. */
static struct err *relr(struct ref_finder *f)
{
	char word[WORD];
	uint64_t at = elf_offset_of(f->e, f->value[DT_RELR]), place = 0;
	for (uint64_t i = 0; i + WORD <= f->value[DT_RELRSZ]; i += WORD) {
		TRY(bytes_read(f->e->src, word, WORD, at + i));
		uint64_t bits = le64(word);
		if (!(bits & 1)) {
			TRY(in_place(f, bits));
			place = bits + WORD;
			continue;
		}
		for (uint64_t k = place; bits >>= 1; k += WORD)
			if (bits & 1)
				TRY(in_place(f, k));
		place += 63 * WORD;
	}
	return NULL;
}

/* ---- programs at fixed addresses ---- */

/* Such a program's pointers are plain words; only a wrapper's magic, in the word before it, proves that a word is one. */
static struct err *words(struct ref_finder *f, const struct elf_segment *s)
{
	char p[WORD + CHUNK * RELA] = {0};
	uint64_t skip = -s->vaddr % WORD, n;
	for (uint64_t at = skip; at + WORD <= s->filesz; at += n) {
		uint64_t left = (s->filesz - at) / WORD * WORD, place = s->vaddr + at;
		n = left < CHUNK * RELA ? left : CHUNK * RELA;
		if (place >= f->from && place < f->to) {
			n = f->to - place < left ? round_up(f->to - place, WORD) : left;
			continue;
		}
		if (place < f->from && n > f->from - place)
			n = round_up(f->from - place, WORD);
		TRY(bytes_read(f->e->src, p + WORD, (size_t)n, s->offset + at));
		for (uint64_t i = 0; i < n; i += WORD) {
			uint64_t addr = le64(p + i + WORD), from = s->offset + at + i;
			uint32_t magic = le32(p + i);
			if (addr < f->from || addr >= f->to || bundle_at(f, addr) == SIZE_MAX)
				continue;
			if (magic != SLIM_HIPF && magic != SLIM_HIPK)
				return err_new(E_SLIM,
					"what is at offset %llu looks like a pointer at a bundle, "
					"and is in no wrapper",
					(unsigned long long)from);
			TRY(add(f, addr, from,
				(struct slim_ref){
					.at = from, .pointer = true, .place = place + i}));
		}
		memcpy(p, p + n, WORD);
	}
	return NULL;
}

struct err *slim_refs(struct arena *a, const struct slim_plan *p, const struct elf *e, bool now,
	struct slim_refs *ret)
{
	const struct elf_segment *own = &p->elf.segments.v[p->segment];
	struct ref_finder f = {.a = a, .p = p, .e = e, .now = now, .out = ret};
	*ret = (struct slim_refs){0};
	f.from = p->from - own->offset + own->vaddr;
	f.to = f.from + p->size;
	for (size_t i = 0; i < sizeof(machines) / sizeof(*machines); i++)
		if (machines[i].machine == e->machine &&
			(e->type == ELF_DYN || e->type == ELF_EXEC))
			f.machine = &machines[i];
	if (!f.machine)
		return err_new(E_SLIM, "it is no program or shared library for x86-64 or AArch64");
	TRY(elf_tags(e, tags, DT_COUNT, f.value));
	TRY(elf_symbols(e, false, dynamic_symbol, &f));
	f.symbols = ret->n;
	TRY(each(&f, elf_offset_of(e, f.value[DT_RELA]), f.value[DT_RELASZ], rela));
	TRY(each(&f, elf_offset_of(e, f.value[DT_JMPREL]), f.value[DT_PLTRELSZ], rela));
	TRY(relr(&f));
	VEC_EACH (const struct elf_segment, s, &e->segments)
		if (s->type == ELF_PT_LOAD && e->type == ELF_EXEC)
			TRY(words(&f, s));
	VEC_EACH (const struct elf_section, s, &e->sections)
		if (s->type == SHT_SYMTAB)
			TRY(each(&f, s->offset, s->size, static_symbol));
	return NULL;
}

/* Reads one code object: its ELF header, kernels and the GPU resources that they need, debug sections and hash. Reports
 * whatever is odd about it.
 *
 * Kernels are the symbols NAME.kd (kernel descriptors) of the dynamic symbol table. A listed target proves little: a
 * bundle may list 27 targets and have kernels for three. */
#include "devcode/scan.h"

#include "base/hash.h"
#include "base/map.h"
#include "formats/le.h"
#include "formats/msgpack.h"
#include "lang/cxx/demangle.h"

enum {
	HEADER = 64,
	MACH = 0xff,  /* e_flags: the processor */
	FIRST_ABI = 2 /* EI_ABIVERSION 0 is code object version 2 */
};

/* A feature that the bundle's table leaves out means "any", which e_flags spell out. */
static bool same_feature(enum feature a, enum feature b)
{
	return a == b || (a <= FEATURE_ANY && b <= FEATURE_ANY);
}

/* Sets the object's target by name, and adds it to devcode.targets if it is new. */
static struct err *set_target(struct scan *s, struct str name, struct code_object *o)
{
	struct devcode *d = s->out;
	for (o->id = 0; o->id < d->targets.n; o->id++) {
		o->target = d->targets.v[o->id].name;
		if (str_eq(o->target, name))
			return NULL;
	}
	if (d->targets.n == DEVCODE_TARGETS)
		return err_new(E_LIMIT, "code for more than %d different targets", DEVCODE_TARGETS);
	o->target = str_dup(s->a, name);
	*VEC_PUSH(s->a, &d->targets) =
		(struct devcode_target){.name = o->target, .t = target_read(o->target)};
	return NULL;
}

struct err *object_add(
	struct scan *s, const struct bytes *src, struct str target, struct code_object **ret)
{
	enum { MEMORY = 3000, WORK = 2000 }; /* the cost of an object, lines of output included */
	struct code_object o = {.bundle = s->file->bundles,
		.kernels = -1,
		.debug = s->flags & DEVCODE_DEBUG ? 0 : -1,
		.alone = -1};
	TRY(budget_memory(src->budget, MEMORY));
	TRY(budget_work(src->budget, WORK));
	TRY(set_target(s, target, &o));
	*ret = VEC_PUSH(s->a, &s->file->objects);
	**ret = o;
	return NULL;
}

/* Version 2 names the target in a note: NT_AMD_HSA_ISA_VERSION of owner "AMD", with two lengths of 2 bytes, then major,
 * minor and stepping. */
static struct err *target_of_note(struct scan *s, const struct elf *e, struct str *ret)
{
	enum { NHDR = 12, NAME = 4, DESC = 16, ISA_VERSION = 3 };
	char window[1024];
	*ret = S("");
	VEC_EACH (struct elf_segment, x, &e->segments) {
		struct str note = {.p = window};
		if (x->type != ELF_PT_NOTE)
			continue;
		size_t want = x->filesz < sizeof(window) ? (size_t)x->filesz : sizeof(window);
		TRY(bytes_peek(e->src, window, want, x->offset, &note.n));
		while (note.n >= NHDR + NAME + DESC) {
			const char *p = note.p, *d = p + NHDR + NAME;
			if (le32(p) == NAME && le32(p + 4) >= DESC && le32(p + 8) == ISA_VERSION &&
				!memcmp(p + NHDR, "AMD", NAME)) {
				*ret = str_fmt(
					s->a, "gfx%u%u%x", le32(d + 4), le32(d + 8), le32(d + 12));
				return NULL;
			}
			uint64_t n = ((uint64_t)le32(p) + 3) / 4 * 4 +
				     ((uint64_t)le32(p + 4) + 3) / 4 * 4;
			note = str_sub(note, n < note.n ? NHDR + (size_t)n : note.n, note.n);
		}
	}
	return NULL;
}

static struct err *look_at_header(struct scan *s, const struct elf *e, struct code_object *o)
{
	enum { FLAGS_HAVE_FEATURES = 4 /* since this code object version */ };
	o->version = e->abiversion + FIRST_ABI;
	struct target t = target_from_flags(s->a, e->flags, e->abiversion);
	if (!(e->flags & MACH)) {
		struct str name;
		TRY(target_of_note(s, e, &name));
		if (!name.n) /* trap handlers are built for no machine */
			return o->target.n ? NULL : set_target(s, S(DEVCODE_UNKNOWN), o);
		t = target_read(name);
	}
	if (!o->target.n)
		return set_target(s, target_text(s->a, &t), o);
	ARENA(tmp);
	const struct target *listed = &s->out->targets.v[o->id].t;
	bool features =
		o->version < FLAGS_HAVE_FEATURES ||
		(same_feature(listed->xnack, t.xnack) && same_feature(listed->sramecc, t.sramecc));
	if (!features || !str_eq(listed->name, t.name))
		scan_say(s, "object-mislabelled",
			"bundle %u%.*s lists '%.*s', but the object there is for '%.*s'", o->bundle,
			STR(s->whose), STR(o->target), STR(target_text(&tmp, &t)));
	return NULL;
}

/* A source that caches the first bytes of another, which hold the headers and the beginning of the note, and the last
 * short read, because the dynamic section is read twice. */
struct near {
	struct bytes src;
	const struct bytes *far;
	size_t n, last_n;
	uint64_t last_at;
	char head[4096], last[512];
};

static struct err *read_near(const struct bytes *s, void *p, size_t n, uint64_t offset)
{
	struct near *near = s->user;
	if (offset <= near->n && n <= near->n - offset) {
		memcpy(p, near->head + offset, n);
		return NULL;
	}
	if (n > sizeof(near->last))
		return bytes_read(near->far, p, n, offset);
	if (offset != near->last_at || n > near->last_n)
		TRY(bytes_peek(near->far, near->last, n, near->last_at = offset, &near->last_n));
	memcpy(p, near->last, n);
	return NULL;
}

/* ---- kernels ---- */
/* Moves *note to the elements of the list amdhsa.kernels in NT_AMDGPU_METADATA (owner "AMDGPU"), a msgpack map. *ret_n:
 * the length of the list. False if there is none. */
static bool read_metadata(struct str *note, uint64_t *ret_n)
{
	enum { NHDR = 12, NAME = 8, METADATA = 32 };
	struct msgpack_value v;
	if (note->n < NHDR + NAME || le32(note->p) != sizeof("AMDGPU") ||
		le32(note->p + 8) != METADATA)
		return false;
	struct str rest = str_sub(*note, NHDR + NAME, note->n);
	if (!str_eq(str_sub(*note, NHDR, NHDR + 7), (struct str){.p = "AMDGPU", .n = 7}) ||
		!msgpack_take(&rest, MSGPACK_MAP, &v) ||
		!msgpack_find(&rest, v.number, S("amdhsa.kernels")) ||
		!msgpack_take(&rest, MSGPACK_ARRAY, &v))
		return false;
	*note = rest;
	*ret_n = v.number;
	return true;
}

/* Reads the number of kernels that the note announces (-1: none), and the name of the first one if the note's first
 * bytes have it. */
static struct err *read_announced(struct arena *a, const struct elf *e, struct code_object *o)
{
	enum { WINDOW = 3072, NAME = 200 };
	char window[WINDOW];
	struct msgpack_value v;
	uint64_t n;
	struct str note = {.p = window};
	const struct elf_segment *s = elf_segment(e, ELF_PT_NOTE);
	if (!s)
		return NULL;
	TRY(bytes_peek(e->src, window, s->filesz < WINDOW ? (size_t)s->filesz : WINDOW, s->offset,
		&note.n));
	if (!read_metadata(&note, &n))
		return NULL;
	o->kernels = (int64_t)n;
	if (n && msgpack_take(&note, MSGPACK_MAP, &v) &&
		msgpack_find(&note, v.number, S(".name")) && msgpack_take(&note, MSGPACK_STR, &v))
		o->kernel = str_dup(a, str_sub(v.text, 0, NAME));
	return NULL;
}

struct kernel_count {
	enum { BY_DESCRIPTOR, BY_NAME, BY_TYPE /* code object version 2 */ } by;
	int64_t n;
	uint32_t first; /* elf_symbol.at of the first one */
};

static struct err *count_kernel(void *user, const struct elf_symbol *s)
{
	enum {
		DESCRIPTOR = 64, /* bytes of a kernel descriptor */
		STT_OBJECT = 1,
		STT_AMDGPU_HSA_KERNEL = 10
	};
	struct kernel_count *k = user;
	bool is = s->type == STT_OBJECT && s->size == DESCRIPTOR;
	if (k->by == BY_NAME)
		is = str_ends(s->name, S(".kd"));
	else if (k->by == BY_TYPE)
		is = s->type == STT_AMDGPU_HSA_KERNEL;
	if (is && s->section && !k->n++)
		k->first = s->at;
	return NULL;
}

/* Symbol tables, above all the names of template kernels, can be a tenth of a library. So the cheap counts come first: the
 * kernels that the metadata note announces, compared with the number of symbols, and the symbols that look like kernel
 * descriptors. Two counts that agree are right. Otherwise the names decide. */
static struct err *count_kernels(struct arena *a, const struct elf *e, struct code_object *o)
{
	struct kernel_count k = {.by = o->version == FIRST_ABI ? BY_TYPE : BY_DESCRIPTOR};
	uint64_t symbols = 0;
	TRY(read_announced(a, e, o));
	if (o->kernels > 0 && o->kernel.n)
		TRY(elf_symbol_room(e, &symbols));
	/* a kernel has two symbols, NAME and NAME.kd, and a translation unit may have one more (__hip_cuid_*) */
	if (symbols && (symbols - 1) / 2 == (uint64_t)o->kernels)
		return NULL;
	if (k.by == BY_TYPE || o->kernels > 0)
		TRY(elf_symbols(e, false, count_kernel, &k));
	if (k.by != BY_TYPE && (!k.n || o->kernels != k.n)) {
		k = (struct kernel_count){.by = BY_NAME};
		TRY(elf_symbols(e, true, count_kernel, &k));
	}
	o->kernels = k.n;
	o->kernel = S("");
	if (!k.n)
		return NULL;
	TRY(elf_symbol_name(a, e, k.first, &o->kernel));
	if (str_ends(o->kernel, S(".kd")))
		o->kernel.n -= 3;
	return NULL;
}

/* SPIR-V is a header of five words and instructions, each with its length and code in its first word. Those that name the
 * kernels stand together before all functions. Source: SPIR-V 1.6, sections 2.3 and 2.4. */
static struct err *count_entry_points(
	const struct scan *s, const struct bytes *src, struct code_object *o)
{
	enum { WORD = 4, HEADER_WORDS = 5, TO_NAME = 3 * WORD, NAME = 200 };
	enum { OP_ENTRY_POINT = 15, OP_FUNCTION = 54, MODEL_KERNEL = 6 };
	char head[TO_NAME + NAME];
	struct str h = {.p = head};
	uint32_t words = HEADER_WORDS, code = 0;
	o->kernels = 0;
	for (uint64_t at = 0; words && code != OP_FUNCTION;) {
		at += words * WORD;
		TRY(budget_work(src->budget, sizeof(head)));
		TRY(bytes_peek(src, head, sizeof(head), at, &h.n));
		if (h.n < TO_NAME)
			break;
		words = le32(h.p) >> 16;
		code = le32(h.p) & 0xffff;
		if (code != OP_ENTRY_POINT && o->kernels)
			break;
		if (code != OP_ENTRY_POINT || le32(h.p + WORD) != MODEL_KERNEL || o->kernels++)
			continue;
		struct str name = str_sub(h, TO_NAME, h.n);
		o->kernel = str_dup(s->a, str_sub(name, 0, str_chr(name, '\0')));
	}
	return NULL;
}

/* ---- registers, LDS, scratch, spills ---- */

/* The compiler records these in the metadata note, whose list amdhsa.kernels has a map for each kernel; a note without
 * the list has no resources. Source of the keys: LLVM AMDGPUUsage, "Code Object V3 Metadata". KERNELS limits a whole
 * scan: enough for people, and a build report stays readable. */
enum { KERNELS = 4000, EVERY = 1000000 };
/* A build report has to stay below the limit of JSON documents: names are cut there, and not demangled before they are shown. */
enum { NAME_CUT = 1500, NAME_WHOLE = DEMANGLED_MAX };

#define NUMBER(k, member)                                                                          \
	{                                                                                          \
		.key = S_INIT(k), .off = offsetof(struct code_kernel, member)                      \
	}
static const struct {
	struct str key;
	size_t off;
} numbers[] = {
	NUMBER(".vgpr_count", vgprs),
	NUMBER(".agpr_count", agprs),
	NUMBER(".sgpr_count", sgprs),
	NUMBER(".group_segment_fixed_size", lds),
	NUMBER(".private_segment_fixed_size", scratch),
	NUMBER(".vgpr_spill_count", vgpr_spills),
	NUMBER(".sgpr_spill_count", sgpr_spills),
	NUMBER(".wavefront_size", wave),
};

/* The metadata does not have the place of a kernel's code; its symbol does. */
struct kernel_symbols {
	struct map by_name; /* struct elf_symbol */
	struct budget *budget;
	uint64_t taken;
};

static struct err *note_function(void *user, const struct elf_symbol *s)
{
	enum { STT_FUNC = 2, COST = 100 + sizeof(*s) };
	struct kernel_symbols *z = user;
	uint64_t cost = s->name.n + COST;
	if (s->type != STT_FUNC || !s->section)
		return NULL;
	TRY(budget_memory(z->budget, cost));
	z->taken += cost;
	struct elf_symbol *kept = NEW(z->by_name.a, struct elf_symbol);
	*kept = *s;
	map_put(&z->by_name, str_dup(z->by_name.a, s->name), kept);
	return NULL;
}

/* most: bytes of the name */
static bool read_kernel(struct arena *a, struct str *rest, size_t most, struct code_kernel *k)
{
	struct msgpack_value map, key, v;
	if (!msgpack_take(rest, MSGPACK_MAP, &map))
		return false;
	for (uint64_t n = map.number; n; n--) {
		if (!msgpack_next(rest, &key))
			return false;
		struct str at = *rest;
		if (!msgpack_skip(rest) || !msgpack_next(&at, &v))
			return false;
		if (v.kind == MSGPACK_STR && str_eq(key.text, S(".name")))
			k->name = str_dup(a, str_sub(v.text, 0, utf8_fit(v.text, most, most)));
		for (size_t i = 0; v.kind == MSGPACK_UINT && i < sizeof(numbers) / sizeof(*numbers);
			i++)
			if (str_eq(key.text, numbers[i].key))
				*(uint64_t *)(void *)((char *)k + numbers[i].off) = v.number;
	}
	return true;
}

/* The waves per SIMD unit that the registers allow, or 0 if unknown. Source for SGPRs: LLVM, GCNSubtarget.cpp,
 * getOccupancyWithNumSGPRs(); gfx10 and later have enough for all waves. */
static unsigned waves_of(const struct gpu *gpu, const struct code_kernel *k)
{
	enum { SGPRS = 800 };
	if (!gpu || !gpu->waves || k->wave != (gpu->wave32 ? 32 : 64))
		return 0;
	uint64_t steps = k->vgprs / gpu->vgpr_step + (k->vgprs % gpu->vgpr_step || !k->vgprs);
	uint64_t most = steps ? gpu->vgprs / gpu->vgpr_step / steps : 0;
	if (!gpu->wave32 && k->sgprs && SGPRS / k->sgprs < most)
		most = SGPRS / k->sgprs;
	return most < gpu->waves ? (unsigned)most : gpu->waves;
}

static struct err *read_resources(struct scan *s, const struct elf *e, struct code_object *o)
{
	ARENA(tmp);
	struct str note;
	uint64_t n, work = 0;
	struct kernel_symbols functions = {.by_name.a = &tmp, .budget = e->src->budget};
	const struct elf_segment *x = elf_segment(e, ELF_PT_NOTE);
	const bool every = s->flags & DEVCODE_EVERY;
	if (!x)
		return NULL;
	TRY(budget_work(e->src->budget, x->filesz));
	TRY(bytes_slice(&tmp, e->src, x->offset, x->filesz, &note));
	budget_return(e->src->budget, x->filesz);
	if (!read_metadata(&note, &n))
		return NULL;
	TRY(elf_symbols(e, true, note_function, &functions));
	budget_return(e->src->budget, functions.taken);
	for (; n && s->out->resources < (every ? EVERY : KERNELS); n--) {
		struct code_kernel k = {0};
		if (!read_kernel(s->a, &note, every ? NAME_WHOLE : NAME_CUT, &k))
			return NULL;
		struct str readable = every ? cxx_demangle(s->a, k.name, &work) : k.name;
		k.demangled = str_eq(readable, k.name) ? S("") : readable;
		const struct elf_symbol *f = map_get(&functions.by_name, k.name);
		k.size = f ? f->size : 0;
		if (f && s->flags & DEVCODE_CODE) {
			struct digest d;
			TRY(bytes_hash(e->src, elf_offset_of(e, f->value), f->size, &d));
			memcpy(&k.code, d.b, sizeof(k.code));
		}
		TRY(budget_memory(e->src->budget, sizeof(k) + k.name.n + k.demangled.n));
		TRY(budget_work(e->src->budget, work));
		work = 0;
		k.waves = waves_of(target_read(o->target).gpu, &k);
		*VEC_PUSH(s->a, &o->resources) = k;
		s->out->resources++;
	}
	return NULL;
}

/* ---- the whole object ---- */

static struct err *look(struct scan *s, const struct bytes *object, struct code_object *o)
{
	ARENA(tmp);
	struct elf e;
	char head[HEADER];
	struct str h = {.p = head};
	struct near near; /* not zeroed, which would cost as much as reading it */
	const struct bytes *src = &near.src;
	if (!(s->flags & ~(unsigned)DEVCODE_INNER)) {
		/* a plain listing needs no more than the ELF header, a short read, if that names the target */
		TRY(bytes_peek(object, head, HEADER, 0, &h.n));
		if (elf_header(h, &e) && e.machine == ELF_AMDGPU && e.flags & MACH)
			return look_at_header(s, &e, o);
	}
	near.last_n = near.last_at = 0;
	near.far = object;
	near.src = (struct bytes){.read = read_near,
		.size = object->size,
		.fd = -1,
		.user = &near,
		.budget = object->budget};
	TRY(bytes_peek(object, near.head, sizeof(near.head), 0, &near.n));
	if (str_starts((struct str){.p = near.head, .n = near.n}, S("\3\2\43\7")))
		return s->flags & (DEVCODE_KERNELS | DEVCODE_DEBUG) ? count_entry_points(s, src, o)
								    : NULL;
	if (str_starts((struct str){.p = near.head, .n = near.n}, S("BC\xc0\xde")))
		return NULL; /* LLVM's bitcode: the linker compiles it */
	bool debug = s->flags & DEVCODE_DEBUG;
	TRY(debug ? elf_open(&tmp, src, &e) : elf_open_head(&tmp, src, &e));
	if (e.machine != ELF_AMDGPU)
		return err_new(E_ELF, "an ELF file for machine %u, not for an AMD GPU", e.machine);
	TRY(look_at_header(s, &e, o));
	VEC_EACH (struct elf_section, x, &e.sections) /* empty without DEVCODE_DEBUG */
		if (str_starts(x->name, S(".debug_")) && x->size <= src->size)
			o->debug += (int64_t)x->size;
	if (!(s->flags & (DEVCODE_KERNELS | DEVCODE_DEBUG)))
		return NULL;
	TRY(count_kernels(s->a, &e, o));
	if (s->names_in && o->kernels > 0 && o->encoding < DEVCODE_OBJECT) {
		o->alone = 0;
		TRY(names_take(s, &e, o));
	}
	return s->flags & DEVCODE_RESOURCES ? read_resources(s, &e, o) : NULL;
}

void object_look(struct scan *s, const struct bytes *src, struct code_object *o)
{
	struct err *e = NULL;
	if (s->flags & DEVCODE_HASH) {
		struct digest d;
		e = bytes_hash(src, 0, src->size, &d);
		o->sha256 = digest_hex(s->a, d);
	}
	if (!e && src->size)
		e = look(s, src, o);
	if (e)
		scan_damage(s, "object-unreadable",
			err_wrap(e, "the object for '%.*s' in bundle %u%.*s cannot be read",
				STR(o->target), o->bundle, STR(s->whose)));
	if (o->kernels < 0 && s->flags & DEVCODE_KERNELS)
		o->kernels = 0; /* an empty or unreadable object, or bitcode */
	if (s->out->taker && !s->out->failed && src->size)
		s->out->failed = s->out->taker->fn(s->out->taker->user, s->file, o, src);
}

struct err *scan_object(struct scan *s, const struct bytes *src)
{
	struct code_object *o;
	TRY(object_add(s, src, S(""), &o));
	s->file->bundles++;
	o->encoding = DEVCODE_OBJECT;
	o->size = o->stored = src->size;
	o->place = (struct code_place){.bundle = src->base - s->base, .length = src->size};
	object_look(s, src, o);
	return NULL;
}

struct err *object_bytes_add(struct object_bytes *b, uint64_t size, struct str part)
{
	if (size > b->cap) {
		/* untouched pages cost no memory, whatever a table claims */
		TRY(budget_memory(b->budget, size - b->cap));
		free(b->p);
		b->p = malloc((size_t)size);
		b->cap = (size_t)size;
		if (!b->p)
			return err_new(E_LIMIT, "no memory for an object of %llu bytes",
				(unsigned long long)size);
	}
	memcpy(b->p + b->n, part.p, part.n);
	b->n += part.n;
	return NULL;
}

void object_bytes_free(struct object_bytes *b)
{
	free(b->p);
	budget_return(b->budget, b->cap);
}

/* Reports objects without kernels, unless no target of the bundle has any (device functions, variables). */
void object_compare(struct scan *s, size_t first, size_t end)
{
	ARENA(tmp);
	struct strs none = {0};
	const struct code_object *v = s->file->objects.v;
	bool some = false;
	names_compare(s, first);
	for (size_t i = first; i < end; i++) {
		some |= v[i].kernels > 0;
		if (v[i].kernels == 0)
			strs_add(&tmp, &none, v[i].target);
	}
	if (!some || !none.n)
		return;
	scan_say(s, "object-without-kernels",
		"bundle %u%.*s lists %zu target%s without any kernel: %.*s", v[first].bundle,
		STR(s->whose), none.n, none.n == 1 ? "" : "s", STR(str_join(&tmp, &none, S(", "))));
}

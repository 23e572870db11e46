/* What each kernel of a code object takes of a GPU: registers, LDS, scratch, spills.
 *
 * The compiler writes it into the metadata note, whose list amdhsa.kernels has a map for each kernel. Source of
 * the keys: LLVM AMDGPUUsage, "Code Object V3 Metadata". A note that is no such list tells nothing. */
#include "devcode/scan.h"

#include "formats/msgpack.h"

/* Of a whole scan: enough for people, and a record of a build stays readable. */
enum { KERNELS = 4000, NAME = 400 };

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

static void set(struct arena *a, struct code_kernel *k, struct str key, struct msgpack_value v)
{
	if (v.kind == MSGPACK_STR && str_eq(key, S(".name")))
		k->name = str_dup(a, str_sub(v.text, 0, utf8_fit(v.text, NAME, NAME)));
	for (size_t i = 0; v.kind == MSGPACK_UINT && i < sizeof(numbers) / sizeof(*numbers); i++)
		if (str_eq(key, numbers[i].key))
			*(uint64_t *)(void *)((char *)k + numbers[i].off) = v.number;
}

static bool read_kernel(struct arena *a, struct str *rest, struct code_kernel *k)
{
	struct msgpack_value map, key, value;
	if (!msgpack_next(rest, &map) || map.kind != MSGPACK_MAP)
		return false;
	for (uint64_t n = map.number; n; n--) {
		if (!msgpack_next(rest, &key))
			return false;
		struct str at = *rest;
		if (!msgpack_skip(rest) || !msgpack_next(&at, &value))
			return false;
		set(a, k, key.text, value);
	}
	return true;
}

/* SGPRs: LLVM, GCNSubtarget.cpp, getOccupancyWithNumSGPRs(); gfx10 and later have enough for all waves. */
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

struct err *object_resources(struct scan *s, const struct elf *e, struct code_object *o)
{
	ARENA(tmp);
	struct str note;
	uint64_t n;
	VEC_EACH (struct elf_segment, x, &e->segments) {
		if (x->type != ELF_PT_NOTE)
			continue;
		TRY(budget_work(e->src->budget, x->filesz));
		TRY(bytes_slice(&tmp, e->src, x->offset, x->filesz, &note));
		budget_return(e->src->budget, x->filesz);
		if (!object_metadata(&note, &n))
			return NULL;
		for (; n && s->out->resources < KERNELS; n--) {
			struct code_kernel k = {0};
			TRY(budget_memory(e->src->budget, sizeof(k) + NAME));
			if (!read_kernel(s->a, &note, &k))
				return NULL;
			k.waves = waves_of(target_read(o->target).gpu, &k);
			*VEC_PUSH(s->a, &o->resources) = k;
			s->out->resources++;
		}
		return NULL;
	}
	return NULL;
}

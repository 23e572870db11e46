/* Targets found elsewhere than in ids: in the e_flags of code objects, in the gfx_target_version of the KFD driver, and
 * in the paths of libraries' data files; see target.h.
 *
 * Sources: LLVM AMDGPUUsage, "ELF Header", tables of e_flags for code object V3 and V4-V6; Linux
 * drivers/gpu/drm/amd/amdkfd (gfx_target_version = major * 10000 + minor * 100 + stepping).
 */
#include "target/target.h"

enum {
	MACH_MASK = 0xff,
	ABI_V4 = 2,       /* EI_ABIVERSION of V4; V5 and V6 keep the layout */
	V3_XNACK = 0x100, /* set: on, clear: off */
	V3_SRAMECC = 0x200,
	V4_XNACK_SHIFT = 8, /* two bits: unsupported, any, off, on */
	V4_SRAMECC_SHIFT = 10,
};

static enum feature v3_feature(bool supported, uint32_t bit)
{
	if (bit)
		return FEATURE_ON;
	return supported ? FEATURE_OFF : FEATURE_UNSUPPORTED;
}

/* A processor without the suffix (gfx1250) may have "any" in its flags, which is the same as its plain name. */
static enum feature v4_feature(const struct gpu *gpu, bool supported, uint32_t bits)
{
	static const enum feature of[] = {
		FEATURE_UNSUPPORTED, FEATURE_ANY, FEATURE_OFF, FEATURE_ON};
	enum feature f = of[bits & 3];
	return f == FEATURE_ANY && gpu && !supported ? FEATURE_UNSUPPORTED : f;
}

struct target target_from_flags(struct arena *a, uint32_t e_flags, unsigned abi_version)
{
	unsigned mach = e_flags & MACH_MASK;
	struct target t = {.gpu = gpu_by_mach(mach)};
	bool xnack = t.gpu && t.gpu->xnack, sramecc = t.gpu && t.gpu->sramecc;
	t.name = t.gpu ? str_from(t.gpu->name) : str_fmt(a, "mach-0x%02x", mach);
	if (abi_version >= ABI_V4) {
		t.xnack = v4_feature(t.gpu, xnack, e_flags >> V4_XNACK_SHIFT);
		t.sramecc = v4_feature(t.gpu, sramecc, e_flags >> V4_SRAMECC_SHIFT);
	} else {
		t.xnack = v3_feature(xnack, e_flags & V3_XNACK);
		t.sramecc = v3_feature(sramecc, e_flags & V3_SRAMECC);
	}
	return t;
}

struct str target_from_kfd(struct arena *a, uint32_t v)
{
	if (!v)
		return S("");
	return str_fmt(a, "gfx%u%x%x", v / 10000, v / 100 % 100, v % 100);
}

bool target_word_is(const struct target_word *w, const struct gpu *gpu)
{
	struct str name = str_from(gpu->name);
	return name.n == w->text.n &&
	       str_eq(str_sub(name, 0, w->stem), str_sub(w->text, 0, w->stem));
}

bool target_word(struct str *rest, struct target_word *ret)
{
	const struct str mark = S("gfx");
	for (size_t at; (at = str_find(*rest, mark)) < rest->n;) {
		struct str text = str_sub(*rest, at, rest->n);
		/* the name of a family: AOTriton names folders "gfx11xx" and "gfx110x" */
		size_t stem = mark.n, n;
		while (stem < text.n && ascii_alnum(text.p[stem]) && text.p[stem] != 'x')
			stem++;
		n = stem + str_span(str_sub(text, stem, text.n), "x");
		/* else the longest name at the beginning: "gfx90a68.db" belongs to gfx90a */
		bool family = n > stem && stem > mark.n;
		n = family ? n : 0;
		TABLE_EACH (gpu, g) {
			struct str name = str_from(g->name);
			n = !family && str_starts(text, name) && name.n > n ? name.n : n;
		}
		*ret = (struct target_word){.text = str_sub(text, 0, n), .stem = family ? stem : n};
		*rest = str_sub(text, n > mark.n ? n : mark.n, text.n);
		TABLE_EACH (gpu, g)
			if (n && target_word_is(ret, g))
				return true;
	}
	return false;
}

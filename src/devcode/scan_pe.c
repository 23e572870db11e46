/* Device code in Windows programs and DLLs, and in COFF objects of static libraries. Bundles are in the section .hip_fat
 * (section names of images end after 8 bytes; in objects it is .hip_fatbin), wrappers in .hipFatB. */
#include "devcode/scan.h"
#include "formats/pe.h"

static void choose(struct arena *a, const struct pe *pe, bool all, struct scan_ranges *r)
{
	VEC_EACH (const struct pe_section, x, &pe->sections) {
		bool fatbin = str_starts(x->name, S(".hip_fat"));
		bool code = x->flags & (PE_CODE | PE_EXECUTE);
		if (x->size && (fatbin || all || !code))
			*VEC_PUSH(a, r) = (struct scan_range){.offset = x->offset,
				.size = x->size,
				.fatbin = fatbin,
				.name = x->name};
	}
}

struct err *scan_pe(struct scan *s, const struct bytes *src)
{
	ARENA(tmp);
	struct pe pe;
	struct scan_ranges r = {0}, rest = {0};
	bool wrappers = false, marked = false;
	TRY(pe_open(&tmp, src, &pe));
	VEC_EACH (const struct pe_section, x, &pe.sections) {
		wrappers = wrappers || str_starts(x->name, S(".hipFatB"));
		marked = marked || str_eq(x->name, S(".kpackrf"));
	}
	if (marked)
		scan_say_host(s, src);
	choose(&tmp, &pe, false, &r);
	TRY(scan_ranges(s, src, &r));
	if (s->file->bundles || marked || !wrappers)
		return NULL;
	choose(&tmp, &pe, true, &rest);
	return scan_ranges(s, src, &rest);
}

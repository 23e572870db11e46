/* Checks code files beside libraries (Tensile's, AOTriton's), a file or a folder for each GPU, in sets as devcode/
 * finds them: each set must serve the required GPUs. Some of ROCm's libraries are not built for all GPUs, and their
 * users do without them there. MIOpen's databases only save time, and are not required. */
#include "verify/exam.h"

/* Libraries, by a part of their path, and the GPUs that they are built for. Source: ROCm/TheRock,
 * cmake/therock_amdgpu_targets.cmake of 2026-08 (excluded projects), and ROCm/aotriton, README of 2026-08. */
static const struct {
	const char *part;
	const char *const gpus[12];
} partial[] = {
	{"hipsparselt", {"gfx942", "gfx950", "gfx125"}},
	{"hipblaslt", {"gfx908", "gfx90a", "gfx942", "gfx950", "gfx11", "gfx12"}},
	{"aotriton", {"gfx90a", "gfx942", "gfx950", "gfx11", "gfx12"}},
};

static bool unbuilt(struct str path, struct str gpu)
{
	ARENA(tmp);
	struct str lower = str_lower(&tmp, path);
	for (size_t i = 0; i < sizeof(partial) / sizeof(partial[0]); i++)
		if (str_contains(lower, str_from(partial[i].part)) &&
			!str_starts_one_of(gpu, partial[i].gpus))
			return true;
	return false;
}

struct err *check_side(struct exam *x, size_t *ret_sets)
{
	struct devcode d = {0};
	const struct target any = {0};
	const struct devcode_file nothing = {0};
	bool needed;
	*ret_sets = 0;
	for (size_t i = 0; i < x->n; i++) {
		const struct zip_member *m = x->members[i].zip;
		const struct devcode *in = &x->members[i].device;
		const struct devcode_part one = {.files = 1, .size = m->size, .stored = m->stored};
		TRY(budget_work(x->zip.src.budget, SIDE_COST * m->name.n + d.sets.n));
		if (!x->members[i].skip)
			devcode_note_side(
				x->a, &d, m->name, &one, in->files.n ? in->files.v : &nothing);
	}
	if (d.more_sets && x->o->require.n)
		exam_say(x, V_DEVICE_SIDE, S(""),
			"more than 1,000 folders have side files: not all could be judged");
	VEC_EACH (const struct devcode_set, s, &d.sets) {
		ARENA(tmp);
		struct strs served = {0};
		uint64_t files = 0;
		(void)devcode_set_serves(s, &any, &needed);
		*ret_sets += needed;
		VEC_EACH (const struct devcode_part, part, &s->parts)
			files += part->files;
		VEC_EACH (const struct target, want, &x->o->require) {
			struct str gpu = target_text(&tmp, want);
			if (devcode_set_serves(s, want, &needed))
				continue;
			bool never = unbuilt(s->path, gpu);
			struct finding *f = exam_say(x, V_DEVICE_SIDE, s->path,
				"it has %llu file%s for other GPUs and none for %.*s%s",
				(unsigned long long)files, files == 1 ? "" : "s", STR(gpu),
				never ? ": this library is not built for it" : "");
			f->severity = never ? SEV_INFO : f->severity;
		}
		VEC_EACH (const struct str, gpu, &x->verdict->served) {
			struct target want = target_read(*gpu);
			TRY(budget_work(x->zip.src.budget, 10 * s->parts.n));
			if (devcode_set_serves(s, &want, &needed) || unbuilt(s->path, *gpu))
				strs_add(x->a, &served, *gpu);
		}
		x->verdict->served = served;
	}
	return NULL;
}

/* Compares device code with the required targets: each bundle with kernels must have some for every required target,
 * under the target itself, a feature variant of it, or a generic target that covers it. */
#include "base/proc.h"
#include "verify/exam.h"

static bool counts(const struct code_object *o)
{
	return o->kernels != 0; /* -1: not looked at */
}

/* The targets of the objects with kernels (or of those without), each once, sorted. */
static struct strs targets_of(
	struct arena *a, const struct devcode *d, const struct devcode_file *f, bool kernels)
{
	struct strs names = {0};
	bool is[DEVCODE_TARGETS] = {0};
	VEC_EACH (const struct code_object, o, &f->objects)
		is[o->id] = is[o->id] || counts(o) == kernels;
	for (size_t i = 0; i < d->targets.n; i++)
		if (is[i])
			strs_add(a, &names, d->targets.v[i].name);
	targets_sort(&names);
	return names;
}

/* spirv: where nothing else is there, HIP of ROCm 6.4 and later compiles that when it is loaded. */
static struct devcode_cover cover_of(const struct devcode *d, const struct devcode_file *f,
	const struct target *want, bool spirv)
{
	bool served[DEVCODE_TARGETS];
	devcode_serves(d, want, served);
	for (size_t i = 0; spirv && i < d->targets.n; i++)
		served[i] = served[i] || str_eq(d->targets.v[i].name, S("amdgcnspirv"));
	return devcode_cover(f, served);
}

static void check_targets(struct exam *x, const struct devcode *d, const struct devcode_file *f,
	const struct strs *have)
{
	ARENA(tmp);
	struct target key = target_read(x->part.key);
	bool one = set_is_one_of(x) && key.gpu; /* others of its set serve other GPUs */
	VEC_EACH (const struct target, want, &x->o->require) {
		struct devcode_cover c = cover_of(d, f, want, false);
		struct str name = target_text(&tmp, want);
		if (!c.missing || (one && !target_covers(&key, want)))
			continue;
		bool compiled = c.without && !cover_of(d, f, want, true).without;
		struct finding *fi = exam_say(x,
			compiled    ? V_DEVICE_SPIRV
			: c.without ? V_DEVICE_MISSING
				    : V_DEVICE_FEWER,
			f->path, "%s", "");
		if (compiled)
			finding_say(x->a, fi,
				"%.*s has SPIR-V in the place of machine code, which HIP compiles "
				"when it is loaded, from ROCm 6.4 on",
				STR(name));
		else if (c.without == c.bundles)
			finding_say(x->a, fi, "no kernel for %.*s; it has %.*s", STR(name),
				STR(str_join(&tmp, have, S(", "))));
		else if (c.without)
			finding_say(x->a, fi, "no kernel for %.*s in %.*s", STR(name),
				STR(devcode_cover_text(&tmp, f, &c)));
		else
			finding_say(x->a, fi, "%.*s lacks %lld of %lld kernels that others have",
				STR(name), (long long)c.missing, (long long)c.kernels);
		finding_fix(x->a, fi, "build it with --gpu %.*s", STR(name));
	}
}

struct served_file {
	const struct devcode *d;
	const struct devcode_file *f;
};

struct served_files VEC_OF(struct served_file);

/* The names in the files, such as "gfx90a:xnack-", which all of them serve in every mode that the name stands for:
 * gfx1100 if one file has code for gfx1100 and another one for gfx11-generic. */
static struct err *serve_all(struct exam *x, const struct served_files *files)
{
	ARENA(tmp);
	struct strs names = {0}, *served = &x->verdict->served;
	uint64_t work = 0;
	VEC_EACH (const struct served_file, s, files) {
		struct strs have = targets_of(&tmp, s->d, s->f, true);
		strs_put_all(&tmp, &names, &have);
		work += 100 * s->d->targets.n + 4 * s->f->objects.n;
	}
	targets_sort(&names);
	for (size_t i = 0; i < names.n; i++) {
		struct target want = target_read(names.v[i]), modes[TARGET_MODES];
		size_t n = target_modes(&want, modes);
		bool all = true;
		TRY(budget_work(x->zip.src.budget, n * work));
		for (size_t k = 0; k < n; k++)
			VEC_EACH (const struct served_file, s, files)
				all = all && !cover_of(s->d, s->f, &modes[k], false).without;
		if (all && !strs_has(served, want.name))
			strs_add(x->a, served, str_dup(x->a, names.v[i]));
	}
	return NULL;
}

struct err *check_device(struct exam *x)
{
	struct served_files files = {0};
	size_t sets;
	bool kpack, wanted = x->o->require.n || x->o->device_code, may_lack = x->o->optional;
	for (size_t i = 0; i < x->n; i++) {
		struct exam_member *m = &x->members[i];
		if (m->device_bad && (m->elf || m->kpack))
			exam_say(x, V_DEVICE_BROKEN, m->zip->name, "%s", m->device_bad->msg);
		VEC_EACH (const struct finding, f, &m->device.findings)
			if (f->severity == SEV_ERROR)
				exam_say(x, V_DEVICE_BROKEN, f->path, "%.*s", STR(f->message));
		VEC_EACH (const struct devcode_file, f, &m->device.files) {
			ARENA(tmp);
			if (f->packs.n ||
				devcode_is_runtime(f->path)) /* check_kpack() judges all wheels */
				continue;
			struct strs have = targets_of(&tmp, &m->device, f, true);
			uint64_t work = have.n * (100 * m->device.targets.n + 4 * f->objects.n);
			TRY(budget_work(x->zip.src.budget, work + SIDE_COST * f->path.n));
			size_t empty = 0;
			VEC_EACH (const struct code_object, o, &f->objects)
				empty += !counts(o) && !o->inner;
			if (wanted && !f->side && empty && (have.n || !may_lack)) {
				struct strs bare = targets_of(&tmp, &m->device, f, false);
				exam_say(x, V_DEVICE_EMPTY, f->path,
					"%zu code objects without any kernel: %.*s", empty,
					STR(str_join(&tmp, &bare, S(", "))));
			}
			if (!have.n || f->side)
				continue;
			*VEC_PUSH(x->a, &files) = (struct served_file){&m->device, f};
			check_targets(x, &m->device, f, &have);
		}
	}
	x->verdict->fat = files.n > 0;
	TRY(serve_all(x, &files));
	TRY(check_side(x, &sets));
	TRY(kpack_keep(x, &kpack));
	/* set_check_parts() judges the wheels of a plain set that have none themselves */
	if (wanted && !may_lack && !files.n && !sets && !kpack && !set_is_bare(x))
		exam_say(x, V_DEVICE_NONE, S(""),
			"there is no device code with kernels in the wheel");
	return cancel_check();
}

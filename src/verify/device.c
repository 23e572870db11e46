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
	strs_sort(&names);
	return names;
}

static struct devcode_cover cover_of(
	const struct devcode *d, const struct devcode_file *f, const struct target *want)
{
	bool served[DEVCODE_TARGETS];
	devcode_serves(d, want, served);
	return devcode_cover(f, served);
}

static void check_targets(struct exam *x, const struct devcode *d, const struct devcode_file *f,
	const struct strs *have)
{
	ARENA(tmp);
	VEC_EACH (const struct target, want, &x->o->require) {
		struct devcode_cover c = cover_of(d, f, want);
		struct str name = target_text(&tmp, want);
		if (!c.missing)
			continue;
		struct finding *fi = exam_say(
			x, c.without ? V_DEVICE_MISSING : V_DEVICE_FEWER, f->path, "%s", "");
		if (c.without == c.bundles)
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

/* The targets in `before` (NULL: all) that every bundle of one more file serves, too. All names are sorted. */
static struct strs still_served(struct exam *x, const struct devcode *d,
	const struct devcode_file *f, const struct strs *have, const struct strs *before)
{
	struct strs both = {0};
	for (size_t i = 0, k = 0; i < have->n; i++) {
		struct target want = target_read(have->v[i]);
		while (before && k < before->n && str_cmp(before->v[k], have->v[i]) < 0)
			k++;
		if (before && (k == before->n || !str_eq(before->v[k], have->v[i])))
			continue;
		if (!cover_of(d, f, &want).without)
			strs_add(x->a, &both, str_dup(x->a, have->v[i]));
	}
	return both;
}

struct err *check_device(struct exam *x)
{
	size_t files = 0, sets;
	bool kpack, wanted = x->o->require.n || x->o->device_code;
	for (size_t i = 0; i < x->n; i++) {
		struct exam_member *m = &x->members[i];
		if (m->device_bad && (m->elf || m->kpack))
			exam_say(x, V_DEVICE_BROKEN, m->zip->name, "%s", m->device_bad->msg);
		VEC_EACH (const struct finding, f, &m->device.findings)
			if (f->severity == SEV_ERROR)
				exam_say(x, V_DEVICE_BROKEN, f->path, "%.*s", STR(f->message));
		VEC_EACH (const struct devcode_file, f, &m->device.files) {
			ARENA(tmp);
			if (f->packs.n) /* check_kpack() judges all wheels together */
				continue;
			struct strs have = targets_of(&tmp, &m->device, f, true);
			uint64_t work = have.n * (100 * m->device.targets.n + 4 * f->objects.n);
			TRY(budget_work(x->zip.src.budget, work + SIDE_COST * f->path.n));
			size_t empty = 0;
			VEC_EACH (const struct code_object, o, &f->objects)
				empty += !counts(o);
			if (wanted && !f->side && empty) {
				struct strs bare = targets_of(&tmp, &m->device, f, false);
				exam_say(x, V_DEVICE_EMPTY, f->path,
					"%zu code objects without any kernel: %.*s", empty,
					STR(str_join(&tmp, &bare, S(", "))));
			}
			if (!have.n || f->side)
				continue;
			x->verdict->served = still_served(
				x, &m->device, f, &have, files++ ? &x->verdict->served : NULL);
			check_targets(x, &m->device, f, &have);
		}
	}
	TRY(check_side(x, &sets));
	TRY(kpack_keep(x, &kpack));
	if (wanted && !files && !sets && !kpack)
		exam_say(x, V_DEVICE_NONE, S(""),
			"there is no device code with kernels in the wheel");
	return cancel_check();
}

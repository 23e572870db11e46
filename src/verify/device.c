/* Device code against what was required: each file that has device code must have kernels for every
 * required target, by the very target, a feature variant of it, or a generic target that covers it.
 */
#include "base/proc.h"
#include "verify/exam.h"

static bool counts(const struct code_object *o)
{
	return o->kernels != 0; /* -1: not looked at */
}

/* A variant counts in both directions: gfx90a is served by gfx90a:xnack-, and the reverse. */
static bool serves(const struct code_object *o, const struct target *want)
{
	struct target have = target_read(o->target);
	if (!counts(o))
		return false;
	return target_covers(&have, want) ||
	       (str_eq(have.name, want->name) && target_covers(want, &have));
}

/* Targets of the objects that have kernels, or of those that have none; each once. */
static struct strs targets_of(struct exam *x, const struct devcode_file *f, bool kernels)
{
	struct strs names = {0};
	VEC_EACH (const struct code_object, o, &f->objects)
		if (counts(o) == kernels)
			strs_put(x->a, &names, str_dup(x->a, o->target));
	return names;
}

static void check_targets(struct exam *x, const struct devcode_file *f, const struct strs *have)
{
	VEC_EACH (const struct target, want, &x->o->require) {
		bool found = false;
		VEC_EACH (const struct code_object, o, &f->objects)
			found = found || serves(o, want);
		if (found)
			continue;
		struct str name = target_text(x->a, want);
		struct finding *fi =
			exam_say(x, V_DEVICE_MISSING, f->path, "no kernel for %.*s; it has %.*s",
				STR(name), STR(str_join(x->a, have, S(", "))));
		finding_fix(x->a, fi, "build it with --gpu %.*s", STR(name));
	}
}

static void check_empty(struct exam *x, const struct devcode_file *f)
{
	struct strs names = targets_of(x, f, false);
	size_t n = 0;
	VEC_EACH (const struct code_object, o, &f->objects)
		n += !counts(o);
	if (n)
		exam_say(x, V_DEVICE_EMPTY, f->path, "%zu code objects without any kernel: %.*s", n,
			STR(str_join(x->a, &names, S(", "))));
}

static struct strs common(struct arena *a, const struct strs *x, const struct strs *y)
{
	struct strs both = {0};
	VEC_EACH (const struct str, name, x)
		if (strs_has(y, *name))
			strs_add(a, &both, *name);
	return both;
}

struct err *check_device(struct exam *x)
{
	size_t files = 0;
	bool wanted = x->o->require.n || x->o->device_code;
	for (size_t i = 0; i < x->n; i++) {
		struct exam_member *m = &x->members[i];
		if (m->device_bad && m->elf)
			exam_say(x, V_DEVICE_BROKEN, m->zip->name, "%s", m->device_bad->msg);
		VEC_EACH (const struct devcode_file, f, &m->device.files) {
			if (wanted)
				check_empty(x, f);
			struct strs have = targets_of(x, f, true);
			if (!have.n)
				continue;
			strs_sort(&have);
			x->verdict->served =
				files++ ? common(x->a, &x->verdict->served, &have) : have;
			check_targets(x, f, &have);
		}
	}
	if (wanted && !files)
		exam_say(x, V_DEVICE_NONE, S(""),
			"there is no device code with kernels in the wheel");
	return cancel_check();
}

/* Which targets every file with device code serves.
 *
 * A file serves a target when it has an object for that processor, or for a generic target that
 * covers it, and the object has kernels (where they were counted, and where the file has any). */
#include "devcode/devcode.h"

static bool any_kernels(const struct devcode_file *f)
{
	VEC_EACH (struct code_object, o, &f->objects) {
		if (o->kernels)
			return true;
	}
	return false;
}

static struct str processor(struct str target)
{
	return str_sub(target, 0, str_chr(target, ':'));
}

static bool serves(const struct devcode_file *f, const struct target *want)
{
	bool empty = !any_kernels(f);
	VEC_EACH (struct code_object, o, &f->objects) {
		struct target have = target_read(processor(o->target));
		if ((o->kernels || empty) && o->size && target_covers(&have, want))
			return true;
	}
	return false;
}

void devcode_finish(struct arena *a, struct devcode *d)
{
	ARENA(tmp);
	struct strs names = {0};
	VEC_EACH (struct devcode_file, f, &d->files) {
		VEC_EACH (struct code_object, o, &f->objects) {
			struct str name = processor(o->target);
			if (name.n && !strs_has(&names, name))
				strs_add(&tmp, &names, name);
		}
	}
	d->served = (struct strs){0};
	for (size_t i = 0; i < names.n; i++) {
		struct target want = target_read(names.v[i]);
		bool all = true;
		VEC_EACH (struct devcode_file, f, &d->files)
			all = all && serves(f, &want);
		if (all)
			strs_add(a, &d->served, str_dup(a, names.v[i]));
	}
	strs_sort(&d->served);
}

/* Reading a machine: all parts in order. */
#include "machine/machine.h"

#include "machine/facts.h"

struct err *machine_gather(struct root *r, bool all, struct machine *m)
{
	*m = (struct machine){.root = r->dir};
	if (r->dir.n && !fs_is_dir(r->dir))
		return err_new(E_NOENT, "the sysroot '%.*s' is not a folder", STR(r->dir));
	root_open(r);
	gather_system(r, m);
	gather_container(r, m);
	gather_driver(r, m);
	gather_kfd(r, m);
	gather_displays(r, m);
	gather_boards(r, m);
	gather_nodes(r, m);
	gather_sdks(r, m);
	gather_around(r, m);
	if (all)
		gather_pythons(r, m);
	return NULL;
}

struct err *machine_read(struct arena *a, struct str root, struct machine *ret)
{
	struct root r = {.a = a, .dir = root};
	return machine_gather(&r, false, ret);
}

struct err *machine_read_all(struct arena *a, struct str root, struct machine *ret)
{
	struct root r = {.a = a, .dir = root};
	return machine_gather(&r, true, ret);
}

struct err *machine_native(struct arena *a, const struct machine *m, struct strs *ret)
{
	*ret = (struct strs){0};
	VEC_EACH (struct machine_gpu, g, &m->gpus)
		if (g->target.n)
			strs_put(a, ret, g->target);
	if (ret->n)
		return NULL;
	struct err *e = err_new(E_NO_GPU, "'native' finds no AMD GPU in this machine");
	VEC_EACH (struct finding, f, &m->findings)
		if (f->severity == SEV_ERROR && !e->cause)
			e->cause = err_new(E_NO_GPU, "%.*s", STR(f->message));
	return err_hint(e, "name the targets instead, e.g. --gpu gfx1201,gfx90a");
}

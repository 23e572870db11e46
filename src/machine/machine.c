/* Reading a machine: all parts in order. */
#include "machine/machine.h"

#include "machine/facts.h"

/* A stranger's sysroot may say what no machine has. Rules read the facts as JSON, whose readers hold no more than this. */
static void bound(uint64_t *n)
{
	*n = *n < INT64_MAX ? *n : INT64_MAX;
}

static void bound_numbers(struct machine *m)
{
	uint64_t *const all[] = {&m->memory, &m->memory_free, &m->swap, &m->gtt_limit};
	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		bound(all[i]);
	VEC_EACH (struct machine_gpu, g, &m->gpus) {
		bound(&g->vram);
		bound(&g->gtt);
		bound(&g->carve_out);
	}
	VEC_EACH (struct machine_disk, d, &m->disks) {
		bound(&d->size);
		bound(&d->free);
	}
	if (!(m->pressure >= 0 && m->pressure <= 100)) /* percent */
		m->pressure = 0;
}

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
	if (all) {
		gather_sdk_rocblas(r, m);
		gather_pythons(r, m);
	}
	bound_numbers(m);
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

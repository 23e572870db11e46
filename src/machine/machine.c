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

static struct err *open_machine(struct root *r, struct machine *m)
{
	*m = (struct machine){.root = r->dir};
	if (r->dir.n && !fs_is_dir(r->dir))
		return err_new(E_NOENT, "the sysroot '%.*s' is not a folder", STR(r->dir));
	return NULL;
}

struct err *machine_gather(struct root *r, bool all, struct machine *m)
{
	TRY(open_machine(r, m));
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

struct err *machine_gpus(struct arena *a, struct str root, struct machine *ret)
{
	struct root r = {.a = a, .dir = root};
	TRY(open_machine(&r, ret));
	gather_kfd(&r, ret);
	return NULL;
}

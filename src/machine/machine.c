/* Reads a machine: runs all parts in order. */
#include "machine/machine.h"

#include "machine/facts.h"

static uint64_t bounded(uint64_t n)
{
	return n < INT64_MAX ? n : INT64_MAX;
}

/* A stranger's sysroot may contain absurd numbers. Rules read the facts as JSON, whose readers are limited to
 * INT64_MAX. */
static void bound_numbers(struct machine *m)
{
	m->memory = bounded(m->memory);
	m->memory_free = bounded(m->memory_free);
	m->swap = bounded(m->swap);
	m->gtt_limit = bounded(m->gtt_limit);
	VEC_EACH (struct machine_gpu, g, &m->gpus) {
		g->vram = bounded(g->vram);
		g->gtt = bounded(g->gtt);
		g->carve_out = bounded(g->carve_out);
	}
	VEC_EACH (struct machine_disk, d, &m->disks) {
		d->size = bounded(d->size);
		d->free = bounded(d->free);
	}
	if (!(m->pressure >= 0 && m->pressure <= 100)) /* percent */
		m->pressure = 0;
}

struct err *machine_gather(struct root *r, bool all, struct machine *m)
{
	*m = (struct machine){.root = r->dir};
	TRY(root_open(r));
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
	*ret = (struct machine){.root = root};
	TRY(root_open(&r));
	gather_kfd(&r, ret);
	return NULL;
}

/* Reads a machine: runs all parts in order. */
#include "machine/machine.h"

#include "machine/facts.h"

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
	gather_variables(r, m);
	gather_disks(r, m);
	if (all) {
		gather_sdk_rocblas(r, m);
		gather_pythons(r, m);
	}
	if (!(m->pressure >= 0 && m->pressure <= 100)) /* percent */
		m->pressure = 0;
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

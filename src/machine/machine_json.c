/* The facts as JSON; documented in rocsmith-doctor(1). Numbers of PCI are hex text as in sysfs. */
#include "machine/machine.h"

static void put_hex(struct json *j, const char *key, unsigned digits, uint32_t value)
{
	ARENA(tmp);
	json_put(j, key, str_fmt(&tmp, "0x%0*x", (int)digits, value));
}

static void put_system(struct json *j, const struct machine *m)
{
	json_put(j, "kernel", m->kernel);
	json_put(j, "arch", m->arch);
	json_put(j, "distro", m->distro);
	json_put(j, "distro_id", m->distro_id);
	json_put(j, "distro_version", m->distro_version);
	json_put(j, "cpu", m->cpu);
	json_put_u64(j, "cpus", m->cpus);
	json_put_u64(j, "memory", m->memory);
	json_put_u64(j, "memory_free", m->memory_free);
	json_put_u64(j, "swap", m->swap);
	json_put_bool(j, "wsl", m->wsl);
	json_put_bool(j, "virtual", m->virtual);
	json_put_bool(j, "container", m->container);
	json_put(j, "container_kind", m->container_kind);
	json_put_strs(j, "parameters", &m->parameters);
}

static void put_identity(struct json *j, const struct machine *m)
{
	json_key(j, "identity");
	if (!m->has_identity) {
		json_null(j);
		return;
	}
	json_open(j, '{');
	json_put_u64(j, "uid", m->uid);
	json_put_u64(j, "gid", m->gid);
	json_put_strs(j, "groups", &m->groups);
	json_close(j);
}

static void put_driver(struct json *j, const struct machine_driver *d)
{
	json_key(j, "driver");
	json_open(j, '{');
	json_put(j, "name", S("amdgpu"));
	json_put_bool(j, "loaded", d->loaded);
	json_put(j, "state", d->state);
	json_put(j, "version", d->version);
	json_put_bool(j, "blacklisted", d->blacklisted);
	json_put(j, "blacklisted_by", d->blacklisted_by);
	json_close(j);
}

static void put_gpu(struct json *j, const struct machine_gpu *g)
{
	const struct gpu *known = gpu_by_name(g->target);
	json_open(j, '{');
	json_put_u64(j, "node", g->node);
	json_put(j, "target", g->target);
	json_put(j, "generic", str_from(known ? known->generic : NULL));
	json_put(j, "name", g->name);
	json_put(j, "products", str_from(known ? known->products : NULL));
	put_hex(j, "vendor", 4, g->vendor);
	put_hex(j, "device", 4, g->device);
	json_put(j, "pci", g->pci);
	json_put(j, "render", g->render);
	json_put_u64(j, "vram", g->vram);
	json_put_u64(j, "compute_units", g->compute_units);
	json_put_u64(j, "wave_size", g->wave_size);
	json_put_bool(j, "apu", g->apu);
	json_close(j);
}

static void put_display(struct json *j, const struct machine_display *d)
{
	json_open(j, '{');
	json_put(j, "pci", d->pci);
	put_hex(j, "vendor", 4, d->vendor);
	put_hex(j, "device", 4, d->device);
	put_hex(j, "class", 6, d->class);
	json_put(j, "driver", d->driver);
	json_close(j);
}

static void put_node(struct json *j, const struct machine_node *n)
{
	ARENA(tmp);
	json_open(j, '{');
	json_put(j, "path", n->path);
	json_put(j, "mode", str_fmt(&tmp, "%04o", n->mode));
	json_put_u64(j, "uid", n->uid);
	json_put_u64(j, "gid", n->gid);
	json_put(j, "group", n->group);
	json_put_bool(j, "usable", n->usable);
	json_put_bool(j, "acl", n->acl);
	json_close(j);
}

static void put_sdks(struct json *j, const struct machine *m)
{
	json_key(j, "sdks");
	json_open(j, '[');
	VEC_EACH (struct machine_sdk, s, &m->sdks) {
		json_open(j, '{');
		json_put(j, "path", s->path);
		json_put(j, "version", s->version);
		json_close(j);
	}
	json_close(j);
}

void machine_json(struct json *j, const struct machine *m)
{
	json_open(j, '{');
	put_system(j, m);
	put_identity(j, m);
	put_driver(j, &m->driver);
	json_put_bool(j, "kfd", m->has_kfd);
	json_put_u64(j, "hidden_gpus", m->hidden);
	json_key(j, "gpus");
	json_open(j, '[');
	VEC_EACH (struct machine_gpu, g, &m->gpus)
		put_gpu(j, g);
	json_close(j);
	json_key(j, "displays");
	json_open(j, '[');
	VEC_EACH (struct machine_display, d, &m->displays)
		put_display(j, d);
	json_close(j);
	json_key(j, "nodes");
	json_open(j, '[');
	VEC_EACH (struct machine_node, n, &m->nodes)
		put_node(j, n);
	json_close(j);
	put_sdks(j, m);
	json_close(j);
}

void machine_report_json(struct json *j, const struct machine *m)
{
	json_open(j, '{');
	json_put(j, "schema", S("rocsmith.doctor/1"));
	json_key(j, "facts");
	machine_json(j, m);
	json_key(j, "findings");
	findings_json(j, &m->findings);
	json_close(j);
}

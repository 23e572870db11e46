/* The GPUs of the compute driver, from /sys/class/kfd/kfd/topology/nodes.
 *
 * Source: Linux drivers/gpu/drm/amd/amdkfd/kfd_topology.c (node_show, mem_show). Each node has
 * gpu_id (0 for a CPU), name, properties ("key value" lines) and mem_banks/N/properties. In a
 * container the kernel answers EPERM for nodes that the device rules hide. local_mem_size is always
 * 0: the size of the local memory is that of the banks with heap_type 1 (visible to the CPU) and 2
 * (private).
 */
#include <stddef.h>
#include <stdlib.h>

#include "machine/facts.h"

enum {
	VENDOR_AMD = 0x1002,
	RENDER_FIRST = 128,
	RENDER_LAST = 1 << 20,
	BANKS_MAX = 64,
	GPUS_MAX = 256
};

struct kfd_props parse_kfd(struct str text)
{
	static const struct {
		const char *key;
		size_t off;
	} members[] = {
#define MEMBER(name) {#name, offsetof(struct kfd_props, name)}
		MEMBER(cpu_cores_count),
		MEMBER(simd_count),
		MEMBER(simd_per_cu),
		MEMBER(wave_front_size),
		MEMBER(gfx_target_version),
		MEMBER(vendor_id),
		MEMBER(device_id),
		MEMBER(location_id),
		MEMBER(domain),
		MEMBER(drm_render_minor),
#undef MEMBER
	};
	struct kfd_props p = {0};
	struct str line, key, value;
	while (str_next(&text, '\n', &line)) {
		if (!str_cut(str_trim(line), ' ', &key, &value))
			continue;
		for (size_t i = 0; i < sizeof(members) / sizeof(*members); i++) {
			uint64_t *at = (uint64_t *)(void *)((char *)&p + members[i].off);
			if (str_eq(key, str_from(members[i].key)) &&
				!str_u64(str_trim(value), 10, at))
				*at = 0;
		}
	}
	return p;
}

uint64_t parse_kfd_bank(struct str text)
{
	uint64_t heap = line_number(text, ' ', S("heap_type"));
	return heap == 1 || heap == 2 ? line_number(text, ' ', S("size_in_bytes")) : 0;
}

struct str kfd_pci_address(struct arena *a, const struct kfd_props *p)
{
	unsigned at = (unsigned)(p->location_id & 0xffff); /* the upper bits number a partition */
	if (!at && !p->domain)
		return S("");
	return str_fmt(a, "%04x:%02x:%02x.%x", (unsigned)(p->domain & 0xffffffff), at >> 8,
		at >> 3 & 0x1f, at & 7);
}

static uint64_t local_memory(struct root *r, struct str node)
{
	struct strs banks;
	uint64_t sum = 0;
	struct str dir = path_join(r->a, node, S("mem_banks"));
	root_list(r, dir, &banks);
	for (size_t i = 0; i < banks.n && i < BANKS_MAX; i++) {
		struct str text, path = path_join(r->a, dir, banks.v[i]);
		root_read(r, path_join(r->a, path, S("properties")), &text);
		uint64_t bytes = parse_kfd_bank(text);
		sum = bytes > INT64_MAX - sum ? INT64_MAX : sum + bytes;
	}
	return sum;
}

static unsigned clamp(uint64_t n)
{
	return n > UINT32_MAX ? UINT32_MAX : (unsigned)n;
}

static void add_gpu(
	struct root *r, struct machine *m, unsigned node, struct str dir, const struct kfd_props *p)
{
	struct str target = p->gfx_target_version < UINT32_MAX
				    ? target_from_kfd(r->a, (uint32_t)p->gfx_target_version)
				    : S("");
	enum { MI300A = 0x74a0 }; /* other devices of gfx942 are cards */
	const struct gpu *gpu = gpu_by_name(target);
	struct str name = root_line(r, path_join(r->a, dir, S("name")));
	struct machine_gpu g = {
		.node = node,
		.target = target,
		/* the driver writes "ip discovery" for a GPU that it has no name for */
		.name = str_eq(name, S("ip discovery")) ? S("") : name,
		.vendor = clamp(p->vendor_id),
		.device = clamp(p->device_id),
		.pci = kfd_pci_address(r->a, p),
		.vram = local_memory(r, dir),
		.compute_units = p->simd_per_cu ? clamp(p->simd_count / p->simd_per_cu) : 0,
		.wave_size = clamp(p->wave_front_size),
		.apu = p->cpu_cores_count > 0 || (gpu && gpu->apu) || p->device_id == MI300A,
	};
	if (!g.wave_size && gpu)
		g.wave_size = gpu->wave32 ? 32 : 64;
	if (p->drm_render_minor >= RENDER_FIRST && p->drm_render_minor <= RENDER_LAST)
		g.render = str_fmt(r->a, "/dev/dri/renderD%u", (unsigned)p->drm_render_minor);
	*VEC_PUSH(r->a, &m->gpus) = g;
}

static void read_node(struct root *r, struct machine *m, struct str nodes, struct str name)
{
	uint64_t number;
	struct str text, dir = path_join(r->a, nodes, name);
	struct str path = path_join(r->a, dir, S("properties"));
	if (!str_u64(name, 10, &number) || number > UINT32_MAX)
		return;
	enum root_status s = root_read(r, path, &text);
	if (s == ROOT_DENIED) { /* denied by a container's device rules */
		m->hidden++;
		return;
	}
	if (s != ROOT_OK)
		note_unreadable(r->a, m, path, s);
	struct kfd_props p = parse_kfd(text);
	bool amd = !p.vendor_id || p.vendor_id == VENDOR_AMD;
	if (amd && (p.simd_count || p.gfx_target_version) && m->gpus.n < GPUS_MAX)
		add_gpu(r, m, (unsigned)number, dir, &p);
}

/* Does a link to a CPU lack PCIe atomics? The driver probes them at start-up (kfd_set_iolink_no_atomics(); flags:
 * CRAT_IOLINK_FLAGS_NO_ATOMICS_*). */
static bool lacks_atomics(struct root *r, const struct machine *m, struct str node)
{
	enum { NO_ATOMICS = 1 << 2 | 1 << 3, LINKS_MAX = 64 };
	struct strs links;
	struct str text, dir = path_join(r->a, node, S("io_links"));
	bool lacks = false;
	root_list(r, dir, &links);
	for (size_t i = 0; i < links.n && i < LINKS_MAX; i++) {
		struct str path = str_fmt(r->a, "%.*s/%.*s/properties", STR(dir), STR(links.v[i]));
		size_t mark = root_mark(r);
		root_read(r, path, &text);
		uint64_t to = line_number(text, ' ', S("node_to"));
		bool is_gpu = !text.n;
		VEC_EACH (struct machine_gpu, g, &m->gpus)
			is_gpu = is_gpu || g->node == to;
		if (is_gpu) {
			root_forget(r, mark);
			continue;
		}
		lacks = lacks || line_number(text, ' ', S("flags")) & NO_ATOMICS;
	}
	return lacks;
}

static int by_node(const void *a, const void *b)
{
	const struct machine_gpu *x = a, *y = b;
	return (x->node > y->node) - (x->node < y->node);
}

void gather_kfd(struct root *r, struct machine *m)
{
	/* The class folder is a link into devices/; a plain copy may have only one of them. */
	static const struct str places[] = {S_INIT("sys/class/kfd/kfd/topology/nodes"),
		S_INIT("sys/devices/virtual/kfd/kfd/topology/nodes")};
	for (size_t i = 0; i < sizeof(places) / sizeof(*places) && !m->has_kfd; i++) {
		struct strs names;
		if (!root_exists(r, places[i]))
			continue;
		m->has_kfd = true;
		root_list(r, places[i], &names);
		for (size_t k = 0; k < names.n; k++)
			read_node(r, m, places[i], names.v[k]);
		VEC_EACH (struct machine_gpu, g, &m->gpus)
			g->no_atomics = lacks_atomics(
				r, m, str_fmt(r->a, "%.*s/%u", STR(places[i]), g->node));
	}
	if (m->gpus.n)
		qsort(m->gpus.v, m->gpus.n, sizeof(*m->gpus.v), by_node);
	for (size_t i = 0; i < m->gpus.n; i++)
		m->gpus.v[i].index = (unsigned)i;
}

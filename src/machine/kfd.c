/* The GPUs of the compute driver, from /sys/class/kfd/kfd/topology/nodes.
 *
 * Source: Linux drivers/gpu/drm/amd/amdkfd/kfd_topology.c (node_show, mem_show). Each node has
 * gpu_id (0 for a CPU), name, properties ("key value" lines) and mem_banks/N/properties. In a
 * container the kernel answers EPERM for nodes that the device rules hide. local_mem_size is always
 * 0: the size of the local memory is that of the banks with heap_type 1 (visible to the CPU) and 2
 * (private).
 */
#include "machine/facts.h"

enum { RENDER_FIRST = 128, RENDER_LAST = 1 << 20, BANKS_MAX = 64, GPUS_MAX = 256, LINKS_MAX = 64 };

uint64_t kfd_number(struct str properties, struct str key)
{
	uint64_t n;
	return str_u64(line_value(properties, ' ', key), 10, &n) ? n : 0;
}

uint64_t kfd_bank_size(struct str properties)
{
	uint64_t heap = kfd_number(properties, S("heap_type"));
	return heap == 1 || heap == 2 ? kfd_number(properties, S("size_in_bytes")) : 0;
}

struct str kfd_pci_address(struct arena *a, struct str properties)
{
	uint64_t domain = kfd_number(properties, S("domain"));
	uint64_t location = kfd_number(properties, S("location_id"));
	unsigned at = (unsigned)(location & 0xffff); /* the upper bits number a partition */
	if (!at && !domain)
		return S("");
	return str_fmt(a, "%04x:%02x:%02x.%x", (unsigned)(domain & 0xffffffff), at >> 8,
		at >> 3 & 0x1f, at & 7);
}

static unsigned clamp(uint64_t n)
{
	return n > UINT32_MAX ? UINT32_MAX : (unsigned)n;
}

static void add_gpu(
	struct root *r, struct machine *m, unsigned node, struct str dir, struct str text)
{
	enum { MI300A = 0x74a0 }; /* other devices of gfx942 are cards */
	uint64_t version = kfd_number(text, S("gfx_target_version"));
	uint64_t per_cu = kfd_number(text, S("simd_per_cu"));
	uint64_t minor = kfd_number(text, S("drm_render_minor"));
	struct str target = version < UINT32_MAX ? target_from_kfd(r->a, (uint32_t)version) : S("");
	const struct gpu *gpu = gpu_by_name(target);
	struct str name = root_line(r, path_join(r->a, dir, S("name")));
	struct machine_gpu g = {
		.node = node,
		.target = target,
		/* the driver writes "ip discovery" for a GPU that it has no name for */
		.name = str_eq(name, S("ip discovery")) ? S("") : name,
		.vendor = clamp(kfd_number(text, S("vendor_id"))),
		.device = clamp(kfd_number(text, S("device_id"))),
		.pci = kfd_pci_address(r->a, text),
		.compute_units = per_cu ? clamp(kfd_number(text, S("simd_count")) / per_cu) : 0,
		.wave_size = clamp(kfd_number(text, S("wave_front_size"))),
	};
	g.apu = kfd_number(text, S("cpu_cores_count")) || (gpu && gpu->apu) || g.device == MI300A;
	if (!g.wave_size && gpu)
		g.wave_size = gpu->wave32 ? 32 : 64;
	if (minor >= RENDER_FIRST && minor <= RENDER_LAST)
		g.render = str_fmt(r->a, "/dev/dri/renderD%u", (unsigned)minor);
	struct str banks = path_join(r->a, dir, S("mem_banks")), bank;
	struct strs names;
	root_list(r, banks, &names);
	for (size_t i = 0; i < names.n && i < BANKS_MAX; i++) {
		root_read(r, str_fmt(r->a, "%.*s/%.*s/properties", STR(banks), STR(names.v[i])),
			&bank);
		uint64_t bytes = kfd_bank_size(bank);
		g.vram = bytes > INT64_MAX - g.vram ? INT64_MAX : g.vram + bytes;
	}
	*VEC_PUSH(r->a, &m->gpus) = g;
}

/* Does a link to a CPU lack PCIe atomics? The driver probes them at start-up (kfd_set_iolink_no_atomics(); flags:
 * CRAT_IOLINK_FLAGS_NO_ATOMICS_*). */
static bool lacks_atomics(struct root *r, const struct machine *m, struct str node)
{
	enum { NO_ATOMICS = 1 << 2 | 1 << 3 };
	struct strs links;
	struct str text, dir = path_join(r->a, node, S("io_links"));
	bool lacks = false;
	root_list(r, dir, &links);
	for (size_t i = 0; i < links.n && i < LINKS_MAX; i++) {
		struct str path = str_fmt(r->a, "%.*s/%.*s/properties", STR(dir), STR(links.v[i]));
		size_t mark = root_mark(r);
		root_read(r, path, &text);
		uint64_t to = kfd_number(text, S("node_to"));
		bool is_gpu = !text.n;
		VEC_EACH (struct machine_gpu, g, &m->gpus)
			is_gpu = is_gpu || g->node == to;
		if (is_gpu)
			root_forget(r, mark);
		else
			lacks = lacks || kfd_number(text, S("flags")) & NO_ATOMICS;
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
		VEC_EACH (const struct str, name, &names) {
			uint64_t number;
			struct str text, dir = path_join(r->a, places[i], *name);
			struct str path = path_join(r->a, dir, S("properties"));
			if (!str_u64(*name, 10, &number) || number > UINT32_MAX)
				continue;
			enum root_status s = root_read(r, path, &text);
			if (s == ROOT_DENIED) { /* denied by a container's device rules */
				m->hidden++;
				continue;
			}
			if (s != ROOT_OK)
				note_unreadable(r->a, m, path, s);
			uint64_t vendor = kfd_number(text, S("vendor_id"));
			bool is_gpu = kfd_number(text, S("simd_count")) ||
				      kfd_number(text, S("gfx_target_version"));
			if ((!vendor || vendor == VENDOR_AMD) && is_gpu && m->gpus.n < GPUS_MAX)
				add_gpu(r, m, (unsigned)number, dir, text);
		}
		VEC_EACH (struct machine_gpu, g, &m->gpus)
			g->no_atomics = lacks_atomics(
				r, m, str_fmt(r->a, "%.*s/%u", STR(places[i]), g->node));
	}
	VEC_SORT(&m->gpus, by_node);
	for (size_t i = 0; i < m->gpus.n; i++)
		m->gpus.v[i].index = (unsigned)i;
}

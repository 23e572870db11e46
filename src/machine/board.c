/* A GPU's board, from the files of its PCI device: its product, the RAM that it may map, its firmware, its PCIe link; and
 * the mode of the IOMMU.
 *
 * Sources: Linux Documentation/ABI/testing/sysfs-bus-pci and sysfs-kernel-iommu_groups; drivers/gpu/drm/amd/amdgpu
 * (mem_info_gtt_total, FW_VERSION_ATTR, vbios_version, amdgpu_device_gpu_bandwidth()).
 */
#include "machine/facts.h"

/* ---- where a GPU's files are ---- */

/* The folders of the GPU's PCI device. On a real machine links make them the same; a plain copy may have only some. */
static struct strs places_of(struct root *r, const struct machine_gpu *g)
{
	enum { CARDS_MAX = 256 };
	struct strs dirs = {0}, names;
	struct str text;
	if (g->pci.n)
		strs_add(r->a, &dirs, path_join(r->a, S("sys/bus/pci/devices"), g->pci));
	if (dirs.n &&
		root_read(r, path_join(r->a, dirs.v[0], S("mem_info_gtt_total")), &text) == ROOT_OK)
		return dirs;
	if (g->render.n)
		strs_fmt(r->a, &dirs, "sys/class/drm/%.*s/device", STR(path_base(g->render)));
	root_list(r, S("sys/class/drm"), &names);
	for (size_t i = 0; i < names.n && i < CARDS_MAX && g->pci.n; i++) {
		struct str dir = str_fmt(r->a, "sys/class/drm/%.*s/device", STR(names.v[i]));
		size_t mark = root_mark(r);
		/* "card0-DP-1" is a connector of card0 */
		if (!str_starts(names.v[i], S("card")) || str_contains(names.v[i], S("-")))
			continue;
		root_read(r, path_join(r->a, dir, S("uevent")), &text);
		struct str slot = line_value(text, '=', S("PCI_SLOT_NAME"));
		if (str_eq(slot.n ? slot : path_base(root_real(r, dir)), g->pci))
			strs_add(r->a, &dirs, dir);
		else
			root_forget(r, mark);
	}
	return dirs;
}

static struct str board_line(struct root *r, const struct strs *places, const char *name)
{
	struct str line = S("");
	for (size_t i = 0; i < places->n && !line.n; i++)
		line = root_line(r, path_join(r->a, places->v[i], str_from(name)));
	return line;
}

static uint64_t board_number(struct root *r, const struct strs *places, const char *name)
{
	uint64_t n;
	return str_u64(board_line(r, places, name), 10, &n) ? bounded(n) : 0;
}

static void read_firmware(struct root *r, const struct strs *places, struct machine_gpu *g)
{
	const struct str end = S("_fw_version");
	for (size_t i = 0; i < places->n && !g->firmware.n; i++) {
		struct str dir = path_join(r->a, places->v[i], S("fw_version"));
		struct strs names;
		root_list(r, dir, &names);
		for (size_t k = 0; k < names.n; k++) {
			struct str name = names.v[k], version;
			if (!str_ends(name, end))
				continue;
			version = root_line(r, path_join(r->a, dir, name));
			name = clean_text(r->a, str_sub(name, 0, name.n - end.n));
			/* a version of 0: the GPU has no such firmware */
			if (version.n && !str_eq(version, S("0x00000000")))
				*VEC_PUSH(r->a, &g->firmware) =
					(struct machine_part){name, version};
		}
	}
}

/* ---- the link ---- */

enum { BRIDGES_MAX = 8 };

struct link {
	struct str speed, width; /* "16.0 GT/s PCIe", "8" */
};

/* The PCI bridge whose folder contains this device's folder, or "". */
static struct str bridge_above(struct str dir)
{
	struct str up = path_dir(dir), name = path_base(up);
	bool is_address = name.n == sizeof("0000:00:00.0") - 1 && name.p[4] == ':' &&
			  name.p[7] == ':' && name.p[10] == '.';
	return is_address ? up : S("");
}

/* 25 for "2.5 GT/s PCIe", 80 for "8 GT/s"; 0 for "Unknown". */
static unsigned tenths(struct str speed)
{
	uint64_t v[2];
	str_numbers(speed, v, 2);
	return v[0] < 1000 && v[1] < 10 ? (unsigned)(v[0] * 10 + v[1]) : 0;
}

static unsigned lanes(struct str width)
{
	uint64_t n;
	return str_u64(width, 10, &n) && n <= 32 ? (unsigned)n : 0;
}

static struct str link_text(struct arena *a, const struct link *l)
{
	bool known = tenths(l->speed) && lanes(l->width);
	return known ? str_fmt(a, "%.*s x%.*s", STR(l->speed), STR(l->width)) : S("");
}

/* Reads one state of the link: "current", "max", or "slot", which exists in recordings only. */
static struct link read_link(struct root *r, struct str dir, const char *which)
{
	return (struct link){root_line(r, str_fmt(r->a, "%.*s/%s_link_speed", STR(dir), which)),
		root_line(r, str_fmt(r->a, "%.*s/%s_link_width", STR(dir), which))};
}

static void note_link(struct root *r, struct str dir, const char *which, const struct link *l)
{
	if (l->speed.n)
		root_note(r, str_fmt(r->a, "%.*s/%s_link_speed", STR(dir), which),
			str_fmt(r->a, "%.*s\n", STR(l->speed)));
	if (l->width.n)
		root_note(r, str_fmt(r->a, "%.*s/%s_link_width", STR(dir), which),
			str_fmt(r->a, "%.*s\n", STR(l->width)));
}

/* A card may have bridges of its own (vendor 0x1002; those of AMD's processors have 0x1022): its link is that of the
 * uppermost one, as in amdgpu_device_gpu_bandwidth(). A suspended GPU is skipped, since reading its link would wake
 * it. */
static bool find_link(struct root *r, struct str dir, struct machine_gpu *g)
{
	struct str port = root_real(r, dir), up;
	if (str_eq(root_line(r, path_join(r->a, dir, S("power/runtime_status"))), S("suspended")))
		return true;
	size_t mark = root_mark(r);
	for (unsigned i = 0; i < BRIDGES_MAX && (up = bridge_above(port)).n; i++) {
		if (!str_eq(root_line(r, path_join(r->a, up, S("vendor"))), S("0x1002")))
			break;
		port = up;
	}
	const struct link now = read_link(r, port, "current"), card = read_link(r, port, "max");
	const struct link slot = up.n ? read_link(r, up, "max") : read_link(r, dir, "slot");
	root_forget(r, mark);
	/* a recording does not contain the tree of bridges: the GPU's own folder gets the links found there */
	note_link(r, dir, "current", &now);
	note_link(r, dir, "max", &card);
	note_link(r, dir, "slot", &slot);
	struct link most = card; /* the most that both ends support */
	if (tenths(slot.speed) && tenths(slot.speed) < tenths(most.speed))
		most.speed = slot.speed;
	if (lanes(slot.width) && lanes(slot.width) < lanes(most.width))
		most.width = slot.width;
	g->link = link_text(r->a, &now);
	g->link_card = link_text(r->a, &card);
	g->link_max = link_text(r->a, &most);
	return g->link.n > 0;
}

/* ---- IOMMU ---- */

static bool has_parameter(const struct machine *m, const char *const *list)
{
	for (size_t i = 0; i < m->parameters.n; i++)
		if (str_is_one_of(m->parameters.v[i], list))
			return true;
	return false;
}

/* Takes the type of the IOMMU group of the first GPU that has one; else the IOMMUs in sysfs and the kernel's command
 * line decides. */
static void read_iommu(struct root *r, struct machine *m, struct strs *devices)
{
	static const char *const off[] = {"iommu=off", "amd_iommu=off", "intel_iommu=off", NULL};
	static const char *const pass[] = {"iommu=pt", "iommu.passthrough=1", NULL};
	struct str type = S(""), dir = S("sys/class/iommu");
	struct strs names;
	for (size_t i = 0; i < devices->n && !type.n; i++) {
		struct str group = root_link_name(r,
			str_fmt(r->a, "sys/bus/pci/devices/%.*s/iommu_group", STR(devices->v[i])));
		if (group.n)
			type = root_line(
				r, str_fmt(r->a, "sys/kernel/iommu_groups/%.*s/type", STR(group)));
	}
	bool has_class = root_exists(r, dir);
	root_list(r, dir, &names);
	bool has_unit = names.n > 0 && (root_exists(r, path_join(r->a, dir, names.v[0])) ||
					       root_has_file(r, path_join(r->a, dir, names.v[0])));
	if (str_eq(type, S("identity")) || (!type.n && has_unit && has_parameter(m, pass)))
		m->iommu = S("passthrough");
	else if (str_starts(type, S("DMA")) || has_unit)
		m->iommu = S("on");
	else if (has_class || has_parameter(m, off))
		m->iommu = S("off");
}

/* ---- products ---- */

/* The text of libdrm's amdgpu.ids. A recording gets the lines of this machine's devices only. */
static struct str read_ids(struct root *r, const struct machine *m)
{
	static const struct str places[] = {S_INIT("usr/share/libdrm/amdgpu.ids"),
		S_INIT("opt/amdgpu/share/libdrm/amdgpu.ids")};
	struct str text = S(""), line;
	BUF(ours, r->a);
	size_t i = 0;
	while (i < 2 && root_read(r, places[i], &text) != ROOT_OK)
		i++;
	VEC_EACH (const struct machine_display, d, &m->displays)
		if ((line = board_ids_line(text, d->device, d->revision)).n)
			buf_fmt(&ours, "%.*s\n", STR(line));
	if (ours.n)
		root_note(r, places[i], buf_str(&ours));
	return text;
}

void gather_boards(struct root *r, struct machine *m)
{
	struct strs devices = {0};
	struct str ids = read_ids(r, m);
	VEC_EACH (struct machine_gpu, g, &m->gpus) {
		struct strs places = places_of(r, g);
		struct str name = board_line(r, &places, "product_name");
		if (name.n)
			g->name = name;
		if (!g->vram) /* an old KFD does not report it */
			g->vram = board_number(r, &places, "mem_info_vram_total");
		g->gtt = board_number(r, &places, "mem_info_gtt_total");
		if (g->apu)
			g->carve_out = board_number(r, &places, "mem_info_vram_total");
		g->vbios = board_line(r, &places, "vbios_version");
		g->revision = board_line(r, &places, "revision");
		g->product =
			clean_text(r->a, board_name(r->a, g->device, g->revision, g->vram, ids));
		read_firmware(r, &places, g);
		for (size_t i = 0; i < places.n && !g->apu; i++)
			if (find_link(r, places.v[i], g))
				break;
		strs_add(r->a, &devices, g->pci);
	}
	VEC_EACH (struct machine_display, d, &m->displays) {
		strs_add(r->a, &devices, d->pci);
		d->product = clean_text(r->a, board_name(r->a, d->device, d->revision, 0, ids));
		VEC_EACH (const struct machine_gpu, g, &m->gpus)
			if (g->product.n && str_eq(g->pci, d->pci))
				d->product = g->product;
		if (!d->product.n)
			d->product = d->device
					     ? str_fmt(r->a, "GPU %04x:%04x", d->vendor, d->device)
					     : S("GPU");
	}
	read_iommu(r, m, &devices);
}

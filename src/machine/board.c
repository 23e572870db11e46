/* What the files of its PCI device tell of a GPU: memory that it may map, firmware, the link that it sits on; and
 * whether an IOMMU stands before it.
 *
 * Sources: Linux Documentation/ABI/testing/sysfs-bus-pci and sysfs-kernel-iommu_groups; drivers/gpu/drm/amd/amdgpu
 * (mem_info_gtt_total, FW_VERSION_ATTR, vbios_version, amdgpu_device_gpu_bandwidth()).
 */
#include "machine/facts.h"
#include "machine/parse.h"

/* ---- where a GPU's files are ---- */
static bool is_card(struct root *r, struct str dir, struct str pci)
{
	struct str text;
	root_peek(r, path_join(r->a, dir, S("uevent")), &text);
	struct str slot = line_value(text, '=', S("PCI_SLOT_NAME"));
	bool is = str_eq(slot.n ? slot : path_base(root_real(r, dir)), pci);
	if (is)
		root_tell_text(r, path_join(r->a, dir, S("uevent")),
			str_fmt(r->a, "PCI_SLOT_NAME=%.*s\n", STR(pci)));
	return is;
}

static struct str device_of(struct root *r, struct str name)
{
	return str_fmt(r->a, "sys/class/drm/%.*s/device", STR(name));
}

/* Without their plugs, "card0-DP-1". */
static struct strs list_cards(struct root *r)
{
	enum { CARDS_MAX = 256 };
	struct strs names, cards = {0};
	root_list(r, S("sys/class/drm"), &names);
	for (size_t i = 0; i < names.n && cards.n < CARDS_MAX; i++)
		if (str_starts(names.v[i], S("card")) && !str_contains(names.v[i], S("-")))
			strs_add(r->a, &cards, device_of(r, names.v[i]));
	return cards;
}

/* Folders that are one and the same on a machine; a plain copy may have only some of them. */
static struct strs places_of(struct root *r, const struct machine_gpu *g, const struct strs *cards)
{
	struct strs dirs = {0};
	struct str text;
	if (g->pci.n)
		strs_add(r->a, &dirs, path_join(r->a, S("sys/bus/pci/devices"), g->pci));
	if (dirs.n &&
		root_peek(r, path_join(r->a, dirs.v[0], S("mem_info_gtt_total")), &text) == ROOT_OK)
		return dirs;
	if (g->render.n)
		strs_add(r->a, &dirs, device_of(r, path_base(g->render)));
	for (size_t i = 0; i < cards->n && g->pci.n; i++)
		if (is_card(r, cards->v[i], g->pci))
			strs_add(r->a, &dirs, cards->v[i]);
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
	return str_u64(board_line(r, places, name), 10, &n) ? n : 0;
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
			/* what this GPU has no use for */
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

static struct str peek_line(struct root *r, struct str dir, const char *name)
{
	struct str text;
	root_peek(r, path_join(r->a, dir, str_from(name)), &text);
	return clean_text(r->a, text);
}

static bool is_pci_address(struct str s)
{
	return s.n == sizeof("0000:00:00.0") - 1 && s.p[4] == ':' && s.p[7] == ':' &&
	       s.p[10] == '.';
}

static struct str bridge_above(struct str dir)
{
	struct str up = path_dir(dir);
	return is_pci_address(path_base(up)) ? up : S("");
}

/* 25 of "2.5 GT/s PCIe", 80 of "8 GT/s"; 0 of "Unknown". */
static unsigned tenths(struct str speed)
{
	struct str number, whole, part;
	uint64_t a, b = 0;
	str_cut(speed, ' ', &number, &speed);
	if (str_cut(number, '.', &whole, &part))
		str_u64(str_sub(part, 0, 1), 10, &b);
	return str_u64(whole, 10, &a) && a < 1000 ? (unsigned)(a * 10 + b) : 0;
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

static struct link read_link(struct root *r, struct str dir, bool most)
{
	return (struct link){peek_line(r, dir, most ? "max_link_speed" : "current_link_speed"),
		peek_line(r, dir, most ? "max_link_width" : "current_link_width")};
}

/* A link can do what both of its ends can. */
static void narrow(struct link *l, const struct link *other)
{
	if (tenths(other->speed) && tenths(other->speed) < tenths(l->speed))
		l->speed = other->speed;
	if (lanes(other->width) && lanes(other->width) < lanes(l->width))
		l->width = other->width;
}

/* For a recording, where the GPU's device stands alone. */
static void tell_link(struct root *r, struct str dir, const char *which, const struct link *l)
{
	const struct str speed = str_fmt(r->a, "%.*s/%s_link_speed", STR(dir), which);
	const struct str width = str_fmt(r->a, "%.*s/%s_link_width", STR(dir), which);
	if (l->speed.n)
		root_tell_text(r, speed, str_fmt(r->a, "%.*s\n", STR(l->speed)));
	if (l->width.n)
		root_tell_text(r, width, str_fmt(r->a, "%.*s\n", STR(l->width)));
}

/* A card may have bridges of its own (vendor 0x1002; those of AMD's processors have 0x1022): its link is that of the
 * uppermost of these, as amdgpu_device_gpu_bandwidth() has it. One that sleeps is not asked, as that wakes it. */
static bool find_link(struct root *r, struct str dir, struct machine_gpu *g)
{
	struct str port = root_real(r, dir), up;
	struct link now = {0}, most = {0};
	if (str_eq(root_line(r, path_join(r->a, dir, S("power/runtime_status"))), S("suspended")))
		return true;
	for (unsigned i = 0; i < BRIDGES_MAX && (up = bridge_above(port)).n; i++) {
		if (!str_eq(peek_line(r, up, "vendor"), S("0x1002")))
			break;
		port = up;
	}
	now = read_link(r, port, false);
	most = read_link(r, port, true);
	struct link slot = up.n ? read_link(r, up, true) : (struct link){0};
	if (!up.n) /* in a recording, as below */
		slot = (struct link){
			peek_line(r, dir, "slot_link_speed"), peek_line(r, dir, "slot_link_width")};
	g->link_card = link_text(r->a, &most);
	tell_link(r, dir, "current", &now);
	tell_link(r, dir, "max", &most);
	tell_link(r, dir, "slot", &slot);
	narrow(&most, &slot);
	g->link = link_text(r->a, &now);
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

/* What the kernel says of the group that a GPU is in; without one, what it was told to do. */
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
	bool class = root_exists(r, dir), some = false;
	root_list(r, dir, &names);
	for (size_t i = 0; i < names.n && !some; i++) {
		root_tell_text(r, path_join(r->a, dir, names.v[i]), S(""));
		some = true;
	}
	if (str_eq(type, S("identity")) || (!type.n && some && has_parameter(m, pass)))
		m->iommu = S("passthrough");
	else if (str_starts(type, S("DMA")) || some)
		m->iommu = S("on");
	else if (class || has_parameter(m, off))
		m->iommu = S("off");
}

void gather_boards(struct root *r, struct machine *m)
{
	struct strs devices = {0}, cards = list_cards(r);
	VEC_EACH (struct machine_gpu, g, &m->gpus) {
		struct strs places = places_of(r, g, &cards);
		struct str name = board_line(r, &places, "product_name");
		if (name.n)
			g->name = name;
		if (!g->vram) /* what an old KFD did not report */
			g->vram = board_number(r, &places, "mem_info_vram_total");
		g->gtt = board_number(r, &places, "mem_info_gtt_total");
		if (g->apu)
			g->carve_out = board_number(r, &places, "mem_info_vram_total");
		g->vbios = board_line(r, &places, "vbios_version");
		read_firmware(r, &places, g);
		for (size_t i = 0; i < places.n && !g->apu; i++)
			if (find_link(r, places.v[i], g))
				break;
		strs_add(r->a, &devices, g->pci);
	}
	VEC_EACH (struct machine_display, d, &m->displays)
		strs_add(r->a, &devices, d->pci);
	read_iommu(r, m, &devices);
}

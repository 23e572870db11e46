/* The amdgpu kernel driver, what keeps it away, and the GPUs that the PCI bus and DRM show. */
#include "machine/facts.h"
#include "machine/parse.h"

enum {
	VENDOR_AMD = 0x1002,
	VENDOR_NVIDIA = 0x10de,
	CLASS_DISPLAY = 0x03,
	CLASS_ACCELERATOR = 0x12
};

static void keep_amdgpu_lines(struct buf *out, struct str text)
{
	struct str line;
	while (str_next(&text, '\n', &line))
		if (str_contains(line, S("amdgpu")) && !str_starts(str_trim(line), S("#")))
			buf_fmt(out, "%.*s\n", STR(line));
}

static void keep_module(struct buf *out, struct str text)
{
	if (parse_modules(text, S("amdgpu")))
		buf_add(out, S("amdgpu 0 0 - Live 0x0000000000000000\n"));
}

static void keep_cmdline(struct buf *out, struct str text)
{
	struct strs words = parse_cmdline(out->a, text);
	buf_fmt(out, "%.*s\n", STR(str_join(out->a, &words, S(" "))));
}

/* modprobe reads these folders; a file hides those of its name in the later ones. */
static void find_blacklist(struct root *r, struct machine *m)
{
	static const struct str dirs[] = {S_INIT("etc/modprobe.d"), S_INIT("run/modprobe.d"),
		S_INIT("usr/lib/modprobe.d"), S_INIT("lib/modprobe.d")};
	struct strs seen = {0};
	for (size_t i = 0; i < sizeof(dirs) / sizeof(*dirs); i++) {
		struct strs names;
		root_list(r, dirs[i], &names);
		for (size_t k = 0; k < names.n; k++) {
			struct str text, path = path_join(r->a, dirs[i], names.v[k]);
			if (!str_ends(names.v[k], S(".conf")) || strs_has(&seen, names.v[k]))
				continue;
			strs_add(r->a, &seen, names.v[k]);
			if (root_peek(r, path, &text) != ROOT_OK ||
				!parse_modprobe(text, S("amdgpu")))
				continue;
			root_read(r, path, keep_amdgpu_lines, &text);
			m->driver.blacklisted = true;
			m->driver.blacklisted_by =
				clean_text(r->a, str_fmt(r->a, "/%.*s", STR(path)));
			return;
		}
	}
}

/* A variable of UEFI: four bytes of attributes, then its value. */
static bool secure_boot(struct root *r)
{
	struct str text;
	struct str path = S("sys/firmware/efi/efivars/"
			    "SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c");
	return root_read(r, path, NULL, &text) == ROOT_OK && text.n == 5 && text.p[4] == 1;
}

void gather_driver(struct root *r, struct machine *m)
{
	struct str text;
	root_read(r, S("proc/cmdline"), keep_cmdline, &text);
	struct strs words = parse_cmdline(r->a, text);
	for (size_t i = 0; i < words.n; i++)
		strs_add(r->a, &m->parameters, clean_text(r->a, words.v[i]));
	if (cmdline_blocks(&words, S("amdgpu"))) {
		m->driver.blacklisted = true;
		m->driver.blacklisted_by = S("/proc/cmdline");
	} else {
		find_blacklist(r, m);
	}
	root_read(r, S("proc/modules"), keep_module, &text);
	m->driver.loaded = parse_modules(text, S("amdgpu"));
	if (root_exists(r, S("sys/module/amdgpu"))) {
		m->driver.loaded = true;
		m->driver.state = root_line(r, S("sys/module/amdgpu/initstate"));
		m->driver.version = root_line(r, S("sys/module/amdgpu/version"));
	}
	m->driver.secure_boot = !m->driver.loaded && secure_boot(r);
}

/* Of a uevent file what tells the driver and the address. */
static void keep_uevent(struct buf *out, struct str text)
{
	static const char *const keys[] = {"DRIVER", "PCI_SLOT_NAME", NULL};
	keep_keys(out, text, '=', keys);
}

/* A hex number of sysfs, "0x030000", without copying it. */
static bool peek_hex(struct root *r, struct str dir, struct str file, uint64_t *ret)
{
	struct str text;
	root_peek(r, path_join(r->a, dir, file), &text);
	text = str_trim(text);
	return str_starts(text, S("0x")) && str_u64(str_sub(text, 2, text.n), 16, ret);
}

/* Is it this vendor's, and a GPU? A plain copy may lack the class. */
static bool is_gpu_of(struct root *r, struct str dir, unsigned wanted)
{
	uint64_t vendor, class;
	if (!peek_hex(r, dir, S("vendor"), &vendor) || vendor != wanted)
		return false;
	if (!peek_hex(r, dir, S("class"), &class))
		return true;
	return class >> 16 == CLASS_DISPLAY || class >> 16 == CLASS_ACCELERATOR;
}

/* dir: a PCI device's folder; address "" = to be found. */
static void look_at_device(struct root *r, struct machine *m, struct str dir, struct str address)
{
	struct str uevent;
	if (is_gpu_of(r, dir, VENDOR_NVIDIA)) { /* told, as it is a fact */
		m->nvidia = root_number(r, path_join(r->a, dir, S("vendor"))) == VENDOR_NVIDIA;
		(void)root_number(r, path_join(r->a, dir, S("class")));
	}
	if (!is_gpu_of(r, dir, VENDOR_AMD))
		return;
	root_read(r, path_join(r->a, dir, S("uevent")), keep_uevent, &uevent);
	if (!address.n) { /* of /sys/class/drm/renderD128/device: what uevent or the link tells */
		address = clean_text(r->a, line_value(uevent, '=', S("PCI_SLOT_NAME")));
		if (!address.n)
			address = clean_text(r->a, path_base(root_real(r, dir)));
		if (!str_contains(address, S(":")))
			address = S("");
	}
	struct machine_display d = {
		.pci = address,
		.driver = clean_text(r->a, line_value(uevent, '=', S("DRIVER"))),
		.vendor = (uint32_t)root_number(r, path_join(r->a, dir, S("vendor"))),
		.device = (uint32_t)root_number(r, path_join(r->a, dir, S("device"))),
		.class = (uint32_t)root_number(r, path_join(r->a, dir, S("class"))),
	};
	if (!d.driver.n)
		d.driver = root_link_name(r, path_join(r->a, dir, S("driver")));
	VEC_EACH (struct machine_display, known, &m->displays)
		if (address.n && str_eq(known->pci, address))
			return;
	*VEC_PUSH(r->a, &m->displays) = d;
}

void gather_displays(struct root *r, struct machine *m)
{
	struct strs names;
	root_list(r, S("sys/bus/pci/devices"), &names);
	for (size_t i = 0; i < names.n; i++)
		look_at_device(r, m, path_join(r->a, S("sys/bus/pci/devices"), names.v[i]),
			clean_text(r->a, names.v[i]));
	root_list(r, S("sys/class/drm"), &names);
	for (size_t i = 0; i < names.n; i++) {
		struct str dir = path_join(r->a, S("sys/class/drm"), names.v[i]);
		if (str_starts(names.v[i], S("renderD")))
			look_at_device(r, m, path_join(r->a, dir, S("device")), S(""));
	}
	VEC_EACH (struct machine_display, d, &m->displays)
		m->driver.loaded |= str_eq(d->driver, S("amdgpu"));
	m->driver.loaded |= m->gpus.n > 0;
}

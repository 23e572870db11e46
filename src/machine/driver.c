/* The amdgpu kernel driver, the reasons why it does not load, and the GPUs that the PCI bus and DRM show. */
#include "machine/facts.h"

enum { VENDOR_NVIDIA = 0x10de, CLASS_DISPLAY = 0x03, CLASS_ACCELERATOR = 0x12 };
/* Reads modprobe.d(5): is amdgpu blacklisted, and which parameters are set? A file hides files of the same name in
 * later folders. */
static void read_modprobe(struct root *r, struct machine *m)
{
	static const struct str dirs[] = {S_INIT("etc/modprobe.d"), S_INIT("run/modprobe.d"),
		S_INIT("usr/lib/modprobe.d"), S_INIT("lib/modprobe.d")};
	struct machine_driver *d = &m->driver;
	struct strs seen = {0}, files = {0}, names;
	struct str text;
	for (size_t i = 0; i < sizeof(dirs) / sizeof(*dirs); i++) {
		root_list(r, dirs[i], &names);
		VEC_EACH (const struct str, name, &names)
			if (str_ends(*name, S(".conf")) && strs_put(r->a, &seen, *name))
				strs_add(r->a, &files, path_join(r->a, dirs[i], *name));
	}
	VEC_EACH (const struct str, path, &files) {
		size_t before = d->options.n, mark = root_mark(r);
		if (root_read(r, *path, &text) != ROOT_OK)
			continue;
		parse_options(r->a, text, &d->options);
		for (size_t i = before; i < d->options.n; i++)
			d->options.v[i] = clean_text(r->a, d->options.v[i]);
		bool blocks = !d->blacklisted && parse_modprobe(text, S("amdgpu"));
		if (blocks) {
			d->blacklisted = true;
			d->blacklisted_by = shown_path(r->a, *path);
		}
		if (!blocks && d->options.n == before)
			root_forget(r, mark);
	}
}

/* ---- parameters of modules ---- */

/* Do the names differ in at most one letter, '_' aside? */
static bool is_near(struct arena *a, struct str x, struct str y)
{
	x = str_replace(a, x, S("_"), S(""));
	y = str_replace(a, y, S("_"), S(""));
	size_t most = x.n > y.n ? x.n : y.n, least = x.n < y.n ? x.n : y.n, head = 0, tail = 0;
	while (head < least && x.p[head] == y.p[head])
		head++;
	while (tail < least - head && x.p[x.n - 1 - tail] == y.p[y.n - 1 - tail])
		tail++;
	return least > 3 && head + tail + 1 >= most;
}

/* Checks a word such as "amdgpu.gtt_size=1". The kernel treats '-' as '_', and ignores a parameter that the module does
 * not have, except for a line in its log. A sysroot's list of parameters may be incomplete: below WHOLE names, a
 * parameter counts as unknown only if it resembles one of them. */
static void check_parameter(struct root *r, struct machine *m, struct str word)
{
	enum { WHOLE = 30, MANY = 20 };
	/* parameters of every module */
	static const char *const of_all[] = {"dyndbg", "async_probe", NULL};
	struct arena *a = r->a;
	struct str module, name, value, nearest = S("");
	struct strs names;
	if (!str_cut(word, '.', &module, &name) || m->driver.unknown.n == MANY)
		return;
	str_cut(name, '=', &name, &value);
	name = str_replace(a, name, S("-"), S("_"));
	struct str dir = str_fmt(a, "sys/module/%.*s/parameters", STR(module));
	root_list(r, dir, &names);
	if (!name.n || strs_has(&names, name) || str_is_one_of(name, of_all))
		return;
	VEC_EACH (const struct str, s, &names)
		if (is_near(a, name, *s))
			nearest = *s;
	if (!nearest.n && names.n < WHOLE)
		return;
	VEC_EACH (const struct str, s, &names) /* a replay needs the whole list as well */
		root_note(r, path_join(a, dir, *s), root_line(r, path_join(a, dir, *s)));
	*VEC_PUSH(a, &m->driver.unknown) = (struct machine_unknown){
		clean_text(a, str_fmt(a, "%.*s.%.*s", STR(module), STR(name))),
		clean_text(a, nearest)};
}

/* ---- AMD's own driver ---- */

/* dkms(8) puts the modules that it built into amdgpu/VERSION/KERNEL; a failed build leaves amdgpu/VERSION/build. */
static void read_dkms(struct root *r, struct machine *m)
{
	enum { HEAD = 4096 };
	const struct str top = S("var/lib/dkms/amdgpu");
	struct arena *a = r->a;
	struct strs names;
	struct str text, mark = str_fmt(a, "for kernel %.*s (", STR(m->kernel));
	root_list(r, top, &names);
	VEC_EACH (const struct str, name, &names) {
		struct str dir = path_join(a, top, *name);
		struct str log = path_join(a, dir, S("build/make.log"));
		if (!ascii_digit(name->p[0]) || !m->kernel.n)
			continue;
		if (root_exists(r, path_join(a, dir, m->kernel))) {
			m->driver.dkms = m->driver.dkms_log = S("");
			return;
		}
		root_exists(r, dir);
		m->driver.dkms = clean_text(a, *name);
		if (root_head(r, log, HEAD, &text) == ROOT_OK && str_contains(text, mark))
			m->driver.dkms_log = shown_path(a, log);
	}
}

void gather_driver(struct root *r, struct machine *m)
{
	static const char *const modules[] = {"amdgpu.", "ttm.", "amdttm.", NULL};
	struct str text;
	uint64_t mib;
	root_read(r, S("proc/cmdline"), &text);
	struct strs words = parse_cmdline(r->a, text);
	for (size_t i = 0; i < words.n; i++)
		strs_add(r->a, &m->parameters, clean_text(r->a, words.v[i]));
	if (cmdline_blocks(&words, S("amdgpu"))) {
		m->driver.blacklisted = true;
		m->driver.blacklisted_by = S("/proc/cmdline");
	}
	read_modprobe(r, m);
	root_read(r, S("proc/modules"), &text);
	m->driver.loaded = line_value(text, ' ', S("amdgpu")).n > 0;
	if (root_exists(r, S("sys/module/amdgpu"))) {
		m->driver.loaded = true;
		m->driver.state = root_line(r, S("sys/module/amdgpu/initstate"));
		m->driver.version = root_line(r, S("sys/module/amdgpu/version"));
	}
	text = root_line(r, S("sys/module/amdgpu/parameters/gttsize"));
	if (str_u64(text, 10, &mib) && mib < UINT32_MAX)
		strs_put(r->a, &m->driver.options, str_fmt(r->a, "amdgpu.gttsize=%.*s", STR(text)));
	if (root_exists(r, S("sys/module/amdttm")))
		m->driver.ttm = S("amdttm");
	else if (root_exists(r, S("sys/module/ttm")))
		m->driver.ttm = S("ttm");
	VEC_EACH (const struct str, word, &m->parameters)
		if (str_starts_one_of(*word, modules))
			check_parameter(r, m, *word);
	VEC_EACH (const struct str, word, &m->driver.options)
		check_parameter(r, m, *word);
	read_dkms(r, m);
	/* a UEFI variable: four bytes of attributes, then its value */
	const struct str secure_boot = S("sys/firmware/efi/efivars/"
					 "SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c");
	m->driver.secure_boot = !m->driver.loaded && root_read(r, secure_boot, &text) == ROOT_OK &&
				text.n == 5 && text.p[4] == 1;
}

/* ---- the PCI bus ---- */

/* Adds the PCI device in `dir` if it is a GPU; devices that are not are removed from the recording. address: "" =
 * unknown yet. */
static void read_device(struct root *r, struct machine *m, struct str dir, struct str address)
{
	struct str uevent;
	size_t mark = root_mark(r);
	uint64_t vendor = root_number(r, path_join(r->a, dir, S("vendor")));
	bool known = vendor == VENDOR_AMD || vendor == VENDOR_NVIDIA;
	uint64_t class = known ? root_number(r, path_join(r->a, dir, S("class"))) : 0;
	bool is_gpu = known && (class >> 16 == CLASS_DISPLAY || class >> 16 == CLASS_ACCELERATOR ||
				       !class); /* a plain copy may lack the class */
	if (!is_gpu || vendor == VENDOR_NVIDIA) {
		m->nvidia = m->nvidia || is_gpu;
		if (!is_gpu)
			root_forget(r, mark);
		return;
	}
	root_read(r, path_join(r->a, dir, S("uevent")), &uevent);
	if (!address.n) { /* dir is /sys/class/drm/renderD128/device: uevent or the link shows the address */
		address = clean_text(r->a, line_value(uevent, '=', S("PCI_SLOT_NAME")));
		if (!address.n)
			address = clean_text(r->a, path_base(root_real(r, dir)));
		if (!str_contains(address, S(":")))
			address = S("");
	}
	struct machine_display d = {
		.pci = address,
		.driver = clean_text(r->a, line_value(uevent, '=', S("DRIVER"))),
		.vendor = (uint32_t)vendor,
		.device = (uint32_t)root_number(r, path_join(r->a, dir, S("device"))),
		.class = (uint32_t) class,
		.revision = root_line(r, path_join(r->a, dir, S("revision"))),
	};
	if (!d.driver.n)
		d.driver = root_link_name(r, path_join(r->a, dir, S("driver")));
	if (address.n && VEC_FIND(struct machine_display, &m->displays, pci, address)) {
		root_forget(r, mark);
		return;
	}
	*VEC_PUSH(r->a, &m->displays) = d;
}

void gather_displays(struct root *r, struct machine *m)
{
	const struct str bus = S("sys/bus/pci/devices"), drm = S("sys/class/drm");
	struct strs names;
	root_list(r, bus, &names);
	VEC_EACH (const struct str, name, &names)
		read_device(r, m, path_join(r->a, bus, *name), clean_text(r->a, *name));
	root_list(r, drm, &names);
	VEC_EACH (const struct str, name, &names)
		if (str_starts(*name, S("renderD")))
			read_device(r, m, str_fmt(r->a, "%.*s/%.*s/device", STR(drm), STR(*name)),
				S(""));
	VEC_EACH (struct machine_display, d, &m->displays)
		m->driver.loaded |= str_eq(d->driver, S("amdgpu"));
	m->driver.loaded |= m->gpus.n > 0;
}

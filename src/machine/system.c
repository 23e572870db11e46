/* Kernel, distribution, CPU, memory; and whether there is a container, WSL or a virtual machine
 * around them. */
#include <stdlib.h>
#include <sys/utsname.h>

#include "machine/facts.h"
#include "machine/parse.h"

enum { CPUINFO_HEAD = 8192 }; /* the first CPU is enough */

static void keep_memory(struct buf *out, struct str text)
{
	static const struct str keys[] = {
		S_INIT("MemTotal"), S_INIT("MemAvailable"), S_INIT("SwapTotal"), S_INIT("")};
	keep_keys(out, text, ':', keys);
}

static bool has_word(struct str text, struct str word)
{
	struct str piece;
	while (str_next(&text, ' ', &piece))
		if (str_eq(piece, word))
			return true;
	return false;
}

/* Without serial numbers; of the flags only the one that tells a virtual machine. */
static void keep_cpuinfo(struct buf *out, struct str text)
{
	static const struct str keys[] = {S_INIT("processor"), S_INIT("vendor_id"),
		S_INIT("model name"), S_INIT("CPU implementer"), S_INIT("")};
	keep_keys(out, text, ':', keys);
	if (has_word(line_value(text, ':', S("flags")), S("hypervisor")))
		buf_add(out, S("flags\t: hypervisor\n"));
}

static void keep_os_release(struct buf *out, struct str text)
{
	static const struct str keys[] = {
		S_INIT("PRETTY_NAME"), S_INIT("ID"), S_INIT("VERSION_ID"), S_INIT("")};
	keep_keys(out, text, '=', keys);
}

/* "Linux version 6.1.0 (who@where) (gcc...)": not who built it where. */
static struct str version_release(struct str text)
{
	struct str word = S("");
	for (unsigned i = 0; i < 3; i++)
		str_next(&text, ' ', &word);
	return word;
}

static void keep_version(struct buf *out, struct str text)
{
	buf_fmt(out, "Linux version %.*s\n", STR(version_release(text)));
}

static void read_kernel(struct root *r, struct machine *m)
{
	struct str version;
	m->kernel = root_line(r, S("proc/sys/kernel/osrelease"));
	if (!m->kernel.n && root_read(r, S("proc/version"), keep_version, &version) == ROOT_OK)
		m->kernel = clean_text(r->a, version_release(version));
	struct str lower = str_lower(r->a, m->kernel);
	m->has_dxg = root_has_file(r, S("dev/dxg"));
	m->wsl = m->has_dxg || str_contains(lower, S("microsoft"));
}

static void read_distro(struct root *r, struct machine *m)
{
	struct str text;
	if (root_read(r, S("etc/os-release"), keep_os_release, &text) != ROOT_OK)
		root_read(r, S("usr/lib/os-release"), keep_os_release, &text);
	m->distro = clean_text(r->a, parse_os_release(r->a, text, S("PRETTY_NAME")));
	m->distro_id = clean_text(r->a, parse_os_release(r->a, text, S("ID")));
	m->distro_version = clean_text(r->a, parse_os_release(r->a, text, S("VERSION_ID")));
}

static unsigned count_processors(struct str cpuinfo)
{
	struct str line;
	unsigned n = 0;
	while (str_next(&cpuinfo, '\n', &line))
		n += str_starts(line, S("processor"));
	return n;
}

/* Linux before 6.1 has no proc/sys/kernel/arch. */
static struct str arch_of(struct root *r, struct str cpuinfo)
{
	struct utsname uts;
	struct str vendor = line_value(cpuinfo, ':', S("vendor_id"));
	struct str arch = root_line(r, S("proc/sys/kernel/arch"));
	if (arch.n)
		return arch;
	if (str_eq(vendor, S("GenuineIntel")) || str_eq(vendor, S("AuthenticAMD")))
		return S("x86_64");
	if (line_value(cpuinfo, ':', S("CPU implementer")).n)
		return S("aarch64");
	if (!r->dir.n && uname(&uts) == 0)
		return str_dup(r->a, str_from(uts.machine));
	return S("");
}

static void read_cpu(struct root *r, struct machine *m)
{
	struct str info, online = root_line(r, S("sys/devices/system/cpu/online"));
	if (online.n)
		root_head(r, S("proc/cpuinfo"), CPUINFO_HEAD, keep_cpuinfo, &info);
	else
		root_read(r, S("proc/cpuinfo"), keep_cpuinfo, &info);
	m->cpus = online.n ? parse_cpu_list(online) : count_processors(info);
	m->cpu = clean_text(r->a, line_value(info, ':', S("model name")));
	m->virtual = has_word(line_value(info, ':', S("flags")), S("hypervisor"));
	m->arch = arch_of(r, info);
}

/* /proc/meminfo counts in KiB. */
static uint64_t kib(struct str text, struct str key)
{
	uint64_t n = line_number(text, ':', key);
	return n > UINT64_MAX / 1024 ? UINT64_MAX : n * 1024;
}

void gather_system(struct root *r, struct machine *m)
{
	struct str memory;
	read_kernel(r, m);
	read_distro(r, m);
	read_cpu(r, m);
	enum root_status s = root_read(r, S("proc/meminfo"), keep_memory, &memory);
	if (s != ROOT_OK && s != ROOT_ABSENT)
		note_unreadable(r->a, m, S("proc/meminfo"), s);
	m->memory = kib(memory, S("MemTotal"));
	m->memory_free = kib(memory, S("MemAvailable"));
	m->swap = kib(memory, S("SwapTotal"));
}

/* Only the mark that says which container it is: the rest is ids. */
static void keep_cgroup(struct buf *out, struct str text)
{
	struct str kind = parse_cgroup(text);
	static const struct {
		struct str kind, text;
	} marks[] = {
		{.kind = S_INIT("kubernetes"), .text = S_INIT("0::/kubepods\n")},
		{.kind = S_INIT("docker"), .text = S_INIT("0::/docker\n")},
		{.kind = S_INIT("podman"), .text = S_INIT("0::/libpod\n")},
		{.kind = S_INIT("lxc"), .text = S_INIT("0::/lxc\n")},
		{.kind = S_INIT("containerd"), .text = S_INIT("0::/containerd\n")},
		{.kind = S_INIT("systemd-nspawn"),
			.text = S_INIT("0::/machine.slice/systemd-nspawn\n")},
	};
	for (size_t i = 0; i < sizeof(marks) / sizeof(*marks); i++)
		if (str_eq(marks[i].kind, kind))
			buf_add(out, marks[i].text);
}

static void keep_environ(struct buf *out, struct str text)
{
	struct str value = parse_environ(text, S("container"));
	if (value.n)
		buf_fmt(out, "container=%.*s%c", STR(value), 0);
}

static struct str container_of(struct root *r)
{
	static const struct {
		struct str file, kind;
	} files[] = {
		{.file = S_INIT("run/.containerenv"), .kind = S_INIT("podman")},
		{.file = S_INIT(".dockerenv"), .kind = S_INIT("docker")},
	};
	struct str text = S(""), kind;
	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++)
		if (root_has_file(r, files[i].file))
			return files[i].kind;
	if (root_exists(r, S(".singularity.d")))
		return S("apptainer");
	if (root_exists(r, S("run/secrets/kubernetes.io")))
		return S("kubernetes");
	root_read(r, S("proc/1/environ"), keep_environ, &text);
	kind = clean_text(r->a, parse_environ(text, S("container")));
	if (kind.n)
		return kind;
	root_read(r, S("proc/1/cgroup"), keep_cgroup, &text);
	return parse_cgroup(text);
}

void gather_container(struct root *r, struct machine *m)
{
	const char *env = r->dir.n ? NULL : getenv("container");
	m->container_kind = container_of(r);
	/* systemd-nspawn and podman set it; PID 1's own environment may not be readable. */
	if (!m->container_kind.n && env && *env)
		m->container_kind = clean_text(r->a, str_from(env));
	m->container = m->container_kind.n > 0;
}
